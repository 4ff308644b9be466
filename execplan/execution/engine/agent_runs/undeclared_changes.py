"""Repository changes that no step declares, as reported by Git; used only for warnings."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from contextlib import suppress

from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.git import git_query
from execplan.core.git.git_directory import head_commit
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project
from execplan.core.text import fast_json
from execplan.core.text.pure_paths import is_inside
from execplan.execution.engine.run_records.run_directories import RunPaths

_MAX_PATHS = 10_000
"""Maximum number of paths; above it nothing is compared, because such a warning is too long to read."""
_MAX_BYTES = 16 << 20
_ID_LENGTHS = (40, 64)
"""Lengths of a commit's ID: SHA-1 and SHA-256."""


class _Snapshot(NamedTuple):
    """The files that differ from a commit."""

    base: str
    """Commit at which the run began."""
    paths: dict[str, list[int]]
    """File status by path for each changed or untracked file."""


def save_snapshot(run_paths: RunPaths) -> None:
    """Save the current differences; do nothing without Git or if an operation fails."""
    snapshot = _take_snapshot(run_paths.project, _load_snapshot(run_paths))
    if snapshot is not None:
        data = json.dumps(snapshot._asdict()).encode("utf-8", "surrogateescape")
        with suppress(ExecplanError):
            atomic_files.replace(_snapshot_path(run_paths), data, mode=0o666, durable=False)


def find_changes(run_paths: RunPaths, declared: Collection[str]) -> list[str]:
    """Return the undeclared paths that have changed since the snapshot; never raises."""
    before = _load_snapshot(run_paths)
    after = _take_snapshot(run_paths.project, before)
    if after is None or before is None:
        return []
    if "." in declared:
        return []
    changed_paths = [
        path for path in {**after.paths, **before.paths} if after.paths.get(path) != before.paths.get(path)
    ]
    return sorted(
        [path for path in changed_paths if not any([is_inside(path, declared_path) for declared_path in declared])]
    )


def _take_snapshot(project: Project, previous: _Snapshot | None) -> _Snapshot | None:
    if not project.git:
        return None
    try:
        base = previous.base if previous is not None else _find_head(project)
        diff_output = git_query.output(
            project, "-c", "diff.relative=false", "diff", "--name-only", "-z", "--no-renames", base
        )
        untracked_output = git_query.output(project, "ls-files", "--others", "--exclude-standard", "-z")
    except ExecplanError:
        return None
    names = [
        os.fsdecode(raw_path) for raw_path in (*diff_output.split(b"\0"), *untracked_output.split(b"\0")) if raw_path
    ]
    if len(names) <= _MAX_PATHS:
        return _Snapshot(base, {name: _file_signature(os.path.join(project.root, name)) for name in names})
    return None


def _find_head(project: Project) -> str:
    """Return the ID of the checked-out commit, if possible without git. Raises ExecplanError."""
    head = head_commit(project) or ""
    is_id = len(head) in _ID_LENGTHS and not head.strip("0123456789abcdef")
    return head if is_id else git_query.output(project, "rev-parse", "--verify", "HEAD").decode().strip()


def _load_snapshot(run_paths: RunPaths) -> _Snapshot | None:
    try:
        data = file_access.read(_snapshot_path(run_paths), _MAX_BYTES)[0]
        return _Snapshot(**fast_json.loads(data.decode("utf-8", "surrogateescape")))
    except (ExecplanError, ValueError, TypeError, RecursionError):
        return None


def _snapshot_path(run_paths: RunPaths) -> str:
    return os.path.join(run_paths.state, "beyond.json")


def _file_signature(path: str) -> list[int]:
    """Return the status numbers of a file; another size or time counts as another file."""
    try:
        status = os.lstat(path)
    except OSError:
        return []
    return [status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino]
