"""What the journal stores of a move, so that it can be undone."""

from __future__ import annotations

import os
from binascii import a2b_base64, b2a_base64

from execplan.record import NamedTuple
from execplan.repo.edits import texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from execplan.repo.edits.entries import Journaled
    from execplan.repo.home import Home


class Details(NamedTuple):
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


def pack(home: Home, details: Details) -> str:
    """The details as the journal stores them."""
    import json

    told = _placed(details, lambda path: os.path.relpath(path, home.anchor))._asdict()
    for name in ("evidence", "was"):
        told[name] = None if told[name] is None else b2a_base64(told[name], newline=False).decode()
    return texts.pack(json.dumps(told).encode("utf-8"))


def unpack(home: Home, entry: Journaled) -> Details:
    """The details of an entry of the journal; raises ValueError where they are damaged."""
    import json

    try:
        told = json.loads(texts.unpack(entry.details))
        for name in ("evidence", "was"):
            told[name] = None if told[name] is None else a2b_base64(told[name])
        ids, artifacts, files = tuple(told["ids"]), tuple(told["artifacts"]), told["files"]
        told |= {"ids": ids, "artifacts": artifacts, "files": [(old, new) for old, new in files]}
        return _placed(Details(**told), lambda path: os.path.normpath(os.path.join(home.anchor, path)))
    except (TypeError, KeyError) as error:
        raise ValueError(str(error)) from None


def _placed(details: Details, place: Callable[[str], str]) -> Details:
    """The details with other paths."""
    return details._replace(
        path=place(details.path),
        goal=place(details.goal),
        artifacts=(place(details.artifacts[0]), place(details.artifacts[1])),
        files=tuple([(place(old), place(new)) for old, new in details.files]),
        made=tuple([place(each) for each in details.made]),
        bystanders={place(path): seen for path, seen in details.bystanders.items()},
    )
