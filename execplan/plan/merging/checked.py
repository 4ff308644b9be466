"""The last look at a merge: everything that a side added is there, and no task is there twice."""

from __future__ import annotations

from execplan.plan import outline
from execplan.plan.merging.clerk import named
from execplan.plan.merging.match import words_in
from execplan.plan.merging.units import parts_of, tasks_of
from execplan.plan.model import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    T = TypeVar("T")


def lost(three: Sequence[Plan], then: Plan, *, conflicts: int) -> str:
    """What of the sides' additions the merged plan lacks, or has twice; nothing when all is well."""
    words: dict[tuple[str, str], str] = {}
    was, ours, theirs, now = [_facts(plan, words) for plan in (*three, then)]
    for side in (ours, theirs):
        for fact, count in side.items():
            if count > was.get(fact, 0) and not now.get(fact):
                return f"{named(words[fact])} would have been lost"
    doubled = [] if conflicts else [fact for fact in _more(now, (was, ours, theirs)) if fact[0] == "task"]
    if doubled:
        *sides, places = [_places(plan) for plan in (*three, then)]
        there = {fact for _, fact in _more(places, sides)}
        for fact in doubled:
            if fact[1] in there:
                return f"{named(words[fact])} would be there twice"
    return ""


def _more(now: dict[T, int], sides: Sequence[dict[T, int]]) -> list[T]:
    """What is there more often than in any version."""
    return [each for each, count in now.items() if count > max([side.get(each, 0) for side in sides])]


def _places(plan: Plan) -> dict[tuple[str, str], int]:
    """How often a task stands below an item or a sub-heading: two of them may each have tests to be written."""
    places: dict[tuple[str, str], int] = {}
    for part in parts_of(plan):
        if part.section is not None and part.section.name == outline.PROGRESS:
            for unit in tasks_of(plan, part):
                if unit.task is not None:
                    place = (unit.where, " ".join(words_in(unit.task.text)))
                    places[place] = places.get(place, 0) + 1
    return places


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
