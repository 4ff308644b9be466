"""Records of moves: the intent, written first to finish a move after an interruption, and the journal details."""

from __future__ import annotations

import os
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Mapping

from execplan.core.clock import now
from execplan.core.edits.edit_entries import JournalEntry
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.files.open_directory import OpenDirectory
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project
from execplan.core.text import fast_json, text_codec
from execplan.core.timestamps import DEFAULT_TIMESTAMP, write_timestamp


class MoveDetails(NamedTuple):
    """The details of a journaled move.

    Paths are absolute; stored, they are relative to the repository root or the project.
    """

    ids: tuple[str, str]
    """Plan ID before and after the move."""
    path: str
    """Path of the plan before the move."""
    goal: str
    """Path of the plan after the move."""
    artifacts: tuple[str, str]
    """Artifacts directory before and after the move."""
    files: tuple[tuple[str, str], ...]
    """Old and new paths of other files that move along."""
    made: tuple[str, ...]
    """Directories created for the move."""
    evidence: bytes | None
    """Evidence written to the artifacts directory."""
    was: bytes | None
    """Evidence that existed before the move."""
    bystanders: Mapping[str, str]
    """Digests, by path, of other plans that named the new paths before the move."""
    documents: tuple[str, ...] = ()
    """Documents outside the plans in which the move rewrites paths, as paths from the repository root."""


def pack_details(project: Project, details: MoveDetails) -> str:
    """Encode the details of a move for the journal."""
    import json

    record = _map_detail_paths(details, lambda path: os.path.relpath(path, project.path_base))._asdict()
    for name in ("evidence", "was"):
        record[name] = None if record[name] is None else b2a_base64(record[name], newline=False).decode()
    return text_codec.pack(json.dumps(record).encode("utf-8"))


def unpack_details(project: Project, entry: JournalEntry) -> MoveDetails:
    """Decode the details of a move from a journal entry; raises ValueError if they are damaged."""
    try:
        record = fast_json.loads(text_codec.unpack(entry.details))
        for name in ("evidence", "was"):
            record[name] = None if record[name] is None else a2b_base64(record[name])
        ids, artifacts, files = tuple(record["ids"]), tuple(record["artifacts"]), record["files"]
        record |= {"ids": ids, "artifacts": artifacts, "files": [(old, new) for old, new in files]}
        record["documents"] = tuple(record.get("documents", ()))  # journals of older versions have none
        return _map_detail_paths(
            MoveDetails(**record), lambda path: os.path.normpath(os.path.join(project.path_base, path))
        )
    except (TypeError, KeyError) as error:
        raise ValueError(str(error)) from None


def _map_detail_paths(details: MoveDetails, convert: Callable[[str], str]) -> MoveDetails:
    """Return the details with each path converted."""
    return details._replace(
        path=convert(details.path),
        goal=convert(details.goal),
        artifacts=(convert(details.artifacts[0]), convert(details.artifacts[1])),
        files=tuple([(convert(old), convert(new)) for old, new in details.files]),
        made=tuple([convert(directory) for directory in details.made]),
        bystanders={convert(path): digest for path, digest in details.bystanders.items()},
    )


_MAX_BYTES = 64 << 20
_BYTES_FIELDS = ("old", "new", "evidence", "was")


class MoveIntent(NamedTuple):
    """The intent of a move, written before it begins.

    Paths are absolute; stored, they are relative to the repository root or the project, which may be moved meanwhile.
    """

    verb: str
    moment: str
    """Start time of the move, as a timestamp in UTC."""
    ids: tuple[str, str]
    """Plan ID before and after the move."""
    path: str
    """Path of the plan before the move."""
    goal: str
    """Path of the plan after the move."""
    artifacts: str
    """Artifacts directory after the move."""
    moves: tuple[tuple[str, str], ...]
    """Renames as pairs of old and new path; the plan comes last."""
    made: tuple[str, ...]
    """Directories that are missing when the move begins, so that it creates them."""
    old: bytes
    """Content of the plan before the move."""
    new: bytes
    """Content of the plan after the move."""
    evidence: bytes | None
    """Evidence to write to the artifacts directory."""
    was: bytes | None
    """Evidence that existed before the move."""
    operation: str = ""
    """Operation ID in the journal; empty if an older version began the move."""
    reverses: str = ""
    """ID of the operation that this move reverses."""

    @property
    def description(self) -> str:
        """Description of the move for messages and locks."""
        return f"{self.verb} of {self.ids[0]}, started {self.moment}"


