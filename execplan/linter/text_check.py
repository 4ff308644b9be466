"""Findings for a text in memory, as an editor or another program has it; nothing on disk is read.

from execplan.linter.text_check import UTF_16, lint

for finding in lint(buffer, columns=UTF_16):
    print(finding.line, finding.column, finding.code, finding.message)
"""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.linter.rule import Finding, RuleContext
from execplan.linter.runner import lint_plan, unreadable_finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

CODE_POINTS: Final = "code-points"
UTF_16: Final = "utf-16"
"""Units of columns: Unicode code points, or 16-bit units, of which a character above U+FFFF takes two."""


def lint(
    text: str | bytes,
    context: RuleContext | None = None,
    levels: dict[str, str] | None = None,
    *,
    columns: str = CODE_POINTS,
) -> list[Finding]:
    """Return the findings for a text, sorted by line.

    Text that can't be read as a plan gives one finding, never an exception. `context` describes the plan's place to the
    rules. `levels` are the rules to run, each with its level; the default is all rules that are on by default. Lines
    and columns count from 1, ends are inclusive; a byte order mark has no column.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    try:
        plan = reader.read(data, context.titles if context is not None else None)
    except ExecplanError as error:
        return [unreadable_finding(error)]
    return convert_columns(lint_plan(plan, context, levels), plan.text.lines, columns)


def convert_columns(findings: Sequence[Finding], lines: Sequence[str], columns: str) -> list[Finding]:
    """Convert the columns of findings to another unit. Raises ValueError if the unit is unknown."""
    if columns == CODE_POINTS:
        return list(findings)
    if columns != UTF_16:
        raise ValueError(f"columns must count {CODE_POINTS} or {UTF_16}, not {columns}")
    return [
        finding._replace(
            column=_to_utf16(lines, finding.line, finding.column - 1) + 1,
            end_column=_to_utf16(lines, finding.end_line, finding.end_column),
        )
        for finding in findings
    ]


def _to_utf16(lines: Sequence[str], number: int, count: int) -> int:
    """Return the number of 16-bit units of a line's first characters; positions after its end count as one each."""
    prefix = lines[number - 1][:count] if number <= len(lines) else ""
    return count + sum([char > "\uffff" for char in prefix])
