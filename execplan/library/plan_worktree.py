"""The end of work in a plan's worktree: it is merged, the complete plan is archived, and the worktree is removed."""

from __future__ import annotations

import os
from shlex import quote
from typing import NamedTuple

from execplan.core.archive.archive_blockers import load_blockers
from execplan.core.edits.plan_commit import commit_paths, commit_plan
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.files.tree_walk import walk_tree
from execplan.core.git.linked_worktrees import Worktree, list_worktrees, project_in
from execplan.core.plan.model import ARCHIVED, COMPLETE
from execplan.core.plan_store import claims, plan_store
from execplan.core.plan_store.author import actor, explicit_actor
from execplan.core.plan_store.index_location import find_index
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_discovery, project_state
from execplan.core.project.project import Project
from execplan.execution.engine.run_records.finishing_commands import ensure_no_open_runs
from execplan.execution.engine.workspace.backup_store import BackupStore
from execplan.library.plan_api import Plan
from execplan.team.advice.plan_advice import advise_plan
from execplan.team.plan_index.plan_index_file import write_index
from execplan.team.worktrees import worktree_branch, worktree_merge
from execplan.team.worktrees.worktree_creation import worktree_ref
from execplan.team.worktrees.worktree_record import (
    WorktreeRecord,
    find_worktree,
    load_record,
    load_records,
    lock_record,
    plan_key,
    save_record,
)


class FinishedWorktree(NamedTuple):
    """The result of finishing a plan's worktree."""

    record: WorktreeRecord
    into: str
    """Branch into which the plan's branch was merged."""
    target: str
    """Directory of the plan's project in the worktree that has this branch checked out."""
    commit_count: int
    """Number of commits that the merge added; 0 if everything was merged before."""
    archived: str | None
    """Path of the plan in the archive from the root, if it was archived now."""
    not_archived: tuple[str, ...]
    """Reasons why a complete plan was not archived."""
    warnings: tuple[str, ...]
    removed: str
    """Root of the worktree that was removed."""
    was_gone: bool
    """Whether worktree and branch were gone before, so that only their record was removed."""
    is_branch_kept: bool
    """Whether git did not delete the branch; a warning says why."""


def select_record(project: Project, name: str | None) -> WorktreeRecord:
    """Select the worktree of a plan: by a part of the plan's ID, as the current one, or as the only one.

    Raises ExecplanError if no single worktree fits.
    """
    records, worktrees = load_records(project), list_worktrees(project)
    if name is None:
        root = os.path.realpath(project.root)
        current = [worktree for worktree in worktrees if worktree.root == root]
        matches = [record for record in records if find_worktree(record, current) is not None] or records
    else:
        plan_name = name.removesuffix(".md")
        matches = [record for record in records if plan_name in (record.id, record.plan, record.branch)]
        matches = matches or [record for record in records if plan_name and plan_name in record.id]
        matches = matches or [record for record in records if name == record.plan]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise ExecplanError(
            "ambiguous-worktree",
            f"{len(matches)} plans have worktrees{f' and match {name!r}' if name else ''}",
            hint="name the plan: execplan worktree PLAN --finish",
            candidates=[f"{record.id}  {record.root_of(find_worktree(record, worktrees))}" for record in matches],
        )
    if name is None:
        message, hint = "no plan has a worktree", "create one: execplan worktree PLAN"
        raise ExecplanError("no-worktree", message, hint=hint)
    plan = Plan.find(name, project.base)
    record_of_renamed = load_record(project, plan_key(plan.project, plan.ref))
    if record_of_renamed is not None:
        return record_of_renamed
    raise _no_worktree_error(plan)


def _no_worktree_error(plan: Plan) -> ExecplanError:
    """Return the error about a plan without a worktree, which may be finished already."""
    stored_plan = plan_store.load(plan.project, plan.ref)
    hint = f"create one: execplan worktree {quote(plan.id)}"
    if stored_plan.state == ARCHIVED:
        hint = "it is archived; see the open plans: execplan status"
    elif stored_plan.state == COMPLETE:
        hint = f"it is complete: {advise_plan(stored_plan).commands[0]}"
    return ExecplanError("no-worktree", f"{plan.id} has no worktree", hint=hint)


