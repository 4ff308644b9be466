"""What a merge hands around: how lines are merged, and what it has to say in the end."""

from __future__ import annotations

from execplan.plan.merging.units import lines_of
from execplan.text.diff3 import Marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.plan.merging.units import Unit

    Lines = Callable[[Sequence[str], Sequence[str], Sequence[str], Marks], tuple[list[str], int]]

_LONGEST = 60


class Clerk:
    """Merges lines, writes conflicts, and keeps count and notes."""

    def __init__(self, lines: Lines, marks: Marks) -> None:
        self.marks = marks
        self.conflicts = 0
        self._notes: dict[str, None] = {}
        self._lines = lines

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noted, each once."""
        return tuple(self._notes)

    def prose(self, base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
        """Lines without their ends, merged."""
        if list(theirs) in (list(base), list(ours)):
            return list(ours)
        if list(ours) == list(base):
            return list(theirs)
        was, one, two = [[line + "\n" for line in side] for side in (base, ours, theirs)]
        lines, conflicts = self._lines(was, one, two, self.marks)
        self.conflicts += conflicts
        return [line.removesuffix("\n") for line in lines]

    def conflict(self, ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
        """Both versions between markers."""
        self.conflicts += 1
        return self.marks.around(ours, theirs)

    def alone(self, base: Unit | None, ours: Sequence[Unit], theirs: Sequence[Unit]) -> list[str] | None:
        """A unit that one side does not have: None when the other left it as it was, a conflict when it did not."""
        one, two = lines_of(ours), lines_of(theirs)
        if base is None:
            return one or two
        if not (ours or theirs) or (one or two) == list(base.lines):
            return None
        return self.conflict(one, two)

    def note(self, words: str) -> None:
        """Keep what a person should know of."""
        self._notes[words] = None

    def trial(self) -> Clerk:
        """A clerk of the same kind for a merge that may not be taken."""
        return Clerk(self._lines, self.marks)

    def take(self, trial: Clerk) -> None:
        """Take over what the merge of a trial says."""
        self.conflicts += trial.conflicts
        self._notes |= trial._notes


def named(words: str) -> str:
    """The words of a task or an entry, for a note."""
    bare = " ".join(words.split())
    return f'"{bare if len(bare) <= _LONGEST else bare[: _LONGEST - 1].rstrip() + "…"}"'
