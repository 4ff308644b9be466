"""Files that a job passes on to the next one: an archive that is checked when it is unpacked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.errors import INPUT, ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.execution.engine.workspace.file_archive import (
    entries_below,
    find_problem,
    pack_archive,
    replace_with_archive,
    unpack_archive,
)
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.export.job_partition import passed_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.project.project import Project
    from execplan.execution.engine.workspace.file_archive import FileArchive
    from execplan.execution.execution_plan import Step

SCHEMA = "execplan/job-outputs/1"
_MAX_BYTES = 4 << 30


def save_outputs(project: Project, path: str, document: str, steps: Sequence[Step]) -> None:
    """Write what these steps pass on to an archive; the same files give the same bytes.

    `document` is the digest of the execution plan. Raises ExecplanError.
    """
    workspace = WorkspaceFiles(project)
    entries = [entry for declared in _declared_paths(steps) for entry in entries_below(workspace, declared)]
    data = pack_archive({"schema": SCHEMA, "document": document}, entries, workspace.read)
    old = file_access.read(path, _MAX_BYTES)[0] if os.path.lexists(path) else None
    atomic_files.replace_if_unchanged(path, old, data)


def load_outputs(project: Project, path: str, document: str, steps: Sequence[Step]) -> None:
    """Write the files of an archive that earlier steps passed on.

    Everything is checked first: the execution plan, that each path is one that these steps declare, and the digest of
    each file. Raises ExecplanError.
    """
    archive = _read_archive(path, document)
    declared_paths = _declared_paths(steps)
    problem = find_problem(archive, declared_paths)
    if problem:
        raise _archive_error(path, problem)
    replace_with_archive(archive, declared_paths, WorkspaceFiles(project))


def _declared_paths(steps: Sequence[Step]) -> list[str]:
    return sorted({path for step in steps for path in passed_paths(step)})


def _read_archive(path: str, document: str) -> FileArchive:
    """Return an archive of the jobs of a plan. Raises ExecplanError."""
    data, size = file_access.read(path, _MAX_BYTES)
    if size > _MAX_BYTES:
        raise _archive_error(path, f"it is larger than {_MAX_BYTES >> 30} GiB")
    try:
        archive = unpack_archive(data)
        schema, archived_document = archive.header["schema"], archive.header["document"]
    except (ValueError, KeyError):
        raise _archive_error(path, "it is not an archive that `execplan job --save` wrote") from None
    if schema != SCHEMA:
        raise _archive_error(path, f"its format is {schema!r}, not {SCHEMA!r}")
    if archived_document != document:
        raise _archive_error(path, "it comes from other steps than those of the plan")
    return archive


def _archive_error(path: str, reason: str) -> ExecplanError:
    return ExecplanError(
        "bad-job-outputs",
        f"{path}: {reason}; nothing was unpacked",
        exit=INPUT,
        hint="pass on the file that the previous job saved, from the same run of the workflow",
    )
