"""A merge of lines with the markers of git, for where git itself is not at hand."""

from __future__ import annotations

from execplan.record import NamedTuple
from execplan.text.merge import merge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Marks(NamedTuple):
    """How conflict markers are written."""

    size: int = 7
    ours: str = "ours"
    theirs: str = "theirs"

    def around(self, ours: Sequence[str], theirs: Sequence[str], end: str = "") -> list[str]:
        """Both versions between markers, each marker with the line end."""
        first, last = f"{'<' * self.size} {self.ours}".rstrip(), f"{'>' * self.size} {self.theirs}".rstrip()
        return [first + end, *ours, "=" * self.size + end, *theirs, last + end]


def merged(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], marks: Marks) -> tuple[list[str], int]:
    """The lines of both sides, each with its end, with markers around what both changed; and how many such places."""
    out: list[str] = []
    conflicts = 0
    for chunk in merge(base, ours, theirs):
        new = chunk.merged
        if new is not None:
            out += new
            continue
        conflicts += 1
        one, two = chunk.ours, chunk.theirs
        above = below = 0
        shorter = min(len(one), len(two))
        while above < shorter and one[above] == two[above]:
            above += 1
        while below < shorter - above and one[len(one) - 1 - below] == two[len(two) - 1 - below]:
            below += 1
        middle = (one[above : len(one) - below], two[above : len(two) - below])
        end = next((each[len(each.rstrip("\r\n")) :] for each in (*one, *two)), "\n")
        out += [*one[:above], *marks.around(*middle, end or "\n"), *one[len(one) - below :]]
    return out, conflicts
