"""Three-way merge of sequences of lines, of which two are derived from the third."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.sequence_alignment import align_sequences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Chunk(NamedTuple):
    """The lines at the same place in all three versions; adjacent chunks alternate between changed and unchanged."""

    base: tuple[str, ...]
    ours: tuple[str, ...]
    theirs: tuple[str, ...]

    @property
    def merged(self) -> tuple[str, ...] | None:
        """Return the lines of the side that changed them, or None if both did in different ways."""
        if self.theirs in (self.base, self.ours):
            return self.ours
        return self.theirs if self.ours == self.base else None

    @property
    def lines(self) -> tuple[Chunk, ...]:
        """Return a chunk for each line of a conflict if all versions have as many lines, or else the chunk itself."""
        if self.merged is not None or not len(self.base) == len(self.ours) == len(self.theirs):
            return (self,)
        return tuple([Chunk((base,), (ours,), (theirs,)) for base, ours, theirs in zip(*self, strict=True)])


def merge_chunks(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[Chunk]:
    """Split three versions into chunks as diff3 does: those equal in all three, and the differences between them.

    The `base` parts of all chunks join to the base, the `ours` parts to ours, the `theirs` parts to theirs.
    """
    in_ours, in_theirs = dict(align_sequences(base, ours)), dict(align_sequences(base, theirs))
    chunks: list[Chunk] = []
    equal_lines: list[str] = []
    base_start = our_start = their_start = 0
    for base_index in range(len(base) + 1):
        if base_index == len(base):
            chunk_ends = (len(ours), len(theirs))
        elif base_index in in_ours and base_index in in_theirs:
            chunk_ends = (in_ours[base_index], in_theirs[base_index])
        else:
            continue
        if (base_start, our_start, their_start) != (base_index, *chunk_ends):
            chunks += _equal_chunk(equal_lines)
            chunks.append(
                Chunk(
                    tuple(base[base_start:base_index]),
                    tuple(ours[our_start : chunk_ends[0]]),
                    tuple(theirs[their_start : chunk_ends[1]]),
                )
            )
            equal_lines = []
        equal_lines += base[base_index : base_index + 1]
        base_start, our_start, their_start = base_index + 1, chunk_ends[0] + 1, chunk_ends[1] + 1
    return chunks + _equal_chunk(equal_lines)


def _equal_chunk(lines: list[str]) -> list[Chunk]:
    return [Chunk(tuple(lines), tuple(lines), tuple(lines))] if lines else []


class ConflictMarkers(NamedTuple):
    """The size and the labels of conflict markers."""

    size: int = 7
    ours: str = "ours"
    theirs: str = "theirs"

    def wrap_sides(self, ours: Sequence[str], theirs: Sequence[str], end: str = "") -> list[str]:
        """Return both versions between conflict markers, each marker with the line end."""
        opening_marker, closing_marker = (
            f"{'<' * self.size} {self.ours}".rstrip(),
            f"{'>' * self.size} {self.theirs}".rstrip(),
        )
        return [opening_marker + end, *ours, "=" * self.size + end, *theirs, closing_marker + end]


def merge_with_markers(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], markers: ConflictMarkers
) -> tuple[list[str], int]:
    """Merge lines, each with its end, and put conflict markers around conflicting changes; also return their number."""
    merged_lines: list[str] = []
    conflict_count = 0
    for chunk in merge_chunks(base, ours, theirs):
        chunk_lines = chunk.merged
        if chunk_lines is not None:
            merged_lines += chunk_lines
            continue
        conflict_count += 1
        our_lines, their_lines = chunk.ours, chunk.theirs
        same_above = same_below = 0
        shortest_length = min(len(our_lines), len(their_lines))
        while same_above < shortest_length and our_lines[same_above] == their_lines[same_above]:
            same_above += 1
        while (
            same_below < shortest_length - same_above
            and our_lines[len(our_lines) - 1 - same_below] == their_lines[len(their_lines) - 1 - same_below]
        ):
            same_below += 1
        differing = (
            our_lines[same_above : len(our_lines) - same_below],
            their_lines[same_above : len(their_lines) - same_below],
        )
        end = next((line[len(line.rstrip("\r\n")) :] for line in (*our_lines, *their_lines)), "\n")
        merged_lines += [
            *our_lines[:same_above],
            *markers.wrap_sides(*differing, end or "\n"),
            *our_lines[len(our_lines) - same_below :],
        ]
    return merged_lines, conflict_count
