"""Whether the index of a project is current, on disk or in the next commit, and which plans it gets wrong."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.errors import ExecplanError
from execplan.git import git_query
from execplan.git.blob_reader import read_blobs
from execplan.linter.rule_facts import OutdatedIndex
from execplan.plan import reader
from execplan.plan.index_block import may_have_index
from execplan.plan_index.plan_index_file import check_index, make_index
from execplan.plan_store import plan_store
from execplan.plan_store.index_location import find_index
from execplan.plan_store.plan_store import StoredPlan
from execplan.project.project_settings import NON_PLAN_FILES

if TYPE_CHECKING:
    from execplan.git.git_query import GitFile
    from execplan.plan_index.plan_index_file import PlanIndex
    from execplan.project.project import Project


def find_outdated_index(project: Project) -> OutdatedIndex | None:
    """Return the index of a project if it is out of date on disk.

    Raises ExecplanError if it can't be read, or if its markers don't match.
    """
    index = check_index(project)
    return None if index is None else _describe(project, index)


def find_outdated_staged_index(project: Project) -> OutdatedIndex | None:
    """Return the index of a project if the next commit would make or leave it out of date.

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
    index = make_index(project, path, old, stored_plans)
    return None if index.is_current else _describe(project, index)._replace(edits=())


def _is_open_plan(project: Project, name: str) -> bool:
    """Return whether a file in git's index is a plan outside the archive."""
    path = os.path.join(project.root, name)
    folder, plan_id = project.split_plan_path(path)
    is_plan_name = os.path.basename(name).lower() not in NON_PLAN_FILES and not plan_id.startswith(".")
    return name.endswith(".md") and is_plan_name and folder == project.plans


def _parse(project: Project, file: GitFile, data: bytes) -> StoredPlan:
    ref = plan_store.ref_for_path(project, os.path.join(project.root, file.path))
    try:
        return StoredPlan(project, ref, data, reader.read(data), None)
    except ExecplanError as error:
        return StoredPlan(project, ref, data, None, error)


def _describe(project: Project, index: PlanIndex) -> OutdatedIndex:
    """Return the difference of an index: the plans whose rows are missing, wrong or left over."""
    old_lines = {line for line in (index.old or b"").decode("utf-8", "replace").splitlines() if line.startswith("| [")}
    new_lines = {line for line in index.new.decode("utf-8", "replace").splitlines() if line.startswith("| [")}
    names = {_plan_name(line) for line in old_lines ^ new_lines}
    return OutdatedIndex(index.display_path, index.line, tuple(sorted(names)), index.edits)


def _plan_name(row: str) -> str:
    """Return the ID of the plan in a row: the name of the file that it links to."""
    target = row.partition("](")[2].partition(")")[0]
    return os.path.basename(target).removesuffix(".md")
