"""What a summary is made of: pieces with the plan's words and a few of ours, in parts; and how long it may be."""

from __future__ import annotations

import re

from execplan.context.summary.plan_sentences import first_sentences
from execplan.named_tuple import NamedTuple
from execplan.text.invisible_characters import may_have_hidden, replace_hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Final

    from execplan.context.summary.plan_sentences import Sentence
    from execplan.plan.model import Entry, ParsedPlan, Task


_COMMENT = re.compile(r"<!--.*?(?:-->|$)")
_CODE_FENCE = re.compile(r"(?:^|\s)(?:```|~~~).*")
_INLINE_LIST = re.compile(r"(?<=[:：])\s[-*+]\s.*")
_BLOCK_START = re.compile(r"#{1,6}(?:\s|$)|[-+*](?:\s|$)|[>|]|~~~|```|=+$|(\d{1,9})[.)](?:\s|$)")
_MAX_PARAGRAPH_CHARS = 20_000
"""Characters of a paragraph that are looked at."""


def quote_text(subject: Subject, text: str, max_words: int = 0) -> str:
    """The gist of words of the plan, as the form wants them; nothing where no word is left."""
    line = _COMMENT.sub(" ", text[:_MAX_PARAGRAPH_CHARS])
    line = " ".join(_INLINE_LIST.sub("", _CODE_FENCE.sub("", line)).split())
    return format_markup(subject, first_sentences(line, max_words or subject.length.max_sentence_words))


def format_markup(subject: Subject, text: str) -> str:
    """Words of the plan with their markup, or made plain; nothing in them opens a block."""
    if subject.markup:
        text = _escape_block_start(text)
    else:
        from execplan.text.inline_markdown import plain_text

        text = " ".join(plain_text(text).split())
    return escape_hidden(text)


def _escape_block_start(text: str) -> str:
    """Words that begin no heading, list, quote, table or fence."""
    match = _BLOCK_START.match(text)
    if match is None:
        return text
    escape_index = len(match[1] or "")
    return f"{text[:escape_index]}\\{text[escape_index:]}"


def escape_hidden(text: str) -> str:
    """A line with each hidden character as its escape."""
    if not may_have_hidden(text):
        return text
    return replace_hidden(text, lambda run: "".join([f"\\u{{{ord(char):x}}}" for char in run]))


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
            pieces.append(
                SummaryPiece((Segment(lead, quote),), "", rank + index * RANK_STEP, sentence.start + 1, sentence.end)
            )
    return pieces


def task_pieces(subject: Subject, tasks: Sequence[Task], rank: int, *, dated: bool = True) -> list[SummaryPiece]:
    """A piece for each task, the first wanted most; those that are done with their date."""
    pieces = []
    for index, task in enumerate(tasks[:MAX_PIECES]):
        quote = quote_text(subject, task.text)
        timestamp = task.timestamp if dated and task.mark != " " else None
        if quote:
            lead = f"{timestamp.date}: " if timestamp is not None else ""
            pieces.append(
                SummaryPiece((Segment(lead, quote),), "", rank + index * RANK_STEP, task.box_line + 1, task.end)
            )
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
    return piece._replace(
        segments=(Segment(f"{label} ({date}): " if date else f"{label}: ", first_segment.quote), *other_segments)
    )


def list_section(
    name: str,
    heading: str,
    pieces: Sequence[SummaryPiece],
    source: Sequence[object],
    max_pieces: int,
    empty_text: str = "None written down.",
) -> SummarySection:
    """A part that says how many there are beside those that it has room for."""
    return SummarySection(
        name, heading, tuple(pieces), max_pieces, MORE_LABEL, max(0, len(source) - MAX_PIECES), empty_text
    )


def missing_full_stop(text: str) -> str:
    """A full stop where the words end with nothing like one."""
    return "" if text.rstrip("\"'”’»)]*_`").endswith((".", "!", "?", "…", ":", ";", "。", "！", "？", "：")) else "."


def as_sentences(pieces: Iterable[SummaryPiece]) -> list[SummaryPiece]:
    """The pieces as whole sentences, for prose."""
    return [piece._replace(tail=piece.tail + missing_full_stop(piece.text)) for piece in pieces]


class SummaryLength(NamedTuple):
    """How long a summary may be."""

    name: str
    max_words: int
    """The most that it has, headings and our own words included."""
    max_sentence_words: int
    """The most words that are taken of one place."""
    max_entries: int
    """The most entries of one kind."""


LENGTHS: Final = (
    SummaryLength("brief", 120, 28, 2),
    SummaryLength("detailed", 350, 40, 5),
    SummaryLength("comprehensive", 1000, 60, 200),
)


class Segment(NamedTuple):
    """Words of the plan, with ours before them."""

    lead: str
    quote: str


class SummaryPiece(NamedTuple):
    """What is printed together or not at all."""

    segments: tuple[Segment, ...]
    tail: str = ""
    """Our own words behind it."""
    rank: int = 0
    """What is lower is wanted more."""
    start: int = 0
    """The first line of the plan that it comes from, from 1; 0 for what is only counted."""
    end: int = 0

    @property
    def text(self) -> str:
        """All of it on one line."""
        return "".join([fragment for segment in self.segments for fragment in segment]) + self.tail

    @property
    def quotes(self) -> list[str]:
        """The plan's own words in it."""
        return [segment.quote for segment in self.segments if segment.quote]


EARLIER_LABEL: Final = "earlier"
MORE_LABEL: Final = "more"


class SummarySection(NamedTuple):
    """Pieces about one thing."""

    name: str
    heading: str
    pieces: tuple[SummaryPiece, ...]
    max_pieces: int = 0
    """How many of them at most, or any number."""
    omitted_label: str = ""
    """What those are called that are left out: earlier ones, which is said first, or more; or it is not said."""
    omitted_count: int = 0
    """How many are left out; before it is fitted, how many there are that no pieces were made of."""
    empty_text: str = ""
    """What is said where there are no pieces; else the part is left out."""


class Subject(NamedTuple):
    """What is summarized."""

    plan: ParsedPlan
    id: str
    state: str
    ids: tuple[str, ...]
    """Of its tasks."""
    markup: bool
    """Whether markdown stays as it is written, or is made plain."""
    length: SummaryLength


def unquoted_piece(text: str, rank: int = 0) -> SummaryPiece:
    """A piece in which nothing is quoted."""
    return SummaryPiece((Segment(text, ""),), rank=rank)
