"""Relevance of each unit to the next task, with reasons."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Final

from execplan.context.context_pack import (
    ARTIFACT,
    DECISION,
    DIFF,
    DISCOVERY,
    FILE,
    INSTRUCTION,
    MESSAGE,
    SECTION,
    TASK,
    TOOL_RESULT,
    ContextPack,
    Unit,
)
from execplan.context.task_intent import TaskIntent
from execplan.context.text_search import WordHit, contains_word, extract_keywords, search_texts, total_score
from execplan.core.named_tuple import NamedTuple

_PURPOSE_WEIGHT: Final = 0.3
"""Weight of a word from the purpose, relative to 1 for a word from the task."""
_MAX_KEYWORDS: Final = (48, 64)
"""Maximum number of keywords from the task and from the purpose."""
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
"""Usefulness of a unit by its type alone."""
_INTENT_BONUS = {
    "debugging": {TOOL_RESULT: 0.4, DISCOVERY: 0.2, DIFF: 0.2},
    "review": {DIFF: 0.2, FILE: 0.2},
    "planning": {SECTION: 0.2, DECISION: 0.3},
    "explanation": {SECTION: 0.2, DISCOVERY: 0.2},
    "search": {FILE: 0.3},
    "code_generation": {FILE: 0.2},
}
"""Bonus on the usefulness of each unit type, by intent."""
_CONVERSATION = (MESSAGE, TOOL_RESULT)
_FACTOR_WEIGHTS = dict.fromkeys(_CONVERSATION, (0.35, 0.15, 0.35, 0.15))
_DEFAULT_FACTOR_WEIGHTS: Final = (0.45, 0.2, 0.15, 0.2)
"""Weights of the factors: shared words, mentions, recency, type."""
_AFFINITY_WEIGHT: Final = 0.75
"""Weight of a file's affinity, relative to its words. `scripts/context_recall.py` shows what files need."""
_RECENCY_HALF_LIFE: Final = 8
"""Number of newer units that halves the recency factor."""
_NAMED_BY_TASK, _NAMED_BY_PINNED, _SHARES_REFERENCE = 1.0, 0.7, 0.4
"""Mention scores: the task names the unit, a pinned unit or the purpose names it, it names what the task is about."""
SHARES: Final = "shares "
"""Start of a reason that names shared words, or says that there are none."""
NO_SHARED_WORD: Final = f"{SHARES}no distinctive word"
FIRST_RELEVANCE: Final = 0.85
"""Minimum relevance of a unit that the task names, and of others that come first."""
_PATH = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)*")
_PLURALS = {
    DIFF: "diffs",
    DISCOVERY: "discoveries",
    TOOL_RESULT: "tool outputs",
    **{name: f"{name}s" for name in (SECTION, TASK, DECISION, FILE, ARTIFACT, MESSAGE, INSTRUCTION)},
}


class ScoredUnit(NamedTuple):
    """A unit with its relevance, its priority and the reasons."""

    unit: Unit
    relevance: float
    """Relevance from 0 to 1."""
    priority: int
    """Priority from 0 to 100; at least 95 for a pinned unit."""
    reasons: tuple[str, ...]
    """Reasons for the relevance, strongest first."""


def score_units(pack: ContextPack, intent: TaskIntent) -> list[ScoredUnit]:
    """Score the relevance of units, in their order.

    Raises ExecplanError if SQLite does not support full-text search.
    """
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
        if unit.affinity is not None:
            relevance = _AFFINITY_WEIGHT * unit.affinity + (1 - _AFFINITY_WEIGHT) * word_score
        if mention_score == _NAMED_BY_TASK or unit.type == INSTRUCTION or unit.comes_first:
            relevance = max(relevance, FIRST_RELEVANCE)
        relevance = round(min(relevance, 1.0), 4)
        priority = 95 + round(5 * relevance) if unit.pinned else min(round(100 * relevance), 94)
        shared_reason = _explain_shared_words(unit, unit_hits, keyword_weights, goal)
        shared_reason = "" if mention_reason and shared_reason.startswith(NO_SHARED_WORD) else shared_reason
        reasons = [mention_reason or unit.origin, shared_reason, describe_age(unit, newer_counts)]
        reasons = [unit.pinned] if unit.pinned else reasons
        scored_units.append(ScoredUnit(unit, relevance, priority, tuple([reason for reason in reasons if reason])))
    return scored_units


