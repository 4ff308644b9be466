"""Three-way merge of whole plans."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.merge.conflict_regions import remove_conflicts
from execplan.core.plan.merge.merge_context import MergeContext, quote_text
from execplan.core.plan.merge.merge_units import split_plan, split_section
from execplan.core.plan.merge.section_merge import PlanVersions, merge_sections
from execplan.core.plan.merge.unit_matching import split_words
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_lookup import normalize_text
from execplan.core.plan.reader import decode, read_text
from execplan.core.text.line_merge import ConflictMarkers
from execplan.core.text.sequence_alignment import align_sequences
from execplan.core.text.text_lines import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    from execplan.core.plan.merge.merge_context import LineMerger

    T = TypeVar("T")


def restore_line_ends(lines: Sequence[str], base: Text | None, ours: Text, theirs: Text) -> Text:
    """Make a text of the merged lines.

    Line ends, final newline and byte order mark come from the side that changed them, otherwise from ours.
    """
    base_text = base if base is not None else theirs  # so that ours wins
    bom = theirs.bom if ours.bom == base_text.bom else ours.bom
    uniform_ends = [_uniform_end(text) for text in (base_text, ours, theirs)]
    if None not in uniform_ends:
        ends = [(uniform_ends[2] if uniform_ends[1] in (uniform_ends[0], "") else uniform_ends[1]) or "\n"] * len(lines)
    else:
        ends = _mixed_ends(lines, base_text, ours, theirs)
    has_final_end = [not text.ends or bool(text.ends[-1]) for text in (base_text, ours, theirs)]
    if ends and not (has_final_end[2] if has_final_end[1] == has_final_end[0] else has_final_end[1]):
        ends[-1] = ""
    for index in range(1, len(ends)):
        if ends[index] == "\n" and not lines[index] and ends[index - 1] == "\r":
            ends[index] = "\r"  # CR and LF would join to one CRLF, and the empty line would be lost
    return Text(list(lines), ends, bom=bom)


def _uniform_end(text: Text) -> str | None:
    """Return the end that all lines have, an empty string if there is none, or None if the ends differ."""
    line_ends = set(text.ends) - {""}
    if len(line_ends) > 1:
        return None
    return line_ends.pop() if line_ends else ""


def _mixed_ends(lines: Sequence[str], base: Text, ours: Text, theirs: Text) -> list[str]:
    """Return the end of each line, for versions with mixed line ends."""
    in_base, in_ours, in_theirs = [dict(align_sequences(lines, text.lines)) for text in (base, ours, theirs)]
    ends: list[str] = []
    for index in range(len(lines)):
        our_end = ours.ends[in_ours[index]] if index in in_ours else ""
        their_end = theirs.ends[in_theirs[index]] if index in in_theirs else ""
        base_end = base.ends[in_base[index]] if index in in_base else ""
        if our_end:
            ends.append(their_end if their_end and base_end == our_end else our_end)
            continue
        end_above = theirs.ends[in_theirs[index - 1]] if index - 1 in in_theirs else ""
        neighbor_end = ends[-1] if ends else next((end for end in ours.ends if end), "\n")
        ends.append(their_end if their_end and end_above in ("", neighbor_end) else neighbor_end)
    return ends


def find_merge_loss(versions: Sequence[ParsedPlan], merged_plan: ParsedPlan, *, conflicts: int) -> str:
    """Describe an addition that the merged plan lacks or has twice; return an empty string if there is none."""
    fact_texts: dict[tuple[str, str], str] = {}
    base_facts, our_facts, their_facts, merged_facts = [
        _count_facts(plan, fact_texts) for plan in (*versions, merged_plan)
    ]
    for side in (our_facts, their_facts):
        for fact, count in side.items():
            if count > base_facts.get(fact, 0) and not merged_facts.get(fact):
                return f"{quote_text(fact_texts[fact])} would have been lost"
    duplicates = (
        []
        if conflicts
        else [fact for fact in _more_frequent(merged_facts, (base_facts, our_facts, their_facts)) if fact[0] == "task"]
    )
    if duplicates:
        *side_positions, merged_positions = [_task_positions(plan) for plan in (*versions, merged_plan)]
        duplicated_keys = {fact for _, fact in _more_frequent(merged_positions, side_positions)}
        for fact in duplicates:
            if fact[1] in duplicated_keys:
                return f"{quote_text(fact_texts[fact])} would appear twice"
    return ""


def _more_frequent(merged_counts: dict[T, int], side_counts: Sequence[dict[T, int]]) -> list[T]:
    """Return the keys that the merged plan has more often than any version."""
    return [key for key, count in merged_counts.items() if count > max([counts.get(key, 0) for counts in side_counts])]


def _task_positions(plan: ParsedPlan) -> dict[tuple[str, str], int]:
    """Count each task below its item or sub-heading: two of them may each have a task "write the tests"."""
    positions: dict[tuple[str, str], int] = {}
    task_starts = {task.start for task in plan.tasks}
    for plan_part in split_plan(plan):
        if plan_part.section is not None:
            for unit in split_section(plan, plan_part):
                if unit.task is not None and unit.task.start in task_starts:
                    position = (unit.parent_key, " ".join(split_words(unit.task.text)))
                    positions[position] = positions.get(position, 0) + 1
    return positions


def _count_facts(plan: ParsedPlan, fact_texts: dict[tuple[str, str], str]) -> dict[tuple[str, str], int]:
    """Count the tasks and entries of a plan by text without punctuation; `fact_texts` receives the text as written."""
    counts: dict[tuple[str, str], int] = {}
    named_texts = [("task", task.text) for task in plan.tasks]
    for name, entries in (
        ("decision", plan.decisions),
        ("discovery", plan.discoveries),
        ("outcome", plan.outcomes),
        ("note", plan.revisions),
    ):
        named_texts += [
            (name, " ".join([entry.text, entry.rationale or "", entry.evidence or ""])) for entry in entries
        ]
    for name, text in named_texts:
        fact = (name, " ".join(split_words(text)))
        counts[fact] = counts.get(fact, 0) + 1
        fact_texts[fact] = text
    return counts


__all__ = ["ConflictMarkers", "LineMerger", "MergeResult", "merge_plans"]


class MergeResult(NamedTuple):
    """The result of merging three versions of a plan."""

    data: bytes
    conflict_count: int
    """Number of regions between conflict markers."""
    notes: tuple[str, ...]
    """Notes for the user, one per line."""


_DEFAULT_MARKERS = ConflictMarkers()


def merge_plans(
    base: bytes | None, ours: bytes, theirs: bytes, merge_lines: LineMerger, markers: ConflictMarkers = _DEFAULT_MARKERS
) -> MergeResult:
    """Merge the changes that both sides made to the base or, without a base, two plans added under one name.

    `merge_lines` merges lines, each with its end, that belong together. Raises ExecplanError if a version is not text.
    """
    texts = (decode(base) if base is not None and base.strip() else None, decode(ours), decode(theirs))
    if theirs in (base, ours):
        return MergeResult(ours, 0, ())
    if ours == base:
        return MergeResult(theirs, 0, ())
    return merge_plan_texts(*texts, merge_lines, markers)


def merge_plan_texts(
    base: Text | None, ours: Text, theirs: Text, merge_lines: LineMerger, markers: ConflictMarkers = _DEFAULT_MARKERS
) -> MergeResult:
    """Merge decoded texts like `merge_plans`, but without the shortcut for unchanged sides."""
    context = MergeContext(merge_lines, markers)
    base_text = remove_conflicts(base) if base is not None else Text([], [])
    versions = PlanVersions(read_text(base_text), read_text(ours), read_text(theirs))
    if base is None and normalize_text(versions.ours.title or "") != normalize_text(versions.theirs.title or ""):
        context.add_note("two different plans were added under one name: both are kept completely")
        merged_lines = context.write_conflict(ours.lines, theirs.lines)
    else:
        merged_lines = merge_sections(context, versions)
        loss = find_merge_loss(
            versions, read_text(Text(merged_lines, ["\n"] * len(merged_lines))), conflicts=context.conflict_count
        )
        if loss:
            context = context.start_trial()
            context.add_note(f"merged line by line, because in a merge by task {loss}")
            merged_lines = context.merge_text(base_text.lines, ours.lines, theirs.lines)
    if not any([line.strip() for line in merged_lines]):
        context.add_note("each side deleted what the other kept: both are kept completely")
        merged_lines = context.write_conflict(ours.lines, theirs.lines)
    return MergeResult(
        restore_line_ends(merged_lines, base, ours, theirs).to_bytes(), context.conflict_count, context.notes
    )
