"""Three versions of a plan → one."""

from __future__ import annotations

from execplan.plan.merging.checked import find_merge_loss
from execplan.plan.merging.clerk import MergeContext
from execplan.plan.merging.ends import restore_line_ends
from execplan.plan.merging.markers import remove_conflicts
from execplan.plan.merging.sections import PlanVersions, merge_sections
from execplan.plan.reader import decode, read_text
from execplan.plan.seek import normalize_text
from execplan.record import NamedTuple
from execplan.text.diff3 import ConflictMarkers
from execplan.text.lines import Text

__all__ = ["LineMerger", "ConflictMarkers", "MergeResult", "merge_plans"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.merging.clerk import LineMerger


class MergeResult(NamedTuple):
    """What became of the three versions."""

    data: bytes
    conflict_count: int
    """How many regions stand between markers."""
    notes: tuple[str, ...]
    """What a person should know of, a line each."""


_DEFAULT_MARKERS = ConflictMarkers()


def merge_plans(base: bytes | None, ours: bytes, theirs: bytes, merge_lines: LineMerger, markers: ConflictMarkers = _DEFAULT_MARKERS) -> MergeResult:
    """The plan that holds what both sides did to the base, or, with no base, what both added under one name.

    `merge_lines` merges lines, each with its end, that belong together. Raises ExecplanError for a version that is no text.
    """
    texts = (decode(base) if base is not None and base.strip() else None, decode(ours), decode(theirs))
    if theirs in (base, ours):
        return MergeResult(ours, 0, ())
    if ours == base:
        return MergeResult(theirs, 0, ())
    return merge_plan_texts(*texts, merge_lines, markers)


def merge_plan_texts(base: Text | None, ours: Text, theirs: Text, merge_lines: LineMerger, markers: ConflictMarkers = _DEFAULT_MARKERS) -> MergeResult:
    """The same of decoded texts, and without a short cut."""
    context = MergeContext(merge_lines, markers)
    base_text = remove_conflicts(base) if base is not None else Text([], [])
    versions = PlanVersions(read_text(base_text), read_text(ours), read_text(theirs))
    if base is None and normalize_text(versions.ours.title or "") != normalize_text(versions.theirs.title or ""):
        context.add_note("two different plans were added under one name: both are kept whole")
        merged_lines = context.write_conflict(ours.lines, theirs.lines)
    else:
        merged_lines = merge_sections(context, versions)
        loss = find_merge_loss(versions, read_text(Text(merged_lines, ["\n"] * len(merged_lines))), conflicts=context.conflict_count)
        if loss:
            context = context.start_trial()
            context.add_note(f"merged line by line: task by task {loss}")
            merged_lines = context.merge_text(base_text.lines, ours.lines, theirs.lines)
    if not any([line.strip() for line in merged_lines]):
        context.add_note("each side deleted what the other left: both are kept whole")
        merged_lines = context.write_conflict(ours.lines, theirs.lines)
    return MergeResult(restore_line_ends(merged_lines, base, ours, theirs).to_bytes(), context.conflict_count, context.notes)
