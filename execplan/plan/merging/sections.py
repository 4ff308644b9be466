"""The parts of a plan in three versions → one text."""

from __future__ import annotations

from execplan.plan import outline
from execplan.plan.grammar import is_revision_note
from execplan.plan.merging.match import match_units
from execplan.plan.merging.pieces import SectionMerger
from execplan.plan.merging.sequence import UnitVersions, merge_units, order_by_rank
from execplan.plan.merging.units import LOG_SECTIONS, NOTES, SECTION, Unit, split_log, split_plan, split_section
from execplan.plan.model import Plan
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.merging.clerk import MergeContext
    from execplan.plan.merging.match import UnitMatch


class PlanVersions(NamedTuple):
    """The three versions; `base` may be empty."""

    base: Plan
    ours: Plan
    theirs: Plan


def merge_sections(context: MergeContext, versions: PlanVersions) -> list[str]:
    """The lines of the merged plan."""
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


def _merge_changed_part(context: MergeContext, versions: PlanVersions, sides: tuple[Unit | None, Unit, Unit]) -> list[str]:
    """One part that both sides have and changed."""
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


def _merge_by_unit(context: MergeContext, versions: PlanVersions, sides: tuple[Unit | None, Unit, Unit], *, is_log: bool) -> list[str]:
    """A part cut into its units and merged one by one."""
    split_part = split_log if is_log else split_section
    units = [split_part(plan, plan_part) if plan_part is not None else [] for plan, plan_part in zip(versions, sides, strict=True)]
    return SectionMerger(context, UnitVersions(*units), is_log=is_log).merge()


def _has_checkboxes(plan: Plan, plan_part: Unit) -> bool:
    return any([plan_part.start <= task.start < plan_part.end for _, task in plan.checklists])


def _section_rank(plan_part: Unit) -> int | None:
    """Where the twelve sections stand in their order; revision notes come last."""
    if plan_part.kind == NOTES:
        return len(outline.NAMES)
    return outline.NAMES.index(plan_part.key) if plan_part.kind == SECTION and plan_part.key in outline.NAMES else None
