"""Matching of the units of three versions: by equal text, then by similarity in place, then by similarity anywhere."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.merge.merge_units import ENTRY, SECTION, TASK, TEXT, MergeUnit
from execplan.core.plan.model import DONE, OPEN
from execplan.core.text.sequence_alignment import align_sequences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MIN_LIKENESS = {TASK: 0.6, ENTRY: 0.4, TEXT: 0.4, SECTION: 0.5}
"""Minimum likeness by kind for two units to count as one that was changed; other kinds match only if equal."""
_POSITION_BONUS = 0.5
_SPLIT_BONUS = 0.9
_MAX_PAIRS = 200_000
"""Maximum number of pairs to compare for likeness, about a second; beyond it units match by equal text only."""


class UnitMatch(NamedTuple):
    """The indexes of one unit in the three versions; a task that a side has split has two there."""

    base: tuple[int, ...]
    ours: tuple[int, ...]
    theirs: tuple[int, ...]


def match_units(base: Sequence[MergeUnit], ours: Sequence[MergeUnit], theirs: Sequence[MergeUnit]) -> list[UnitMatch]:
    """Match every unit of the three versions."""
    in_ours, in_theirs = match_to_base(base, ours), match_to_base(base, theirs)
    our_reworded, their_reworded = _reworded_tasks(base, ours, in_ours), _reworded_tasks(base, theirs, in_theirs)
    for index in {*our_reworded.values()} & {*their_reworded.values()}:
        our_index, their_index = in_ours[index][0], in_theirs[index][0]
        if ours[our_index].key == theirs[their_index].key:
            del our_reworded[our_index], their_reworded[their_index]
    our_new, their_new = (
        sorted([*_unmatched(in_ours, ours), *our_reworded]),
        sorted([*_unmatched(in_theirs, theirs), *their_reworded]),
    )
    twins = _match_equal(
        [_unit_identity(ours[index]) for index in our_new], [_unit_identity(theirs[index]) for index in their_new]
    )
    matches = [UnitMatch((), (our_new[our_index],), (their_new[their_index],)) for our_index, their_index in twins]
    for match in matches:  # a task reworded to the other side's text is the same as that one, no longer the base's task
        in_ours.pop(our_reworded.get(match.ours[0], -1), None)
        in_theirs.pop(their_reworded.get(match.theirs[0], -1), None)
    matched = {match.ours[0] for match in matches}, {match.theirs[0] for match in matches}
    matches += [UnitMatch((), (index,), ()) for index in _unmatched(in_ours, ours) if index not in matched[0]]
    matches += [UnitMatch((), (), (index,)) for index in _unmatched(in_theirs, theirs) if index not in matched[1]]
    return matches + [
        UnitMatch((index,), in_ours.get(index, ()), in_theirs.get(index, ())) for index in range(len(base))
    ]


def split_words(text: str) -> list[str]:
    """Split a text into words without case and punctuation.

    Non-ASCII words are split into characters, because some scripts have no spaces.
    """
    import re

    words: list[str] = []
    for token in re.findall(r"\w+", text.casefold()):
        words += [token] if token.isascii() else list(token)
    return words


def likeness(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the likeness of two sets of words, from 0 to 1; a set that contains the other scores at least 0.7."""
    shared = len(left & right)
    overlap = 2 * shared / (len(left) + len(right)) if left or right else 0.0
    smaller = min(len(left), len(right))
    return max(overlap, 0.7) if smaller > 2 and shared == smaller else overlap


def _reworded_tasks(
    base: Sequence[MergeUnit], side: Sequence[MergeUnit], pairs: dict[int, tuple[int, ...]]
) -> dict[int, int]:
    """Return the index of each task whose text differs from the base, with its index in the base."""
    return {
        places[0]: index
        for index, places in pairs.items()
        if base[index].kind == TASK and len(places) == 1 and side[places[0]].key != base[index].key
    }


def _unit_text(unit: MergeUnit) -> tuple[str, ...]:
    return unit[:2]


def _unit_lines(unit: MergeUnit) -> tuple[object, ...]:
    return (*_unit_identity(unit), unit.lines)


