"""Which unit of one version is which of another: by words, then by similarity, then by place."""

from __future__ import annotations

from execplan.plan.merging.units import ENTRY, SECTION, TASK, TEXT, Unit
from execplan.plan.model import DONE, OPEN
from execplan.record import NamedTuple
from execplan.text.align import aligned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_ALIKE = {TASK: 0.6, ENTRY: 0.4, TEXT: 0.4, SECTION: 0.5}
"""From which likeness on two units are taken for one that was changed, by kind; other kinds are what they are."""
_PLACED = 0.5
_SPLIT = 0.9
_PAIRS = 200_000
"""How many pairs are looked at for likeness before units are told by their words alone: some second."""


class Slot(NamedTuple):
    """The places of one unit in the three versions; a task that was split has two."""

    base: tuple[int, ...]
    ours: tuple[int, ...]
    theirs: tuple[int, ...]


def slots(base: Sequence[Unit], ours: Sequence[Unit], theirs: Sequence[Unit]) -> list[Slot]:
    """Every unit of the three versions, matched."""
    in_ours, in_theirs = _pairs(base, ours), _pairs(base, theirs)
    was_ours, was_theirs = _reworded(base, ours, in_ours), _reworded(base, theirs, in_theirs)
    for at in {*was_ours.values()} & {*was_theirs.values()}:
        one, two = in_ours[at][0], in_theirs[at][0]
        if ours[one].key == theirs[two].key:
            del was_ours[one], was_theirs[two]
    here, there = sorted([*_left(in_ours, ours), *was_ours]), sorted([*_left(in_theirs, theirs), *was_theirs])
    twins = _by_key([_known(ours[at]) for at in here], [_known(theirs[at]) for at in there])
    found = [Slot((), (here[one],), (there[two],)) for one, two in twins]
    for slot in found:  # what one side reworded to the words of the other's is that, and no longer what it was
        in_ours.pop(was_ours.get(slot.ours[0], -1), None)
        in_theirs.pop(was_theirs.get(slot.theirs[0], -1), None)
    taken = {slot.ours[0] for slot in found}, {slot.theirs[0] for slot in found}
    found += [Slot((), (at,), ()) for at in _left(in_ours, ours) if at not in taken[0]]
    found += [Slot((), (), (at,)) for at in _left(in_theirs, theirs) if at not in taken[1]]
    return found + [Slot((at,), in_ours.get(at, ()), in_theirs.get(at, ())) for at in range(len(base))]


def words_in(text: str) -> list[str]:
    """The words of a text without case and punctuation; scripts without spaces are taken by the character."""
    import re

    words: list[str] = []
    for word in re.findall(r"\w+", text.casefold()):
        words += [word] if word.isascii() else list(word)
    return words


def likeness(one: frozenset[str], two: frozenset[str]) -> float:
    """How alike two sets of words are, from 0 to 1; one that holds all of the other is the other, widened."""
    shared = len(one & two)
    whole = 2 * shared / (len(one) + len(two)) if one or two else 0.0
    smaller = min(len(one), len(two))
    return max(whole, 0.7) if smaller > 2 and shared == smaller else whole


def _reworded(base: Sequence[Unit], other: Sequence[Unit], pairs: dict[int, tuple[int, ...]]) -> dict[int, int]:
    """The tasks that say something else than in the base, each with what it was."""
    return {
        places[0]: at
        for at, places in pairs.items()
        if base[at].kind == TASK and len(places) == 1 and other[places[0]].key != base[at].key
    }


def _known(unit: Unit) -> tuple[str, str, str]:
    return (unit.kind, unit.key, unit.where)


def _left(pairs: dict[int, tuple[int, ...]], units: Sequence[Unit]) -> list[int]:
    taken = {at for places in pairs.values() for at in places}
    return [at for at in range(len(units)) if at not in taken]


def _by_key(one: Sequence[object], two: Sequence[object]) -> list[tuple[int, int]]:
    """Equal ones: first in order, then the first left over with the first, and so on."""
    pairs = aligned(one, two)
    here, there = {at for at, _ in pairs}, {at for _, at in pairs}
    waiting: dict[object, list[int]] = {}
    for at in range(len(two) - 1, -1, -1):
        if at not in there:
            waiting.setdefault(two[at], []).append(at)
    for at in range(len(one)):
        if at not in here and waiting.get(one[at]):
            pairs.append((at, waiting[one[at]].pop()))
    return pairs


def _pairs(base: Sequence[Unit], other: Sequence[Unit]) -> dict[int, tuple[int, ...]]:
    """For each unit of the base that is still there, what became of it."""
    same = _by_key([unit[:2] for unit in base], [unit[:2] for unit in other])
    pairs: dict[int, tuple[int, ...]] = {at: (to,) for at, to in same}
    pool = _Pool(base, other)
    for run, new in _between(base, other, pairs):
        pairs |= pool.placed(run, new)
    here = [at for at in range(len(base)) if at not in pairs]
    return pairs | pool.alike(here, _left(pairs, other))


