"""Building blocks of a summary: pieces that quote the plan, sections, and the length limits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from execplan.context.summary.plan_sentences import Sentence, first_sentences
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import OTHER, Entry, ParsedPlan, Task
from execplan.core.text.invisible_characters import may_have_hidden, replace_hidden

_COMMENT = re.compile(r"<!--.*?(?:-->|$)")
_CODE_FENCE = re.compile(r"(?:^|\s)(?:```|~~~).*")
_INLINE_LIST = re.compile(r"(?<=[:：])\s[-*+]\s.*")
_DATE_LABEL = re.compile(
    r"^\W{0,3}\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?(?: ?(?:Z|UTC|[A-Z]{3,4}|[+-]\d\d:?\d\d))?\W{0,4}\s"
    r"|\s\W{0,3}Date(?:/Author)?:.*"
)
"""A date before a text, or at its end with a label."""
_BLOCK_START = re.compile(r"#{1,6}(?:\s|$)|[-+*](?:\s|$)|[>|]|~~~|```|=+$|(\d{1,9})[.)](?:\s|$)")
_MAX_PARAGRAPH_CHARS = 20_000
"""Maximum characters that are read from a paragraph."""


def quote_text(subject: Subject, text: str) -> str:
    """Quote the first sentences of a plan text in the markup of the form; empty if no words are left."""
    line = _COMMENT.sub(" ", text[:_MAX_PARAGRAPH_CHARS])
    line = " ".join(_INLINE_LIST.sub("", _CODE_FENCE.sub("", line)).split())
    line = _DATE_LABEL.sub("", line)
    return format_markup(subject, first_sentences(line, subject.length.max_sentence_words))


def format_markup(subject: Subject, text: str) -> str:
    """Return a text with its Markdown or as plain text, so that it can't start a Markdown block."""
    if subject.markup:
        text = _escape_block_start(text)
    else:
        from execplan.core.text.inline_markdown import plain_text

        text = " ".join(plain_text(text).split())
    return escape_hidden(text)


def _escape_block_start(text: str) -> str:
    """Escape a text that would start a heading, list, quote, table or code block."""
    match = _BLOCK_START.match(text)
    if match is None:
        return text
    escape_index = len(match[1] or "")
    return f"{text[:escape_index]}\\{text[escape_index:]}"


def escape_hidden(text: str) -> str:
    """Escape each hidden character in a line."""
    if not may_have_hidden(text):
        return text
    return replace_hidden(text, lambda run: "".join([f"\\u{{{ord(char):x}}}" for char in run]))


_AUTHOR_PREFIX = re.compile(r"/ [^.:]{1,40}[.:] +")
"""Pattern for the author of a revision note, between its date and its text."""
MAX_PIECES = 200
"""Maximum number of pieces made from one list; more than this never fit into a thousand words."""
RANK_STEP = 100
"""Distance between the ranks of consecutive list pieces, so that equally important lists alternate."""


def sentence_pieces(subject: Subject, sentences: Sequence[Sentence], rank: int) -> list[SummaryPiece]:
    """Return a piece for each sentence, with descending priority."""
    pieces = []
    for index, sentence in enumerate(sentences[:MAX_PIECES]):
        quote = quote_text(subject, sentence.text)
        if quote:
            pieces.append(
                SummaryPiece((Segment("", quote),), "", rank + index * RANK_STEP, sentence.start + 1, sentence.end)
            )
    return pieces


def task_pieces(subject: Subject, tasks: Sequence[Task], rank: int, *, dated: bool = True) -> list[SummaryPiece]:
    """Return a piece for each task, with descending priority; completed tasks have their date."""
    pieces = []
    for index, task in enumerate(tasks[:MAX_PIECES]):
        quote = quote_text(subject, task.text)
        timestamp = task.timestamp if dated and task.mark != " " else None
        if quote:
            lead = f"{timestamp.date}: " if timestamp is not None else ""
            is_marked = task.is_unfinished and task.state == OTHER
            tail = f" ({escape_hidden(task.state_label)})" if is_marked else ""
            pieces.append(
                SummaryPiece((Segment(lead, quote),), tail, rank + index * RANK_STEP, task.box_line + 1, task.end)
            )
    return pieces


