"""The file with the plan index: what it should contain, whether it does, and writing it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.errors import POLICY, ErrorContext, ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.plan.index_block import find_index_block, index_edits
from execplan.core.plan.model import DOCUMENT
from execplan.core.plan.reader import MAX_BYTES, decode, too_large_error
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.index_location import choose_index, find_index
from execplan.core.project import project_state
from execplan.core.project.project import ensure_inside
from execplan.core.text.line_edit import apply_edits
from execplan.core.text.text_lines import Text
from execplan.team.plan_index.index_table import entries_of, index_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.git.git_commit import CommitResult
    from execplan.core.plan_store.plan_store import StoredPlan
    from execplan.core.project.project import Project
    from execplan.core.text.line_edit import Edit
    from execplan.team.plan_index.index_table import IndexEntry

_COMMAND = "index"
_COMMIT_SUMMARY = "update the plan index"


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
            exit=POLICY,
            hint="replace the link by a file, or name another file: index_file in the settings",
        )
    data, size = file_access.read(path, MAX_BYTES)
    if size > MAX_BYTES:
        with ErrorContext(project.display_path(path)):
            raise too_large_error(size)
    return data


def write_index(project: Project, options: WriteOptions, *, path: str | None = None) -> WrittenIndex:
    """Write the index into its file, whose other lines stay as they are; the file is created if it is missing.

    `path` is another file to write it to. Raises ExecplanError on failure; the file is then as it was, unless only the
    commit failed.
    """
    path = choose_index(project) if path is None else path
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
