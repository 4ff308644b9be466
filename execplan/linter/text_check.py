"""Findings for a text in memory, as an editor or another program has it; nothing on disk is read.

from execplan.linter.text_check import UTF_16, lint

for finding in lint(buffer, columns=UTF_16):
    print(finding.line, finding.column, finding.code, finding.message)
"""

from __future__ import annotations

from execplan.errors import ExecplanError
from execplan.linter.rule import Finding, RuleContext
from execplan.linter.runner import lint_plan, unreadable_finding
from execplan.plan import reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

CODE_POINTS: Final = "code-points"
UTF_16: Final = "utf-16"
"""What columns count: characters of Unicode, or units of 16 bits, of which one beyond U+FFFF takes two."""


def lint(
    text: str | bytes,
    context: RuleContext | None = None,
    levels: dict[str, str] | None = None,
    *,
    columns: str = CODE_POINTS,
) -> list[Finding]:
    """The findings for a text, by line; one that can't be read as a plan is one finding, never an exception.

    `context` is what the rules are told of the plan's place, `levels` the rules that run, each with its level: all that
    are on by default. Lines and columns count from 1, ends are inclusive; a byte order mark is in no column.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    try:
        plan = reader.read(data)
    except ExecplanError as error:
        return [unreadable_finding(error)]
    return convert_columns(lint_plan(plan, context, levels), plan.text.lines, columns)


def convert_columns(findings: list[Finding], lines: Sequence[str], columns: str) -> list[Finding]:
    """The findings with their columns counted so; raises ValueError for a way of counting that is none."""
    if columns == CODE_POINTS:
        return findings
    if columns != UTF_16:
        raise ValueError(f"columns count in {CODE_POINTS} or in {UTF_16}, not in {columns}")
    return [
        finding._replace(
            column=_to_utf16(lines, finding.line, finding.column - 1) + 1,
            end_column=_to_utf16(lines, finding.end_line, finding.end_column),
        )
        for finding in findings
    ]


def _to_utf16(lines: Sequence[str], number: int, count: int) -> int:
    """How many units the first characters of a line take; what lies behind its end takes one each."""
    prefix = lines[number - 1][:count] if number <= len(lines) else ""
    return count + sum([char > "\uffff" for char in prefix])
