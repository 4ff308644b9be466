"""The plan in a program's answer, without what a model puts around it, and the problems of a draft."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan.item_format import escape_heading
from execplan.core.plan.model import DONE
from execplan.linter.runner import draft_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.linter.rule import Finding

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$")
_PLAN_LANGUAGES: Final = frozenset(("", "md", "markdown", "execplan"))
"""Languages of a code block that may contain the whole plan."""
_MAX_PROBLEMS: Final = 20


def extract_plan(answer: bytes, title: str) -> bytes:
    """Return the plan in an answer, under the requested title.

    An introduction before the title and a code block around the plan are removed. If nothing looks like a plan, the
    result is the whole answer, whose problems are found later.
    """
    text = answer.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = _plan_lines(text.split("\n"))
    at = next((index for index, line in enumerate(lines) if line.startswith("# ")), None)
    if at is not None:
        lines[at] = f"# {escape_heading(title)}"
    return ("\n".join(lines).strip("\n") + "\n").encode("utf-8")


def _plan_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines from the plan's title to its end."""
    for index, line in enumerate(lines):
        if line.startswith("# "):
            return list(lines[index:])
        fence = _FENCE.match(line)
        if fence is None or fence[2].lower() not in _PLAN_LANGUAGES:
            continue
        inner = index + 1
        while inner < len(lines) and not lines[inner].strip():
            inner += 1
        if inner < len(lines) and lines[inner].startswith("# "):
            return list(lines[inner : _closing_fence(lines, inner, fence[1])])
    return list(lines)


def _closing_fence(lines: Sequence[str], start: int, opening: str) -> int:
    """Return the index of the line that closes a code block around a whole plan: the last one that can.

    The plan has code blocks of its own, often with fences that are not shorter than the one around them.
    """
    for index in range(len(lines) - 1, start, -1):
        fence = _FENCE.match(lines[index])
        if fence is not None and not fence[2] and fence[1][0] == opening[0] and len(fence[1]) >= len(opening):
            return index
    return len(lines)


def find_errors(data: bytes) -> tuple[list[Finding], list[str]]:
    """Return the lint errors of a draft, and a line for each problem, with the number of its line in the draft."""
    try:
        plan = reader.read(data)
    except ExecplanError as error:
        return [], [f"{error.line or 1}: {error.message}"]
    findings = draft_errors(plan)
    lines = [f"{finding.line}:{finding.column} {finding.code} {finding.message}" for finding in findings]
    lines += [
        f"{task.box_line + 1}: task {task.number} is checked off, but nothing has been done yet"
        for task in plan.tasks
        if task.state == DONE
    ]
    return findings, lines


def shorten(problems: Sequence[str]) -> list[str]:
    """Return the first problems, and a line that counts the others."""
    excess = len(problems) - _MAX_PROBLEMS
    return [*problems[:_MAX_PROBLEMS], *([f"and {excess} more"] if excess > 0 else [])]
