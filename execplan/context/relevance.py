"""How relevant each unit is to what is done next, and why."""

from __future__ import annotations

import os
import re
from collections import Counter

from execplan.context.context_pack import (
    ARTIFACT,
    DECISION,
    DIFF,
    DISCOVERY,
    FILE,
    INSTRUCTION,
    MESSAGE,
    PLAN_TYPES,
    SECTION,
    TASK,
    TOOL_RESULT,
    ContextPack,
    Unit,
)
from execplan.context.keywords import contains_word, extract_keywords
from execplan.context.text_search import search_texts, total_score
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

    from execplan.context.task_intent import Intent
    from execplan.context.text_search import WordHit

_PURPOSE_WEIGHT: Final = 0.3
"""What a word of the purpose weighs beside one of the task."""
_MAX_KEYWORDS: Final = (48, 64)
"""How many words of the task and of the purpose are looked for."""
_TYPE_USEFULNESS = {
    SECTION: 0.7,
    TASK: 0.4,
    DECISION: 0.6,
    DISCOVERY: 0.6,
    FILE: 0.3,
    ARTIFACT: 0.2,
    DIFF: 0.8,
    MESSAGE: 0.4,
    TOOL_RESULT: 0.3,
    INSTRUCTION: 1.0,
}
"""How useful a unit is by its type alone."""
_INTENT_BONUS = {
    "debugging": {TOOL_RESULT: 0.4, DISCOVERY: 0.2, DIFF: 0.2},
    "review": {DIFF: 0.2, FILE: 0.2},
    "planning": {SECTION: 0.2, DECISION: 0.3},
    "explanation": {SECTION: 0.2, DISCOVERY: 0.2},
    "search": {FILE: 0.3},
    "code_generation": {FILE: 0.2},
}
"""What is added for an intent."""
_CONVERSATION = (MESSAGE, TOOL_RESULT)
_FACTOR_WEIGHTS = {**dict.fromkeys(_CONVERSATION, (0.35, 0.15, 0.35, 0.15)), FILE: (0.3, 0.35, 0.15, 0.2)}
_DEFAULT_FACTOR_WEIGHTS: Final = (0.45, 0.2, 0.15, 0.2)
"""What counts how much: shared words, being named, being new, the type. `scripts/context_recall.py` tells what files need."""
_MAX_PLAN_MENTIONS: Final = 5
"""In so many parts of the plan a file is named that all of it is about."""
_RECENCY_HALF_LIFE: Final = 8
"""So many newer ones halve what being new counts."""
_NAMED_BY_TASK, _NAMED_BY_PINNED, _SHARES_REFERENCE = 1.0, 0.7, 0.4
"""What it counts that the task names a unit, that what is printed anyway names it, that it names what the task is about."""
_NO_SHARED_WORD: Final = "shares no telling word"
_MIN_NAMED_RELEVANCE: Final = 0.85
"""What a unit that the task names has at least."""
_PATH = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)*")
_PLURALS = {
    DIFF: "diffs",
    DISCOVERY: "discoveries",
    TOOL_RESULT: "outputs of tools",
    **{name: f"{name}s" for name in (SECTION, TASK, DECISION, FILE, ARTIFACT, MESSAGE, INSTRUCTION)},
}


class ScoredUnit(NamedTuple):
    """A unit, and how relevant it is."""

    unit: Unit
    relevance: float
    """From 0 to 1."""
    priority: int
    """From 0 to 100; of what is never left out at least 95."""
    reasons: tuple[str, ...]
    """The strongest first."""


def score_units(pack: ContextPack, intent: Intent) -> list[ScoredUnit]:
    """How relevant the units are, in their order; raises ExecplanError where SQLite can't search texts."""
    keyword_weights = dict.fromkeys(extract_keywords(pack.purpose)[: _MAX_KEYWORDS[1]], _PURPOSE_WEIGHT)
    keyword_weights |= dict.fromkeys(extract_keywords(pack.task)[: _MAX_KEYWORDS[0]], 1.0)
    hits_by_unit = search_texts([(f"{unit.title} {unit.path}", unit.content) for unit in pack.units], keyword_weights)
    unpinned_scores = [
        total_score(unit_hits) for unit, unit_hits in zip(pack.units, hits_by_unit, strict=True) if not unit.pinned
    ]
    best_score = max(unpinned_scores, default=0.0) or 1.0
    mentions, newer_counts = _Mentions(pack), count_newer_by_type(pack.units)
    goal = "task" if pack.task else "purpose"
    scored_units = []
    for unit, unit_hits in zip(pack.units, hits_by_unit, strict=True):
        mention_score, mention_reason = mentions.score_mentions(unit)
        word_score = min(total_score(unit_hits) / best_score, 1.0)
        recency = 1 / (1 + newer_counts[unit.id] / _RECENCY_HALF_LIFE) if unit.id in newer_counts else 0.0
        usefulness = min(_TYPE_USEFULNESS[unit.type] + _INTENT_BONUS.get(intent.name, {}).get(unit.type, 0.0), 1.0)
        factor_weights = _FACTOR_WEIGHTS.get(unit.type, _DEFAULT_FACTOR_WEIGHTS)
        relevance = sum(
            [
                factor_weight * factor
                for factor_weight, factor in zip(
                    factor_weights, (word_score, mention_score, recency, usefulness), strict=True
                )
            ]
        )
        if mention_score == _NAMED_BY_TASK or unit.type == INSTRUCTION:
            relevance = max(relevance, _MIN_NAMED_RELEVANCE)
        relevance = round(min(relevance, 1.0), 4)
        priority = 95 + round(5 * relevance) if unit.pinned else min(round(100 * relevance), 94)
        shared_reason = _explain_shared_words(unit, unit_hits, keyword_weights, goal)
        shared_reason = "" if mention_reason and shared_reason.startswith(_NO_SHARED_WORD) else shared_reason
        reasons = [unit.pinned] if unit.pinned else [mention_reason, shared_reason, describe_age(unit, newer_counts)]
        scored_units.append(ScoredUnit(unit, relevance, priority, tuple([reason for reason in reasons if reason])))
    return scored_units


