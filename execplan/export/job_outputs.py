"""Files that a job passes on to the next one: a tar archive with a manifest, which is checked when it is unpacked."""

from __future__ import annotations

import io
import json
import os
import stat
import tarfile
from hashlib import sha256
from typing import TYPE_CHECKING

from execplan.engine.workspace.workspace_files import WorkspaceFiles
from execplan.engine.workspace.workspace_walker import WorkspaceWalker
from execplan.errors import CHECK_FAILED, INPUT, ExecplanError
from execplan.execution.world import ABSENT, FILE, FOLDER, LINK, normalize_path
from execplan.export.job_partition import passed_paths
from execplan.files import atomic_files, file_access
from execplan.text import fast_json
from execplan.text.pure_paths import is_inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from execplan.execution.execution_plan import Step
    from execplan.project.project import Project

SCHEMA = "execplan/job-outputs/1"
_MANIFEST = "manifest.json"
_CONTENT = "files/"
"""Prefix of the members with the content of files, which are numbered like the entries of the manifest."""
_MAX_BYTES = 4 << 30


_ENTRY_FIELDS: dict[str, dict[str, type]] = {
    ABSENT: {"path": str, "kind": str},
    FOLDER: {"path": str, "kind": str, "mode": int},
    LINK: {"path": str, "kind": str, "link": str},
    FILE: {"path": str, "kind": str, "mode": int, "sha256": str},
}
"""Fields of an entry of the manifest, with their types, by kind."""


def save_outputs(project: Project, path: str, document: str, steps: Sequence[Step]) -> None:
    """Write what these steps pass on to an archive; the same files give the same bytes.

    `document` is the digest of the execution plan. Raises ExecplanError.
    """
    workspace = WorkspaceFiles(project)
    entries = [entry for declared in _declared_paths(steps) for entry in _entries_below(project, workspace, declared)]
    manifest = {"schema": SCHEMA, "document": document, "entries": entries}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        _add_member(archive, _MANIFEST, json.dumps(manifest, indent=1, sort_keys=True).encode())
        for number, entry in enumerate(entries):
            if entry["kind"] == FILE:
                _add_member(archive, f"{_CONTENT}{number}", workspace.read(entry["path"]))
    old = file_access.read(path, _MAX_BYTES)[0] if os.path.lexists(path) else None
    atomic_files.replace_if_unchanged(path, old, buffer.getvalue())


def load_outputs(project: Project, path: str, document: str, steps: Sequence[Step]) -> None:
    """Write the files of an archive that earlier steps passed on.

    Everything is checked first: the execution plan, that each path is one that these steps declare, and the digest of
    each file. Raises ExecplanError.
    """
    entries, contents = _read_archive(path, document)
    declared_paths = _declared_paths(steps)
    for number, entry in enumerate(entries):
        if not any([is_inside(entry["path"], declared) for declared in declared_paths]):
            raise _archive_error(path, f"no earlier step declares {entry['path']}")
        if entry["kind"] == FILE and (
            number not in contents or sha256(contents[number]).hexdigest() != entry["sha256"]
        ):
            raise _archive_error(path, f"the content of {entry['path']} doesn't match its digest")
    workspace = WorkspaceFiles(project)
    for number, entry in enumerate(entries):
        if entry["kind"] == ABSENT:
            workspace.remove(entry["path"])
        elif entry["kind"] == FOLDER:
            workspace.make_folder(entry["path"], entry["mode"])
        elif entry["kind"] == LINK:
            workspace.link(entry["path"], entry["link"])
        else:
            workspace.write(entry["path"], contents[number], entry["mode"])


def _declared_paths(steps: Sequence[Step]) -> list[str]:
    return sorted({path for step in steps for path in passed_paths(step)})


def _entries_below(project: Project, workspace: WorkspaceFiles, declared: str) -> Iterator[dict[str, Any]]:
    """Yield a manifest entry for a declared path and for everything in it, outer paths first."""
    walker = WorkspaceWalker(project, workspace)
    walker.collect_path(declared)
    paths = sorted([path for path in walker.statuses if is_inside(path, declared)])
    if not paths:
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
                f"{path} is neither a file, a directory nor a link, so it can't be passed on to another job",
                exit=CHECK_FAILED,
                hint="let the step write a regular file",
            )


def _add_member(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    archive.addfile(member, io.BytesIO(data))


def _read_archive(path: str, document: str) -> tuple[list[dict[str, Any]], dict[int, bytes]]:
    """Return the entries of the manifest, and the content of files by the number of their entry."""
    data, size = file_access.read(path, _MAX_BYTES)
    if size > _MAX_BYTES:
        raise _archive_error(path, f"it is larger than {_MAX_BYTES >> 30} GiB")
    members: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isreg() else None
                members[member.name] = file.read() if file is not None else b""
        manifest = fast_json.loads(members[_MANIFEST])
        entries = [_checked_entry(entry) for entry in manifest["entries"]]
        schema, archived_document = manifest["schema"], manifest["document"]
        contents = {
            int(name.removeprefix(_CONTENT)): content
            for name, content in members.items()
            if name.startswith(_CONTENT) and name.removeprefix(_CONTENT).isdecimal()
        }
    except (tarfile.TarError, ValueError, KeyError, TypeError, RecursionError, EOFError):
        raise _archive_error(path, "it is not an archive that `execplan job --save` wrote") from None
    if schema != SCHEMA:
        raise _archive_error(path, f"its format is {schema!r}, not {SCHEMA!r}")
    if archived_document != document:
        raise _archive_error(path, "it comes from other steps than those of the plan")
    return entries, contents


def _checked_entry(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with the fields of its kind; raises ValueError, KeyError or TypeError if it has others."""
    fields = _ENTRY_FIELDS[entry["kind"]]
    is_valid = entry.keys() == fields.keys() and all([type(entry[name]) is kind for name, kind in fields.items()])
    os.fsencode(entry["path"])  # of a character that no path can have, this raises a ValueError
    if not is_valid or normalize_path(entry["path"]) != entry["path"] or not 0 <= entry.get("mode", 0) <= 0o777:
        raise ValueError(entry)
    return entry


def _archive_error(path: str, reason: str) -> ExecplanError:
    return ExecplanError(
        "bad-job-outputs",
        f"{path}: {reason}; nothing was unpacked",
        exit=INPUT,
        hint="pass on the file that the previous job saved, from the same run of the workflow",
    )
