"""Entries of a log in three versions → one, and what two sides decided against each other."""

from __future__ import annotations

from execplan.clock import read_timestamp
from execplan.plan.logs import is_newest_first
from execplan.plan.merging.clerk import quote_text
from execplan.plan.merging.match import likeness, split_words
from execplan.plan.seek import normalize_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.merging.clerk import MergeContext
    from execplan.plan.merging.sequence import UnitVersions
    from execplan.plan.merging.units import Unit
    from execplan.plan.model import Entry

_NEGATIVE_WORDS = frozenset(
    "not no never don t dont won cannot can without avoid drop remove reject disable forbid exclude skip stop".split()
)
_NEUTRAL_WORDS = frozenset("do use adopt keep add enable allow include will always with we the a an it to".split())
_SAME_SUBJECT = 0.8
_MAX_DECISIONS = 100
"""New decisions of a side that are compared with those of the other."""


def merge_entry(context: MergeContext, base: Unit | None, ours: Unit, theirs: Unit) -> list[str]:
    """The lines of an entry that both sides have."""
    our_lines, their_lines = ours.lines, theirs.lines
    if base is None:
        return list(min(ours, theirs, key=_entry_order).lines)
    base_lines = base.lines
    if our_lines == their_lines or _normalize_lines(their_lines) == _normalize_lines(base_lines):
        return list(our_lines if our_lines != base_lines else their_lines)
    if _normalize_lines(our_lines) == _normalize_lines(base_lines):
        return list(their_lines)
    if _normalize_lines(our_lines) == _normalize_lines(their_lines):
        return list(min(our_lines, their_lines))
    return context.write_conflict(our_lines, their_lines)


def entry_date(unit: Unit) -> str | None:
    """The date of an entry with its time, so that it can be compared."""
    date = unit.entry.date if unit.entry is not None else None
    return date.replace("T", " ")[:16] if date else None


def is_newest_first_log(versions: UnitVersions) -> bool:
    """Whether the log has the newest first, in any version."""
    return any([is_newest_first([unit.entry for unit in side if unit.entry is not None]) for side in versions])


def report_contradictions(context: MergeContext, ours: Sequence[Entry], theirs: Sequence[Entry]) -> None:
    """Note new decisions of the two sides that speak against each other, or that supersede the same one."""
    our_decisions, their_decisions = [[_ComparedDecision(log_entry) for log_entry in side] for side in (ours[:_MAX_DECISIONS], theirs[:_MAX_DECISIONS])]
    for our_decision in our_decisions:
        for their_decision in their_decisions:
            pair_text = f"{quote_text(our_decision.entry.text)} and {quote_text(their_decision.entry.text)}"
            if our_decision.superseded and our_decision.superseded == their_decision.superseded:
                context.add_note(f"{pair_text} both supersede {quote_text(our_decision.entry.supersedes or '')}: both are kept")
            elif our_decision.is_negative != their_decision.is_negative and our_decision.subject_words and likeness(our_decision.subject_words, their_decision.subject_words) >= _SAME_SUBJECT:
                context.add_note(f"{pair_text} were decided against each other: both are kept")


class _ComparedDecision:
    """A decision as it is compared: what it is about, whether it says yes or no to it, and what it supersedes."""

    def __init__(self, entry: Entry) -> None:
        entry_words = split_words(entry.text)
        self.entry = entry
        self.superseded = _strip_date(normalize_text(entry.supersedes or ""))
        self.is_negative = len(_NEGATIVE_WORDS.intersection(entry_words)) % 2
        self.subject_words = frozenset(entry_words) - _NEGATIVE_WORDS - _NEUTRAL_WORDS


def _strip_date(text: str) -> str:
    """What a decision supersedes without its date, which one of two may leave out."""
    head, bracket, tail = text.rpartition(" (")
    return head if bracket and tail.endswith(")") and read_timestamp(tail[:-1]) is not None else text


def _normalize_lines(lines: Sequence[str]) -> str:
    return normalize_text(" ".join(lines))


def _entry_order(unit: Unit) -> tuple[str, tuple[str, ...]]:
    """Of two equal entries the one that was written first, for a choice that does not depend on the side."""
    return (entry_date(unit) or "9999", unit.lines)