def _between(
    base: Sequence[Unit], other: Sequence[Unit], pairs: dict[int, tuple[int, ...]]
) -> list[tuple[list[int], list[int]]]:
    """Units without a match that stand between the same matched ones."""
    backs = {places[0]: at for at, places in pairs.items()}
    runs = []
    new: dict[int, list[int]] = {}  # behind which of the base
    anchor = -1
    for at in range(len(other)):
        if at in backs:
            anchor = backs[at]
        else:
            new.setdefault(anchor, []).append(at)
    anchor, run = -1, []
    for at in range(len(base) + 1):
        if at < len(base) and at not in pairs:
            run.append(at)
            continue
        if run and anchor in new:
            runs.append((run, new[anchor]))
        anchor, run = at, []
    return runs


class _Pool:
    """Finds what was reworded; remembers the words of each unit, and how much time is left."""

    def __init__(self, base: Sequence[Unit], other: Sequence[Unit]) -> None:
        self.base = base
        self.other = other
        self.left = _PAIRS
        self._words: dict[int, frozenset[str]] = {}

    def placed(self, run: list[int], new: list[int]) -> dict[int, tuple[int, ...]]:
        """The best way to make the new units of the old ones at the same place, in their order."""
        if len(run) * len(new) > self.left:
            return {}
        self.left -= len(run) * len(new)
        best = [[0.0] * (len(new) + 1) for _ in range(len(run) + 1)]
        taken = [[0] * (len(new) + 1) for _ in run]
        for at in range(len(run) - 1, -1, -1):
            for to in range(len(new) - 1, -1, -1):
                found = [(best[at + 1][to], 0), (best[at][to + 1], -1)]
                one = self._score(run[at], new[to])
                if one:
                    found.append((one + best[at + 1][to + 1], 1))
                two = self._split(run[at], new[to : to + 2])
                if two:
                    found.append((two + best[at + 1][to + 2], 2))
                best[at][to], taken[at][to] = max(found, key=lambda each: (round(each[0], 6), each[1]))
        pairs: dict[int, tuple[int, ...]] = {}
        at = to = 0
        while at < len(run) and to < len(new):
            step = taken[at][to]
            if step > 0:
                pairs[run[at]] = tuple(new[to : to + step])
            at, to = at + (step >= 0), to + abs(step)
        return pairs

    def alike(self, here: list[int], there: list[int]) -> dict[int, tuple[int, ...]]:
        """What was moved and reworded, the most alike first."""
        if len(here) * len(there) > self.left:
            return {}
        found = []
        for at in here:
            for to in there:
                like = self._like(at, to)
                if like:
                    found.append((-like, at, to))
        pairs: dict[int, tuple[int, ...]] = {}
        taken = set()
        for _, at, to in sorted(found):
            if at not in pairs and to not in taken:
                pairs[at] = (to,)
                taken.add(to)
        return pairs

    def _score(self, at: int, to: int) -> float:
        """What speaks for one unit being the other at the same place."""
        one, two = self.base[at], self.other[to]
        if one.task is None or two.task is None:
            return self._like(at, to)
        like = likeness(self._of(one), self._of(two))
        if one.task.state == DONE and two.task.state == OPEN and like < _ALIKE[TASK]:
            return 0.0
        return _PLACED + like + (0.1 if one.depth == two.depth else 0.0)

    def _split(self, at: int, places: list[int]) -> float:
        """What speaks for a task having been split into a done one and one that remains."""
        one = self.base[at]
        tasks = [self.other[to].task for to in places]
        if one.task is None or one.task.state == DONE or len(tasks) < 2 or tasks[0] is None or tasks[1] is None:
            return 0.0
        if tasks[0].state != DONE or tasks[1].state == DONE or not tasks[0].depth == tasks[1].depth == one.task.depth:
            return 0.0
        both = self._of(self.other[places[0]]) | self._of(self.other[places[1]])
        return _SPLIT + likeness(self._of(one), both)

    def _like(self, at: int, to: int) -> float:
        one, two = self.base[at], self.other[to]
        if one.kind != two.kind or one.kind not in _ALIKE:
            return 0.0
        like = likeness(self._of(one), self._of(two))
        return like if like >= _ALIKE[one.kind] else 0.0

    def _of(self, unit: Unit) -> frozenset[str]:
        key = id(unit)
        if key not in self._words:
            if unit.kind == SECTION:
                words = frozenset([line.strip() for line in unit.lines[1:] if line.strip()])
            else:
                words = frozenset(words_in(unit.task.text if unit.task else " ".join(unit.lines)))
            self._words[key] = words
        return self._words[key]
