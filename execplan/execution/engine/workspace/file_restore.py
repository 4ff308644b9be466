"""Restoring of changed files: each path gets its previous bytes, mode or link, or is removed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.message_parts import format_excess
from execplan.execution.engine.journal.journal_entries import StateChange
from execplan.execution.engine.workspace.backup_store import BackupStore
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.engine.workspace.workspace_walk import WorkspaceWalker
from execplan.execution.world import ABSENT, FILE, FOLDER, LINK, OUTSIDE, State

MAX_REPORTED = 1000
"""Maximum number of restored paths that are reported at once, and that a retry checks again."""
_ABSENT = State(ABSENT)
_CREATED_FOLDER = State(FOLDER, mode=-1)
"""State of a created directory, with any mode."""


class RestoreResult(NamedTuple):
    """The result of restoring files."""

    restored: tuple[str, ...]
    """Paths whose bytes, modes and links were restored."""
    removed: tuple[str, ...]
    """Removed paths, including directories."""
    backed_up: tuple[tuple[str, str], ...]
    """Paths with the digests of their overwritten bytes, which are in the backups now."""
    remaining_folders: tuple[str, ...] = ()
    """Directories that were not removed because they contain other files now."""


def with_created_folders(changes: Iterable[StateChange], folders: Iterable[str]) -> list[StateChange]:
    """Return the changes of an attempt, preceded by its created directories, for `compute_net_changes`."""
    return [*[StateChange(path, _ABSENT, _CREATED_FOLDER) for path in folders], *changes]


def compute_net_changes(changes: Iterable[StateChange]) -> list[StateChange]:
    """Return one change for each path, from before the first change to after the last one."""
    by_path: dict[str, StateChange] = {}
    for change in changes:
        earlier = by_path.get(change.path)
        by_path[change.path] = change if earlier is None else change._replace(before=earlier.before)
    return [change for change in by_path.values() if change.before != change.after]


def is_restorable(change: StateChange) -> bool:
    """Return whether the previous state can be restored: not if it was a device or an unreadable file."""
    before = change.before
    return before.kind in (ABSENT, LINK, FOLDER) or (before.kind == FILE and bool(before.sha256))


def restore(
    workspace: WorkspaceFiles,
    store: BackupStore,
    changes: Sequence[StateChange],
    folders: Sequence[str],
    on_restored: Callable[[RestoreResult], None],
    *,
    completed_paths: Collection[str] = (),
    is_retry: bool = False,
    on_begin: Callable[[], None] = lambda: None,
) -> RestoreResult:
    """Undo changes, given in the order in which they were made, and remove the created directories that are empty then.

    Every backup and every path is checked first; if one is not as expected, nothing is changed. `on_begin` is called
    after that, and `on_restored` with the result for the next `MAX_REPORTED` paths. `is_retry`: an earlier try was
    interrupted after it reported `completed_paths`. Raises ExecplanError.
    """
    all_changes, restoration = _prepare_restore(
        workspace, store, changes, folders, completed_paths=completed_paths, is_retry=is_retry
    )
    on_begin()
    created_paths = {change.path for change in all_changes if change.before.kind == ABSENT}

    def result_for(paths: Sequence[str], backed_up: Iterable[tuple[str, str]]) -> RestoreResult:
        restored = [path for path in paths if path not in created_paths]
        removed = [path for path in paths if path in created_paths]
        return RestoreResult(tuple(restored), tuple(removed), tuple(backed_up))

    backed_up: list[tuple[str, str]] = []
    applied_paths = restoration.apply()
    while digests := dict(islice(applied_paths, MAX_REPORTED)):
        overwritten = [(path, digest) for path, digest in digests.items() if digest]
        on_restored(result_for([*digests], overwritten))
        backed_up += overwritten
    remaining = restoration.remaining_folders
    result = result_for([change.path for change in all_changes if change.path not in remaining], backed_up)
    return result._replace(remaining_folders=tuple(remaining))


def ensure_restorable(
    workspace: WorkspaceFiles,
    store: BackupStore,
    changes: Sequence[StateChange],
    folders: Sequence[str],
    *,
    completed_paths: Collection[str] = (),
    is_retry: bool = False,
) -> None:
    """Raise ExecplanError if `restore` could not undo all the changes; it makes the same checks first."""
    _prepare_restore(workspace, store, changes, folders, completed_paths=completed_paths, is_retry=is_retry)


def _prepare_restore(
    workspace: WorkspaceFiles,
    store: BackupStore,
    changes: Sequence[StateChange],
    folders: Sequence[str],
    *,
    completed_paths: Collection[str],
    is_retry: bool,
) -> tuple[list[StateChange], _Restoration]:
    all_changes = compute_net_changes(with_created_folders(changes, folders))
    restoration = _Restoration(
        workspace, store, [change for change in all_changes if change.path not in completed_paths], is_retry=is_retry
    )
    restoration.ensure_restorable()
    return all_changes, restoration


class _Restoration:
    """A restoration of paths: first it removes, inner paths first, then it creates, outer paths first."""

    def __init__(
        self, workspace: WorkspaceFiles, store: BackupStore, changes: list[StateChange], *, is_retry: bool
    ) -> None:
        self.workspace = workspace
        self.store = store
        ordered = sorted(changes, key=lambda change: change.path.split("/"))
        self.folders_to_remove = [
            change.path for change in reversed(ordered) if change.before.kind == ABSENT and change.after.kind == FOLDER
        ]
        self.changes = {change.path: change for change in ordered if change.path not in self.folders_to_remove}
        self.is_retry = is_retry
        self.current_states = {path: self._state(path) for path in self.changes}
        self.remaining_folders: list[str] = []

    def _state(self, path: str) -> State:
        """Return the state of a path; absent if a link on the way was created by a change or is restored here."""
        state = self.workspace.state(path)
        obstructing_change = self.changes.get(state.link) if state.kind == OUTSIDE else None
        if obstructing_change is not None and LINK in (obstructing_change.before.kind, obstructing_change.after.kind):
            return _ABSENT
        return state

    def ensure_restorable(self) -> None:
        """Raise ExecplanError if a path or a backup is not as expected; the error lists all of them."""
        conflicts = [line for change in self.changes.values() for line in self._find_conflicts(change)]
        if conflicts:
            raise _changed_error(list(dict.fromkeys(conflicts)))
        needed = [
            change for path, change in self.changes.items() if change.before not in (_ABSENT, self.current_states[path])
        ]
        unrestorable = [change.path for change in needed if not is_restorable(change)]
        if unrestorable:
            raise _missing_backup_error(unrestorable)
        self.store.ensure_intact([change.before.sha256 for change in needed if change.before.kind == FILE])

    def _find_conflicts(self, change: StateChange) -> Iterator[str]:
        """Iterate over the paths of a change that match neither its previous nor its final state."""
        current, before, after = self.current_states[change.path], change.before, change.after
        became_folder = after.kind == FOLDER != before.kind
        is_between = self.is_retry and FOLDER in (before.kind, after.kind) and current.kind in (ABSENT, FOLDER)
        is_recreated = after == _CREATED_FOLDER and current.kind == FOLDER
        if (
            current not in (before, after)
            and not is_recreated
            and not is_between
            and not (became_folder and current.kind == FOLDER)
        ):
            yield change.path
        elif current.kind == FOLDER != before.kind:
            yield from self._unrelated_contents(change.path)
        elif before.kind != ABSENT:
            yield from self._blocking_paths(change.path)

    def _unrelated_contents(self, path: str) -> Iterator[str]:
        """Iterate over the contents of a directory to be removed that are not part of the restoration."""
        walker = WorkspaceWalker(self.workspace.project, self.workspace)
        walker.collect_path(path)
        for inner_path in walker.statuses:
            own_change = self.changes.get(inner_path)
            if (
                inner_path.startswith(f"{path}/")
                and inner_path not in self.folders_to_remove
                and (own_change is None or own_change.before.kind != ABSENT)
            ):
                yield inner_path

    def _blocking_paths(self, path: str) -> Iterator[str]:
        """Iterate over the parents of a path that are not directories and will not become directories."""
        parent = path.rpartition("/")[0]
        while parent:
            own_change = self.changes.get(parent)
            if (own_change is None or own_change.before.kind != FOLDER) and self._state(parent).kind not in (
                ABSENT,
                FOLDER,
            ):
                yield parent
            parent = parent.rpartition("/")[0]

    def apply(self) -> Iterator[tuple[str, str]]:
        """Restore the paths; yield each one with the digest of its overwritten bytes. Raises ExecplanError."""
        ordered_changes = list(self.changes.values())
        self._prepare_folders(ordered_changes)
        backup_digests: dict[str, str] = {}
        for change in reversed(ordered_changes):
            if change.before.kind in (ABSENT, FOLDER):
                backup_digests[change.path] = self._remove(change)
                if change.before.kind == ABSENT:
                    yield change.path, backup_digests[change.path]
        yield from self._remove_folders()
        for change in ordered_changes:
            if change.before.kind == FOLDER:
                self.workspace.make_folder(change.path, change.before.mode | 0o700)
            elif change.before.kind != ABSENT:
                yield change.path, self._restore_path(change)
        for change in reversed(ordered_changes):
            if change.before.kind == FOLDER:
                self.workspace.make_folder(change.path, change.before.mode)
                yield change.path, backup_digests[change.path]

    def _prepare_folders(self, ordered_changes: list[StateChange]) -> None:
        """Make directories with a changed mode accessible, and remove temporary files of killed writers."""
        for change in ordered_changes:
            if change.before.kind == FOLDER == self.current_states[change.path].kind:
                self.workspace.make_folder(change.path, change.before.mode | 0o700)
        for change in ordered_changes:
            if self.workspace.state(change.path.rpartition("/")[0] or ".").kind == FOLDER:
                self.workspace.remove_temporary(change.path)

    def _remove(self, change: StateChange) -> str:
        """Remove a path that is not a directory; return the digest of its bytes."""
        if self.current_states[change.path].kind in (ABSENT, FOLDER):
            return ""
        digest = self._back_up(change.path)
        self.workspace.remove(change.path)
        return digest

    def _remove_folders(self) -> Iterator[tuple[str, str]]:
        """Remove the affected directories.

        Raises ExecplanError if one that a file or a link replaces cannot be removed.
        """
        replaced_folders = [path for path, change in self.changes.items() if change.before.kind in (FILE, LINK)]
        replaced_folders = [path for path in replaced_folders if self.current_states[path].kind == FOLDER]
        for path in sorted(
            [*self.folders_to_remove, *replaced_folders], key=lambda folder: folder.split("/"), reverse=True
        ):
            kind = self._state(path).kind
            if kind != ABSENT and not (kind == FOLDER and self.workspace.remove_folder(path)):
                if path in replaced_folders:
                    raise _changed_error([path])
                self.remaining_folders.append(path)
            elif path not in replaced_folders:
                yield path, ""

    def _restore_path(self, change: StateChange) -> str:
        """Restore a file or a link; return the digest of the overwritten bytes."""
        if self.current_states[change.path] == change.before:
            return ""
        digest = self._back_up(change.path)
        if change.before.kind == LINK:
            self.workspace.link(change.path, change.before.link)
        else:
            self.workspace.write_chunks(change.path, self.store.read_chunks(change.before.sha256), change.before.mode)
        return digest

    def _back_up(self, path: str) -> str:
        """Back up a path if it is a file. Raises ExecplanError if it has changed since the check."""
        state, expected = self.store.save_path(self.workspace, path), self.current_states[path]
        if state != expected and {state.kind, expected.kind} != {ABSENT, FOLDER}:
            raise _changed_error([path])
        return state.sha256


RETRY_HINT = "move these changes away or restore what the run left, then try again: execplan rollback"
"""Hint of a conflict; a caller that knows the run appends it."""


def _changed_error(paths: list[str]) -> ExecplanError:
    return ExecplanError(
        "changed-since",
        f"{paths[0]}{format_excess(len(paths), 1)} changed after the run; a rollback doesn't overwrite such changes",
        hint=RETRY_HINT,
        candidates=paths,
    )


def _missing_backup_error(paths: list[str]) -> ExecplanError:
    return ExecplanError(
        "backup-missing",
        f"no backup of {', '.join(paths)}: it was not a regular file, or could not be read",
        hint="restore it from git, or keep it as it is",
        candidates=paths,
    )
