"""Three-way merge of plan versions, with git's own merge for prose."""

from __future__ import annotations

import os

from execplan.core.errors import ErrorContext
from execplan.core.files import atomic_files, file_access
from execplan.core.git_merge import git_merge_file
from execplan.core.plan.merge.plan_merge import ConflictMarkers, MergeResult, merge_plans
from execplan.core.plan.reader import MAX_BYTES, decode, too_large_error

_MAX_BYTES = 1 << 30
"""Maximum bytes of a file that is overwritten; a plan is much smaller."""


def merge_versions(base: bytes, ours: bytes, theirs: bytes, marks: ConflictMarkers) -> MergeResult:
    """Merge two versions of a plan; the base is empty if both sides added it.

    Raises ExecplanError if they can't be merged.
    """
    return merge_plans(base or None, ours, theirs, git_merge_file.merge_lines, marks)


def merge_files(base: str, ours: str, theirs: str) -> tuple[MergeResult, bytes]:
    """Merge the plans in three files, labeled by file name, and also return the data of ours.

    Raises ExecplanError if a file can't be read or merged.
    """
    base_data = b"" if base == os.devnull else _read_plan(base, empty=True)
    our_data, their_data = _read_plan(ours), _read_plan(theirs)
    return merge_versions(
        base_data, our_data, their_data, ConflictMarkers(ours=_label(ours), theirs=_label(theirs))
    ), our_data


def _read_plan(path: str, *, empty: bool = False) -> bytes:
    """Read the bytes of a plan; only a base may be empty. Raises ExecplanError if the file is not a valid plan."""
    with ErrorContext(path):
        data, size = file_access.read(path, MAX_BYTES)
        if size > MAX_BYTES:
            raise too_large_error(size)
        if data.strip() or not empty:
            decode(data)
    return data


def _label(path: str) -> str:
    return "".join([char if char.isprintable() else "?" for char in path])


def write_merged(path: str, data: bytes, *, dry_run: bool) -> tuple[bool, str]:
    """Create or replace a file, and return whether it changes; in a dry run, also the diff.

    Raises ExecplanError if the file can't be written.
    """
    from execplan.core.edits.plan_writer import format_diff
    from execplan.core.project import project_discovery, project_state

    project_discovery.ensure_no_link_out(path)
    old = file_access.read_if_exists(path, _MAX_BYTES)
    if dry_run:
        return old != data, format_diff(old or b"", data, path) if old != data else ""
    project = project_discovery.find_for_file(path)
    if not project.exists:
        return atomic_files.retry_on_change(lambda: _write_or_replace(path, data), path), ""
    with project_state.lock(project, os.path.realpath(path), f"merge into {project.display_path(path)}"):
        return atomic_files.retry_on_change(lambda: _write_or_replace(path, data), path), ""


def _write_or_replace(path: str, data: bytes) -> bool:
    old = file_access.read_if_exists(path, _MAX_BYTES)
    if old != data:
        atomic_files.replace_if_unchanged(path, old, data)
    return old != data
