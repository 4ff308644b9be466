"""What a summary is made of: pieces with the plan's words and a few of ours, in parts; and how long it may be."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.plan.model import Plan


class Length(NamedTuple):
    """How long a summary may be."""

    name: str
    words: int
    """The most that it has, headings and our own words included."""
    sentence: int
    """The most words that are taken of one place."""
    few: int
    """The most entries of one kind."""


LENGTHS: Final = (Length("brief", 120, 28, 2), Length("detailed", 350, 40, 5), Length("comprehensive", 1000, 60, 200))


class Said(NamedTuple):
    """Words of the plan, with ours before them."""

    lead: str
    words: str


class Piece(NamedTuple):
    """What is printed together or not at all."""

    said: tuple[Said, ...]
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
        return "".join([part for each in self.said for part in each]) + self.tail

    @property
    def quotes(self) -> list[str]:
        """The plan's own words in it."""
        return [each.words for each in self.said if each.words]


EARLIER: Final = "earlier"
MORE: Final = "more"


class Part(NamedTuple):
    """Pieces about one thing."""

    name: str
    heading: str
    pieces: tuple[Piece, ...]
    most: int = 0
    """How many of them at most, or any number."""
    rest: str = ""
    """What those are called that are left out: earlier ones, which is said first, or more; or it is not said."""
    left: int = 0
    """How many are left out; before it is fitted, how many there are that no pieces were made of."""
    none: str = ""
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
    length: Length


def ours(text: str, rank: int = 0) -> Piece:
    """A piece in which nothing is quoted."""
    return Piece((Said(text, ""),), rank=rank)
