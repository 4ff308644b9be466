"""What the journal stores of a move, so that it can be undone."""

from __future__ import annotations

import os
from binascii import a2b_base64, b2a_base64

from execplan.record import NamedTuple
from execplan.repo.edits import texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from execplan.repo.edits.entries import JournalEntry
    from execplan.repo.home import Project


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
    return texts.pack(json.dumps(record).encode("utf-8"))


def unpack_details(project: Project, entry: JournalEntry) -> MoveDetails:
    """The details of an entry of the journal; raises ValueError where they are damaged."""
    import json

    try:
        record = json.loads(texts.unpack(entry.details))
        for name in ("evidence", "was"):
            record[name] = None if record[name] is None else a2b_base64(record[name])
        ids, artifacts, files = tuple(record["ids"]), tuple(record["artifacts"]), record["files"]
        record |= {"ids": ids, "artifacts": artifacts, "files": [(old, new) for old, new in files]}
        return _map_detail_paths(MoveDetails(**record), lambda path: os.path.normpath(os.path.join(project.path_base, path)))
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
