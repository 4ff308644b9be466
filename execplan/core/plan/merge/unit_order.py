"""Order of merged units: common units keep their order, and additions follow their neighbors."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.merge.unit_matching import UnitMatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from execplan.core.plan.merge.merge_units import MergeUnit

    RunCombiner = Callable[[list["MergedUnit"], list["MergedUnit"]], list["MergedUnit"]]


class UnitVersions(NamedTuple):
    """The units of a part in the three versions."""

    base: Sequence[MergeUnit]
    ours: Sequence[MergeUnit]
    theirs: Sequence[MergeUnit]

    def units_at(self, match: UnitMatch) -> tuple[MergeUnit | None, MergeUnit | None, MergeUnit | None]:
        """Return the matched unit in each version, or None; for a split task, its first part."""
        base, ours, theirs = [
            units[indexes[0]] if indexes else None for units, indexes in zip(self, match, strict=True)
        ]
        return base, ours, theirs


class MergedUnit(NamedTuple):
    """A unit with its merged lines."""

    match: UnitMatch
    unit: MergeUnit
    """Unit in our version or, if only theirs has it, in that one."""
    lines: list[str]


def merge_units(
    versions: UnitVersions,
    merge_unit: Callable[[UnitMatch], list[str] | None],
    combine_runs: RunCombiner,
    matches: list[UnitMatch],
) -> list[str]:
    """Merge and order all units and return their lines.

    `merge_unit` merges a unit or returns None if it is deleted; `combine_runs` combines two runs of additions.
    """
    merged_units = []
    for match in matches:
        lines = merge_unit(match)
        if lines is not None:
            unit = versions.ours[match.ours[0]] if match.ours else versions.theirs[match.theirs[0]]
            merged_units.append(MergedUnit(match, unit, lines))
    return _join_lines(versions, _arrange(merged_units, combine_runs))


def ours_then_theirs(ours: list[MergedUnit], theirs: list[MergedUnit]) -> list[MergedUnit]:
    """Combine two runs, ours first; deeper items at their start come first, to stay with the item above both."""
    if not ours or not theirs:
        return ours + theirs
    top_depth = min([merged_unit.unit.depth for merged_unit in (*ours, *theirs)])
    cuts = [
        next((index for index, merged_unit in enumerate(run) if merged_unit.unit.depth == top_depth), len(run))
        for run in (ours, theirs)
    ]
    if cuts == [0, 0]:
        return ours + theirs
    return [*ours_then_theirs(ours[: cuts[0]], theirs[: cuts[1]]), *ours[cuts[0] :], *theirs[cuts[1] :]]


def order_by_rank(rank: Callable[[MergeUnit], Any], *, descending: bool = False) -> RunCombiner:
    """Return a function that combines runs by rank; a unit without a rank stays after its neighbor."""

    def combine_runs(ours: list[MergedUnit], theirs: list[MergedUnit]) -> list[MergedUnit]:
        our_chunks, their_chunks = _rank_chunks(ours, rank), _rank_chunks(theirs, rank)
        combined: list[MergedUnit] = []
        while our_chunks and their_chunks:
            our_rank, their_rank = our_chunks[0][0], their_chunks[0][0]
            takes_theirs = our_rank is not None and (
                their_rank is None or (their_rank > our_rank if descending else their_rank < our_rank)
            )
            combined += (their_chunks if takes_theirs else our_chunks).pop(0)[1]
        return combined + [merged_unit for _, chunk in (*our_chunks, *their_chunks) for merged_unit in chunk]

    return combine_runs


def _rank_chunks(run: list[MergedUnit], rank: Callable[[MergeUnit], Any]) -> list[tuple[Any, list[MergedUnit]]]:
    chunks: list[tuple[Any, list[MergedUnit]]] = []
    for merged_unit in run:
        unit_rank = rank(merged_unit.unit)
        if unit_rank is None and chunks:
            chunks[-1][1].append(merged_unit)
        else:
            chunks.append((unit_rank, [merged_unit]))
    return chunks


def _arrange(merged_units: list[MergedUnit], combine_runs: RunCombiner) -> list[MergedUnit]:
    """Arrange the units in our order, or in theirs if only they moved any; place the others after their neighbors."""
    ours = sorted(
        [merged_unit for merged_unit in merged_units if merged_unit.match.ours],
        key=lambda merged_unit: merged_unit.match.ours,
    )
    theirs = sorted(
        [merged_unit for merged_unit in merged_units if merged_unit.match.theirs],
        key=lambda merged_unit: merged_unit.match.theirs,
    )
    is_theirs_order = _is_reordered(theirs) and not _is_reordered(ours)
    main_units, other_units = (theirs, ours) if is_theirs_order else (ours, theirs)
    main_matches = {merged_unit.match for merged_unit in main_units}
    other_runs: dict[UnitMatch | None, list[MergedUnit]] = {}
    anchor = None
    for merged_unit in other_units:
        if merged_unit.match in main_matches:
            anchor = merged_unit.match
        else:
            other_runs.setdefault(anchor, []).append(merged_unit)
    other_matches = {merged_unit.match for merged_unit in other_units}
    arranged: list[MergedUnit] = []
    main_run: list[MergedUnit] = []
    anchor = None
    for merged_unit in main_units:
        if merged_unit.match not in other_matches:
            main_run.append(merged_unit)
            continue
        other_run = other_runs.pop(anchor, [])
        arranged += [
            *(combine_runs(other_run, main_run) if is_theirs_order else combine_runs(main_run, other_run)),
            merged_unit,
        ]
        main_run = []
        anchor = merged_unit.match
    other_run = other_runs.pop(anchor, [])
    return arranged + (combine_runs(other_run, main_run) if is_theirs_order else combine_runs(main_run, other_run))


def _is_reordered(merged_units: list[MergedUnit]) -> bool:
    """Return whether units that all three versions have are in a different order than in the base."""
    base_indexes = [
        merged_unit.match.base
        for merged_unit in merged_units
        if merged_unit.match.base and merged_unit.match.ours and merged_unit.match.theirs
    ]
    return base_indexes != sorted(base_indexes)


def _join_lines(versions: UnitVersions, merged_units: list[MergedUnit]) -> list[str]:
    """Join the lines of the units with the blank lines that one of the versions has between them."""
    lines: list[str] = []
    for index, merged_unit in enumerate(merged_units):
        lines += merged_unit.lines
        lines += _blank_lines_between(
            versions,
            merged_unit,
            merged_units[index + 1] if index + 1 < len(merged_units) else None,
            is_first=not lines,
        )
    return lines


def _blank_lines_between(
    versions: UnitVersions, merged_unit: MergedUnit, next_unit: MergedUnit | None, *, is_first: bool
) -> tuple[str, ...]:
    """Return the blank lines between two units, from the side that changed them.

    Where the two are not adjacent in either side, use the blank lines above the second one.
    """
    base, ours, theirs = [
        _adjacent_gap(*position)
        for position in zip(versions, merged_unit.match, _unit_positions(versions, next_unit), strict=True)
    ]
    if ours is not None and theirs is not None:
        if ours == base:
            return theirs
        if theirs == base:
            return ours
        return min(ours, theirs)
    if ours is not None or theirs is not None:
        return (theirs if ours is None else ours) or ()
    if next_unit is None or is_first:
        return ()
    units, indexes = (
        (versions.ours, next_unit.match.ours)
        if not next_unit.match.theirs
        else (versions.theirs, next_unit.match.theirs)
    )
    gap_above = units[indexes[0] - 1].gap if indexes[0] else ()
    return gap_above if merged_unit.unit.is_item and next_unit.unit.is_item else gap_above or ("",)


def _unit_positions(versions: UnitVersions, merged_unit: MergedUnit | None) -> Sequence[tuple[int, ...]]:
    """Return the indexes of a unit in each version; None means the end."""
    return merged_unit.match if merged_unit is not None else [(len(units),) for units in versions]


def _adjacent_gap(
    units: Sequence[MergeUnit], before: tuple[int, ...], after: tuple[int, ...]
) -> tuple[str, ...] | None:
    """Return the blank lines between two units if they are adjacent, otherwise None."""
    return units[before[-1]].gap if before and after and before[-1] + 1 == after[0] else None
