"""The copy of a run's evidence in the state: a step that removes or alters the files of the repository does not reach it."""

from __future__ import annotations

import os

from execplan.engine.journal.journal import Journal
from execplan.engine.run_records.run_directories import JOURNAL, LIMIT
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.files import atomic_files, file_access

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.engine.run_records.run_directories import RunPaths

TRANSCRIPTS: Final = "transcripts"
PLAN: Final = "plan.md"
"""The text of the plan, as it was before the last step in which a program ran; only in the copy."""
_DOCUMENT_PREFIXES: Final = ("execution-plan", "approval")


def is_run_document(name: str) -> bool:
    """Whether a file of a run's folder says what is run, or who has let it run."""
    return name.endswith(".json") and name.startswith(_DOCUMENT_PREFIXES)


def copy_evidence(run_paths: RunPaths) -> None:
    """Copy what is among the artifacts of the run and not in the state; raises ExecplanError."""
    atomic_files.make_directory(run_paths.copy)
    journal = run_paths.journal
    if journal != run_paths.copy_path(JOURNAL) and os.path.lexists(journal):
        data = file_access.read(journal, LIMIT)[0]
        atomic_files.write(run_paths.copy_path(JOURNAL), data[: data.rfind(b"\n") + 1])
    for name in _list_directory(run_paths.folder):
        if is_run_document(name) and not os.path.lexists(run_paths.copy_path(name)):
            atomic_files.create(run_paths.copy_path(name), file_access.read(run_paths.artifact_path(name), LIMIT)[0])


def open_journal(run_paths: RunPaths) -> Journal:
    """The journal of a run, open for writing in the state, and among the artifacts; raises ExecplanError."""
    copy_evidence(run_paths)
    return Journal(run_paths.copy_path(JOURNAL), run_paths.artifact_path(JOURNAL), run_paths.root or None)


def link_transcript(run_paths: RunPaths, path: str) -> None:
    """Let a transcript that is being written have a second name in the state, where the file system can."""
    try:
        os.makedirs(run_paths.copy_path(TRANSCRIPTS), exist_ok=True)
        copy_path = os.path.join(run_paths.copy_path(TRANSCRIPTS), os.path.basename(path))
        if os.path.lexists(copy_path):
            os.unlink(copy_path)
        os.link(path, copy_path)
    except OSError:
        return  # of another file system: then it is only where everybody sees it


def list_altered(run_paths: RunPaths) -> list[str]:
    """What of the copy, the journal aside, is gone or other among the artifacts; names from the run's folder."""
    altered_documents = [name for name in list_run_documents(run_paths) if differs_from_copy(run_paths, name)]
    transcripts = [os.path.join(TRANSCRIPTS, name) for name in _list_directory(run_paths.copy_path(TRANSCRIPTS))]
    return altered_documents + [name for name in transcripts if not os.path.lexists(run_paths.artifact_path(name))]


def ensure_not_altered(run_paths: RunPaths) -> None:
    """Refuse where the artifacts have not the journal and the execution plans that the state has; raises ExecplanError."""
    for name in [JOURNAL, *list_run_documents(run_paths)]:
        if os.path.lexists(run_paths.copy_path(name)) and differs_from_copy(run_paths, name):
            raise ExecplanError(
                "journal-altered",
                f"{run_paths.artifact_path(name)} is missing or was changed: its copy is different",
                exit=ENVIRONMENT,
                hint="a person looks at it, and restores it from its copy: execplan doctor --fix",
            )


def list_run_documents(run_paths: RunPaths) -> list[str]:
    """What the copy has of what is run, and of who has let it run."""
    return [name for name in _list_directory(run_paths.copy) if is_run_document(name)]


def differs_from_copy(run_paths: RunPaths, name: str) -> bool:
    """Whether a file among the artifacts is not as its copy; a longer journal that goes on behind it is the better one."""
    copy_path, artifact_path = run_paths.copy_path(name), run_paths.artifact_path(name)
    if name == JOURNAL and run_paths.journal != copy_path:
        return False
    if not os.path.lexists(artifact_path):
        return True
    try:
        left, right = (file_access.read(path, LIMIT)[0] for path in (copy_path, artifact_path))
        if name == JOURNAL:  # less than a line was left by a killed writer
            left, right = (data[: data.rfind(b"\n") + 1] for data in (left, right))
        return left != right
    except ExecplanError:
        return True


def restore_from_copy(run_paths: RunPaths, name: str) -> bytes:
    """Let a file among the artifacts be as its copy; what was displaced, if anything. Raises ExecplanError."""
    path, data = run_paths.artifact_path(name), file_access.read(run_paths.copy_path(name), LIMIT)[0]
    old = file_access.read(path, LIMIT)[0] if os.path.isfile(path) else b""
    atomic_files.write(path, data, within=run_paths.root or None)
    return b"" if data.startswith(old) else old


def _list_directory(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
