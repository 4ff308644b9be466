"""How relevant each unit is to what is done next, and why."""

from __future__ import annotations

import os
import re
from collections import Counter

from execplan.context.match import match, total
from execplan.context.unit import (
    ARTIFACT,
    DECISION,
    DIFF,
    DISCOVERY,
    FILE,
    INSTRUCTION,
    MESSAGE,
    PLAN,
    SECTION,
    TASK,
    TOOL_RESULT,
    Pack,
    Unit,
)
from execplan.context.words import holds, words
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

    from execplan.context.intent import Intent
    from execplan.context.match import Hit

_PURPOSE: Final = 0.3
"""What a word of the purpose weighs beside one of the task."""
_MOST_WORDS: Final = (48, 64)
"""How many words of the task and of the purpose are looked for."""
_KINDS = {
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
_WANTED = {
    "debugging": {TOOL_RESULT: 0.4, DISCOVERY: 0.2, DIFF: 0.2},
    "review": {DIFF: 0.2, FILE: 0.2},
    "planning": {SECTION: 0.2, DECISION: 0.3},
    "explanation": {SECTION: 0.2, DISCOVERY: 0.2},
    "search": {FILE: 0.3},
    "code_generation": {FILE: 0.2},
}
"""What is added for an intent."""
_TALK = (MESSAGE, TOOL_RESULT)
_WEIGHTS = {**dict.fromkeys(_TALK, (0.35, 0.15, 0.35, 0.15)), FILE: (0.3, 0.35, 0.15, 0.2)}
_OTHERWISE: Final = (0.45, 0.2, 0.15, 0.2)
"""What counts how much: shared words, being named, being new, the type. `scripts/context_recall.py` tells what files need."""
_PARTS: Final = 5
"""In so many parts of the plan a file is named that all of it is about."""
_NEWER: Final = 8
"""So many newer ones halve what being new counts."""
_NAMED, _LED, _ABOUT = 1.0, 0.7, 0.4
"""What it counts that the task names a unit, that what is printed anyway names it, that it names what the task is about."""
_NO_WORD: Final = "shares no telling word"
_SURE: Final = 0.85
"""What a unit that the task names has at least."""
_PATH = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)*")
_PLURALS = {
    DIFF: "diffs",
    DISCOVERY: "discoveries",
    TOOL_RESULT: "outputs of tools",
    **{name: f"{name}s" for name in (SECTION, TASK, DECISION, FILE, ARTIFACT, MESSAGE, INSTRUCTION)},
}


class Scored(NamedTuple):
    """A unit, and how relevant it is."""

    unit: Unit
    relevance: float
    """From 0 to 1."""
    priority: int
    """From 0 to 100; of what is never left out at least 95."""
    reasons: tuple[str, ...]
    """The strongest first."""


def score(pack: Pack, intent: Intent) -> list[Scored]:
    """How relevant the units are, in their order; raises ExecplanError where SQLite can't search texts."""
    weights = dict.fromkeys(words(pack.purpose)[: _MOST_WORDS[1]], _PURPOSE)
    weights |= dict.fromkeys(words(pack.task)[: _MOST_WORDS[0]], 1.0)
    hits = match([(f"{unit.title} {unit.path}", unit.content) for unit in pack.units], weights)
    free = [total(each) for unit, each in zip(pack.units, hits, strict=True) if not unit.pinned]
    best = max(free, default=0.0) or 1.0
    names, newer = _Names(pack), newer_of_its_type(pack.units)
    goal = "task" if pack.task else "purpose"
    scored = []
    for unit, each in zip(pack.units, hits, strict=True):
        named, why = names.of(unit)
        near = min(total(each) / best, 1.0)
        recent = 1 / (1 + newer[unit.id] / _NEWER) if unit.id in newer else 0.0
        useful = min(_KINDS[unit.type] + _WANTED.get(intent.name, {}).get(unit.type, 0.0), 1.0)
        parts = _WEIGHTS.get(unit.type, _OTHERWISE)
        relevance = sum([part * of for part, of in zip(parts, (near, named, recent, useful), strict=True)])
        if named == _NAMED or unit.type == INSTRUCTION:
            relevance = max(relevance, _SURE)
        relevance = round(min(relevance, 1.0), 4)
        priority = 95 + round(5 * relevance) if unit.pinned else min(round(100 * relevance), 94)
        shared = _shared(unit, each, weights, goal)
        shared = "" if why and shared.startswith(_NO_WORD) else shared
        reasons = [unit.pinned] if unit.pinned else [why, shared, age(unit, newer)]
        scored.append(Scored(unit, relevance, priority, tuple([reason for reason in reasons if reason])))
    return scored


