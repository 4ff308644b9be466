"""One task in three versions → one: who ticked it, who said it anew, and who split it."""

from __future__ import annotations

from execplan.clock import minutes
from execplan.plan.grammar import Box, read_box
from execplan.plan.merging.clerk import named
from execplan.plan.merging.match import words_in
from execplan.plan.merging.units import lines_of
from execplan.plan.model import DONE, Task
from execplan.plan.seek import fold
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.merging.clerk import Clerk
    from execplan.plan.merging.units import Unit


class _Side(NamedTuple):
    """A task taken apart: what stands before its box, the box with its stamp, the words, and what hangs below them."""

    unit: Unit
    task: Task
    head: str
    box: str
    words: tuple[str, ...]
    body: tuple[str, ...]

    @property
    def done(self) -> bool:
        return self.task.state == DONE

    def says(self, other: _Side) -> bool:
        """Whether both say the same, punctuation and case apart."""
        return words_in(self.task.text) == words_in(other.task.text)

    def boxed(self, other: _Side) -> list[str]:
        """The lines of the task with the box of another version."""
        apart = not self.words[0] or other.words[0] or other.box.endswith((" ", "\t"))  # a wide colon needs no space
        space = "" if apart else " "
        lead = () if self.task.box == self.task.start else self.unit.lines[: self.task.box - self.task.start]
        return [*lead, self.head + other.box + space + self.words[0], *self.words[1:]]


def task(clerk: Clerk, base: Unit | None, ours: Sequence[Unit], theirs: Sequence[Unit]) -> list[str]:
    """The lines of a task that both sides have; of one that was split a side has two."""
    one, two = lines_of(ours), lines_of(theirs)
    if one == two:
        return one
    if base is None:
        return _one(clerk, None, _side(ours[0]), _side(theirs[0]))
    was = list(base.lines)
    if two == was:
        return one
    if one == was:
        return two
    if len(ours) > 1 or len(theirs) > 1:
        return _split(clerk, _side(base), ours, theirs)
    return _one(clerk, _side(base), _side(ours[0]), _side(theirs[0]))


def _split(clerk: Clerk, base: _Side, ours: Sequence[Unit], theirs: Sequence[Unit]) -> list[str]:
    """Parts that both sides made alike, once; the parts, where the other side only marked the whole."""
    if len(ours) == len(theirs):
        pairs = [(_side(one), _side(two)) for one, two in zip(ours, theirs, strict=True)]
        if not all([one.says(two) for one, two in pairs]):
            return clerk.conflict(lines_of(ours), lines_of(theirs))
        lines = []
        for at, (one, two) in enumerate(pairs):
            lines += [*_one(clerk, None, one, two), *(ours[0].gap if not at else ())]
        return lines
    parts, whole = (ours, _side(theirs[0])) if len(ours) > 1 else (theirs, _side(ours[0]))
    if not whole.says(base) or whole.body != base.body:
        return clerk.conflict(lines_of(ours), lines_of(theirs))
    if whole.done:
        remains = " and ".join([named(unit.task.text) for unit in parts if unit.task and unit.task.state != DONE])
        what = f"{named(base.task.text)} was split on one side and ticked whole on the other"
        clerk.note(f"{what}: what remains stays open ({remains})")
    return lines_of(parts)


def _one(clerk: Clerk, base: _Side | None, ours: _Side, theirs: _Side) -> list[str]:
    """One task on either side, in any two states."""
    worded = _worded(base, ours, theirs)
    boxed = _boxed(clerk, base, ours, theirs)
    if worded is None or boxed is None:
        return clerk.conflict(ours.unit.lines, theirs.unit.lines)
    body = clerk.prose(base.body if base else (), ours.body, theirs.body)
    reworded = base is not None and not worded.says(base)
    if base is not None and reworded and boxed.done and not (worded.done or boxed.says(worded)):
        said = f"{named(base.task.text)} was ticked on one side and says {named(worded.task.text)} on the other"
        clerk.note(f"{said}: it stays open")
        boxed = worded
    elif reworded and boxed.done and worded.done and not boxed.says(worded):
        boxed = worded
    return [*worded.boxed(boxed), *body]


def _worded(base: _Side | None, ours: _Side, theirs: _Side) -> _Side | None:
    """The side whose words are taken, None when both have new ones that differ."""
    if base is not None and not (ours.says(theirs) or ours.says(base) or theirs.says(base)):
        return None
    if base is None:
        changed = [ours, theirs]
    else:
        changed = [side for side in (ours, theirs) if not side.says(base)]
        changed = changed or [side for side in (ours, theirs) if fold(side.task.text) != fold(base.task.text)]
        changed = changed or [side for side in (ours, theirs) if (side.head, side.words) != (base.head, base.words)]
    return min(changed or [ours, theirs], key=lambda side: (side.words, side.head))


def _boxed(clerk: Clerk, base: _Side | None, ours: _Side, theirs: _Side) -> _Side | None:
    """The side whose box is taken, None when both changed it and neither says done."""
    if ours.box == theirs.box or (base is not None and theirs.box == base.box):
        return ours
    if base is not None and ours.box == base.box:
        return theirs
    if ours.done and theirs.done:
        first = min(ours, theirs, key=_when)
        if base is None or not base.done:
            time = first.task.stamp.moment if first.task.stamp else "without one"
            clerk.note(f"both ticked {named(first.task.text)}: the earlier time is kept ({time})")
        return first
    if ours.done or theirs.done:
        done, other = (ours, theirs) if ours.done else (theirs, ours)
        if base is not None:
            was = "reopened" if other.task.mark == " " else f"marked [{other.task.mark}]"
            clerk.note(f"{named(done.task.text)} was ticked on one side and {was} on the other: it is done")
        return done
    return min(ours, theirs, key=lambda side: side.box) if ours.task.mark == theirs.task.mark else None


def _when(side: _Side) -> tuple[int, int, str]:
    """When a task was ticked, for the earlier of two; no time at all comes last."""
    stamp = side.task.stamp
    span = minutes(stamp) if stamp is not None else None
    return (1, 0, side.box) if span is None else (0, sum(span), side.box)


def _side(unit: Unit) -> _Side:
    found = unit.task
    assert found is not None
    line = unit.lines[found.box - found.start]
    at = line.index(f"[{found.mark}]")
    box = read_box(line[at:])
    assert isinstance(box, Box)
    cut = len(line) - len(box.words)
    words = (line[cut:], *unit.lines[found.box - found.start + 1 : found.end - found.start])
    return _Side(unit, found, line[:at], line[at:cut], words, unit.lines[found.end - found.start :])
