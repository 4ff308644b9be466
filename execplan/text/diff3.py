"""A merge of lines with the markers of git, for where git itself is not at hand."""

from __future__ import annotations

from execplan.record import NamedTuple
from execplan.text.merge import merge_chunks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class ConflictMarkers(NamedTuple):
    """How conflict markers are written."""

    size: int = 7
    ours: str = "ours"
    theirs: str = "theirs"

    def wrap_sides(self, ours: Sequence[str], theirs: Sequence[str], end: str = "") -> list[str]:
        """Both versions between markers, each marker with the line end."""
        opening_marker, closing_marker = f"{'<' * self.size} {self.ours}".rstrip(), f"{'>' * self.size} {self.theirs}".rstrip()
        return [opening_marker + end, *ours, "=" * self.size + end, *theirs, closing_marker + end]


def merge_with_markers(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], markers: ConflictMarkers) -> tuple[list[str], int]:
    """The lines of both sides, each with its end, with markers around what both changed; and how many such places."""
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
        while same_below < shortest_length - same_above and our_lines[len(our_lines) - 1 - same_below] == their_lines[len(their_lines) - 1 - same_below]:
            same_below += 1
        differing = (our_lines[same_above : len(our_lines) - same_below], their_lines[same_above : len(their_lines) - same_below])
        end = next((line[len(line.rstrip("\r\n")) :] for line in (*our_lines, *their_lines)), "\n")
        merged_lines += [*our_lines[:same_above], *markers.wrap_sides(*differing, end or "\n"), *our_lines[len(our_lines) - same_below :]]
    return merged_lines, conflict_count
