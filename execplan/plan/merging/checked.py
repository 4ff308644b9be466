"""The last look at a merge: everything that a side added is there, and no task is there twice."""

from __future__ import annotations

from execplan.plan import outline
from execplan.plan.merging.clerk import quote_text
from execplan.plan.merging.match import split_words
from execplan.plan.merging.units import split_plan, split_section
from execplan.plan.model import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    T = TypeVar("T")


def find_merge_loss(versions: Sequence[Plan], merged_plan: Plan, *, conflicts: int) -> str:
    """What of the sides' additions the merged plan lacks, or has twice; nothing when all is well."""
    fact_texts: dict[tuple[str, str], str] = {}
    base_facts, our_facts, their_facts, merged_facts = [_count_facts(plan, fact_texts) for plan in (*versions, merged_plan)]
    for side in (our_facts, their_facts):
        for fact, count in side.items():
            if count > base_facts.get(fact, 0) and not merged_facts.get(fact):
                return f"{quote_text(fact_texts[fact])} would have been lost"
    duplicates = [] if conflicts else [fact for fact in _more_frequent(merged_facts, (base_facts, our_facts, their_facts)) if fact[0] == "task"]
    if duplicates:
        *side_positions, merged_positions = [_task_positions(plan) for plan in (*versions, merged_plan)]
        duplicated_keys = {fact for _, fact in _more_frequent(merged_positions, side_positions)}
        for fact in duplicates:
            if fact[1] in duplicated_keys:
                return f"{quote_text(fact_texts[fact])} would be there twice"
    return ""


def _more_frequent(merged_counts: dict[T, int], side_counts: Sequence[dict[T, int]]) -> list[T]:
    """What is there more often than in any version."""
    return [key for key, count in merged_counts.items() if count > max([counts.get(key, 0) for counts in side_counts])]


def _task_positions(plan: Plan) -> dict[tuple[str, str], int]:
    """How often a task stands below an item or a sub-heading: two of them may each have tests to be written."""
    positions: dict[tuple[str, str], int] = {}
    for plan_part in split_plan(plan):
        if plan_part.section is not None and plan_part.section.name == outline.PROGRESS:
            for unit in split_section(plan, plan_part):
                if unit.task is not None:
                    position = (unit.parent_key, " ".join(split_words(unit.task.text)))
                    positions[position] = positions.get(position, 0) + 1
    return positions


def _count_facts(plan: Plan, fact_texts: dict[tuple[str, str], str]) -> dict[tuple[str, str], int]:
    """What a plan says, without punctuation, and how often; `fact_texts` takes the words as they are."""
    counts: dict[tuple[str, str], int] = {}
    named_texts = [("task", task.text) for task in plan.tasks]
    for name, entries in (
        ("decision", plan.decisions),
        ("discovery", plan.discoveries),
        ("outcome", plan.outcomes),
        ("note", plan.revisions),
    ):
        named_texts += [(name, " ".join([entry.text, entry.rationale or "", entry.evidence or ""])) for entry in entries]
    for name, text in named_texts:
        fact = (name, " ".join(split_words(text)))
        counts[fact] = counts.get(fact, 0) + 1
        fact_texts[fact] = text
    return counts
