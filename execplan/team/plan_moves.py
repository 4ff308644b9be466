"""Archiving and renaming a plan with everything that depends on its place: runs, comments, checkpoints, worktrees, other plans."""

from __future__ import annotations

import os
from functools import partial

from execplan.core.archive import plan_archive, plan_relocation
from execplan.core.archive.document_mentions import ConfirmRewrite
from execplan.core.archive.plan_move import MoveResult
from execplan.core.archive.reference_updates import Dependencies
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.execution.approvals import artifact_store
from execplan.execution.engine.run_records.finishing_commands import ensure_no_open_runs
from execplan.team.dependencies.dependency_graph import build_graph
from execplan.team.dependencies.plan_resolver import PlanResolver


def find_dependencies(project: Project, ref: PlanRef) -> Dependencies:
    """Return the lines of open plans that depend on a plan, with the names that they use; none if plans can't be read."""
    path = project.display_path(ref.path)
    try:
        edges = build_graph(PlanResolver(project)).edges
    except ExecplanError:
        return {}
    dependencies: dict[str, list[tuple[int, str]]] = {}
    for edge in edges:
        if edge.target == path:
            names = dependencies.setdefault(os.path.join(project.root, edge.source), [])
            names.append((edge.line, edge.name.partition("#")[0]))
    return dependencies


def rename_warnings(project: Project, ref: PlanRef, dependencies: Dependencies) -> tuple[str, ...]:
    """Return a warning for each dependency that no longer means a renamed plan, because its name was not rewritten.

    `dependencies` are those before it was renamed.
    """
    if not dependencies:
        return ()
    path = project.display_path(ref.path)
    try:
        graph = build_graph(PlanResolver(project))
    except ExecplanError as error:
        return (f"couldn't find out whether other plans depend on the old name: {error.message}",)
    lost = [(edge.source, edge.line, edge.name) for edge in graph.edges if edge.target != path]
    lost += [(dependency.path, dependency.line, dependency.name) for dependency in graph.unclear]
    warnings, dependents = [], {(path, name) for path, names in dependencies.items() for _, name in names}
    for plan_path, line, name in sorted(set(lost)):
        old_name, mark, task = name.partition("#")
        if (os.path.join(project.root, plan_path), old_name) in dependents:
            warnings.append(f"{plan_path}:{line}: {name} no longer means this plan; write {ref.id}{mark}{task}")
    return tuple(warnings)


def rename(
    project: Project, ref: PlanRef, title: str, options: WriteOptions, confirm_rewrite: ConfirmRewrite | None = None
) -> MoveResult:
    """Change a plan's title, and with it the ID; the file, its artifacts and the paths in other plans follow.

    `confirm_rewrite` gets the documents outside of the plans that name the old path, and returns whether to rewrite them.
    Raises ExecplanError, also if a run of the plan is unfinished.
    """
    from execplan.team.advice import checkpoint_file
    from execplan.team.worktrees.worktree_record import follow_rename, plan_key

    ensure_no_open_runs(project, ref, "renamed")
    dependencies = find_dependencies(project, ref)
    is_compiled = os.path.lexists(artifact_store.path_of(project, ref))
    renew = partial(checkpoint_file.renew_page, project, commits=options.should_commit(project))
    old_key = plan_key(project, ref)
    moved = plan_relocation.rename_plan(
        project,
        ref,
        title,
        options,
        regenerate=renew,
        confirm_rewrite=confirm_rewrite,
        dependencies=dependencies,
    )
    warnings = moved.warnings
    if is_compiled and moved.changed:
        warnings += (
            f"the execution plan and the approvals of {ref.id} still have its old title: compile and approve it again",
        )
    if moved.changed and not options.dry_run:
        new_ref = plan_store.ref_for_path(project, os.path.join(project.root, moved.path))
        follow_rename(project, old_key, new_ref)
        warnings += rename_warnings(project, new_ref, dependencies)
    return moved._replace(warnings=warnings)


def archive(
    project: Project,
    ref: PlanRef,
    options: WriteOptions,
    *,
    reason: str | None = None,
    successor: PlanRef | None = None,
    abandoned: bool = False,
    force: bool = False,
    confirm_rewrite: ConfirmRewrite | None = None,
) -> MoveResult:
    """Move a plan and its artifacts into the archive, and write the evidence file beside them; raises ExecplanError.

    The parameters are as in `plan_archive.archive_plan`. A plan with an unfinished run, or as finished while its own
    worktree is not merged, is archived only with `force`.
    """
    from execplan.execution.engine.run_records.finishing_commands import open_run_warnings
    from execplan.team.advice import execution_status
    from execplan.team.review.comment_file import open_comment_warnings
    from execplan.team.worktrees.worktree_record import merge_command

    origin = plan_archive.hand_moved_from(project, ref)
    source = plan_store.ref_for_path(project, origin) if origin else ref
    warnings = open_run_warnings(project, source) if force else ()
    warnings += () if source.archived else open_comment_warnings(project, source)
    if not (force or source.archived):
        ensure_no_open_runs(project, source, "archived")
        warnings += execution_status.failed_work_warnings(project, source)
        merge = "" if abandoned or successor is not None else merge_command(project, source)
        if merge:
            message = f"{source.id} has its own worktree, which is not merged"
            hint = f"merge it, which archives the plan if it is complete: {merge}"
            raise ExecplanError("own-worktree", message, hint=hint)
    moved = plan_archive.archive_plan(
        project,
        ref,
        options,
        reason=reason,
        successor=successor,
        abandoned=abandoned,
        origin=origin,
        confirm_rewrite=confirm_rewrite,
    )
    return moved._replace(warnings=(*warnings, *moved.warnings))