def _unit_identity(unit: MergeUnit) -> tuple[str, str, str]:
    return (unit.kind, unit.key, unit.parent_key)


def _unmatched(pairs: dict[int, tuple[int, ...]], units: Sequence[MergeUnit]) -> list[int]:
    matched = {index for places in pairs.values() for index in places}
    return [index for index in range(len(units)) if index not in matched]


def _match_equal(left: Sequence[object], right: Sequence[object]) -> list[tuple[int, int]]:
    """Pair equal elements of two sequences: first those in the same order, then the remaining ones from the start."""
    pairs = align_sequences(left, right)
    left_matched, right_matched = {index for index, _ in pairs}, {index for _, index in pairs}
    waiting: dict[object, list[int]] = {}
    for index in range(len(right) - 1, -1, -1):
        if index not in right_matched:
            waiting.setdefault(right[index], []).append(index)
    for index in range(len(left)):
        if index not in left_matched and waiting.get(left[index]):
            pairs.append((index, waiting[left[index]].pop()))
    return pairs


def match_to_base(base: Sequence[MergeUnit], side: Sequence[MergeUnit]) -> dict[int, tuple[int, ...]]:
    """Return the indexes in a side for each unit of the base that the side still has.

    Of several units with the same text, those with the same parent and lines match first.
    """
    pairs: dict[int, tuple[int, ...]] = {}
    for identity in (_unit_lines, _unit_identity, _unit_text):
        base_left = [index for index in range(len(base)) if index not in pairs]
        side_left = _unmatched(pairs, side)
        pairs |= {
            base_left[index]: (side_left[side_index],)
            for index, side_index in _match_equal(
                [identity(base[index]) for index in base_left], [identity(side[index]) for index in side_left]
            )
        }
    matcher = _SimilarityMatcher(base, side)
    for base_run, new_indexes in _unmatched_runs(base, side, pairs):
        pairs |= matcher.match_in_place(base_run, new_indexes)
    unmatched = [index for index in range(len(base)) if index not in pairs]
    return pairs | matcher.match_moved(unmatched, _unmatched(pairs, side))


def _unmatched_runs(
    base: Sequence[MergeUnit], side: Sequence[MergeUnit], pairs: dict[int, tuple[int, ...]]
) -> list[tuple[list[int], list[int]]]:
    """Return the unmatched units of both versions that are between the same matched units."""
    base_by_side = {places[0]: index for index, places in pairs.items()}
    runs = []
    new_by_anchor: dict[int, list[int]] = {}  # by the unit of the base before them
    anchor = -1
    for index in range(len(side)):
        if index in base_by_side:
            anchor = base_by_side[index]
        else:
            new_by_anchor.setdefault(anchor, []).append(index)
    anchor, base_run = -1, []
    for index in range(len(base) + 1):
        if index < len(base) and index not in pairs:
            base_run.append(index)
            continue
        if base_run and anchor in new_by_anchor:
            runs.append((base_run, new_by_anchor[anchor]))
        anchor, base_run = index, []
    return runs


