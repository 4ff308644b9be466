"""Snapshots of a repository, which are compared to find the changes of a command."""

from __future__ import annotations

import json
import math
import os
import stat
import time
from collections.abc import Iterable

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.git import git_query
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project
from execplan.core.text import fast_json
from execplan.core.text.pure_paths import is_inside
from execplan.core.text.sequence_alignment import MAX_COUNTED_BYTES, count_changed_lines
from execplan.execution.engine.journal.journal_entries import StateChange, state_from_json, state_json
from execplan.execution.engine.workspace.backup_store import BackupStore
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.engine.workspace.workspace_walk import BYTES, FILES, WorkspaceWalker
from execplan.execution.world import ABSENT, FILE, FOLDER, State, normalize_path

_MARGIN = 2_000_000_000
"""Minimum age of a file in nanoseconds at a snapshot, so that its times show whether it was written later."""
_MAX_BYTES = 1 << 30
"""Size limit of a saved snapshot in bytes."""


class WorkspaceSnapshot(NamedTuple):
    """The states of files, links and directories by their paths from the root."""

    states: dict[str, State]
    is_complete: bool
    """Whether the snapshot has everything that Git does not ignore, not only the declared paths."""
    unseen: frozenset[str] = frozenset()
    """Paths that were not inspected: ignored by Git, other repositories, and unreadable directories."""
    signatures: dict[str, tuple[int, ...]] = {}  # noqa: RUF012 - nobody writes to it
    """Status numbers by path, which change when a file is written; without files that were written just before."""
    ignored: dict[str, bool] = {}  # noqa: RUF012 - as above
    """Paths that Git ignored, and whether each was a directory."""
    ignore_rules: dict[str, tuple[int, ...]] | None = None
    """Status numbers of the files that say what Git ignores, by path; None if that is not known for sure."""

    @property
    def folders(self) -> frozenset[str]:
        """Return the paths of all directories in the snapshot."""
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
    """Take a snapshot of the declared paths and of all others that are not ignored by Git or reserved.

    Reserved paths belong to Git or execplan. A file unchanged since `previous` is not read. `keep`: back up the bytes.
    Above `FILES` or `BYTES`, only the declared paths are inspected, unless this snapshot follows a complete one. Raises
    ExecplanError.
    """
    began = time.time_ns()
    is_complete = previous is None or previous.is_complete or keep
    files, size = (FILES, BYTES) if keep or previous is None else (None, None)
    walker = WorkspaceWalker(project, workspace)
    ignore_rules = previous.ignore_rules if previous is not None else None
    is_known = (
        previous is not None
        and ignore_rules is not None
        and walker.collect_known(previous.states, previous.ignored, files, size)
        and _find_ignore_rules(walker) == ignore_rules
    )
    if is_complete and not is_known:
        walker.clear()
        is_complete = walker.collect_unignored(files, size)
        ignore_rules = _find_ignore_rules(walker, began - _MARGIN) if is_complete else None
    for path in declared:
        walker.collect_path(normalize_path(path) or "")
    known_states, known_signatures = (previous.states, previous.signatures) if previous is not None else ({}, {})
    states: dict[str, State] = {}
    signatures: dict[str, tuple[int, ...]] = {}
    with store.batch() as batch:
        recent_digests = batch.recently_used() if keep else frozenset()
        for path, status in walker.statuses.items():
            signature = _file_signature(status)
            is_unchanged = known_signatures.get(path) == signature
            state = known_states.get(path) if is_unchanged else None
            if state is None or (
                keep and state.kind == FILE and not (state.sha256 in recent_digests or batch.has(state.sha256))
            ):
                state = _path_state(workspace, batch if keep else None, path, status)
            if state.kind != ABSENT:
                states[path] = state
            if is_unchanged or max(status.st_mtime_ns, status.st_ctime_ns) < began - _MARGIN:
                signatures[path] = signature
    return WorkspaceSnapshot(states, is_complete, frozenset(walker.unseen), signatures, walker.ignored, ignore_rules)


def _find_ignore_rules(walker: WorkspaceWalker, cutoff: float = math.inf) -> dict[str, tuple[int, ...]] | None:
    """Return the signatures of the files that say what Git ignores; None if one was written after the cutoff.

    Files that the settings of Git name are left out. Until there is a new path, a change of one of them has no effect.
    """
    statuses = dict(walker.ignore_files)
    for path in git_query.ignore_rule_paths(walker.project) if walker.project.git else ():
        try:
            statuses[path] = os.stat(path)
        except OSError:
            continue
    if any([max(status.st_mtime_ns, status.st_ctime_ns) >= cutoff for status in statuses.values()]):
        return None
    return {path: _file_signature(status) for path, status in statuses.items()}


