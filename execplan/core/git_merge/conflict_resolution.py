"""Resolution of a plan with conflict markers: its sides are merged as plans, and manual edits are kept."""

from __future__ import annotations

import os

from execplan.core.edits.plan_writer import EditResult, WriteOptions, amend
from execplan.core.errors import ExecplanError
from execplan.core.git import git_query
from execplan.core.git.unmerged_files import BASE, OURS, THEIRS, find_renamed_twice, list_unmerged
from execplan.core.git_merge import three_way_merge
from execplan.core.git_merge.three_way_merge import merge_versions
from execplan.core.plan.merge.conflict_regions import ConflictSides, remove_conflicts, split_conflicts
from execplan.core.plan.merge.plan_merge import ConflictMarkers, MergeResult
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_change import PlanChange, plan_content
from execplan.core.plan.reader import decode, parse_conflict_marker
from execplan.core.plan.text_rebase import rebase_text
from execplan.core.plan_facts.facts_loader import load_listed_plans
from execplan.core.plan_store import pending_merge, plan_selection
from execplan.core.plan_store.plan_candidates import ambiguous_plan_error
from execplan.core.plan_store.plan_store import PlanRef, name_in_commands
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_count


def find_plan_in_conflict(start: str) -> tuple[Project, PlanRef] | None:
    """Return the only plan with conflict markers of the project of a directory, archived ones included.

    Of several, it is the one that EXECPLAN_PLAN or the sticky plan names. Raises ExecplanError if none of them is. Without
    one, it is the first plan of which git still lists the file or an artifact as unmerged, or None.
    """
    project = project_discovery.require(start)
    listed_plans = load_listed_plans(project, archive=True)
    plans = [plan for plan in listed_plans if plan.facts.conflict_line]
    if len(plans) > 1 and plan_selection.is_plan_chosen(start):
        chosen = plan_selection.select_plan(start, None)[1]
        plans = [plan for plan in plans if plan.ref.path == chosen.path] or plans
    if len(plans) > 1:
        message = f"no plan specified; {len(plans)} have conflict markers"
        names = [name_in_commands(plan.project, plan.ref) for plan in plans]
        steps = pending_merge.find_steps(project, [plan.ref.real_path for plan in plans], "execplan commit")
        hint = f"merge one after the other, first: execplan merge {names[0]}"
        if steps.choices:
            message, hint = steps.choices[0].reason, steps.choices[0].ways
        raise ambiguous_plan_error(plans, message, hint)
    if not plans and project.git is not None:
        unmerged = list_unmerged(project)
        plans = [
            plan
            for plan in (listed_plans if unmerged else ())
            if pending_merge.files_at(unmerged, pending_merge.plan_paths(plan.project, plan.ref))
        ]
    return (plans[0].project, plans[0].ref) if plans else None


def finish_merge(project: Project, ref: PlanRef, options: WriteOptions) -> tuple[EditResult, MergeResult]:
    """Merge the sides between a plan's conflict markers; conflicts that remain keep their markers.

    Archived plans are merged, too. Nothing is committed unless requested, because git commits a merge as a whole.
    Raises ExecplanError if the plan can't be merged or written.
    """
    versions = _unmerged_versions(project, ref.path)
    last_merge = [MergeResult(b"", 0, ())]

    def change(plan: ParsedPlan) -> PlanChange:
        data = plan.text.to_bytes()
        if not plan.conflict_lines:
            last_merge[0] = MergeResult(data, 0, ())
            return PlanChange((), plan_content(plan), "", ("no conflict markers: nothing to merge",))
        sides = split_conflicts(data)
        default = ConflictMarkers()
        ours, theirs = sides.labels
        size = parse_conflict_marker(plan.text.lines[plan.conflict_lines[0]])[1]
        marks = ConflictMarkers(size, ours or default.ours, theirs or default.theirs)
        merged = last_merge[0] = merge_versions(*_merge_inputs(data, sides, versions, marks), marks)
        if merged.conflict_count and options.commit:
            raise ExecplanError(
                "conflicts-left",
                f"{merged.conflict_count} of {format_count(sides.conflict_count, 'conflict')} can't be merged; nothing was written or committed",
                hint="merge what is possible, then resolve the rest by hand: execplan merge",
            )
        merged_count = sides.conflict_count - min(merged.conflict_count, sides.conflict_count)
        summary = f"merged: {merged_count} of {format_count(sides.conflict_count, 'conflict')}"
        return rebase_text(plan, data, merged.data, summary, summary, "")

    edit_result = amend(
        project, ref, change, options._replace(commit=bool(options.commit)), command="merge", resolves_conflicts=True
    )
    return edit_result, last_merge[0]


def _merge_inputs(
    data: bytes, sides: ConflictSides, versions: dict[str, bytes], marks: ConflictMarkers
) -> tuple[bytes, bytes, bytes]:
    """Return base, ours and theirs: from git's index with manual edits applied, or else from the file.

    The file alone is not enough. Outside its markers, each side already contains lines that git merged from the other,
    so an entry that one side reworded and the other moved would be kept twice.
    """
    base = versions.get(BASE, sides.base)
    if OURS not in versions or THEIRS not in versions:
        # Without the base, what both sides share is the best guess; an empty one would make them two plans.
        common = remove_conflicts(decode(data)).to_bytes() if base is None else base
        return common, sides.ours, sides.theirs
    base = base or b""
    git_merge = three_way_merge.run_merge_file(base, versions[OURS], versions[THEIRS], marks)
    if git_merge is None:
        return base, sides.ours, sides.theirs
    untouched = split_conflicts(git_merge[0])
    ours = _apply_hand_edits(versions[OURS], untouched.ours, sides.ours)
    return base, ours, _apply_hand_edits(versions[THEIRS], untouched.theirs, sides.theirs)


def _apply_hand_edits(version: bytes, untouched: bytes, edited: bytes) -> bytes:
    """Apply a person's edits of git's merge to a version; return `edited` if they conflict with it."""
    if untouched == edited:
        return version
    git_merge = three_way_merge.run_merge_file(untouched, version, edited, ConflictMarkers())
    return git_merge[0] if git_merge and not git_merge[1] else edited


def _unmerged_versions(project: Project, path: str) -> dict[str, bytes]:
    """Return the versions of an unmerged file by stage, with working tree filters applied; empty for any other file.

    Of a plan that both sides have renamed, git lists the base at its old name.
    """
    unmerged = list_unmerged(project)
    file = next((file for file in unmerged if file.path == os.path.realpath(path)), None)
    if file is None:
        return {}
    filters = ("cat-file", "--filters", f"--path={project.display_path(file.path)}")
    versions = {stage: git_query.output(project, *filters, blob) for stage, blob in file.blobs.items()}
    renamed = find_renamed_twice(unmerged)
    if renamed is not None and file in (*renamed.ours, *renamed.theirs):
        own_lines = {*versions.popitem()[1].splitlines()}  # git lists the merged text there, not that of a side
        texts = [git_query.output(project, *filters, old.blobs[BASE]) for old in renamed.old]
        versions = {BASE: max(texts, key=lambda text: len(own_lines & {*text.splitlines()}))}
    return versions