class _SimilarityMatcher:
    """A matcher for reworded units, with cached words per unit and a limit on comparisons."""

    def __init__(self, base: Sequence[MergeUnit], side: Sequence[MergeUnit]) -> None:
        self.base = base
        self.side = side
        self.remaining_pairs = _MAX_PAIRS
        self._unit_words: dict[int, frozenset[str]] = {}

    def match_in_place(self, base_run: list[int], new_indexes: list[int]) -> dict[int, tuple[int, ...]]:
        """Pair the old and new units at the same place in the best way that keeps their order."""
        if len(base_run) * len(new_indexes) > self.remaining_pairs:
            return {}
        self.remaining_pairs -= len(base_run) * len(new_indexes)
        best_scores = [[0.0] * (len(new_indexes) + 1) for _ in range(len(base_run) + 1)]
        best_steps = [[0] * (len(new_indexes) + 1) for _ in base_run]
        for base_index in range(len(base_run) - 1, -1, -1):
            for new_index in range(len(new_indexes) - 1, -1, -1):
                options = [(best_scores[base_index + 1][new_index], 0), (best_scores[base_index][new_index + 1], -1)]
                single_score = self._score(base_run[base_index], new_indexes[new_index])
                if single_score:
                    options.append((single_score + best_scores[base_index + 1][new_index + 1], 1))
                split_score = self._split_score(base_run[base_index], new_indexes[new_index : new_index + 2])
                if split_score:
                    options.append((split_score + best_scores[base_index + 1][new_index + 2], 2))
                best_scores[base_index][new_index], best_steps[base_index][new_index] = max(
                    options, key=lambda option: (round(option[0], 6), option[1])
                )
        pairs: dict[int, tuple[int, ...]] = {}
        base_index = new_index = 0
        while base_index < len(base_run) and new_index < len(new_indexes):
            step = best_steps[base_index][new_index]
            if step > 0:
                pairs[base_run[base_index]] = tuple(new_indexes[new_index : new_index + step])
            base_index, new_index = base_index + (step >= 0), new_index + abs(step)
        return pairs

    def match_moved(self, base_indexes: list[int], side_indexes: list[int]) -> dict[int, tuple[int, ...]]:
        """Pair units that were both moved and reworded, the most similar first."""
        if len(base_indexes) * len(side_indexes) > self.remaining_pairs:
            return {}
        candidates = []
        for base_index in base_indexes:
            for side_index in side_indexes:
                similarity = self._similarity(base_index, side_index)
                if similarity:
                    candidates.append((-similarity, base_index, side_index))
        pairs: dict[int, tuple[int, ...]] = {}
        matched = set()
        for _, base_index, side_index in sorted(candidates):
            if base_index not in pairs and side_index not in matched:
                pairs[base_index] = (side_index,)
                matched.add(side_index)
        return pairs

    def _score(self, base_index: int, side_index: int) -> float:
        """Return the score for two units at the same place being one, or 0."""
        base_unit, side_unit = self.base[base_index], self.side[side_index]
        if base_unit.task is None or side_unit.task is None:
            return self._similarity(base_index, side_index)
        similarity = likeness(self._words_of(base_unit), self._words_of(side_unit))
        if base_unit.task.state == DONE and side_unit.task.state == OPEN and similarity < _MIN_LIKENESS[TASK]:
            return 0.0
        return _POSITION_BONUS + similarity + (0.1 if base_unit.depth == side_unit.depth else 0.0)

    def _split_score(self, base_index: int, side_indexes: list[int]) -> float:
        """Return the score for a task having been split into a done one and an unfinished one, or 0."""
        base_unit = self.base[base_index]
        tasks = [self.side[side_index].task for side_index in side_indexes]
        if (
            base_unit.task is None
            or base_unit.task.state == DONE
            or len(tasks) < 2
            or tasks[0] is None
            or tasks[1] is None
        ):
            return 0.0
        if (
            tasks[0].state != DONE
            or tasks[1].state == DONE
            or not tasks[0].depth == tasks[1].depth == base_unit.task.depth
        ):
            return 0.0
        both_words = self._words_of(self.side[side_indexes[0]]) | self._words_of(self.side[side_indexes[1]])
        return _SPLIT_BONUS + likeness(self._words_of(base_unit), both_words)

    def _similarity(self, base_index: int, side_index: int) -> float:
        base_unit, side_unit = self.base[base_index], self.side[side_index]
        if base_unit.kind != side_unit.kind or base_unit.kind not in _MIN_LIKENESS:
            return 0.0
        similarity = likeness(self._words_of(base_unit), self._words_of(side_unit))
        return similarity if similarity >= _MIN_LIKENESS[base_unit.kind] else 0.0

    def _words_of(self, unit: MergeUnit) -> frozenset[str]:
        key = id(unit)
        if key not in self._unit_words:
            if unit.kind == SECTION:
                words = frozenset([line.strip() for line in unit.lines[1:] if line.strip()])
            else:
                words = frozenset(split_words(unit.task.text if unit.task else " ".join(unit.lines)))
            self._unit_words[key] = words
        return self._unit_words[key]