class _Names:
    """What is named by the task, and by what is printed anyway."""

    def __init__(self, pack: Pack) -> None:
        self.task = _paths(pack.task)
        for unit in pack.units:
            if unit.pinned and unit.type == TASK:
                self.task.update(unit.references)
        self.led = _paths(pack.purpose)
        for unit in pack.units:
            if unit.pinned:
                self.led.update(unit.references)
        self.parts = Counter([path for unit in pack.units if unit.type in PLAN for path in unit.references])
        self.below = {path for each in self.task for path in _below(each)}

    def of(self, unit: Unit) -> tuple[float, str]:
        """How strongly a unit is named, and by what, in words."""
        own = _own(unit)
        if self.task & own or unit.path in self.below:
            return _NAMED, "the task names it"
        if self.led & own:
            return _LED, "the purpose, or what is never left out, names it"
        shared = sorted(self.task & {*unit.references, *[os.path.basename(each) for each in unit.references]})
        count = self.parts[unit.path] if unit.path else 0
        spread = round(_LED * min(count, _PARTS) / _PARTS, 2)
        if shared and spread < _ABOUT:
            return _ABOUT, f"names {shared[0]}, which the task is about"
        named = "1 part of the plan names it" if count == 1 else f"{count} parts of the plan name it"
        return spread, named if count else ""


def _paths(text: str) -> set[str]:
    """What may be a path or the name of a file in a text."""
    found = {each.rstrip(".").removeprefix("./") for each in _PATH.findall(text)}
    return {each for each in found if "/" in each or "." in each.strip(".")}


def _below(path: str) -> set[str]:
    """What a path may be from a root that it names: a task may say `/app/src/a.py` of `src/a.py` in the repository app."""
    parts = path.split("/")
    return {"/".join(parts[at:]) for at in range(1, len(parts) - 1)}


def _own(unit: Unit) -> set[str]:
    """What a unit may be called: its id, its path, the ends of the path."""
    parts = unit.path.split("/") if unit.path else []
    ends = ["/".join(parts[at:]) for at in range(len(parts)) if at < len(parts) - 1 or "." in parts[-1]]
    return {unit.id, *ends}


def newer_of_its_type(units: Sequence[Unit]) -> dict[str, int]:
    """How many units of its type are newer than each, where there are several and they have an age."""
    newer: dict[str, int] = {}
    for kind in (*_TALK, FILE, DECISION, DISCOVERY, ARTIFACT):
        orders = sorted([unit.order for unit in units if unit.type == kind])
        if len(set(orders)) > 1:
            from bisect import bisect_right

            newer |= {unit.id: len(orders) - bisect_right(orders, unit.order) for unit in units if unit.type == kind}
    return newer


def _shared(unit: Unit, hits: Sequence[Hit], weights: Mapping[str, float], goal: str) -> str:
    """Which words it shares with the task or the purpose, for people."""
    hits = [hit for hit in hits if hit.tells]
    if not hits:
        return f"{_NO_WORD} with the {goal}"
    text = f"{unit.title} {unit.path} {unit.content}".lower()
    of_task = goal == "task" and any([weights[hit.word] == 1.0 for hit in hits])
    told = [hit.word for hit in hits if not of_task or weights[hit.word] == 1.0]
    found: list[str] = []
    for word in told:
        if len(found) < 3 and holds(text, word):
            found.append(word)
    whose = "task" if of_task else "purpose"
    if not found:
        return f"has words of the {whose} in other forms"
    listed = " and ".join([", ".join(found[:-1]), found[-1]]) if len(found) > 1 else found[0]
    return f"shares {listed} with the {whose}"


def age(unit: Unit, newer: Mapping[str, int]) -> str:
    """How old it is beside others of its type."""
    if unit.id not in newer:
        return ""
    count = newer[unit.id]
    if not count:
        return f"the newest of the {_PLURALS[unit.type]}"
    return f"older than {count} other {_PLURALS[unit.type] if count > 1 else unit.type.replace('_', ' ')}"
