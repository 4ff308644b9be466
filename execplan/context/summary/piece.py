"""What a summary is made of: pieces with the plan's words and a few of ours, in parts; and how long it may be."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.plan.model import Plan


class SummaryLength(NamedTuple):
    """How long a summary may be."""

    name: str
    max_words: int
    """The most that it has, headings and our own words included."""
    max_sentence_words: int
    """The most words that are taken of one place."""
    max_entries: int
    """The most entries of one kind."""


LENGTHS: Final = (SummaryLength("brief", 120, 28, 2), SummaryLength("detailed", 350, 40, 5), SummaryLength("comprehensive", 1000, 60, 200))


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

    plan: Plan
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