class _Mentions:
    """What is named by the task, and by what is printed anyway."""

    def __init__(self, pack: ContextPack) -> None:
        self.task_references = _find_paths(pack.task)
        for unit in pack.units:
            if unit.pinned and unit.type == TASK:
                self.task_references.update(unit.references)
        self.pinned_references = _find_paths(pack.purpose)
        for unit in pack.units:
            if unit.pinned:
                self.pinned_references.update(unit.references)
        self.plan_mentions = Counter(
            [path for unit in pack.units if unit.type in PLAN_TYPES for path in unit.references]
        )
        self.task_subpaths = {path for reference in self.task_references for path in _subpaths(reference)}

    def score_mentions(self, unit: Unit) -> tuple[float, str]:
        """How strongly a unit is named, and by what, in words."""
        own_names = _unit_names(unit)
        if self.task_references & own_names or unit.path in self.task_subpaths:
            return _NAMED_BY_TASK, "the task names it"
        if self.pinned_references & own_names:
            return _NAMED_BY_PINNED, "the purpose, or what is never left out, names it"
        shared_references = sorted(
            self.task_references & {*unit.references, *[os.path.basename(reference) for reference in unit.references]}
        )
        mention_count = self.plan_mentions[unit.path] if unit.path else 0
        mention_score = round(_NAMED_BY_PINNED * min(mention_count, _MAX_PLAN_MENTIONS) / _MAX_PLAN_MENTIONS, 2)
        if shared_references and mention_score < _SHARES_REFERENCE:
            return _SHARES_REFERENCE, f"names {shared_references[0]}, which the task is about"
        mention_text = (
            "1 part of the plan names it" if mention_count == 1 else f"{mention_count} parts of the plan name it"
        )
        return mention_score, mention_text if mention_count else ""


def _find_paths(text: str) -> set[str]:
    """What may be a path or the name of a file in a text."""
    candidates = {path.rstrip(".").removeprefix("./") for path in _PATH.findall(text)}
    return {path for path in candidates if "/" in path or "." in path.strip(".")}


def _subpaths(path: str) -> set[str]:
    """What a path may be from a root that it names: a task may say `/app/src/a.py` of `src/a.py` in the repository app."""
    parts = path.split("/")
    return {"/".join(parts[index:]) for index in range(1, len(parts) - 1)}


def _unit_names(unit: Unit) -> set[str]:
    """What a unit may be called: its id, its path, the ends of the path."""
    parts = unit.path.split("/") if unit.path else []
    path_suffixes = [
        "/".join(parts[index:]) for index in range(len(parts)) if index < len(parts) - 1 or "." in parts[-1]
    ]
    return {unit.id, *path_suffixes}


def count_newer_by_type(units: Sequence[Unit]) -> dict[str, int]:
    """How many units of its type are newer than each, where there are several and they have an age."""
    newer_counts: dict[str, int] = {}
    for kind in (*_CONVERSATION, FILE, DECISION, DISCOVERY, ARTIFACT):
        orders = sorted([unit.order for unit in units if unit.type == kind])
        if len(set(orders)) > 1:
            from bisect import bisect_right

            newer_counts |= {
                unit.id: len(orders) - bisect_right(orders, unit.order) for unit in units if unit.type == kind
            }
    return newer_counts


def _explain_shared_words(unit: Unit, hits: Sequence[WordHit], keyword_weights: Mapping[str, float], goal: str) -> str:
    """Which words it shares with the task or the purpose, for people."""
    hits = [hit for hit in hits if hit.is_distinctive]
    if not hits:
        return f"{_NO_SHARED_WORD} with the {goal}"
    text = f"{unit.title} {unit.path} {unit.content}".lower()
    is_task = goal == "task" and any([keyword_weights[hit.word] == 1.0 for hit in hits])
    hit_words = [hit.word for hit in hits if not is_task or keyword_weights[hit.word] == 1.0]
    literal_words: list[str] = []
    for word in hit_words:
        if len(literal_words) < 3 and contains_word(text, word):
            literal_words.append(word)
    owner = "task" if is_task else "purpose"
    if not literal_words:
        return f"has words of the {owner} in other forms"
    word_list = (
        " and ".join([", ".join(literal_words[:-1]), literal_words[-1]]) if len(literal_words) > 1 else literal_words[0]
    )
    return f"shares {word_list} with the {owner}"


def describe_age(unit: Unit, newer_counts: Mapping[str, int]) -> str:
    """How old it is beside others of its type."""
    if unit.id not in newer_counts:
        return ""
    count = newer_counts[unit.id]
    if not count:
        return f"the newest of the {_PLURALS[unit.type]}"
    return f"older than {count} other {_PLURALS[unit.type] if count > 1 else unit.type.replace('_', ' ')}"