def create_intent(
    command: str,
    ids: tuple[str, str],
    paths: tuple[str, str, str],
    moves: list[tuple[str, str]],
    texts: tuple[bytes, bytes, bytes | None, bytes | None],
    operation: str = "",
    reverses: str = "",
) -> MoveIntent:
    """Create the intent of a move that begins now.

    `paths` are the plan's old path, its new path and its new artifacts directory; `texts` are the plan's old and new
    content, the new evidence and the old evidence.
    """
    timestamp = write_timestamp(now(), DEFAULT_TIMESTAMP).strip("()")
    missing_dirs = [folder for _, target in moves for folder in _missing_directories(os.path.dirname(target))]
    missing_dirs += _missing_directories(paths[2]) if texts[2] is not None else []
    folders = tuple(sorted(set(missing_dirs), key=len))
    old, new, evidence, old_evidence = texts
    return MoveIntent(
        command, timestamp, ids, *paths, tuple(moves), folders, old, new, evidence, old_evidence, operation, reverses
    )


def _missing_directories(folder: str) -> list[str]:
    """Return the directories that are missing on the path to a directory, including itself."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing


def write_intent(project: Project, intent: MoveIntent) -> None:
    """Write an intent to disk, under the project lock of the caller. Raises ExecplanError."""
    import json

    record = _map_intent_paths(intent, lambda path: os.path.relpath(path, project.path_base))._asdict()
    for name in _BYTES_FIELDS:
        record[name] = None if record[name] is None else b2a_base64(record[name], newline=False).decode()
    data = json.dumps(record).encode("utf-8")
    if not atomic_files.create(project.move_intent_path, data, make_directories=True):
        raise ExecplanError(
            "half-moved",
            f"an earlier move was interrupted: {project.move_intent_path}",
            hint="see what to do: execplan doctor",
        )


def delete_intent(project: Project) -> None:
    """Delete the intent of a move that is complete, undone, or about to be tried again. Raises ExecplanError."""
    try:
        with OpenDirectory(project.state) as folder:
            folder.unlink(os.path.basename(project.move_intent_path))
    except OSError as error:
        raise file_access.file_error(error, project.move_intent_path, "remove") from None


def read_intent(project: Project) -> MoveIntent | None:
    """Return the move that is in progress or was interrupted, or None; raises ExecplanError if it can't be read."""
    if not os.path.lexists(project.move_intent_path):
        return None
    try:
        record = fast_json.loads(file_access.read(project.move_intent_path, _MAX_BYTES)[0])
        for name in _BYTES_FIELDS:
            record[name] = None if record[name] is None else a2b_base64(record[name])
        record["moves"] = tuple([(str(old), str(new)) for old, new in record["moves"]])
        record["ids"], record["made"] = tuple(record["ids"]), tuple(record["made"])
        return _map_intent_paths(
            MoveIntent(**record), lambda path: os.path.normpath(os.path.join(project.path_base, path))
        )
    except ExecplanError as error:
        if not os.path.lexists(project.move_intent_path):
            return None
        raise error from None
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ExecplanError(
            "intent-damaged",
            f"{project.move_intent_path}, the record of a move, can't be read: {error}",
            hint="check whether a plan and its artifacts are in different places, then remove that file",
        ) from None


def _map_intent_paths(intent: MoveIntent, convert: Callable[[str], str]) -> MoveIntent:
    """Return the intent with each path converted."""
    return intent._replace(
        path=convert(intent.path),
        goal=convert(intent.goal),
        artifacts=convert(intent.artifacts),
        moves=tuple([(convert(old), convert(new)) for old, new in intent.moves]),
        made=tuple([convert(directory) for directory in intent.made]),
    )
