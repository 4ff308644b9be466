"""Directories of files that execplan installs: adding, updating and exactly removing the files, and detecting edits.

A list in the directory has a digest of each file, because not every format has comments that could contain a mark.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from execplan.agents.integrations.integration_changes import ChangeSet, IntegrationChange, count_missing_directories
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.text_lines import digest

LIST_NAME = ".execplan.json"
"""Name of the list of installed files in the directory."""
_EDITED = "edited by hand"


class ManagedDirectory(NamedTuple):
    """A directory with the files that an integration wants in it."""

    integration: str
    path: str
    display_path: str
    """Path as shown in messages."""
    files: Mapping[str, bytes]
    """Content of the files by their paths from the directory."""
    read: Callable[[str], bytes | None]
    """Reads a file; returns None if it does not exist."""
    arguments: str = ""
    """Further arguments that `install` needs for this directory."""

    @property
    def list_path(self) -> str:
        """Path of the list of installed files."""
        return os.path.join(self.path, LIST_NAME)

    def file_path(self, name: str) -> str:
        """Return the absolute path of a file."""
        return os.path.join(self.path, name)

    def show(self, name: str) -> str:
        """Return the path of a file as shown in messages."""
        return os.path.join(self.display_path, name)

    def command(self, verb: str) -> str:
        """Return the command that installs or uninstalls the directory."""
        return f"execplan {verb} {self.integration}{self.arguments}"


class InstalledFiles(NamedTuple):
    """The content of a list of installed files."""

    created_directories: int
    """Number of directories created for the list's own directory, including it."""
    digests: dict[str, str]
    """Digest of each installed file by its path from the directory."""


def plan_install(directory: ManagedDirectory, *, force: bool) -> ChangeSet:
    """Plan to add or update the files; edited files are kept unless forced. Raises ExecplanError."""
    installed = read_list(directory)
    digests = installed.digests if installed else {}
    changes: list[IntegrationChange] = []
    new_digests: dict[str, str] = {}
    for name in [*directory.files, *[name for name in digests if name not in directory.files]]:
        current, new = directory.read(directory.file_path(name)), directory.files.get(name)
        recorded_digest = digests.get(name)
        if current is None and new is None:
            continue
        if current in (None, new) or _digest(current) == recorded_digest or (force and recorded_digest):
            changes.append(_file_change(directory, name, current, new))
            if new is not None:
                new_digests[name] = _digest(new)
        elif recorded_digest is None:
            raise ExecplanError(
                "not-ours",
                f"{directory.show(name)} already exists, and execplan install did not create it",
                hint=f"move it elsewhere, then: {directory.command('install')}",
            )
        else:
            changes.append(
                IntegrationChange(directory.integration, directory.file_path(name), current, current, _EDITED)
            )
            new_digests[name] = recorded_digest
    count = installed.created_directories if installed else _count_new_directories(directory)
    list_change = _list_change(directory, _format_list(InstalledFiles(count, new_digests)))
    if list_change.action != "kept" or list_change.has_leftover_file:
        # Without its list, an interrupted installation could not be removed; with a new one, an interrupted update
        # would look like edited files.
        changes = [list_change, *changes] if installed is None else [*changes, list_change]
    warnings = [
        f"{directory.show(os.path.relpath(change.path, directory.path))} was edited by hand and is kept; "
        f"to update it: {directory.command('install')} --force"
        for change in changes
        if change.reason == _EDITED
    ]
    return ChangeSet(tuple(changes), tuple(warnings))


def plan_uninstall(directory: ManagedDirectory, *, force: bool) -> ChangeSet:
    """Plan to remove the installed files and the directories created for them. Raises ExecplanError."""
    installed = read_list(directory)
    if installed is None:
        return ChangeSet((IntegrationChange(directory.integration, directory.path, None, None, "not installed"),))
    changes: list[IntegrationChange] = []
    for name, recorded_digest in installed.digests.items():
        current = directory.read(directory.file_path(name))
        if current is None:
            continue
        if _digest(current) != recorded_digest and not force:
            raise ExecplanError(
                "edited-block",
                f"{directory.show(name)} was edited by hand; nothing was written",
                hint=f"move what you want to keep elsewhere, then: {directory.command('uninstall')} --force",
            )
        changes.append(_file_change(directory, name, current, None))
    return ChangeSet((*changes, _list_change(directory, None, installed.created_directories)))


def read_list(directory: ManagedDirectory) -> InstalledFiles | None:
    """Read the list of installed files; return None if there is none. Raises ExecplanError."""
    data = directory.read(directory.list_path)
    if data is None:
        return None
    try:
        document = json.loads(data)
        count, digests = document["created_directories"], document["files"]
        is_valid = isinstance(count, int) and all([_is_valid_entry(name, value) for name, value in digests.items()])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        is_valid = False
    if not is_valid:
        raise ExecplanError(
            "bad-file-list",
            f"{directory.show(LIST_NAME)} is not a list of installed files",
            hint=f"restore it with git, or remove {directory.display_path}, then: {directory.command('install')}",
        )
    return InstalledFiles(count, dict(digests))


def is_intact(directory: ManagedDirectory, name: str) -> bool:
    """Check whether a file is the list of installed files, or in it and unedited. Raises ExecplanError."""
    installed = read_list(directory)
    if installed is None:
        return False
    data = directory.read(directory.file_path(name)) if name in installed.digests else None
    return name == LIST_NAME or (data is not None and _digest(data) == installed.digests[name])


def _count_new_directories(directory: ManagedDirectory) -> int:
    """Count the directories that an installation creates; an empty one may be from an interrupted installation."""
    path = os.path.realpath(directory.path)
    is_empty = os.path.isdir(path) and {atomic_files.temp_file_name(LIST_NAME)}.issuperset(os.listdir(path))
    return count_missing_directories(os.path.join(path, LIST_NAME)) + is_empty


def _is_valid_entry(name: str, value: Any) -> bool:
    """Check an entry of a list: its path must stay in the directory, because `uninstall` removes the file."""
    return isinstance(value, str) and not {"", ".", ".."}.intersection(name.split("/"))


def _format_list(installed: InstalledFiles) -> bytes:
    document = {"created_directories": installed.created_directories, "files": installed.digests}
    return (json.dumps(document, indent=2, sort_keys=True) + "\n").encode()


def _list_change(directory: ManagedDirectory, new: bytes | None, created_directories: int = 0) -> IntegrationChange:
    old = directory.read(directory.list_path)
    return IntegrationChange(
        directory.integration,
        directory.list_path,
        old,
        new,
        "already there" if old == new else "",
        created_directories=created_directories,
    )


def _file_change(directory: ManagedDirectory, name: str, old: bytes | None, new: bytes | None) -> IntegrationChange:
    reason = "already there" if old == new else ""
    return IntegrationChange(
        directory.integration, directory.file_path(name), old, new, reason, created_directories=name.count("/")
    )


def _digest(data: bytes) -> str:
    return digest(data)[:16]
