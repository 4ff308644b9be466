"""Which code spans of a sentence it tells to run: all of an item, or what follows `Run`."""

from __future__ import annotations

import re

from execplan.execution.wild.said import doubt
from execplan.execution.wild.stays import detaches
from execplan.execution.wild.unfit import is_typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.execution.wild.places import Sentence, Span

_JOINT = r"(?:,? (?:and then|then|and|followed by|plus)|[,;+&])\s*(?:again )?"
_CHAIN = rf"\x01(?:{_JOINT}\x01)*"
_WHOLE = re.compile(rf"[^\w\x01]*({_CHAIN})\s*[.;,。]?")
_ADVERBS = r"(?:(?:then|next|finally|now|first|second|third|fourth|lastly|also|again|after that|afterwards?|locally|please)[,:]?\s+)*"
_ORDER = re.compile(
    rf"(?:^|[.:;,]\s|\b(?:and|then)\s)[^\w\x01]*(?:\d+[.)]\s*)?{_ADVERBS}(?:re-?)?(?:run|execute)\s+(?:(?:the |all )?(?:[\w/-]+ ){{0,6}}?(?:with|via|using|through|by running|command|commands)?:?\s*)?({_CHAIN})(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_FROM_THERE = re.compile(
    rf"^[^\w\x01]*(?:\d+[.)]\s*)?{_ADVERBS}(?:from|in|inside|within|at) [^.;:]{{1,60}}?[ ,](?:re-?)?(?:run|execute)\s+({_CHAIN})(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_IMPERATIVE = re.compile(
    rf"^[^\w\x01]*(?:Re-?)?(?:Install|Build|Test|Lint|Format|Type-?check|Check|Verify|Compile|Generate|Regenerate|Create|Commit|Stage|Fetch|Apply|Migrate|Seed|Sync)\b[\w/ '-]{{0,40}}:\s*({_CHAIN})\s*[.;]?$"
)
"""What an item is to do, and the command for it behind a colon."""
_RUN_FIRST = re.compile(rf"^[^\w\x01]*(?:\d+[.)]\s*)?{_ADVERBS}(?:re-?)?(?:run|execute)\b", re.IGNORECASE)
_PLACED = re.compile(
    rf"^[^\w\x01]*(?:from|in|inside|within) (?:the )?(?:\x01|[\w' -]{{1,40}}):\s*({_CHAIN})\s*[.;]?$", re.IGNORECASE
)
_LABEL = re.compile(rf"^[^\w\x01]*[A-Z][\w/ &'()-]{{1,60}}:\s*({_CHAIN})\s*[.;]?$")
_GOES_ON = re.compile(r"^\s*(?:$|[.;:,)]|(?:and|then|to|so|again|once more|in order)\b|[-–—(])", re.IGNORECASE)
_SOMEWHERE = re.compile(r"^\s*(?:(?:again|once more|both|all) )?(?:from|in|inside|within|at)\b", re.IGNORECASE)


class Orders:
    """The spans that a sentence tells to run, and what was not taken of it."""

    def __init__(self, taken: list[Span], left: list[tuple[Span, str]]) -> None:
        self.taken = taken
        self.left = left


def orders(sentence: Sentence, *, whole: bool, listed: bool, free: bool, placed: bool) -> Orders:
    """What a sentence tells to run.

    `whole` says that the sentence is all of its list item, `listed` that the words above the list call it one of commands,
    `free` that no words lead to the list, `placed` that the sentence tells the folder.
    """
    typed = [
        span for span in sentence.spans if (" " in span.code and is_typed(span.code, told=True)) or is_typed(span.code)
    ]
    if not sentence.spans:
        return Orders([], [])
    chain, rest = "", ""
    found = _WHOLE.fullmatch(sentence.shape) if whole else None
    if found is None and whole:
        found = _LABEL.search(sentence.shape) if listed else _IMPERATIVE.search(sentence.shape) if free else None
    if found is None and whole and placed:
        found = _PLACED.search(sentence.shape)
    if found is not None:
        chain = found.group(1)
        first = sentence.shape[: found.start(1)].count("\x01")
    elif (found := _ORDER.search(sentence.shape) or _FROM_THERE.search(sentence.shape)) is not None:
        chain, rest = found.group(1), found.group("rest")
        first = sentence.shape[: found.start(1)].count("\x01")
    else:
        return Orders([], [(span, "is named in a sentence that does not plainly tell to run it") for span in typed])
    chosen = sentence.spans[first : first + chain.count("\x01")]
    others = [span for span in typed if span not in chosen]
    told = (whole and bool(listed)) or bool(rest) or _RUN_FIRST.match(sentence.shape) is not None
    if not all([is_typed(span.code, told=told) for span in chosen]):
        return Orders([], [(span, "is named in a sentence beside what is no command") for span in typed])
    if not _GOES_ON.match(rest) and not (placed and _SOMEWHERE.match(rest)):
        return Orders(
            [], [(span, "is named in a sentence that goes on in a way that is not understood") for span in typed]
        )
    why = doubt(sentence.words, ends=all([detaches(span.code) for span in chosen]))
    if why:
        return Orders([], [(span, why) for span in typed])
    return Orders(list(chosen), [(span, "is named in a sentence that tells to run another") for span in others])
