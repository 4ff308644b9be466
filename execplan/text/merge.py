"""Three versions of a sequence of lines → one, where two of them grew out of the third."""

from __future__ import annotations

from execplan.record import NamedTuple
from execplan.text.align import aligned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Chunk(NamedTuple):
    """Lines that stand at the same place in all three versions; neighbours differ in who changed them."""

    base: tuple[str, ...]
    ours: tuple[str, ...]
    theirs: tuple[str, ...]

    @property
    def merged(self) -> tuple[str, ...] | None:
        """The lines of the side that changed them, or None when both did and not alike."""
        if self.theirs in (self.base, self.ours):
            return self.ours
        return self.theirs if self.ours == self.base else None


def merge(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[Chunk]:
    """The three versions side by side, as in diff3: chunks that are alike in all three, and what lies between them.

    The `base` parts of all chunks join to the base, the `ours` parts to ours, the `theirs` parts to theirs.
    """
    in_ours, in_theirs = dict(aligned(base, ours)), dict(aligned(base, theirs))
    chunks: list[Chunk] = []
    alike: list[str] = []
    at = our = their = 0
    for line in range(len(base) + 1):
        if line == len(base):
            upto = (len(ours), len(theirs))
        elif line in in_ours and line in in_theirs:
            upto = (in_ours[line], in_theirs[line])
        else:
            continue
        if (at, our, their) != (line, *upto):
            chunks += _alike(alike)
            chunks.append(Chunk(tuple(base[at:line]), tuple(ours[our : upto[0]]), tuple(theirs[their : upto[1]])))
            alike = []
        alike += base[line : line + 1]
        at, our, their = line + 1, upto[0] + 1, upto[1] + 1
    return chunks + _alike(alike)


def _alike(lines: list[str]) -> list[Chunk]:
    return [Chunk(tuple(lines), tuple(lines), tuple(lines))] if lines else []
