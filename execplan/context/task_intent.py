"""Classification of what a task is about to do, by its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from execplan.core.named_tuple import NamedTuple

GENERIC: Final = "generic"
_INTENT_WORDS = {
    "debugging": "bug crash debug diagnose error exception fail failure fix flaky hang leak mend regression repair reproduce "
    "stack trace traceback wrong broken",
    "review": "approve assess audit check compare critique feedback finding inspect judge proofread reread review reviewer verify",
    "explanation": "describe document documentation explain guide how meaning overview readme summarise summarize tell tutorial "
    "understand walkthrough why",
    "search": "discover find grep identify inventory list locate look lookup search survey usage where which",
    "planning": "agree architecture decide decision design draft estimate outline prioritise prioritize proposal propose "
    "roadmap schedule",
    "code_generation": "accept add build code convert create emit ensure expose extend extract generate implement integrate introduce make "
    "migrate move parse port refactor remove rename replace return split store support teach update wire write",
}
"""Words of each intent; if scores are equal, the first intent wins."""
INTENTS = (*_INTENT_WORDS, GENERIC)
_INTENT_BY_WORD = {word: name for name, intent_words in _INTENT_WORDS.items() for word in intent_words.split()}
_FIRST_WORD_WEIGHT: Final = 3
"""Weight of the first word, which usually states the activity."""
_CODE_OR_PATH = re.compile(r"`[^`]*`|(?<![^\s/_`])[^\s/_]*+[/_]\S*")
"""Pattern for code and paths, whose words say nothing about the activity."""
_WORD = re.compile(r"[^\W\d_]+")
_SUFFIXES = ("", "s", "d", "ed", "es", "ing")


class TaskIntent(NamedTuple):
    """Classified intent of a task, with its confidence."""

    name: str
    confidence: float
    """Confidence from 0 to 1, with two decimals."""


def classify_intent(text: str) -> TaskIntent:
    """Return the intent with the highest score of matching words; `generic` if no word matches."""
    scores = dict.fromkeys(_INTENT_WORDS, 0)
    for index, word in enumerate(_WORD.findall(_CODE_OR_PATH.sub(" ", text).lower())):
        name = next((_INTENT_BY_WORD[form] for form in _base_forms(word) if form in _INTENT_BY_WORD), None)
        if name is not None:
            scores[name] += 1 if index else _FIRST_WORD_WEIGHT
    total = sum(scores.values())
    if not total:
        return TaskIntent(GENERIC, 0.5)
    best = max(scores, key=lambda name: scores[name])
    return TaskIntent(best, round((scores[best] + 0.5) / (total + 1), 2))


def _base_forms(word: str) -> Iterator[str]:
    """Yield the word and its possible base forms."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix):
            stem = word.removesuffix(suffix)
            yield from (stem, stem + "e")
            if stem[-1:] == stem[-2:-1]:
                yield stem[:-1]
