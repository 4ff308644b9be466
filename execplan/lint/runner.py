"""All rules over one plan."""

from __future__ import annotations

from execplan.errors import ExecplanError
from execplan.lint import front, life, logs, progress, sections, source, spacing, structure, surface, titles
from execplan.lint.rule import (
    BYTES,
    CLOCK,
    ERROR,
    HINT,
    HISTORY,
    RULES,
    TREE,
    WARNING,
    Finding,
    Fix,
    Given,
)
from execplan.lint.words import Words
from execplan.plan import reader
from execplan.plan.model import DRAFT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import Plan

__all__ = ["ERROR", "HINT", "RULES", "WARNING", "Finding", "Given", "lint_bytes", "lint_plan", "unreadable"]

FAMILIES = (source, spacing, surface, structure, sections, titles, front, progress, logs, life)
"""The files of rules; importing one registers what it holds, and this is the order in which rules run."""

DEFAULT = {code: rule.level for code, rule in RULES.items() if rule.on}
"""The rules that run where nobody selects others, each with its level."""

MOST = 100
"""Findings of one rule that are shown for one file."""

_DRAFT = ("EP109", "EP201")
_ALONE = "EP004"


def lint_bytes(data: bytes, given: Given | None = None, levels: dict[str, str] | None = None) -> list[Finding]:
    """The findings for a file's bytes, by line; bytes that can't be read are one finding."""
    try:
        plan = reader.read(data)
    except ExecplanError as error:
        return [unreadable(error)]
    return lint_plan(plan, given, levels)


def unreadable(error: ExecplanError) -> Finding:
    """The finding that a refusal to read comes to."""
    line = max(error.line, 1)
    return Finding("EP001", ERROR, line, 1, line, 1, f"{error.message}: {error.hint}")


def lint_plan(plan: Plan, given: Given | None = None, levels: dict[str, str] | None = None) -> list[Finding]:
    """The findings for a plan, by line; `levels` are the rules that run, each with its level: all that are on by default."""
    given = (given or Given())._replace(words=Words(plan))
    levels = DEFAULT if levels is None else levels
    lowered: tuple[str, ...] = ()
    if plan.excused:
        lowered = tuple(RULES)
    elif given.draft_is_fine and plan.state() == DRAFT:
        lowered = _DRAFT
    met = _met(given)
    findings: list[Finding] = []
    for code, rule in RULES.items():
        level = levels.get(code)
        if level is None or rule.needs not in met:
            continue
        if level == ERROR and code in lowered:
            level = WARNING
        found = 0
        more = None
        for place in rule.check(plan, given):
            found += 1
            if found > MOST:
                more = more or place
                continue
            ends = (place.end_line, max(place.end_column, place.column + 1))
            fix = Fix(rule.fix, place.edits) if place.edits else None
            findings.append(Finding(code, level, place.line + 1, place.column + 1, *ends, place.message, fix))
        if more is not None:
            shown = f"and {found - MOST} more"
            findings.append(Finding(code, level, more.line + 1, 1, more.line + 1, 1, shown))
        if found and code == _ALONE:
            break  # the rules behind it would tell of what stands in the fence
    findings.sort(key=lambda finding: (finding.line, finding.column))
    return findings


def _met(given: Given) -> set[str]:
    """Which needs of rules are met."""
    facts = (BYTES, True), (CLOCK, given.clock), (TREE, given.tree), (HISTORY, given.history)
    return {need for need, fact in facts if fact is not None}
