"""What a repository holds at one moment: what a command changes is seen by looking at all of it before and after."""

from __future__ import annotations

import json
import os
import stat
import time

from execplan.engine.journal.journal_entries import Change, state_from_json, state_json
from execplan.engine.workspace.workspace_walker import WorkspaceWalker
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.execution.world import ABSENT, FILE, FOLDER, State, normalize_path
from execplan.files import file_access
from execplan.files.atomic_files import temp_file_name
from execplan.files.open_directory import OpenDirectory
from execplan.named_tuple import NamedTuple
from execplan.text.sequence_alignment import MAX_COUNTED_BYTES, count_changed_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Final

    from execplan.engine.workspace.backup_store import BackupStore
    from execplan.engine.workspace.workspace_files import WorkspaceFiles
    from execplan.project.project import Project

FILES: Final = 20_000
BYTES: Final = 256 << 20
"""How much of a repository is kept before a command runs; of a larger one only what is declared."""
_MARGIN = 2_000_000_000
"""Nanoseconds by which a file must be older than a look, so that its times tell the next one whether it was written to."""
_MAX_BYTES = 1 << 30
"""Bytes of the longest file that keeps a look."""


class WorkspaceSnapshot(NamedTuple):
    """Files, links and folders by their paths from the root."""

    states: dict[str, State]
    is_complete: bool
    """Whether all is here that git does not ignore, and not only what is declared."""
    unseen: frozenset[str] = frozenset()
    """What was not looked into: what git ignores, other repositories, folders that may not be read."""
    signatures: dict[str, tuple[int, ...]] = {}  # noqa: RUF012 - nobody writes to it
    """By path, what differs as soon as a file is written to; of files that were written just now nothing."""

    @property
    def folders(self) -> frozenset[str]:
        """The folders."""
        return frozenset([path for path, state in self.states.items() if state.kind == FOLDER])


def take_snapshot(
    project: Project,
    workspace: WorkspaceFiles,
    store: BackupStore,
    declared: Iterable[str],
    previous: WorkspaceSnapshot | None,
    *,
    keep: bool,
) -> WorkspaceSnapshot:
    """Look at all that git does not ignore, and that is not git's or the tool's own, and at what is declared.

    Of a file that is as an earlier look has found it no byte is read. `keep`: the bytes are among the backups then. Above
    FILES or BYTES only what is declared is looked at, unless this is the look behind one that saw all. Raises ExecplanError.
    """
    began = time.time_ns()
    walker = WorkspaceWalker(project, workspace)
    is_complete = previous is None or previous.is_complete or keep
    if is_complete:
        is_limited = keep or previous is None
        is_complete = walker.collect_unignored(FILES if is_limited else None, BYTES if is_limited else None)
    for path in declared:
        walker.collect_path(normalize_path(path) or "")
    states: dict[str, State] = {}
    signatures: dict[str, tuple[int, ...]] = {}
    with store.batch() as batch:
        for path, status in walker.statuses.items():
            signature = _file_signature(status)
            state = (
                previous.states.get(path)
                if previous is not None and previous.signatures.get(path) == signature
                else None
            )
            if state is None or (keep and state.kind == FILE and not batch.has(state.sha256)):
                state = _path_state(workspace, batch if keep else None, path, status)
            if state.kind != ABSENT:
                states[path] = state
            if max(status.st_mtime_ns, status.st_ctime_ns) < began - _MARGIN:
                signatures[path] = signature
    return WorkspaceSnapshot(states, is_complete, frozenset(walker.unseen), signatures)


def _path_state(workspace: WorkspaceFiles, store: BackupStore | None, path: str, status: os.stat_result) -> State:
    """What is at a path; raises ExecplanError."""
    if stat.S_ISDIR(status.st_mode):
        return State(FOLDER, mode=stat.S_IMODE(status.st_mode))
    return workspace.state(path) if store is None else store.save_path(workspace, path)


