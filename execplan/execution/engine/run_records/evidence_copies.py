"""What a run keeps in the state directory, safe from steps that remove or alter files of the repository.

That is its journal, links to its transcripts, and one file with all else, by name: execution plans, approvals, the text
of the plan, and the tree before each step. Contents are appended to that file, and synced before an entry of the journal
that depends on them. An earlier version kept each in a file of its own, which is still read.
"""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import content_file, file_access
from execplan.execution.engine.journal.journal import Journal
from execplan.execution.engine.run_records.run_directories import JOURNAL, LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.core.files.sync_group import UnsyncedFiles
    from execplan.execution.engine.run_records.run_directories import RunPaths

TRANSCRIPTS: Final = "transcripts"
PLAN: Final = "plan.md"
"""Name of the plan's text before the last step in which a program ran; only kept, not among the artifacts."""
_DOCUMENT_PREFIXES: Final = ("execution-plan", "approval")
_SYNC_THREADS: Final = 8


def is_run_document(name: str) -> bool:
    """Return whether a file of a run is one of its execution plans or approvals."""
    return name.endswith(".json") and name.startswith(_DOCUMENT_PREFIXES)


def read(run_paths: RunPaths, name: str) -> bytes | None:
    """Return the content that is kept under a name; None if there is none. Raises ExecplanError."""
    content = content_file.read(run_paths.kept_path, name)
    return content if content is not None else file_access.read_if_exists(run_paths.old_kept_path(name), LIMIT)


def has(run_paths: RunPaths, name: str) -> bool:
    """Return whether a content is kept under a name. Raises ExecplanError."""
    return name in content_file.list_names(run_paths.kept_path) or os.path.lexists(run_paths.old_kept_path(name))


def read_document(run_paths: RunPaths, name: str) -> bytes:
    """Return the bytes of an execution plan of a run: as kept, or else from the artifacts. Raises ExecplanError.

    A step may remove or alter the file in the artifacts.
    """
    content = read(run_paths, name)
    return content if content is not None else file_access.read(run_paths.artifact_path(name), LIMIT)[0]


def list_run_documents(run_paths: RunPaths) -> list[str]:
    """List the execution plans and approvals that are kept. Raises ExecplanError."""
    names = {*content_file.list_names(run_paths.kept_path), *file_access.list_names(run_paths.copy)}
    return sorted([name for name in names if is_run_document(name)])


def keep_documents(run_paths: RunPaths) -> None:
    """Keep the journal, the execution plans and the approvals that are only among the artifacts. Raises ExecplanError."""
    from execplan.core.files import atomic_files
    from execplan.core.files.sync_group import SyncGroup

    with SyncGroup(is_replaceable=True):
        atomic_files.make_directory(run_paths.state)
    journal = run_paths.journal
    if journal != run_paths.state_journal and os.path.lexists(journal):
        data = file_access.read(journal, LIMIT)[0]
        atomic_files.replace(run_paths.state_journal, data[: data.rfind(b"\n") + 1])
    kept_names = list_run_documents(run_paths)
    names = [name for name in file_access.list_names(run_paths.folder) if is_run_document(name)]
    contents = {
        name: file_access.read(run_paths.artifact_path(name), LIMIT)[0] for name in names if name not in kept_names
    }
    if contents:
        content_file.keep(run_paths.kept_path, contents)


def open_journal(run_paths: RunPaths, unsynced: UnsyncedFiles | None = None) -> Journal:
    """Open the journal of a run for writing, in the state directory and in the artifacts. Raises ExecplanError.

    `unsynced`: the files on which the next synced entry depends.
    """
    keep_documents(run_paths)
    return Journal(run_paths.state_journal, run_paths.artifact_path(JOURNAL), run_paths.project.root, unsynced)


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
    altered_documents = [name for name in list_run_documents(run_paths) if differs_from_kept(run_paths, name)]
    transcripts = [os.path.join(TRANSCRIPTS, name) for name in file_access.list_names(run_paths.copy_path(TRANSCRIPTS))]
    return altered_documents + [name for name in transcripts if not os.path.lexists(run_paths.artifact_path(name))]


def ensure_not_altered(run_paths: RunPaths) -> None:
    """Raise ExecplanError if the journal, an execution plan or an approval in the artifacts differs from its copy."""
    names = [JOURNAL] if os.path.lexists(run_paths.state_journal) else []
    for name in [*names, *list_run_documents(run_paths)]:
        if differs_from_kept(run_paths, name):
            raise ExecplanError(
                "journal-altered",
                f"{run_paths.artifact_path(name)} is missing or was changed: it differs from its copy",
                hint="a person must check it and restore it from its copy: execplan doctor --fix",
            )


def differs_from_kept(run_paths: RunPaths, name: str) -> bool:
    """Return whether a file in the artifacts differs from what is kept.

    A longer journal that continues the kept one does not count as different.
    """
    artifact_path = run_paths.artifact_path(name)
    if name == JOURNAL and run_paths.journal != run_paths.state_journal:
        return False
    if not os.path.lexists(artifact_path):
        return True
    try:
        kept_bytes, data = _read_kept(run_paths, name), file_access.read(artifact_path, LIMIT)[0]
    except ExecplanError:
        return True
    if name == JOURNAL:  # a killed writer left an incomplete line
        data = data[: data.rfind(b"\n") + 1]
    return kept_bytes != data


def _read_kept(run_paths: RunPaths, name: str) -> bytes | None:
    """Return what is kept of a file, and the complete lines of the journal. Raises ExecplanError."""
    if name != JOURNAL:
        return read(run_paths, name)
    data = file_access.read(run_paths.state_journal, LIMIT)[0]
    return data[: data.rfind(b"\n") + 1]


def is_behind_journal(run_paths: RunPaths) -> bool:
    """Return whether the journal in the artifacts lacks the last entries, as after a crash of the machine."""
    try:
        paths = run_paths.state_journal, run_paths.artifact_path(JOURNAL)
        kept_bytes, data = (file_access.read_if_exists(path, LIMIT) or b"" for path in paths)
    except ExecplanError:
        return False
    data = data[: data.rfind(b"\n") + 1]
    return len(data) < len(kept_bytes) and kept_bytes.startswith(data)


def restore(run_paths: RunPaths, name: str) -> bytes:
    """Restore a file in the artifacts as it is kept, and return overwritten foreign contents. Raises ExecplanError."""
    from execplan.core.files import atomic_files

    path, data = run_paths.artifact_path(name), _read_kept(run_paths, name) or b""
    old = file_access.read(path, LIMIT)[0] if os.path.isfile(path) else b""
    atomic_files.replace(path, data, within=run_paths.project.root)
    return b"" if data.startswith(old) else old