def entry_pieces(
    subject: Subject, entries: Sequence[Entry], rank: int, *, detail_label: str = "", dated: bool = True
) -> list[SummaryPiece]:
    """Return a piece for each entry, with descending priority; `detail_label` adds its rationale or evidence."""
    pieces = []
    for index, entry in enumerate(entries[:MAX_PIECES]):
        quote = quote_text(subject, entry.text[_author_end(entry.text) :])
        support = " ".join((entry.rationale or entry.evidence or "").split())
        detail = quote_text(subject, support) if detail_label else ""
        date = f"{entry.date[:10]}: " if dated and entry.date else ""
        if quote and not quote.endswith((":", "：")):  # what only introduces a list says nothing
            segments = [Segment(date, quote)]
            if detail:
                segments.append(Segment(f"{missing_full_stop(quote)} {detail_label}", detail))
            pieces.append(SummaryPiece(tuple(segments), "", rank + index * RANK_STEP, entry.start + 1, entry.end))
    return pieces


def _author_end(text: str) -> int:
    """Return the position after an author's name."""
    match = _AUTHOR_PREFIX.match(text)
    return match.end() if match is not None else 0


def with_label(piece: SummaryPiece, label: str) -> SummaryPiece:
    """Put a label before a piece, with its date in parentheses."""
    first_segment, *other_segments = piece.segments
    date = first_segment.lead.removesuffix(": ")
    return piece._replace(
        segments=(Segment(f"{label} ({date}): " if date else f"{label}: ", first_segment.quote), *other_segments)
    )


def list_section(
    name: str,
    heading: str,
    pieces: Sequence[SummaryPiece],
    source: Sequence[object],
    max_pieces: int,
    empty_text: str = "None recorded.",
) -> SummarySection:
    """Return a section that also reports how many pieces it has no room for."""
    return SummarySection(
        name, heading, tuple(pieces), max_pieces, MORE_LABEL, max(0, len(source) - MAX_PIECES), empty_text
    )


def missing_full_stop(text: str) -> str:
    """Return a full stop if a text does not end with similar punctuation."""
    return "" if text.rstrip("\"'”’»)]*_`").endswith((".", "!", "?", "…", ":", ";", "。", "！", "？", "：")) else "."


def as_sentences(pieces: Iterable[SummaryPiece]) -> list[SummaryPiece]:
    """Return the pieces as complete sentences for prose."""
    return [piece._replace(tail=piece.tail + missing_full_stop(piece.text)) for piece in pieces]


class SummaryLength(NamedTuple):
    """Length limits of a summary."""

    name: str
    max_words: int
    """Maximum words, including headings and labels."""
    max_sentence_words: int
    """Words quoted from one place; a single sentence may have more."""
    max_entries: int
    """Maximum entries of one kind."""


LENGTHS: Final = (
    SummaryLength("brief", 120, 28, 2),
    SummaryLength("detailed", 350, 40, 5),
    SummaryLength("comprehensive", 1000, 60, 200),
)


class Segment(NamedTuple):
    """Quoted plan text with a lead before it."""

    lead: str
    quote: str


class SummaryPiece(NamedTuple):
    """A unit of a summary that is printed completely or not at all."""

    segments: tuple[Segment, ...]
    tail: str = ""
    """Text of execplan after the quotes."""
    rank: int = 0
    """Rank of the piece; a lower one comes first."""
    start: int = 0
    """First source line in the plan, counted from 1; 0 if the piece is not from a particular place."""
    end: int = 0

    @property
    def text(self) -> str:
        """Return the whole piece on one line."""
        return "".join([fragment for segment in self.segments for fragment in segment]) + self.tail

    @property
    def quotes(self) -> list[str]:
        """Return the quotes from the plan in this piece."""
        return [segment.quote for segment in self.segments if segment.quote]


EARLIER_LABEL: Final = "earlier"
MORE_LABEL: Final = "more"


class SummarySection(NamedTuple):
    """Pieces about one topic."""

    name: str
    heading: str
    pieces: tuple[SummaryPiece, ...]
    max_pieces: int = 0
    """Maximum number of pieces; 0 means no limit."""
    omitted_label: str = ""
    """Label of omitted pieces: `earlier`, printed first, or `more`; empty if omissions are not reported."""
    omitted_count: int = 0
    """Number of omitted pieces; before fitting, the number of source items without a piece."""
    empty_text: str = ""
    """Text to print if there are no pieces; if it is empty, the section is left out."""


class Subject(NamedTuple):
    """The plan to summarize, with the form's markup and length."""

    plan: ParsedPlan
    id: str
    state: str
    ids: tuple[str, ...]
    """IDs of the plan's tasks."""
    markup: bool
    """Whether Markdown is kept rather than converted to plain text."""
    length: SummaryLength


def unquoted_piece(text: str, rank: int = 0) -> SummaryPiece:
    """Return a piece without a quote."""
    return SummaryPiece((Segment(text, ""),), rank=rank)
