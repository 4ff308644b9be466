"""What mends findings, as one change: round after round until nothing is left that may be mended, and nothing else said."""

from __future__ import annotations

from execplan.lint.rule import SAFE, UNSAFE
from execplan.lint.runner import lint_plan
from execplan.plan.change import Change, facts
from execplan.plan.reader import read_text
from execplan.plan.whole import rebased
from execplan.text.edit import Edit, apply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import Counter

    from execplan.lint.rule import Finding, Given
    from execplan.plan.change import Changer
    from execplan.plan.model import Plan

_EVERY = 1 << 30
"""Findings of a rule: all of them, not only those that are shown."""
_ROUNDS = 20
"""More than any plan needs; a rule whose fix brings its own finding back would go on for ever."""


def fixing(given: Given, levels: dict[str, str], *, unsafe: bool, mended: Counter[str]) -> Changer:
    """The change that makes every safe fix, and the unsafe ones where asked; `mended` counts what was made, by code."""

    def change(plan: Plan) -> Change:
        mended.clear()
        now = plan
        kinds = (SAFE, UNSAFE) if unsafe else (SAFE,)
        left: set[tuple[str, str]] = set()
        for _ in range(_ROUNDS):
            found = [
                each
                for each in lint_plan(now, given, levels, _EVERY)
                if each.fix is not None and each.fix.kind in kinds
            ]
            chosen = _apart(now, [each for each in found if (each.code, now.text.lines[each.line - 1]) not in left])
            if not chosen:
                break
            now = _mended(now, chosen, mended, left)
        data = now.text.to_bytes()
        if not mended:
            return Change((), facts(plan), "", ("nothing to mend",))
        count = sum(mended.values())
        said = f"mended {count} finding{'s' if count > 1 else ''}: {', '.join(sorted(mended))}"
        return rebased(plan, plan.text.to_bytes(), data, f"lint, {said}", said, "")

    return change


def _apart(plan: Plan, findings: list[Finding]) -> list[Finding]:
    """The findings whose edits touch no line of another's, nor anything behind a fence that is never closed."""
    stop = next((block.start for block in plan.blocks if not block.closed), len(plan.text.lines) + 1)
    taken: set[int] = set()
    chosen = []
    for finding in findings:
        lines = {at for edit in _edits(finding) for at in range(edit.start, max(edit.end, edit.start + 1))}
        if not lines & taken and max(lines, default=0) <= stop:
            taken |= lines
            chosen.append(finding)
    return chosen


def _mended(plan: Plan, findings: list[Finding], mended: Counter[str], left: set[tuple[str, str]]) -> Plan:
    """The plan with the findings mended that can be without saying something else; the others go to `left`."""
    edits = [edit for finding in findings for edit in _edits(finding)]
    after = read_text(apply(plan.text, edits))
    if _keeps(plan, after, findings):
        mended.update([finding.code for finding in findings])
        return after
    if len(findings) == 1:
        left.add((findings[0].code, plan.text.lines[findings[0].line - 1]))
        return plan
    half = len(findings) // 2
    behind = _mended(
        plan, findings[half:], mended, left
    )  # the later lines first, so that the others stay where they are
    return _mended(behind, findings[:half], mended, left)


def _edits(finding: Finding) -> tuple[Edit, ...]:
    return finding.fix.edits if finding.fix is not None else ()


def _keeps(before: Plan, after: Plan, findings: list[Finding]) -> bool:
    """Whether a plan says the same after safe fixes: more tasks may be read, none other; unsafe ones may change tasks."""
    old, new = facts(before), facts(after)
    same = ("title", "checklists", "decisions", "discoveries", "outcomes", "revisions")
    if [getattr(old, name) for name in same] != [getattr(new, name) for name in same]:
        return False
    if [each.name or each.title for each in before.sections] != [each.name or each.title for each in after.sections]:
        return False
    if any([finding.fix is not None and finding.fix.kind == UNSAFE for finding in findings]):
        return True
    tasks = iter([(task.state, task.text) for task in after.tasks])
    return all([(task.state, task.text) in tasks for task in before.tasks])
