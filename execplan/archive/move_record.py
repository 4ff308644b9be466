"""What a move is about to do, written down before it begins, so that one that was cut short can be finished."""

from __future__ import annotations

import os
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64

from execplan.clock import DEFAULT_TIMESTAMP, now, write_timestamp
from execplan.edits import text_codec
from execplan.errors import INPUT, ExecplanError
from execplan.files import atomic_files, file_access
from execplan.files.open_directory import OpenDirectory
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from execplan.edits.edit_entries import JournalEntry
    from execplan.project.project import Project


class MoveDetails(NamedTuple):
    """A move; every path is absolute, and stored from the root of the repository or the project."""

    ids: tuple[str, str]
    """The id before and the id after."""
    path: str
    """Where the plan was."""
    goal: str
    """Where it went."""
    artifacts: tuple[str, str]
    """Where its artifacts were, and where they went."""
    files: tuple[tuple[str, str], ...]
    """Other files that went along: from and to."""
    made: tuple[str, ...]
    """The directories that were made for it."""
    evidence: bytes | None
    """What was put beside the artifacts."""
    was: bytes | None
    """The evidence that was there before."""
    bystanders: Mapping[str, str]
    """Other plans that named the new places before the move, and the digest of each."""


def pack_details(project: Project, details: MoveDetails) -> str:
    """The details as the journal stores them."""
    import json

    record = _map_detail_paths(details, lambda path: os.path.relpath(path, project.path_base))._asdict()
    for name in ("evidence", "was"):
        record[name] = None if record[name] is None else b2a_base64(record[name], newline=False).decode()
    return text_codec.pack(json.dumps(record).encode("utf-8"))


def unpack_details(project: Project, entry: JournalEntry) -> MoveDetails:
    """The details of an entry of the journal; raises ValueError where they are damaged."""
    import json

    try:
        record = json.loads(text_codec.unpack(entry.details))
        for name in ("evidence", "was"):
            record[name] = None if record[name] is None else a2b_base64(record[name])
        ids, artifacts, files = tuple(record["ids"]), tuple(record["artifacts"]), record["files"]
        record |= {"ids": ids, "artifacts": artifacts, "files": [(old, new) for old, new in files]}
        return _map_detail_paths(
            MoveDetails(**record), lambda path: os.path.normpath(os.path.join(project.path_base, path))
        )
    except (TypeError, KeyError) as error:
        raise ValueError(str(error)) from None


def _map_detail_paths(details: MoveDetails, convert: Callable[[str], str]) -> MoveDetails:
    """The details with other paths."""
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
    """A move; every path is absolute, and kept from the root of the repository or the home, which may be moved meanwhile."""

    verb: str
    moment: str
    """When it began, as a stamp in UTC."""
    ids: tuple[str, str]
    """The id before and the id after."""
    path: str
    """Where the plan was."""
    goal: str
    """Where it shall be."""
    artifacts: str
    """Where its artifacts shall be."""
    moves: tuple[tuple[str, str], ...]
    """From and to; the plan comes last."""
    made: tuple[str, ...]
    """The folders that had to be made for it, or may have."""
    old: bytes
    """What the plan held."""
    new: bytes
    """What it holds from then on."""
    evidence: bytes | None
    """What is put beside the artifacts."""
    was: bytes | None
    """The evidence that lay there before."""
    operation: str = ""
    """Its id in the journal; empty when an older version began it."""
    reverses: str = ""
    """The id of the operation that it reverses."""

    @property
    def description(self) -> str:
        """The move in words."""
        return f"{self.verb} of {self.ids[0]}, begun {self.moment}"


def create_intent(
    command: str,
    ids: tuple[str, str],
    paths: tuple[str, str, str],
    moves: list[tuple[str, str]],
    texts: tuple[bytes, bytes, bytes | None, bytes | None],
    operation: str = "",
    reverses: str = "",
) -> MoveIntent:
    """A move that begins now.

    `paths` are where its plan was, where it shall be, and where its artifacts shall be; `texts` are the plan's old and
    new ones and the new and the old evidence.
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
    """The folders on the way to one, and itself, that are not there."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing


def write_intent(project: Project, intent: MoveIntent) -> None:
    """Have an intent on disk; the caller holds the lock of the home. Raises ExecplanError."""
    import json

    record = _map_intent_paths(intent, lambda path: os.path.relpath(path, project.path_base))._asdict()
    for name in _BYTES_FIELDS:
        record[name] = None if record[name] is None else b2a_base64(record[name], newline=False).decode()
    data = json.dumps(record).encode("utf-8")
    if not atomic_files.create(project.move_intent_path, data, make_directories=True):
        raise ExecplanError(
            "half-moved",
            f"a move was cut short before this one: {project.move_intent_path}",
            exit=INPUT,
            hint="see what is to be done: execplan doctor",
        )


def delete_intent(project: Project) -> None:
    """Forget an intent: it was carried out, or nothing of it was; a second try is made. Raises ExecplanError."""
    try:
        with OpenDirectory(project.state) as folder:
            folder.unlink(os.path.basename(project.move_intent_path))
    except OSError as error:
        raise file_access.file_error(error, project.move_intent_path, "remove") from None


def read_intent(project: Project) -> MoveIntent | None:
    """The move that is under way, or was cut short; raises ExecplanError when it can't be read."""
    if not os.path.lexists(project.move_intent_path):
        return None
    import json

    try:
        record = json.loads(file_access.read(project.move_intent_path, _MAX_BYTES)[0])
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
    except (ValueError, TypeError, KeyError, Base64Error, RecursionError) as error:
        raise ExecplanError(
            "intent-damaged",
            f"{project.move_intent_path}, which says what a move was about to do, can't be read: {error}",
            exit=INPUT,
            hint="look whether a plan and its artifacts lie apart, then remove that file",
        ) from None


def _map_intent_paths(intent: MoveIntent, convert: Callable[[str], str]) -> MoveIntent:
    """An intent with other paths."""
    return intent._replace(
        path=convert(intent.path),
        goal=convert(intent.goal),
        artifacts=convert(intent.artifacts),
        moves=tuple([(convert(old), convert(new)) for old, new in intent.moves]),
        made=tuple([convert(directory) for directory in intent.made]),
    )
