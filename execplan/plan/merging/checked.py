"""The last look at a merge: everything that a side added is there, and no task is there twice."""

from __future__ import annotations

from execplan.plan.merging.clerk import named
from execplan.plan.merging.match import words_in
from execplan.plan.model import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def lost(three: Sequence[Plan], then: Plan, *, conflicts: int) -> str:
    """What of the sides' additions the merged plan lacks, or has twice; nothing when all is well."""
    was, ours, theirs, now = [_facts(plan) for plan in (*three, then)]
    for side in (ours, theirs):
        for fact, count in side.items():
            if count > was.get(fact, 0) and not now.get(fact):
                return f"{named(fact[1])} would have been lost"
    for fact, count in now.items():
        if not conflicts and fact[0] == "task" and count > max([side.get(fact, 0) for side in (was, ours, theirs)]):
            return f"{named(fact[1])} would be there twice"
    return ""


def _facts(plan: Plan) -> dict[tuple[str, str], int]:
    """What a plan says, and how often."""
    facts: dict[tuple[str, str], int] = {}
    said = [("task", task.text) for task in plan.tasks]
    for name, entries in (
        ("decision", plan.decisions),
        ("discovery", plan.discoveries),
        ("outcome", plan.outcomes),
        ("note", plan.revisions),
    ):
        said += [(name, " ".join([entry.text, entry.rationale or "", entry.evidence or ""])) for entry in entries]
    for name, words in said:
        fact = (name, " ".join(words_in(words)))
        facts[fact] = facts.get(fact, 0) + 1
    return facts