def _path_state(workspace: WorkspaceFiles, store: BackupStore | None, path: str, status: os.stat_result) -> State:
    """Return the state of a path, backed up if there is a store. Raises ExecplanError."""
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
) -> tuple[tuple[StateChange, ...], tuple[str, ...]]:
    """Return the changes between two snapshots with their line counts, and the created directories.

    If one of the snapshots has only the declared paths, so does the result. Raises ExecplanError.
    """
    declared_paths = tuple([normalize_path(path) or "" for path in declared])
    parent_paths = {
        declared_path[:at] for declared_path in declared_paths for at, char in enumerate(declared_path) if char == "/"
    }
    is_complete = before.is_complete and after.is_complete
    changes, folders = [], []
    differing = [path for path, state in after.states.items() if before.states.get(path) != state]
    for path in sorted([*differing, *(before.states.keys() - after.states.keys())]):
        is_declared = any([is_inside(path, declared_path) for declared_path in declared_paths])
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
                StateChange(path, old, new, *count_line_changes(store, workspace, path, old, new), declared=is_declared)
            )
    return tuple(changes), tuple(folders)


def _hidden_state(workspace: WorkspaceFiles, path: str, old: State) -> State:
    """Return the state of a path that is now ignored by Git or unreadable; unchanged if it cannot be read."""
    try:
        return workspace.state(path)
    except ExecplanError:
        return old


def count_line_changes(
    store: BackupStore, workspace: WorkspaceFiles, path: str, old: State, new: State
) -> tuple[int, int]:
    """Count the lines added and removed; 0 for both if the previous bytes have no backup."""
    if max(old.size, new.size) > MAX_COUNTED_BYTES or FILE not in (old.kind, new.kind):
        return 0, 0
    try:
        before = store.get(old.sha256) if old.kind == FILE else b""
        after = workspace.read(path) if new.kind == FILE else b""
    except ExecplanError:
        return 0, 0
    return count_changed_lines(before, after)


def _is_covered(path: str, folders: frozenset[str]) -> bool:
    """Return whether a path or one of its parents is in a set."""
    while path:
        if path in folders:
            return True
        path = path.rpartition("/")[0]
    return False


def is_same_tree(one: WorkspaceSnapshot, other: WorkspaceSnapshot) -> bool:
    """Return whether two snapshots say the same about the tree."""
    return one.is_complete == other.is_complete and one.states == other.states and one.unseen == other.unseen


def encode(snapshot: WorkspaceSnapshot) -> bytes:
    """Return a snapshot in the form in which it is kept."""
    content = {
        "states": {name: state_json(state) for name, state in snapshot.states.items()},
        "whole": snapshot.is_complete,
        "unseen": sorted(snapshot.unseen),
        "signs": snapshot.signatures,
        "ignored": snapshot.ignored,
        "rules": snapshot.ignore_rules,
    }
    return json.dumps(content, separators=(",", ":")).encode()


def decode(data: bytes, name: str) -> WorkspaceSnapshot:
    """Return the snapshot that was kept under a name. Raises ExecplanError."""
    try:
        content = fast_json.loads(data)
        states = {name: state_from_json(state) for name, state in content["states"].items()}
        signatures = _read_signatures(content["signs"])
        ignored, rules = content.get("ignored", {}), content.get("rules")  # older ones lack them
        ignore_rules = _read_signatures(rules) if rules is not None else None
        return WorkspaceSnapshot(
            states, content["whole"], frozenset(content["unseen"]), signatures, ignored, ignore_rules
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        message = f"{name} was altered: another program has changed it"
        raise ExecplanError("backup-altered", message, hint="restore it from a copy of the disk") from None


def load_if_usable(path: str) -> WorkspaceSnapshot | None:
    """Load a snapshot from a file of its own; return None if that is not possible."""
    try:
        return decode(file_access.read(path, _MAX_BYTES)[0], path)
    except ExecplanError:
        return None


def _read_signatures(content: dict[str, list[int]]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(signature) for name, signature in content.items()}
