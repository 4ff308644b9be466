"""The copy of a run's evidence in the state directory, safe from steps that remove or alter files of the repository."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.execution.engine.journal.journal import Journal
from execplan.execution.engine.run_records.run_directories import JOURNAL, LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.execution.engine.run_records.run_directories import RunPaths

TRANSCRIPTS: Final = "transcripts"
PLAN: Final = "plan.md"
"""Name of the plan's text before the last step in which a program ran; only in the copy."""
_DOCUMENT_PREFIXES: Final = ("execution-plan", "approval")
_SYNC_THREADS: Final = 8


def is_run_document(name: str) -> bool:
    """Return whether a file of a run is one of its execution plans or approvals."""
    return name.endswith(".json") and name.startswith(_DOCUMENT_PREFIXES)


def copy_evidence(run_paths: RunPaths) -> None:
    """Copy the run's evidence that is missing from the state directory. Raises ExecplanError."""
    from execplan.core.files import atomic_files

    atomic_files.make_directory(run_paths.copy)
    journal = run_paths.journal
    if journal != run_paths.copy_path(JOURNAL) and os.path.lexists(journal):
        data = file_access.read(journal, LIMIT)[0]
        atomic_files.replace(run_paths.copy_path(JOURNAL), data[: data.rfind(b"\n") + 1])
    for name in file_access.list_names(run_paths.folder):
        if is_run_document(name) and not os.path.lexists(run_paths.copy_path(name)):
            atomic_files.create(run_paths.copy_path(name), file_access.read(run_paths.artifact_path(name), LIMIT)[0])


def open_journal(run_paths: RunPaths) -> Journal:
    """Open the journal of a run for writing, in the state directory and in the artifacts. Raises ExecplanError."""
    copy_evidence(run_paths)
    return Journal(run_paths.copy_path(JOURNAL), run_paths.artifact_path(JOURNAL), run_paths.project.root)


def link_transcript(run_paths: RunPaths, path: str) -> None:
    """Hard-link a transcript in progress into the state directory if the file system allows it."""
    try:
        os.makedirs(run_paths.copy_path(TRANSCRIPTS), exist_ok=True)
        copy_path = os.path.join(run_paths.copy_path(TRANSCRIPTS), os.path.basename(path))
        file_access.remove_if_exists(copy_path)
        os.link(path, copy_path)
    except OSError:
        return  # another file system: the transcript is only in the artifacts


def sync_transcripts(run_paths: RunPaths) -> None:
    """Sync the transcripts of a run, all at once, which takes hardly longer than one. Raises ExecplanError."""
    from concurrent.futures import ThreadPoolExecutor

    folder = run_paths.transcripts
    paths = [os.path.join(folder, name) for name in file_access.list_names(folder)]
    try:
        with ThreadPoolExecutor(_SYNC_THREADS) as pool:
            for _ in pool.map(file_access.sync_path, paths):
                pass
    except OSError as error:
        raise file_access.file_error(error, folder, "write") from None


def list_altered(run_paths: RunPaths) -> list[str]:
    """List the copied files, except for the journal, that are missing or different in the artifacts.

    Names are relative to the run's directory.
    """
    altered_documents = [name for name in list_run_documents(run_paths) if differs_from_copy(run_paths, name)]
    transcripts = [os.path.join(TRANSCRIPTS, name) for name in file_access.list_names(run_paths.copy_path(TRANSCRIPTS))]
    return altered_documents + [name for name in transcripts if not os.path.lexists(run_paths.artifact_path(name))]


def ensure_not_altered(run_paths: RunPaths) -> None:
    """Raise ExecplanError if the journal, an execution plan or an approval in the artifacts differs from its copy."""
    for name in [JOURNAL, *list_run_documents(run_paths)]:
        if os.path.lexists(run_paths.copy_path(name)) and differs_from_copy(run_paths, name):
            raise ExecplanError(
                "journal-altered",
                f"{run_paths.artifact_path(name)} is missing or was changed: it differs from its copy",
                hint="a person must check it and restore it from its copy: execplan doctor --fix",
            )


def list_run_documents(run_paths: RunPaths) -> list[str]:
    """List the execution plans and approvals in the copy."""
    return [name for name in file_access.list_names(run_paths.copy) if is_run_document(name)]


def differs_from_copy(run_paths: RunPaths, name: str) -> bool:
    """Return whether a file in the artifacts differs from its copy.

    A longer journal that continues the copy does not count as different.
    """
    copy_path, artifact_path = run_paths.copy_path(name), run_paths.artifact_path(name)
    if name == JOURNAL and run_paths.journal != copy_path:
        return False
    if not os.path.lexists(artifact_path):
        return True
    try:
        left, right = (file_access.read(path, LIMIT)[0] for path in (copy_path, artifact_path))
        if name == JOURNAL:  # a killed writer left an incomplete line
            left, right = (data[: data.rfind(b"\n") + 1] for data in (left, right))
        return left != right
    except ExecplanError:
        return True


def is_behind_copy(run_paths: RunPaths) -> bool:
    """Return whether the journal in the artifacts lacks the last entries of its copy, as after a crash of the machine."""
    try:
        paths = run_paths.copy_path(JOURNAL), run_paths.artifact_path(JOURNAL)
        copied_bytes, data = (file_access.read_if_exists(path, LIMIT) or b"" for path in paths)
    except ExecplanError:
        return False
    data = data[: data.rfind(b"\n") + 1]
    return len(data) < len(copied_bytes) and copied_bytes.startswith(data)


def restore_from_copy(run_paths: RunPaths, name: str) -> bytes:
    """Restore a file in the artifacts from its copy and return overwritten foreign contents. Raises ExecplanError."""
    from execplan.core.files import atomic_files

    path, data = run_paths.artifact_path(name), file_access.read(run_paths.copy_path(name), LIMIT)[0]
    old = file_access.read(path, LIMIT)[0] if os.path.isfile(path) else b""
    atomic_files.replace(path, data, within=run_paths.project.root)
    return b"" if data.startswith(old) else old