class _Mentions:
    """Names that the task, the purpose and the pinned units mention."""

    def __init__(self, pack: ContextPack) -> None:
        self.task_references = _find_paths(pack.task)
        for unit in pack.units:
            if unit.pinned and unit.type == TASK:
                self.task_references.update(unit.references)
        self.pinned_references = _find_paths(pack.purpose)
        for unit in pack.units:
            if unit.pinned:
                self.pinned_references.update(unit.references)
        self.task_subpaths = {path for reference in self.task_references for path in _subpaths(reference)}

    def score_mentions(self, unit: Unit) -> tuple[float, str]:
        """Return how strongly a unit is mentioned, and a description of what mentions it."""
        own_names = _unit_names(unit)
        if self.task_references & own_names or unit.path in self.task_subpaths:
            return _NAMED_BY_TASK, "the task names it"
        if self.pinned_references & own_names:
            return _NAMED_BY_PINNED, "the purpose or an item that is never left out names it"
        shared_references = sorted(
            self.task_references & {*unit.references, *[os.path.basename(reference) for reference in unit.references]}
        )
        if shared_references and not unit.origin:
            return _SHARES_REFERENCE, f"names {shared_references[0]}, which the task is about"
        return 0.0, ""


def _find_paths(text: str) -> set[str]:
    """Return the parts of a text that may be paths or file names."""
    candidates = {path.rstrip(".").removeprefix("./") for path in _PATH.findall(text)}
    return {path for path in candidates if "/" in path or "." in path.strip(".")}


def _subpaths(path: str) -> set[str]:
    """Return the paths that remain after leading directories are removed.

    A task may write `/app/src/a.py` for `src/a.py` in the repository app.
    """
    parts = path.split("/")
    return {"/".join(parts[index:]) for index in range(1, len(parts) - 1)}


def _unit_names(unit: Unit) -> set[str]:
    """Return the names that may refer to a unit: its ID, its path, and the endings of the path."""
    parts = unit.path.split("/") if unit.path else []
    path_suffixes = [
        "/".join(parts[index:]) for index in range(len(parts)) if index < len(parts) - 1 or "." in parts[-1]
    ]
    return {unit.id, *path_suffixes}


def count_newer_by_type(units: Sequence[Unit]) -> dict[str, int]:
    """Count the newer units of the same type for each unit, for types with several units of different age."""
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
    """Describe for people which words a unit shares with the task or the purpose."""
    hits = [hit for hit in hits if hit.is_distinctive]
    if not hits:
        return f"{NO_SHARED_WORD} with the {goal}"
    text = f"{unit.title} {unit.path} {unit.content}".lower()
    is_task = goal == "task" and any([keyword_weights[hit.word] == 1.0 for hit in hits])
    hit_words = [hit.word for hit in hits if not is_task or keyword_weights[hit.word] == 1.0]
    literal_words: list[str] = []
    for word in hit_words:
        if len(literal_words) < 3 and contains_word(text, word):
            literal_words.append(word)
    owner = "task" if is_task else "purpose"
    if not literal_words:
        return f"has other forms of words in the {owner}"
    quoted_words = [f"'{word}'" for word in literal_words]
    if len(quoted_words) == 1:
        return f"{SHARES}the word {quoted_words[0]} with the {owner}"
    return f"{SHARES}the words {', '.join(quoted_words[:-1])} and {quoted_words[-1]} with the {owner}"


def describe_age(unit: Unit, newer_counts: Mapping[str, int]) -> str:
    """Describe the age of a unit relative to others of its type; empty if it has no age."""
    if unit.id not in newer_counts:
        return ""
    count = newer_counts[unit.id]
    if not count:
        return f"the newest of the {_PLURALS[unit.type]}"
    return f"older than {count} other {_PLURALS[unit.type] if count > 1 else unit.type.replace('_', ' ')}"
