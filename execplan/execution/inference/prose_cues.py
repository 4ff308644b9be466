"""Cues in the text around a command that it is not a step: a condition, a choice, a report of past work.

The phrases of each cue are in cues.toml, and compiled to a pattern when they are first used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from re import Match, Pattern

from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.execution.inference.cue_table import CASE_SENSITIVE, EXPRESSIONS

_CODE_SPAN = lazy_pattern(r"(?<!`)(`++)(?:(?!\1).)*?\1")
_SENTENCE_END = lazy_pattern(r"(?<=[.!?;。])\s+|(?<=:)\s+(?=[A-Z`])")
CONDITION = "runs only under a condition"
KEEPS_RUNNING = "is done by hand, or keeps running"
CHOICE = "is one of several alternatives"
ELSEWHERE = "is for another machine, terminal or system"
TO_BE_WRITTEN = "is to be written somewhere, not run"
IS_OUTPUT = "is where the plan shows output"
IS_RECORD = "is where the plan describes past work"
NOT_SAID_TO_RUN = "is in a sentence that doesn't clearly say to run it"
_REASONS = {
    "forbidden": "is next to text that says not to run something",
    "choice": CHOICE,
    "condition": CONDITION,
    "output": IS_OUTPUT,
    "past_work": IS_RECORD,
    "writing": TO_BE_WRITTEN,
    "elsewhere": ELSEWHERE,
    "by_hand": KEEPS_RUNNING,
    "starts_service": KEEPS_RUNNING,
}
"""Reasons for doubt by cue; the first cue in a sentence gives the reason."""


@cache
def cue_pattern(cue: str) -> Pattern[str]:
    """Return the pattern that matches any phrase of a cue."""
    return re.compile(EXPRESSIONS[cue], 0 if cue in CASE_SENSITIVE else re.IGNORECASE)


def find_cue(cue: str, text: str) -> Match[str] | None:
    """Return the first match of a cue in a text, or None."""
    return cue_pattern(cue).search(text)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph; code spans are not split."""
    code_spans: list[str] = []

    def hide(match: re.Match[str]) -> str:
        code_spans.append(match.group())
        return f"\x00{len(code_spans) - 1}\x00"

    fragments = _SENTENCE_END.split(_CODE_SPAN.sub(hide, text))
    return [
        re.sub(r"\x00(\d+)\x00", lambda match: code_spans[int(match.group(1))], fragment)
        for fragment in fragments
        if fragment.strip()
    ]


def find_doubt(sentence: str, *, returns_at_once: bool = False) -> str:
    """Return why commands in a sentence may not be meant to run as written, phrased to follow `it `, or empty text.

    `returns_at_once` means that the command returns at once although it starts something.
    """
    normalized = _CODE_SPAN.sub("`x`", sentence)
    normalized = cue_pattern("not_conditional").sub("run", normalized)
    if find_cue("file_content", sentence) and not find_cue("run", normalized):
        return TO_BE_WRITTEN
    instruction, _, outcome = normalized.partition(" and expect ")
    if find_cue("run", instruction) and not find_cue("expects_failure", outcome):
        normalized = instruction
    return next(
        (
            reason
            for cue, reason in _REASONS.items()
            if not (returns_at_once and cue == "starts_service") and find_cue(cue, normalized)
        ),
        "",
    )


def find_doubt_in_lead(lead: str, *, returns_at_once: bool = False) -> str:
    """Return the reason for doubt in a text that introduces commands, from its first and last sentences."""
    lead_sentences = split_sentences(lead)
    reasons = [
        why
        for sentence in dict.fromkeys([*lead_sentences[-1:], *lead_sentences[:1]])
        if (why := find_doubt(sentence, returns_at_once=returns_at_once))
    ]
    if (
        reasons == [TO_BE_WRITTEN]
        and not find_doubt(lead_sentences[-1])
        and (find_cue("run", lead_sentences[-1]) or find_cue("next_action", lead_sentences[-1]))
    ):
        return ""  # write this, then run that
    return reasons[0] if reasons else ""


def find_doubt_in_tail(tail: str, lines: Sequence[str] = ()) -> str:
    """Return the reason for doubt in the text after `lines`, which may only revoke the command or say that it fails."""
    first_sentence = next(iter(split_sentences(tail)), "")
    forbidden = find_cue("forbidden_command", first_sentence)
    if forbidden is not None and lines and not any([forbidden[1] in line for line in lines]):
        return ""  # it refers to another command
    if find_cue("turns_green", first_sentence):
        return ""
    normalized = _CODE_SPAN.sub("`x`", first_sentence)
    if find_cue("other_way", normalized):
        return CHOICE
    if find_cue("will_fail", normalized):
        return "is expected to fail"
    return CONDITION if find_cue("revoked", normalized) else ""


def find_doubt_in_context(context: Iterable[str], *, returns_at_once: bool = False) -> str:
    """Return the first reason for doubt in the texts above, nearest first."""
    return next((why for text in context if (why := find_doubt_in_lead(text, returns_at_once=returns_at_once))), "")


def is_past_record(context: Sequence[str], tail: str) -> bool:
    """Return whether the text reports a past occasion.

    It does if the text before names an occasion without an instruction to run something, and a dated result follows.
    """
    lead = context[0] if context else ""
    return (
        find_cue("result", tail) is not None
        and find_cue("date", tail) is not None
        and find_cue("occasion", lead) is not None
        and find_cue("run", lead) is None
    )
