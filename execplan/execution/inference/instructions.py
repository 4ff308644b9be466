"""Selection of the code spans that a sentence says to run: a whole list item, or what follows `Run`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.execution.inference.cue_matching import find_cue
from execplan.execution.inference.cue_table import EXPRESSIONS
from execplan.execution.inference.long_running import starts_detached
from execplan.execution.inference.not_runnable import is_clear_command
from execplan.execution.inference.prose_cues import find_doubt

if TYPE_CHECKING:
    from execplan.execution.inference.section_passages import Sentence, Span

_SPAN_CHAIN = rf"\x01(?:(?:,? {EXPRESSIONS['conjunction']}|[,;+&])\s*(?:again )?\x01)*"
_WHOLE_ITEM = lazy_pattern(rf"[^\w\x01]*({_SPAN_CHAIN})\s*[.;,。]?")
_NUMBER = r"[^\w\x01]*(?:\d+[.)]\s*)?"
_ADVERBS = rf"(?:{EXPRESSIONS['adverb']}[,:]?\s+)*"
_RUN = EXPRESSIONS["run_verb"]
_RUN_INSTRUCTION = lazy_pattern(
    rf"(?:^|[.:;,]\s|\b(?:and|then)\s){_NUMBER}{_ADVERBS}{_RUN}\s+"
    rf"(?:(?:the |all )?(?:[\w/-]+ ){{0,6}}?{EXPRESSIONS['means']}?:?\s*)?({_SPAN_CHAIN})(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_RUN_FROM_DIRECTORY = lazy_pattern(
    rf"^{_NUMBER}{_ADVERBS}{EXPRESSIONS['place_preposition']} [^.;:]{{1,60}}?[ ,]{_RUN}\s+({_SPAN_CHAIN})(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_COLON_AND_SPANS = rf":\s*({_SPAN_CHAIN})\s*[.;]?$"
_IMPERATIVE = lazy_pattern(rf"^[^\w\x01]*{EXPRESSIONS['imperative']}[\w/ '-]{{0,40}}{_COLON_AND_SPANS}")
"""Instruction at the start of an item, with its command after a colon."""
_LEADING_RUN = lazy_pattern(rf"^{_NUMBER}{_ADVERBS}{_RUN}\b", re.IGNORECASE)
_IN_DIRECTORY = lazy_pattern(
    rf"^[^\w\x01]*{EXPRESSIONS['directory_preposition']} (?:the )?(?:\x01|[\w' -]{{1,40}}){_COLON_AND_SPANS}",
    re.IGNORECASE,
)
_LABELED = lazy_pattern(rf"^[^\w\x01]*[A-Z][\w/ &'()-]{{1,60}}{_COLON_AND_SPANS}")
_CONTINUATION = lazy_pattern(rf"^\s*(?:$|[.;:,)]|{EXPRESSIONS['continuation']}|[-–—(])", re.IGNORECASE)


class Instructions:
    """The code spans that a sentence says to run, and those that were skipped."""

    def __init__(self, to_run: list[Span], skipped: list[tuple[Span, str]]) -> None:
        self.to_run = to_run
        self.skipped = skipped


def find_instructions(
    sentence: Sentence, *, is_whole_item: bool, is_command_list: bool, is_unintroduced: bool, has_directory: bool
) -> Instructions:
    """Return the code spans that a sentence says to run, and the skipped commands.

    `is_whole_item`: the sentence is a whole list item. `is_command_list`: the text above calls the list one of
    commands. `is_unintroduced`: no text introduces the list. `has_directory`: the sentence names the directory.
    """
    command_spans = [
        span
        for span in sentence.spans
        if (" " in span.code and is_clear_command(span.code, is_called_command=True)) or is_clear_command(span.code)
    ]
    if not sentence.spans:
        return Instructions([], [])
    chain, rest = "", ""
    match = _WHOLE_ITEM.fullmatch(sentence.shape) if is_whole_item else None
    if match is None and is_whole_item:
        match = (
            _LABELED.search(sentence.shape)
            if is_command_list
            else _IMPERATIVE.search(sentence.shape)
            if is_unintroduced
            else None
        )
    if match is None and is_whole_item and has_directory:
        match = _IN_DIRECTORY.search(sentence.shape)
    if match is not None:
        chain = match.group(1)
        first_span = sentence.shape[: match.start(1)].count("\x01")
    elif (match := _RUN_INSTRUCTION.search(sentence.shape) or _RUN_FROM_DIRECTORY.search(sentence.shape)) is not None:
        chain, rest = match.group(1), match.group("rest")
        first_span = sentence.shape[: match.start(1)].count("\x01")
    else:
        return Instructions(
            [], [(span, "is in a sentence that doesn't clearly say to run it") for span in command_spans]
        )
    chosen_spans = sentence.spans[first_span : first_span + chain.count("\x01")]
    other_spans = [span for span in command_spans if span not in chosen_spans]
    is_called_command = (
        (is_whole_item and bool(is_command_list)) or bool(rest) or _LEADING_RUN.match(sentence.shape) is not None
    )
    if not all([is_clear_command(span.code, is_called_command=is_called_command) for span in chosen_spans]):
        return Instructions(
            [], [(span, "is in a sentence with something that is not a command") for span in command_spans]
        )
    if not _CONTINUATION.match(rest) and not (has_directory and find_cue("directory_continuation", rest)):
        return Instructions(
            [],
            [(span, "is in a sentence that continues in a way that is not understood") for span in command_spans],
        )
    why = find_doubt(sentence.text, returns_at_once=all([starts_detached(span.code) for span in chosen_spans]))
    if why:
        return Instructions([], [(span, why) for span in command_spans])
    return Instructions(
        list(chosen_spans), [(span, "is in a sentence that instructs to run another command") for span in other_spans]
    )
