"""All rules over one plan."""

from __future__ import annotations

from execplan.errors import ExecplanError
from execplan.lint import (
    boxes,
    commands,
    contained,
    front,
    halves,
    history,
    homes,
    life,
    links,
    logs,
    milestones,
    order,
    progress,
    runnable,
    sections,
    source,
    spacing,
    stalled,
    stamps,
    steps,
    strays,
    structure,
    suppress,
    surface,
    symbols,
    titles,
)
from execplan.lint.rule import (
    BYTES,
    CLOCK,
    COMMITTED,
    ERROR,
    GRADUAL,
    HINT,
    HISTORY,
    RULES,
    TREE,
    WARNING,
    Finding,
    Fix,
    Given,
    Rule,
)
from execplan.lint.words import Words
from execplan.plan import outline, reader
from execplan.plan.model import COMPLETE, DRAFT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.lint.facts import Shelf
    from execplan.plan.model import Plan

__all__ = [
    "ERROR",
    "HINT",
    "RULES",
    "WARNING",
    "Finding",
    "Given",
    "lint_bytes",
    "lint_home",
    "lint_plan",
    "unreadable",
]

FAMILIES = (
    *(source, suppress, spacing, surface),
    *(structure, sections, titles, front),
    *(progress, stamps, stalled, order, boxes, halves, milestones),
    *(logs, strays),
    *(contained, commands, symbols, links),
    *(life, homes, history),
    *(steps, runnable),
)
"""The files of rules; importing one registers what it holds."""
for _code in sorted(RULES):
    RULES[_code] = RULES.pop(_code)  # rules run, and are listed, by their codes

DEFAULT = {code: GRADUAL if rule.unfinished else rule.level for code, rule in RULES.items() if rule.on}
"""The rules that run where nobody selects others, each with its level."""

MOST = 100
"""Findings of one rule that are shown for one file."""

_LONG = 16
"""Characters of a word that may be a secret."""
_DRAFT = ("EP109", "EP201")
_COMPLETE = ("EP501",)
"""Under `--hook` an error of these is a warning, so that each step of writing and doing a plan can be committed."""
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


def lint_plan(
    plan: Plan, given: Given | None = None, levels: dict[str, str] | None = None, most: int = MOST
) -> list[Finding]:
    """The findings for a plan, by line; `levels` are the rules that run, each with its level: all that are on by default."""
    given = (given or Given())._replace(words=Words(plan))
    if given.skip_others and not any([section.name in outline.LIVING for section in plan.sections]):
        from execplan.lint.recognition import NOT_A_PLAN, is_plan

        before = given.history.before if given.history is not None else None
        if not is_plan(plan, given) and (before is None or not is_plan(before, Given(words=Words(before)))):
            return [NOT_A_PLAN]
    levels = DEFAULT if levels is None else levels
    lowered: tuple[str, ...] = ()
    state = plan.state()
    if plan.excused:
        lowered = tuple(RULES)
    elif given.draft_is_fine:
        lowered = _DRAFT if state == DRAFT else _COMPLETE
    met = _met(given)
    ran = {code for code in levels if RULES[code].needs in met}
    findings: list[Finding] = []
    for code, rule in RULES.items():
        if code not in ran:
            continue
        level = rule.level_of(levels[code], complete=state == COMPLETE)
        level = WARNING if level == ERROR and code in lowered else level
        found = _found(rule, level, plan, given, most)
        findings += found
        if found and code == _ALONE:
            break  # the rules behind it would tell of what stands in the fence
    if suppress.MARK in given.words.source:
        from execplan.lint.ignoring import left_over

        findings = left_over(plan, given.words, findings, levels, ran)
    findings.sort(key=lambda finding: (finding.line, finding.column))
    return findings


def _found(rule: Rule, level: str, plan: Plan, given: Given, most: int) -> list[Finding]:
    """What one rule finds, to the limit, and how many more there are."""
    findings: list[Finding] = []
    found = 0
    for place in rule.check(plan, given):
        found += 1
        if found <= most + 1:
            ends = (place.end_line, max(place.end_column, place.column + 1))
            fix = Fix(rule.fix, place.edits) if place.edits else None
            message = place.message if len(place.message) < _LONG else _without_secrets(place.message)
            findings.append(Finding(rule.code, level, place.line + 1, place.column + 1, *ends, message, fix))
    if found > most:
        line = findings.pop().line
        findings.append(Finding(rule.code, level, line, 1, line, 1, f"and {found - most} more"))
    return findings


def lint_home(shelf: Shelf, levels: dict[str, str] | None = None) -> list[tuple[str, Finding]]:
    """The findings about a home, each with the path of a file or a folder."""
    levels = DEFAULT if levels is None else levels
    found = []
    for code, rule in RULES.items():
        if code in levels and rule.of_home is not None:
            spots = list(rule.of_home(shelf))
            found += [(spot.path, Finding(code, levels[code], 1, 1, 1, 1, spot.message)) for spot in spots[:MOST]]
            if len(spots) > MOST:
                last = Finding(code, levels[code], 1, 1, 1, 1, f"and {len(spots) - MOST} more")
                found.append((spots[MOST].path, last))
    return found


def _without_secrets(message: str) -> str:
    """A message, which may quote the plan, as others may read it."""
    if not any([len(word) >= _LONG for word in message.split()]):
        return message
    from execplan.text.secrets import masked

    return masked(message)


def _met(given: Given) -> set[str]:
    """Which needs of rules are met."""
    facts = (BYTES, True), (CLOCK, given.clock), (TREE, given.tree), (COMMITTED, given.history)
    met = {need for need, fact in facts if fact is not None}
    return met if given.history is None or given.history.partial else {*met, HISTORY}