def finish_worktree(
    project: Project, record: WorktreeRecord, *, into: str | None = None, archives: bool = True, commits: bool = False
) -> FinishedWorktree:
    """Merge the worktree of a plan, archive the plan if it is complete, and remove the worktree and its branch.

    `into` replaces the recorded target branch; `commits`: commit the plan and its artifacts first, in the target's
    worktree, too. Raises ExecplanError if the worktree has other changes, or if a merge is stopped; calling it again
    continues after the last step.
    """
    into = into or record.into
    if into == record.branch:
        message = f"{into} is the branch of the plan's own worktree"
        raise ExecplanError("usage", message, hint="--into requires another branch")
    with lock_record(project, record.plan, f"finish of {record.id}"):
        worktrees = list_worktrees(project)
        worktree = find_worktree(record, worktrees)
        target = _require_target(project, record, worktrees, into)
        target_project = project_discovery.find(record.directory_in(target.root))
        archived: str | None = None
        not_archived: tuple[str, ...] = ()
        warnings: tuple[str, ...] = ()
        was_gone = False
        if worktree is not None and worktree.exists:
            plan_project = project_discovery.find(record.directory_in(worktree.root))
            ref = worktree_ref(plan_project, record)
            warnings = _check_claims_of_others(plan_project, ref, record) if ref is not None else ()
            if commits and ref is not None and not worktree_merge.unmerged_files(worktree.root):
                commit_plan(plan_project, ref, None, dry_run=False)
                target_ref = plan_store.ref_for_path(target_project, os.path.join(target.root, record.plans[1]))
                if os.path.lexists(target_ref.path):  # an edit of it would stop the merge
                    commit_plan(target_project, target_ref, None, dry_run=False)
            if ref is not None:
                ensure_no_open_runs(plan_project, ref, "merged")
            if record.is_archiving and ref is not None:
                _commit_archive(plan_project, record, ref, worktree)
            worktree_merge.ensure_finishable(plan_project, record, worktree)
            plan_path = os.path.join(target.root, record.plan)
            with (
                project_state.lock(target_project, plan_path, f"merge of {record.id}"),
                project_state.lock(target_project, "commit", f"merge of {record.id}"),
            ):
                warnings += worktree_merge.update_branch(plan_project, record, worktree, into)
                if archives:
                    archived, not_archived, archive_warnings = _archive_if_complete(plan_project, record)
                    warnings += archive_warnings
                commit_count = worktree_merge.merge_into_target(record, target, into)
        else:
            worktree_branch.ensure_merged_without_worktree(record, target, into)
            was_gone = not worktree_merge.has_branch(target.root, record.branch)
            commit_count = 0
        if worktree is not None:
            _keep_backups(project_in(project, worktree), target_project)
        _release_claims(target_project, record)
        removal_warnings = worktree_branch.remove_worktree(target_project, record, worktree, target, into)
        return FinishedWorktree(
            record,
            into,
            record.directory_in(target.root),
            commit_count,
            archived,
            not_archived,
            (*warnings, *removal_warnings),
            record.root_of(worktree),
            was_gone,
            worktree_merge.has_branch(target.root, record.branch),
        )


def _require_target(project: Project, record: WorktreeRecord, worktrees: list[Worktree], into: str) -> Worktree:
    """Return the worktree that has the target branch checked out. Raises ExecplanError if there is none."""
    target = next((worktree for worktree in worktrees if worktree.branch == into and worktree.exists), None)
    if target is not None:
        return target
    message = f"the branch {into}, into which the plan's branch is merged, does not exist"
    hint = f"merge into another branch: execplan worktree {quote(record.id)} --finish --into BRANCH"
    if worktree_merge.has_branch(project.root, into):
        message = f"no worktree has the branch {into} checked out, into which the plan's branch is merged"
        hint = f"check it out: git switch {quote(into)}; or {hint}"
    raise ExecplanError("branch-not-checked-out", message, hint=hint)


def _archive_if_complete(
    project: Project, record: WorktreeRecord
) -> tuple[str | None, tuple[str, ...], tuple[str, ...]]:
    """Archive the plan in its worktree and commit that; return its new path, or the reasons against it, and warnings."""
    ref = worktree_ref(project, record)
    if ref is None or ref.archived or plan_store.load(project, ref).state != COMPLETE:
        return None, (), ()
    reasons = load_blockers(project, ref).reasons
    if reasons:
        return None, reasons, ()
    save_record(project, record._replace(is_archiving=True))
    moved = Plan(project, ref).archive(options=WriteOptions(commit=True))
    index = find_index(project)
    if index is not None and os.path.lexists(index):
        write_index(project, WriteOptions(commit=True))
    save_record(project, record)
    return moved.path, (), moved.warnings


def _commit_archive(project: Project, record: WorktreeRecord, ref: PlanRef, worktree: Worktree) -> None:
    """Commit what an interrupted archive has changed among the plans of a worktree that was clean before."""
    prefixes = project_discovery.owned_path_prefixes(project)
    files = [path for path in worktree_merge.changed_files(worktree.root) if path.startswith(prefixes)]
    if files:
        paths = [os.path.join(project.root, path) for path in files]
        commit_paths(project, ref.id, paths, "archive", "archive", {}, Plan(project, ref).title)
    save_record(project, record._replace(is_archiving=False))


def _keep_backups(project: Project, target_project: Project) -> None:
    """Move the backups of runs to the state of the target's worktree, so that `rollback` works after the merge."""
    source, target = BackupStore(project).folder, BackupStore(target_project).folder
    for directory, _, names in walk_tree(source):
        destination = os.path.join(target, os.path.relpath(directory, source))
        for name in names:
            os.makedirs(destination, 0o700, exist_ok=True)
            os.replace(os.path.join(directory, name), os.path.join(destination, name))


def _check_claims_of_others(project: Project, ref: PlanRef, record: WorktreeRecord) -> tuple[str, ...]:
    """Return warnings about others who work in a worktree that will be removed. Raises ExecplanError for an agent."""
    plan = plan_store.load(project, ref).plan
    if ref.archived or plan is None:
        return ()
    other_claims = list(claims.claims_of_others(project, ref, plan).values())
    lines = [f"task {claim.task} is claimed by {claim.name} until {claim.format_end()}" for claim in other_claims]
    if not lines or explicit_actor() is None:
        return tuple(lines)
    name = actor(project)
    raise ExecplanError(
        "already-claimed",
        f"others have claimed tasks of {record.id}, whose worktree is removed with --finish, and you act as {name}",
        hint=f"let {other_claims[0].name} finish, or have the task handed over: {claims.handover_command(ref, other_claims[0].name, name)}",
        candidates=lines,
    )


def _release_claims(project: Project, record: WorktreeRecord) -> None:
    """Release the claims of whoever created the worktree."""
    ref = plan_store.ref_for_path(project, os.path.join(project.root, record.plan))
    claims.release_claims(project, ref, record.name)
