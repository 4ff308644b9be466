"""The restart page of a plan, written by `checkpoint` and rewritten when the plan's ID changes."""

from __future__ import annotations

import os
from collections.abc import Sequence

from execplan.core.archive.reference_updates import RegeneratedFiles
from execplan.core.errors import ExecplanError
from execplan.core.files.tree_walk import walk_tree
from execplan.core.plan_store import claims, plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project

PAGE_NAME = claims.CHECKPOINT_PAGE


def build_page(
    project: Project,
    ref: PlanRef,
    *,
    if_match: str | None = None,
    force: bool = False,
    excluded_files: Sequence[str] = (),
) -> bytes:
    """Build the up-to-date page, or return the existing one if its content is the same; raises ExecplanError.

    Git changes of `excluded_files`, as absolute paths, are left out.
    """
    from execplan.context import checkpoint_page
    from execplan.core.clock import utc_timestamp
    from execplan.core.edits.digest_check import ensure_digest_matches
    from execplan.core.files.atomic_files import temp_file_name
    from execplan.core.plan_store.author import actor
    from execplan.execution.approvals import artifact_store
    from execplan.team.advice.overview_builder import build_overview, make_redactor

    data = plan_store.read_bytes(project, ref.path)
    ensure_digest_matches(project, ref, if_match, data)
    plan = plan_store.parse(project, data)
    old, path = artifact_store.read(project, ref, PAGE_NAME), artifact_store.path_of(project, ref, PAGE_NAME)
    if old is not None and not force and not checkpoint_page.is_unedited(old):
        raise ExecplanError(
            "edited-checkpoint",
            f"{project.display_path(path)} was edited by hand or comes from another program; nothing was written",
            hint=f"save what you want to keep elsewhere, then: execplan checkpoint {ref.shell_name} --force",
        )
    stored_plan = plan_store.StoredPlan(project, ref, data, plan, None)
    own_files = (path, os.path.join(os.path.dirname(path), temp_file_name(PAGE_NAME)))
    new = checkpoint_page.format_page(
        build_overview(stored_plan, plan, excluded_files=(*own_files, *excluded_files)),
        make_redactor(),
        utc_timestamp(),
        actor(project),
    )
    if old is not None and checkpoint_page.is_unedited(old) and checkpoint_page.is_same_content(old, new):
        return old
    return new


def replaced_page_text(project: Project, ref: PlanRef) -> str:
    """Return whose page a new one would replace, and when it was made; empty for an own page, or without one."""
    from execplan.context.checkpoint_page import page_origin
    from execplan.core.plan_store.author import actor
    from execplan.execution.approvals import artifact_store

    author, created = page_origin(artifact_store.read(project, ref, PAGE_NAME) or b"")
    return f"{author}, made {created}" if author and author != actor(project) else ""


def renew_page(project: Project, ref: PlanRef, moves: Sequence[tuple[str, str]], *, commits: bool) -> RegeneratedFiles:
    """Rewrite a plan's page, if it has one, after moves that changed the plan's ID.

    The caller holds the plan's lock, and with `commits` it commits the moves.
    """
    from execplan.core.files import atomic_files
    from execplan.execution.approvals import artifact_store

    path = artifact_store.path_of(project, ref, PAGE_NAME)
    if not os.path.lexists(path):
        return RegeneratedFiles()
    try:
        new = build_page(project, ref, excluded_files=_moved_files(moves) if commits else ())
        atomic_files.retry_on_change(
            lambda: artifact_store.write_artifact(project, path, new), project.display_path(path)
        )
    except ExecplanError as error:
        hint = f"execplan checkpoint {ref.shell_name}" + (" --force" if error.code == "edited-checkpoint" else "")
        return RegeneratedFiles(
            (), (f"{project.display_path(path)} still has the old ID: {error.message}; write it again: {hint}",)
        )
    return RegeneratedFiles((path,))


def _moved_files(moves: Sequence[tuple[str, str]]) -> list[str]:
    """Return the old and new path of each moved file."""
    paths = [path for pair in moves for path in pair]
    for old, new in moves:
        for directory, _, names in walk_tree(new):
            relative_paths = [os.path.relpath(os.path.join(directory, name), new) for name in names]
            paths += [os.path.join(folder, relative_path) for relative_path in relative_paths for folder in (old, new)]
    return paths
