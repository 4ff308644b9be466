"""The file with the plan index: what it should contain, on disk and in the next commit, whether it does, writing it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.git import git_query
from execplan.core.git.blob_reader import read_blobs
from execplan.core.git.git_commit import CommitResult
from execplan.core.git.git_query import GitFile
from execplan.core.plan import reader
from execplan.core.plan.index_block import find_index_block, index_edits, may_have_index
from execplan.core.plan.model import DOCUMENT
from execplan.core.plan.reader import MAX_BYTES, decode, too_large_error
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.index_location import choose_index, find_index
from execplan.core.plan_store.plan_store import StoredPlan
from execplan.core.project import project_state
from execplan.core.project.project import Project, ensure_inside
from execplan.core.project.project_settings import is_plan_name
from execplan.core.text.text_lines import Edit, Text, apply_edits
from execplan.team.plan_index.index_table import IndexEntry, entries_of, index_lines

_COMMAND = "index"
_COMMIT_SUMMARY = "update the plan index"
_GIT_INDEX_VARIABLE = "GIT_INDEX_FILE"
_PARTIAL_INDEX_PREFIX = "next-index-"
"""Start of the name of the temporary git index of a commit of single files."""


class PlanIndex(NamedTuple):
    """The index of a project's plans, as it is and as it should be."""

    path: str
    """Absolute path of the file."""
    display_path: str
    """Path from the root of the repository."""
    entries: list[IndexEntry]
    """Entries of the open plans, in the order of their IDs."""
    old: bytes | None
    """Bytes of the file; None if it does not exist."""
    new: bytes
    """Bytes that the file should have."""
    edits: tuple[Edit, ...]
    """Line edits that lead from the old to the new bytes."""
    line: int
    """Line where the index begins, from 0; 0 in a file without one."""

    @property
    def is_current(self) -> bool:
        """Whether the file has the index that it should have."""
        return self.old == self.new


class WrittenIndex(NamedTuple):
    """An index that was written, or would be in a dry run."""

    plan_index: PlanIndex
    changed: bool
    diff: str
    """Unified diff, in a dry run only."""
    commit: str | None
    warnings: tuple[str, ...]


def compute_index(project: Project) -> PlanIndex:
    """Compute the index of a project, in the file that has it or in the best place for a new one.

    Raises ExecplanError if the plans or the file can't be read, or if the markers in the file don't match.
    """
    return _compute(project, choose_index(project), load_open_plans(project))


def check_index(project: Project) -> PlanIndex | None:
    """Return the index of a project if it is out of date; None if it is current, or if the project has none.

    Raises ExecplanError as `compute_index` does.
    """
    path = find_index(project)
    if path is None:
        return None
    index = _compute(project, path, load_open_plans(project))
    return None if index.is_current else index


def load_open_plans(project: Project) -> list[StoredPlan]:
    """Load the plans of a project outside the archive. Raises ExecplanError if the directory can't be read."""
    stored_plans = plan_store.load_all(project, plan_store.refs(project))
    return [stored_plan for stored_plan in stored_plans if stored_plan.state != DOCUMENT]


def make_index(project: Project, path: str, old: bytes | None, stored_plans: Sequence[StoredPlan]) -> PlanIndex:
    """Return the index of some plans in a file with the given bytes. Raises ExecplanError if its markers don't match."""
    display_path = project.display_path(path)
    with ErrorContext(display_path):
        text = decode(old) if old and old.strip() else Text.from_str((old or b"").decode())
    block = find_index_block(text, display_path)
    entries = entries_of(stored_plans)
    edits = index_edits(text, block, index_lines(project, entries, path))
    new = apply_edits(text, edits).to_bytes() if edits else old or b""
    return PlanIndex(path, display_path, entries, old, new, edits, block.start if block is not None else 0)


def _compute(project: Project, path: str, stored_plans: Sequence[StoredPlan]) -> PlanIndex:
    return make_index(project, path, _read(project, path), stored_plans)


def _read(project: Project, path: str) -> bytes | None:
    """Return the bytes of the file with the index, or None. Raises ExecplanError if it can't be read."""
    if not os.path.lexists(path):
        return None
    ensure_inside(project, path)
    if os.path.islink(path):  # a branch of somebody else could let the index be written to any file of the repository
        raise ExecplanError(
            "linked-index",
            f"{project.display_path(path)} is a symbolic link, and the index is not written to other files",
            hint="replace the link by a file, or name another file: index_file in the settings",
        )
    data, size = file_access.read(path, MAX_BYTES)
    if size > MAX_BYTES:
        with ErrorContext(project.display_path(path)):
            raise too_large_error(size)
    return data


def write_index(project: Project, options: WriteOptions) -> WrittenIndex:
    """Write the index into its file, whose other lines stay as they are; the file is created if it is missing.

    Raises ExecplanError on failure; the file is then as it was, unless only the commit failed.
    """
    path = choose_index(project)
    if options.dry_run:
        return _make_result(_compute(project, path, load_open_plans(project)), options)
    options.prepare_commit(project)
    with project_state.lock(project, file_access.resolve_path(path), f"{_COMMAND} of the plans"):
        index = atomic_files.retry_on_change(lambda: _write_once(project, path), project.display_path(path))
        if index.is_current or not options.should_commit(project):
            return _make_result(index, options)
        return _make_result(index, options, _commit(project, index, options))


def _write_once(project: Project, path: str) -> PlanIndex:
    """Read the plans and the file, and replace the file if it is not current."""
    index = _compute(project, path, load_open_plans(project))
    if not index.is_current:
        atomic_files.replace_if_unchanged(path, index.old, index.new, within=project.root, make_directories=True)
    return index


def _commit(project: Project, index: PlanIndex, options: WriteOptions) -> CommitResult:
    from execplan.core.edits.plan_commit import commit_paths

    old = {index.path: index.old} if index.old is not None else {}
    return commit_paths(project, _COMMAND, [index.path], _COMMAND, _COMMIT_SUMMARY, old, None, options.defer_commit)


def _make_result(index: PlanIndex, options: WriteOptions, commit: CommitResult | None = None) -> WrittenIndex:
    diff = ""
    if options.dry_run and not index.is_current:
        from execplan.core.edits.plan_writer import format_diff

        diff = format_diff(index.old or b"", index.new, index.display_path)
    digest, warnings = (commit.digest, commit.warnings) if commit is not None else (None, ())
    return WrittenIndex(index, not index.is_current, diff, digest, warnings)


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
    return ExecplanError("index-not-staged", message, hint=hint)


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
