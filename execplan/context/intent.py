"""What somebody is about to do, by the words of the task."""

from __future__ import annotations

import re

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

GENERIC: Final = "generic"
_SIGNS = {
    "debugging": "bug bugs crash crashes debug error errors exception fail failed failing fails failure fix fixes flaky hang "
    "hangs hunt leak mend regression repair reproduce traceback trace wrong broken diagnose stack",
    "review": "approve audit check critique inspect judge pr proofread quality reread review reviewed reviewer verify "
    "assess compare findings feedback",
    "explanation": "describe document documentation docs explain guide how meaning overview readme summarise summarize "
    "tell tutorial understand walkthrough why what",
    "search": "discover find grep list locate look lookup search survey where which identify inventory trace usages",
    "planning": "architecture decide decision design draft estimate milestone milestones outline plan planning propose "
    "proposal roadmap schedule scope split prioritise prioritize agree",
    "code_generation": "add build code create emit extend generate implement introduce make migrate port read refactor "
    "rename replace support wire write teach parse print return accept remove move store expose convert",
}
"""Words of each intent; of equal counts the first one wins."""
INTENTS = (*_SIGNS, GENERIC)
_FIRST: Final = 3
"""How much more the first word counts, which mostly says what is to be done."""
_WORD = re.compile(r"[^\W\d_]+")


class Intent(NamedTuple):
    """What somebody is about to do."""

    name: str
    confidence: float
    """From 0 to 1, in hundredths."""


def intent(words: str) -> Intent:
    """The intent that most of the words tell; `generic` where none does."""
    found = dict.fromkeys(_SIGNS, 0)
    for at, word in enumerate(_WORD.findall(words.lower())):
        names = [name for name, signs in _TOLD.items() if word in signs]
        for name in names:
            found[name] += 1 if at else _FIRST
    total = sum(found.values())
    if not total:
        return Intent(GENERIC, 0.5)
    best = max(found, key=lambda name: found[name])
    return Intent(best, round((found[best] + 0.5) / (total + 1), 2))


_TOLD = {name: frozenset(words.split()) for name, words in _SIGNS.items()}
