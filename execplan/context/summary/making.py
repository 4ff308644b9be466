"""Pieces made of what a plan has: sentences, tasks, entries of its logs."""

from __future__ import annotations

import re

from execplan.context.summary.piece import MORE_LABEL, SummarySection, SummaryPiece, Segment
from execplan.context.summary.words import quote_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from execplan.context.summary.piece import Subject
    from execplan.context.summary.prose import Sentence
    from execplan.plan.model import Entry, Task

_AUTHOR_PREFIX = re.compile(r"/ [^.:]{1,40}[.:] +")
"""Who wrote a revision note, where it stands between its date and its words."""
MAX_PIECES = 200
"""The most pieces that are made of one list: of more none has room in a thousand words."""
RANK_STEP = 100
"""Ranks between one piece of a list and the next, so that lists of equal standing take turns."""


def sentence_pieces(subject: Subject, sentences: Sequence[Sentence], rank: int, lead: str = "") -> list[SummaryPiece]:
    """A piece for each sentence."""
    pieces = []
    for index, sentence in enumerate(sentences[:MAX_PIECES]):
        quote = quote_text(subject, sentence.text)
        if quote:
            pieces.append(SummaryPiece((Segment(lead, quote),), "", rank + index * RANK_STEP, sentence.start + 1, sentence.end))
    return pieces


def task_pieces(subject: Subject, tasks: Sequence[Task], rank: int, *, dated: bool = True) -> list[SummaryPiece]:
    """A piece for each task, the first wanted most; those that are done with their date."""
    pieces = []
    for index, task in enumerate(tasks[:MAX_PIECES]):
        quote = quote_text(subject, task.text)
        timestamp = task.timestamp if dated and task.mark != " " else None
        if quote:
            lead = f"{timestamp.date}: " if timestamp is not None else ""
            pieces.append(SummaryPiece((Segment(lead, quote),), "", rank + index * RANK_STEP, task.box_line + 1, task.end))
    return pieces


def entry_pieces(
    subject: Subject, entries: Sequence[Entry], rank: int, *, detail_label: str = "", dated: bool = True
) -> list[SummaryPiece]:
    """A piece for each entry, the first wanted most; with `detail_label`, and after it, its rationale or its evidence."""
    pieces = []
    for index, entry in enumerate(entries[:MAX_PIECES]):
        quote = quote_text(subject, entry.text[_author_end(entry.text) :])
        detail = quote_text(subject, entry.rationale or entry.evidence or "") if detail_label else ""
        date = f"{entry.date[:10]}: " if dated and entry.date else ""
        if quote:
            segments = [Segment(date, quote)]
            if detail:
                segments.append(Segment(f"{missing_full_stop(quote)} {detail_label}", detail))
            pieces.append(SummaryPiece(tuple(segments), "", rank + index * RANK_STEP, entry.start + 1, entry.end))
    return pieces


def _author_end(text: str) -> int:
    """Where the words begin behind a name."""
    match = _AUTHOR_PREFIX.match(text)
    return match.end() if match is not None else 0


def with_label(piece: SummaryPiece, label: str) -> SummaryPiece:
    """A piece behind a word of ours, its date in parentheses."""
    first_segment, *other_segments = piece.segments
    date = first_segment.lead.removesuffix(": ")
    return piece._replace(segments=(Segment(f"{label} ({date}): " if date else f"{label}: ", first_segment.quote), *other_segments))


def list_section(
    name: str, heading: str, pieces: Sequence[SummaryPiece], source: Sequence[object], max_pieces: int, empty_text: str = "None written down."
) -> SummarySection:
    """A part that says how many there are beside those that it has room for."""
    return SummarySection(name, heading, tuple(pieces), max_pieces, MORE_LABEL, max(0, len(source) - MAX_PIECES), empty_text)


def missing_full_stop(text: str) -> str:
    """A full stop where the words end with nothing like one."""
    return "" if text.rstrip("\"'”’»)]*_`").endswith((".", "!", "?", "…", ":", ";", "。", "！", "？", "：")) else "."


def as_sentences(pieces: Iterable[SummaryPiece]) -> list[SummaryPiece]:
    """The pieces as whole sentences, for prose."""
    return [piece._replace(tail=piece.tail + missing_full_stop(piece.text)) for piece in pieces]
