"""Shared state of a merge: the line merger, the conflict markers, the conflict count and the notes."""

from __future__ import annotations

from execplan.core.plan.merge.merge_units import join_unit_lines
from execplan.core.text.line_merge import ConflictMarkers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.core.plan.merge.merge_units import MergeUnit

    LineMerger = Callable[[Sequence[str], Sequence[str], Sequence[str], ConflictMarkers], tuple[list[str], int]]

_MAX_QUOTE = 60


class MergeContext:
    """The state of a merge, which merges lines, writes conflicts and collects notes."""

    def __init__(self, merge_lines: LineMerger, markers: ConflictMarkers) -> None:
        self.markers = markers
        self.conflict_count = 0
        self._notes: dict[str, None] = {}
        self._merge_lines = merge_lines

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes without duplicates."""
        return tuple(self._notes)

    def merge_text(self, base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
        """Merge lines that have no line ends."""
        if list(theirs) in (list(base), list(ours)):
            return list(ours)
        if list(ours) == list(base):
            return list(theirs)
        base_lines, our_lines, their_lines = [[line + "\n" for line in side] for side in (base, ours, theirs)]
        merged_lines, conflict_count = self._merge_lines(base_lines, our_lines, their_lines, self.markers)
        self.conflict_count += conflict_count
        return [line.removesuffix("\n") for line in merged_lines]

    def write_conflict(self, ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
        """Write both versions between conflict markers."""
        self.conflict_count += 1
        return self.markers.wrap_sides(ours, theirs)

    def merge_one_sided(
        self, base: MergeUnit | None, ours: Sequence[MergeUnit], theirs: Sequence[MergeUnit]
    ) -> list[str] | None:
        """Merge a unit that one side lacks: return None if the other side left it unchanged, a conflict if it did not.

        A unit that is not in the base was added, and is returned as it is.
        """
        our_lines, their_lines = join_unit_lines(ours), join_unit_lines(theirs)
        if base is None:
            return our_lines or their_lines
        if not (ours or theirs) or (our_lines or their_lines) == list(base.lines):
            return None
        return self.write_conflict(our_lines, their_lines)

    def add_note(self, text: str) -> None:
        """Add a note for the user."""
        self._notes[text] = None

    def start_trial(self) -> MergeContext:
        """Return an empty context with the same settings, for a merge that may be discarded."""
        return MergeContext(self._merge_lines, self.markers)

    def accept_trial(self, trial: MergeContext) -> None:
        """Add the conflict count and the notes of a trial merge."""
        self.conflict_count += trial.conflict_count
        self._notes |= trial._notes


def quote_text(text: str) -> str:
    """Quote the text of a task or an entry for a note, shortened if necessary."""
    normalized = " ".join(text.split())
    return f'"{normalized if len(normalized) <= _MAX_QUOTE else normalized[: _MAX_QUOTE - 1].rstrip() + "…"}"'
