"""Changes of an integration: all are planned first, then applied completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial

from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project, ensure_inside

LIMIT = 5 << 20
"""Maximum size, in bytes, of a file that an integration changes."""


EDITED_BY_HAND = "edited by hand"
"""Reason why a part of a file is kept that differs from what execplan wrote."""
ALREADY_INSTALLED = "already installed"
"""Reason why nothing changes if the integration is up to date."""


class IntegrationChange(NamedTuple):
    """A file before and after a change; both are equal, or both None, if nothing changes."""

    integration: str
    """Name of the integration that makes the change."""
    path: str
    old: bytes | None
    new: bytes | None
    reason: str = ""
    """Reason why nothing changes."""
    executable: bool = False
    created_directories: int = 0
    """Number of parent directories that are removed with the file if they are empty."""
    source: str = ""
    """Path from which the file is moved unchanged."""
    setting: str = ""
    """Git setting that changes in the file: old and new are its values, and git writes it."""

    @property
    def action(self) -> str:
        """Kind of the change: `made`, `changed`, `removed`, `moved` or `kept`."""
        if self.source:
            return "moved"
        if self.old == self.new:
            return "kept"
        if self.old is None:
            return "made"
        if self.new is None:
            return "removed"
        return "changed"

    @property
    def has_leftover_file(self) -> bool:
        """Whether a killed command left a temporary file next to it."""
        return not self.setting and atomic_files.has_leftover(self.path)


class ChangeSet(NamedTuple):
    """The planned changes of an integration, with warnings and follow-up commands."""

    changes: tuple[IntegrationChange, ...]
    warnings: tuple[str, ...] = ()
    next_commands: tuple[str, ...] = ()


def merge_change_sets(change_sets: Sequence[ChangeSet]) -> ChangeSet:
    """Combine the changes and warnings of several change sets."""
    changes = tuple([change for change_set in change_sets for change in change_set.changes])
    return ChangeSet(changes, tuple([warning for change_set in change_sets for warning in change_set.warnings]))


def read_project_file(project: Project, path: str) -> bytes | None:
    """Read a file of the repository; return None if it does not exist. Raises ExecplanError for a link out of it."""
    ensure_inside(project, path)
    return read_file(path)


def read_file(path: str) -> bytes | None:
    """Read a file; return None if it does not exist. Raises ExecplanError."""
    if not os.path.lexists(os.path.realpath(path)):
        return None
    data, size = file_access.read(path, LIMIT)
    if size > LIMIT:
        hint = "check whether it is the right file"
        raise ExecplanError("too-large", f"{path} has {size:,} bytes, more than {LIMIT:,}", hint=hint)
    return data


def count_missing_directories(path: str) -> int:
    """Count the missing parent directories of a file."""
    count = 0
    while not os.path.isdir(path := os.path.dirname(path)):
        count += 1
    return count


def apply_changes(changes: Sequence[IntegrationChange]) -> tuple[str, ...]:
    """Apply all changes or none; return warnings. Raises ExecplanError."""
    undo: list[Callable[[], object]] = []
    warnings: list[str] = []
    spare = atomic_files.BackupWriter()
    try:
        for change in changes:
            if change.action != "kept":
                _apply_change(change, undo, warnings, spare)
            elif change.has_leftover_file:
                atomic_files.remove_leftover(change.path, (change.old or b"",), backup_writer=spare)
    except BaseException:
        for revert in reversed(undo):
            revert()
        raise
    return (*warnings, *spare.warnings)


def _apply_change(
    change: IntegrationChange, undo: list[Callable[[], object]], warnings: list[str], spare: atomic_files.BackupWriter
) -> None:
    path, old, new = change.path, change.old, change.new
    if change.setting:
        from execplan.core.git import git_query

        git_query.set_config(path, change.setting, new)
        undo.append(partial(git_query.set_config, path, change.setting, old))
    elif change.source:
        _move_file(change.source, path)
        undo.append(partial(_move_file, path, change.source))
    elif new is None:
        assert old is not None
        target = os.path.realpath(path)
        mode = atomic_files.remove(path, old)
        undo.append(partial(_recreate_file, target, old, mode))
        _remove_empty_directories(target, change.created_directories)
    elif old is None:
        target = os.path.realpath(path)
        missing = count_missing_directories(target)
        undo.append(partial(_remove_empty_directories, target, missing))
        atomic_files.make_directory(os.path.dirname(target))
        if not atomic_files.create(target, new, mode=0o777 if change.executable else 0o666):
            raise file_access.conflict_error(path)
        undo.append(partial(atomic_files.remove, target, new))
    else:
        if atomic_files.replace_if_unchanged(path, old, new, backup_writer=spare):
            warnings.append(atomic_files.hard_link_warning(path))
        undo.append(partial(atomic_files.replace_if_unchanged, path, new, old))


def _move_file(source: str, path: str) -> None:
    """Rename a file, which may be a link, to a free name. Raises ExecplanError."""
    if os.path.lexists(path):
        raise file_access.conflict_error(path)
    try:
        os.rename(source, path)
    except OSError as error:
        raise file_access.file_error(error, source, "move") from None
    atomic_files.sync_directory(os.path.dirname(path))


def _recreate_file(path: str, data: bytes, mode: int) -> None:
    atomic_files.make_directory(os.path.dirname(path))
    if atomic_files.create(path, data):
        os.chmod(path, mode)


def _remove_empty_directories(path: str, count: int) -> None:
    """Remove up to this number of parent directories of a file, as long as they are empty."""
    for _ in range(count):
        path = os.path.dirname(path)
        try:
            os.rmdir(path)
        except OSError:
            return
