"""The plan index as the next commit contains it: whether it fits the staged plans, and adding it to the commit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.errors import CHECK_FAILED, ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.git import git_query
from execplan.core.git.blob_reader import read_blobs
from execplan.core.plan import reader
from execplan.core.plan.index_block import may_have_index
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.index_location import find_index
from execplan.core.plan_store.plan_store import StoredPlan
from execplan.core.project import project_state
from execplan.core.project.project_settings import is_plan_name
from execplan.team.plan_index.plan_index_file import WrittenIndex, make_index

if TYPE_CHECKING:
    from execplan.core.git.git_query import GitFile
    from execplan.core.project.project import Project
    from execplan.team.plan_index.plan_index_file import PlanIndex

_GIT_INDEX_VARIABLE = "GIT_INDEX_FILE"
_PARTIAL_INDEX_PREFIX = "next-index-"
"""Start of the name of the temporary git index of a commit of single files."""


def compute_staged_index(project: Project) -> PlanIndex | None:
    """Return the index in the next commit with what it should contain; None if the commit contains no index.

    Raises ExecplanError if git fails, or if the markers in the index don't match.
    """
    path = find_index(project)
    if path is None:
        return None
    display_path = project.display_path(path)
    folders = [project.display_path(project.plans), display_path]
    files = {file.path: file for file in git_query.index_files(project, folders)}
    index_file = files.get(display_path)
    if index_file is None:
        return None
    plan_files = [files[name] for name in files if name != display_path and _is_open_plan(project, name)]
    (old, _), *contents = read_blobs(project, [index_file, *plan_files])
    if not may_have_index(old):
        return None
    stored_plans = [_parse(project, file, data) for file, (data, _) in zip(plan_files, contents, strict=True)]
    return make_index(project, path, old, stored_plans)


def update_staged_index(project: Project) -> WrittenIndex | None:
    """Write the index for the plans of the next commit into its file, and add it to the commit.

    Returns None if the commit contains no index. Raises ExecplanError if the file has changes that are not staged, or
    if the commit is one of single files, which git assembles elsewhere.
    """
    index = compute_staged_index(project)
    if index is None or index.is_current:
        return None if index is None else WrittenIndex(index, False, "", None, ())
    if os.path.basename(os.environ.get(_GIT_INDEX_VARIABLE, "")).startswith(_PARTIAL_INDEX_PREFIX):
        raise _not_added_error(index, "this commit contains only the files named with it")
    from execplan.core.git.git_commit import load_gitpython, stage_file

    load_gitpython()
    with project_state.lock(project, file_access.resolve_path(index.path), "index of the staged plans"):
        data = file_access.read_if_exists(index.path, reader.MAX_BYTES)
        if data != index.new:
            if data != index.old:
                raise _not_added_error(index, "the file has changes that are not staged")
            atomic_files.replace_if_unchanged(index.path, data, index.new, within=project.root)
        stage_file(project, index.path)
    return WrittenIndex(index, True, "", None, ())


def _not_added_error(index: PlanIndex, reason: str) -> ExecplanError:
    message = f"{index.display_path} is not updated, because {reason}"
    hint = f"after the commit: execplan index --write, then git add {index.display_path}"
    return ExecplanError("index-not-staged", message, exit=CHECK_FAILED, hint=hint)


def _is_open_plan(project: Project, name: str) -> bool:
    """Return whether a file in git's index is a plan outside the archive."""
    path = os.path.join(project.root, name)
    return is_plan_name(os.path.basename(name)) and project.split_plan_path(path)[0] == project.plans


def _parse(project: Project, file: GitFile, data: bytes) -> StoredPlan:
    ref = plan_store.ref_for_path(project, os.path.join(project.root, file.path))
    try:
        return StoredPlan(project, ref, data, plan_store.parse(project, data), None)
    except ExecplanError as error:
        return StoredPlan(project, ref, data, None, error)
