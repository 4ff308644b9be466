"""Archives of a project's files: a tar with a manifest, which is checked before anything is written from it."""

from __future__ import annotations

import io
import json
import os
import stat
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

from execplan.core.errors import ExecplanError
from execplan.core.text import fast_json
from execplan.core.text.pure_paths import is_inside
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.engine.workspace.workspace_walk import WorkspaceWalker
from execplan.execution.world import ABSENT, FILE, FOLDER, LINK, normalize_path

Entry: TypeAlias = "dict[str, Any]"
_MANIFEST = "manifest.json"
_CONTENT = "files/"
"""Prefix of the members with the content of files, which are numbered like the entries of the manifest."""
_ATTACHMENT = "attachments/"
"""Prefix of the members that are no files of the project."""
_ENTRY_FIELDS: dict[str, dict[str, type]] = {
    ABSENT: {"path": str, "kind": str},
    FOLDER: {"path": str, "kind": str, "mode": int},
    LINK: {"path": str, "kind": str, "link": str},
    FILE: {"path": str, "kind": str, "mode": int, "sha256": str},
}
"""Fields of an entry of the manifest, with their types, by kind."""


class FileArchive(NamedTuple):
    """The content of an archive."""

    header: dict[str, Any]
    """The manifest without its entries."""
    entries: list[Entry]
    contents: dict[int, bytes]
    """Content of files by the number of their entry."""
    attachments: dict[str, bytes]
    """Other data by name."""


def entries_below(workspace: WorkspaceFiles, declared: str) -> Iterator[Entry]:
    """Yield an entry for a path and for everything in it, outer paths first. Raises ExecplanError."""
    walker = WorkspaceWalker(workspace.project, workspace)
    walker.collect_path(declared)
    if not (paths := sorted([path for path in walker.statuses if is_inside(path, declared)])):
        yield {"path": declared, "kind": ABSENT}
    for path in paths:
        state = workspace.state(path)
        mode = stat.S_IMODE(walker.statuses[path].st_mode) & 0o777
        if state.kind == FOLDER:
            yield {"path": path, "kind": FOLDER, "mode": mode}
        elif state.kind == LINK:
            yield {"path": path, "kind": LINK, "link": state.link}
        elif state.kind == FILE:
            data_digest = sha256()
            for chunk in workspace.read_chunks(path):
                data_digest.update(chunk)
            yield {"path": path, "kind": FILE, "mode": mode, "sha256": data_digest.hexdigest()}
        else:
            raise ExecplanError(
                "not-exportable",
                f"{path} is neither a file, a directory nor a link, so it can't be passed on",
                hint="let the step write a regular file",
            )


def pack_archive(
    header: Mapping[str, Any],
    entries: Sequence[Entry],
    read: Callable[[str], bytes],
    attachments: Mapping[str, bytes] | None = None,
) -> bytes:
    """Return an archive of these entries, with the content of their files; the same files give the same bytes.

    `read` returns the content of a path, and its exceptions are passed on.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        manifest = {**header, "entries": entries}
        _add_member(archive, _MANIFEST, json.dumps(manifest, indent=1, sort_keys=True).encode())
        for name, data in (attachments or {}).items():
            _add_member(archive, f"{_ATTACHMENT}{name}", data)
        for number, entry in enumerate(entries):
            if entry["kind"] == FILE:
                _add_member(archive, f"{_CONTENT}{number}", read(entry["path"]))
    return buffer.getvalue()


def unpack_archive(data: bytes) -> FileArchive:
    """Return the content of an archive, whose entries are valid. Raises ValueError if it is not an archive."""
    members: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isreg() else None
                members[member.name] = file.read() if file is not None else b""
        header = dict(fast_json.loads(members[_MANIFEST]))
        entries = [_checked_entry(entry) for entry in header.pop("entries")]
    except (tarfile.TarError, ValueError, KeyError, TypeError, RecursionError, EOFError):
        message = "not an archive of files"
        raise ValueError(message) from None
    contents = {
        int(name.removeprefix(_CONTENT)): content
        for name, content in members.items()
        if name.startswith(_CONTENT) and name.removeprefix(_CONTENT).isdecimal()
    }
    attachments = {
        name.removeprefix(_ATTACHMENT): content for name, content in members.items() if name.startswith(_ATTACHMENT)
    }
    return FileArchive(header, entries, contents, attachments)


def find_problem(archive: FileArchive, declared_paths: Iterable[str]) -> str:
    """Describe the first entry that is outside of the declared paths or has other content; empty if there is none."""
    declared_paths = list(declared_paths)
    for number, entry in enumerate(archive.entries):
        if not any([is_inside(entry["path"], declared) for declared in declared_paths]):
            return f"no step declares {entry['path']}"
        content = archive.contents.get(number)
        if entry["kind"] == FILE and (content is None or sha256(content).hexdigest() != entry["sha256"]):
            return f"the content of {entry['path']} doesn't match its digest"
    return ""


def write_archive(archive: FileArchive, workspace: WorkspaceFiles) -> None:
    """Write the entries of an archive to a project, each one atomically. Raises ExecplanError.

    A directory that the archive has as something else is removed with everything in it.
    """
    for number, entry in enumerate(archive.entries):
        path, kind = entry["path"], entry["kind"]
        status = workspace.status(path)
        if status is not None and stat.S_ISDIR(status.st_mode) != (kind == FOLDER):
            _remove(list(entries_below(workspace, path)), workspace)
        if kind == ABSENT:
            workspace.remove(path)
        elif kind == FOLDER:
            workspace.make_folder(path, entry["mode"])
        elif kind == LINK:
            workspace.link(path, entry["link"])
        else:
            workspace.write(path, archive.contents[number], entry["mode"])


def replace_with_archive(archive: FileArchive, declared_paths: Iterable[str], workspace: WorkspaceFiles) -> None:
    """Make what is at the declared paths the same as in an archive of them. Raises ExecplanError."""
    archived_paths = {entry["path"] for entry in archive.entries}
    local = {entry["path"]: entry for path in declared_paths for entry in entries_below(workspace, path)}
    _remove([local[path] for path in sorted(local) if path not in archived_paths], workspace)
    write_archive(archive, workspace)


def _remove(entries: Sequence[Entry], workspace: WorkspaceFiles) -> None:
    """Remove the paths of entries, of which outer ones come first. Raises ExecplanError."""
    for entry in reversed(entries):
        if entry["kind"] == FOLDER:
            workspace.remove_folder(entry["path"])
        else:
            workspace.remove(entry["path"])


def _add_member(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    archive.addfile(member, io.BytesIO(data))


def _checked_entry(entry: Entry) -> Entry:
    """Return an entry with the fields of its kind; raises ValueError, KeyError or TypeError if it has others."""
    fields = _ENTRY_FIELDS[entry["kind"]]
    is_valid = entry.keys() == fields.keys() and all([type(entry[name]) is kind for name, kind in fields.items()])
    os.fsencode(entry["path"])  # of a character that no path can have, this raises a ValueError
    if not is_valid or normalize_path(entry["path"]) != entry["path"] or not 0 <= entry.get("mode", 0) <= 0o777:
        raise ValueError(entry)
    return entry
