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
    words: dict[tuple[str, str], str] = {}
    was, ours, theirs, now = [_facts(plan, words) for plan in (*three, then)]
    for side in (ours, theirs):
        for fact, count in side.items():
            if count > was.get(fact, 0) and not now.get(fact):
                return f"{named(words[fact])} would have been lost"
    for fact, count in now.items():
        if not conflicts and fact[0] == "task" and count > max([side.get(fact, 0) for side in (was, ours, theirs)]):
            return f"{named(words[fact])} would be there twice"
    return ""


def _facts(plan: Plan, told: dict[tuple[str, str], str]) -> dict[tuple[str, str], int]:
    """What a plan says, without punctuation, and how often; `told` takes the words as they are."""
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
        told[fact] = words
    return facts
