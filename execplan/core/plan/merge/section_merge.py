"""Three-way merge of the sections and other parts of a plan."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.line_grammar import is_revision_note
from execplan.core.plan.merge import item_merge
from execplan.core.plan.merge.item_merge import merge_task
from execplan.core.plan.merge.merge_units import (
    ENTRY,
    LOG_SECTIONS,
    NOTES,
    PLACEHOLDER,
    SECTION,
    TASK,
    MergeUnit,
    split_log,
    split_plan,
    split_section,
)
from execplan.core.plan.merge.unit_matching import match_units
from execplan.core.plan.merge.unit_order import UnitVersions, merge_units, order_by_rank, ours_then_theirs
from execplan.core.plan.model import ParsedPlan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.plan.merge.merge_context import MergeContext
    from execplan.core.plan.merge.unit_matching import UnitMatch
    from execplan.core.plan.model import Entry


class SectionMerger:
    """A merge of one part of a plan from its units in three versions."""

    def __init__(self, context: MergeContext, versions: UnitVersions, *, is_log: bool) -> None:
        self.context = context
        self.versions = versions
        self.is_log = is_log
        self.matches = match_units(*versions)
        self._new_matches = [match for match in self.matches if not match.base]
        self._changed_units = (set[int](), self._changed_indexes(1), self._changed_indexes(2))
        self._placeholder_obsolete = [self._is_placeholder_obsolete(1), self._is_placeholder_obsolete(2)]

    def merge(self) -> list[str]:
        """Return the merged lines of the part."""
        if not self.is_log:
            return merge_units(self.versions, self._merge_unit, ours_then_theirs, self.matches)
        item_merge.report_contradictions(self.context, self._new_decisions(1), self._new_decisions(2))
        combine_runs = order_by_rank(item_merge.entry_date, descending=item_merge.is_newest_first_log(self.versions))
        return merge_units(self.versions, self._merge_unit, combine_runs, self.matches)

    def _merge_unit(self, match: UnitMatch) -> list[str] | None:
        """Merge one unit; return None if it is deleted."""
        base, ours, theirs = self.versions.units_at(match)
        if ours is not None and theirs is not None:
            if ours.kind == TASK:
                return merge_task(self.context, base, *self._matched_units(match))
            if ours.kind == ENTRY:
                return item_merge.merge_entry(self.context, base, ours, theirs)
            return self.context.merge_text(base.lines if base else (), ours.lines, theirs.lines)
        unit = ours or theirs
        if (
            unit is not None
            and base is None
            and unit.kind == PLACEHOLDER
            and self._placeholder_obsolete[0 if ours else 1]
        ):
            return None
        if unit is not None and base is not None and base.task is not None and self._has_nested_changes(match):
            return self.context.write_conflict(ours.lines if ours else (), theirs.lines if theirs else ())
        return self.context.merge_one_sided(base, *self._matched_units(match))

    def _matched_units(self, match: UnitMatch) -> tuple[list[MergeUnit], list[MergeUnit]]:
        return [self.versions.ours[index] for index in match.ours], [
            self.versions.theirs[index] for index in match.theirs
        ]

    def _changed_indexes(self, side: int) -> set[int]:
        """Return the indexes of the units that a side added or changed."""
        units = self.versions[side]
        return {
            index
            for match in self.matches
            for index in match[side]
            if not match.base or units[index].lines != self.versions.base[match.base[0]].lines
        }

    def _has_nested_changes(self, match: UnitMatch) -> bool:
        """Return whether something was added or changed below an item that the other side deleted."""
        side = 1 if match.ours else 2
        units, index = self.versions[side], match[side][-1]
        depth = units[index].depth
        index += 1
        while index < len(units) and units[index].depth > depth:
            if index in self._changed_units[side]:
                return True
            index += 1
        return False

    def _is_placeholder_obsolete(self, side: int) -> bool:
        """Return whether a side has no tasks or entries and the other has added some, which replace the placeholder."""
        other_side = 3 - side
        if any([unit.kind in (TASK, ENTRY) for unit in self.versions[side]]):
            return False
        return any(
            [
                match[other_side] and self.versions[other_side][match[other_side][0]].kind in (TASK, ENTRY)
                for match in self._new_matches
            ]
        )

    def _new_decisions(self, side: int) -> list[Entry]:
        """Return the decisions that only this side has added."""
        section_names = [unit.section.name for unit in self.versions[side][:1] if unit.section is not None]
        if section_names != [outline.DECISIONS]:
            return []
        new_indexes = sorted([match[side][0] for match in self._new_matches if match[side] and not match[3 - side]])
        log_entries = [self.versions[side][index].entry for index in new_indexes]
        return [entry for entry in log_entries if entry is not None]


class PlanVersions(NamedTuple):
    """The three versions of a plan; `base` may be empty."""

    base: ParsedPlan
    ours: ParsedPlan
    theirs: ParsedPlan


def merge_sections(context: MergeContext, versions: PlanVersions) -> list[str]:
    """Return the lines of the merged plan."""
    part_versions = UnitVersions(*[split_plan(plan) for plan in versions])

    def merge_part(match: UnitMatch) -> list[str] | None:
        base, ours, theirs = part_versions.units_at(match)
        if ours is None or theirs is None:
            return context.merge_one_sided(base, [ours] if ours else [], [theirs] if theirs else [])
        if theirs.lines == ours.lines or (base is not None and theirs.lines == base.lines):
            return list(ours.lines)
        if base is not None and ours.lines == base.lines:
            return list(theirs.lines)
        return _merge_changed_part(context, versions, (base, ours, theirs))

    return merge_units(part_versions, merge_part, order_by_rank(_section_rank), match_units(*part_versions))


def _merge_changed_part(
    context: MergeContext, versions: PlanVersions, sides: tuple[MergeUnit | None, MergeUnit, MergeUnit]
) -> list[str]:
    """Merge a part that both sides have and changed in different ways."""
    base, ours, theirs = sides
    section = ours.section
    if section is None:
        return context.merge_text(base.lines if base else (), ours.lines, theirs.lines)
    if ours.kind == NOTES or section.name in LOG_SECTIONS or is_revision_note(section.title):
        return _merge_by_unit(context, versions, sides, is_log=True)
    if section.name == outline.PROGRESS:
        return _merge_by_unit(context, versions, sides, is_log=False)
    trial = context.start_trial()
    lines = trial.merge_text(base.lines if base else (), ours.lines, theirs.lines)
    if trial.conflict_count and (section.name == outline.ARTIFACTS or _has_checkboxes(versions.ours, ours)):
        unit_trial = context.start_trial()
        unit_lines = _merge_by_unit(unit_trial, versions, sides, is_log=False)
        if unit_trial.conflict_count < trial.conflict_count:
            trial, lines = unit_trial, unit_lines
    context.accept_trial(trial)
    return lines


def _merge_by_unit(
    context: MergeContext, versions: PlanVersions, sides: tuple[MergeUnit | None, MergeUnit, MergeUnit], *, is_log: bool
) -> list[str]:
    """Split a part into its units and merge them one by one."""
    split_part = split_log if is_log else split_section
    units = [
        split_part(plan, plan_part) if plan_part is not None else []
        for plan, plan_part in zip(versions, sides, strict=True)
    ]
    return SectionMerger(context, UnitVersions(*units), is_log=is_log).merge()


def _has_checkboxes(plan: ParsedPlan, plan_part: MergeUnit) -> bool:
    return any([plan_part.start <= box.start < plan_part.end for box in plan.boxes])


def _section_rank(plan_part: MergeUnit) -> int | None:
    """Return the position of a part in the standard section order; revision notes come last."""
    if plan_part.kind == NOTES:
        return len(outline.NAMES)
    return outline.NAMES.index(plan_part.key) if plan_part.kind == SECTION and plan_part.key in outline.NAMES else None