def _file_signature(status: os.stat_result) -> tuple[int, ...]:
    return status.st_mode, status.st_ino, status.st_dev, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def diff_snapshots(
    before: WorkspaceSnapshot,
    after: WorkspaceSnapshot,
    declared: Iterable[str],
    store: BackupStore,
    workspace: WorkspaceFiles,
) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """What changed between two looks, with its lines counted, and the folders that were made; raises ExecplanError.

    Where one of the looks saw only what is declared, so does this.
    """
    declared_paths = tuple([normalize_path(path) or "" for path in declared])
    parent_paths = {
        declared_path[:at] for declared_path in declared_paths for at, char in enumerate(declared_path) if char == "/"
    }
    is_complete = before.is_complete and after.is_complete
    changes, folders = [], []
    for path in sorted(before.states.keys() | after.states.keys()):
        is_declared = _is_below(path, declared_paths)
        is_near = is_declared or path in parent_paths
        if not (is_near or is_complete):
            continue
        old, new = before.states.get(path, State(ABSENT)), after.states.get(path, State(ABSENT))
        if new.kind == ABSENT and _is_covered(path, after.unseen):
            new = _hidden_state(workspace, path, old)
        if old == new or (old.kind == ABSENT and not is_near and _is_covered(path, before.unseen)):
            continue
        if old.kind == ABSENT and new.kind == FOLDER:
            folders.append(path)
        else:
            changes.append(
                Change(path, old, new, *count_line_changes(store, workspace, path, old, new), declared=is_declared)
            )
    return tuple(changes), tuple(folders)


def _hidden_state(workspace: WorkspaceFiles, path: str, old: State) -> State:
    """What is at a path that git ignores by now, or that may not be looked at any more, and so did not change."""
    try:
        return workspace.state(path)
    except ExecplanError:
        return old


def count_line_changes(
    store: BackupStore, workspace: WorkspaceFiles, path: str, old: State, new: State
) -> tuple[int, int]:
    """Lines added and removed; none where the bytes from before were not kept."""
    if max(old.size, new.size) > MAX_COUNTED_BYTES or FILE not in (old.kind, new.kind):
        return 0, 0
    try:
        before = store.get(old.sha256) if old.kind == FILE else b""
        after = workspace.read(path) if new.kind == FILE else b""
    except ExecplanError:
        return 0, 0
    return count_changed_lines(before, after)


def _is_below(path: str, folders: Collection[str]) -> bool:
    return any([path == folder or path.startswith(f"{folder}/") for folder in folders])


def _is_covered(path: str, folders: frozenset[str]) -> bool:
    """Whether a path, or a folder that it lies in, is one of these."""
    while path:
        if path in folders:
            return True
        path = path.rpartition("/")[0]
    return False


def save(snapshot: WorkspaceSnapshot, path: str) -> None:
    """Keep what was looked at, for a run that is killed before it looks again; raises ExecplanError."""
    content = {
        "states": {name: state_json(state) for name, state in snapshot.states.items()},
        "whole": snapshot.is_complete,
        "unseen": sorted(snapshot.unseen),
        "signs": snapshot.signatures,
    }
    folder, name = os.path.split(path)
    with OpenDirectory(folder, make=True) as directory:
        try:
            temporary_name = temp_file_name(name)
            directory.unlink(temporary_name)
            directory.write(temporary_name, json.dumps(content, separators=(",", ":")).encode(), 0o600)
            directory.rename(temporary_name, directory, name)
            directory.sync()
        except OSError as error:
            raise file_access.file_error(error, path, "write") from None


def load(path: str) -> WorkspaceSnapshot:
    """What was looked at; raises ExecplanError."""
    data, _ = file_access.read(path, _MAX_BYTES)
    try:
        content = json.loads(data)
        states = {name: state_from_json(state) for name, state in content["states"].items()}
        signatures = {name: tuple(signature) for name, signature in content["signs"].items()}
        return WorkspaceSnapshot(states, content["whole"], frozenset(content["unseen"]), signatures)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        message = f"{path} is not as it was kept: somebody else has written there"
        raise ExecplanError(
            "backup-altered", message, exit=ENVIRONMENT, hint="bring it back from a copy of the disk"
        ) from None
