"""Pieces made of what a plan has: sentences, tasks, entries of its logs."""

from __future__ import annotations

import re

from execplan.context.summary.piece import MORE, Part, Piece, Said
from execplan.context.summary.words import said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from execplan.context.summary.piece import Subject
    from execplan.context.summary.prose import Sentence
    from execplan.plan.model import Entry, Task

_AUTHOR = re.compile(r"/ [^.:]{1,40}[.:] +")
"""Who wrote a revision note, where it stands between its date and its words."""
MOST = 200
"""The most pieces that are made of one list: of more none has room in a thousand words."""
STEP = 100
"""Ranks between one piece of a list and the next, so that lists of equal standing take turns."""


def of_sentences(subject: Subject, sentences: Sequence[Sentence], rank: int, lead: str = "") -> list[Piece]:
    """A piece for each sentence."""
    made = []
    for at, each in enumerate(sentences[:MOST]):
        words = said(subject, each.words)
        if words:
            made.append(Piece((Said(lead, words),), "", rank + at * STEP, each.start + 1, each.end))
    return made


def of_tasks(subject: Subject, tasks: Sequence[Task], rank: int, *, dated: bool = True) -> list[Piece]:
    """A piece for each task, the first wanted most; those that are done with their date."""
    made = []
    for at, task in enumerate(tasks[:MOST]):
        words = said(subject, task.text)
        stamp = task.stamp if dated and task.mark != " " else None
        if words:
            lead = f"{stamp.date}: " if stamp is not None else ""
            made.append(Piece((Said(lead, words),), "", rank + at * STEP, task.box + 1, task.end))
    return made


def of_entries(
    subject: Subject, entries: Sequence[Entry], rank: int, *, behind: str = "", dated: bool = True
) -> list[Piece]:
    """A piece for each entry, the first wanted most; with `behind`, and after it, its rationale or its evidence."""
    made = []
    for at, entry in enumerate(entries[:MOST]):
        words = said(subject, entry.text[_author(entry.text) :])
        why = said(subject, entry.rationale or entry.evidence or "") if behind else ""
        date = f"{entry.date[:10]}: " if dated and entry.date else ""
        if words:
            parts = [Said(date, words)]
            if why:
                parts.append(Said(f"{stop(words)} {behind}", why))
            made.append(Piece(tuple(parts), "", rank + at * STEP, entry.start + 1, entry.end))
    return made


def _author(words: str) -> int:
    """Where the words begin behind a name."""
    found = _AUTHOR.match(words)
    return found.end() if found is not None else 0


def led(piece: Piece, word: str) -> Piece:
    """A piece behind a word of ours, its date in parentheses."""
    first, *rest = piece.said
    date = first.lead.removesuffix(": ")
    return piece._replace(said=(Said(f"{word} ({date}): " if date else f"{word}: ", first.words), *rest))


def listed(
    name: str, heading: str, pieces: Sequence[Piece], of: Sequence[object], few: int, none: str = "None written down."
) -> Part:
    """A part that says how many there are beside those that it has room for."""
    return Part(name, heading, tuple(pieces), few, MORE, max(0, len(of) - MOST), none)


def stop(words: str) -> str:
    """A full stop where the words end with nothing like one."""
    return "" if words.rstrip("\"'”’»)]*_`").endswith((".", "!", "?", "…", ":", ";", "。", "！", "？", "：")) else "."


def ended(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces as whole sentences, for prose."""
    return [piece._replace(tail=piece.tail + stop(piece.text)) for piece in pieces]
