"""What somebody is about to do, by the words of the task."""

from __future__ import annotations

import re

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

GENERIC: Final = "generic"
_SIGNS = {
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
"""Words of each intent; of equal counts the first one wins."""
INTENTS = (*_SIGNS, GENERIC)
_TOLD = {word: name for name, signs in _SIGNS.items() for word in signs.split()}
_FIRST: Final = 3
"""How much more the first word counts, which mostly says what is to be done."""
_NAMES = re.compile(r"`[^`]*`|\S*[/_]\S*")
"""What names something: code and paths, whose words say nothing about what is to be done."""
_WORD = re.compile(r"[^\W\d_]+")
_ENDS = ("", "s", "d", "ed", "es", "ing")


class Intent(NamedTuple):
    """What somebody is about to do."""

    name: str
    confidence: float
    """From 0 to 1, in hundredths."""


def intent(words: str) -> Intent:
    """The intent that most of the words tell; `generic` where none does."""
    found = dict.fromkeys(_SIGNS, 0)
    for at, word in enumerate(_WORD.findall(_NAMES.sub(" ", words).lower())):
        name = next((_TOLD[form] for form in _forms(word) if form in _TOLD), None)
        if name is not None:
            found[name] += 1 if at else _FIRST
    total = sum(found.values())
    if not total:
        return Intent(GENERIC, 0.5)
    best = max(found, key=lambda name: found[name])
    return Intent(best, round((found[best] + 0.5) / (total + 1), 2))


def _forms(word: str) -> Iterator[str]:
    """The word, and what it may be a form of."""
    for end in _ENDS:
        if word.endswith(end):
            root = word.removesuffix(end)
            yield from (root, root + "e")
            if root[-1:] == root[-2:-1]:
                yield root[:-1]
