"""What a move is about to do, written down before it begins, so that one that was cut short can be finished."""

from __future__ import annotations

import os
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64

from execplan.clock import PLAIN, now, write_stamp
from execplan.errors import INPUT, ExecplanError
from execplan.record import NamedTuple
from execplan.text import disk, files
from execplan.text.folder import Folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.repo.home import Home

_LIMIT = 64 << 20
_BYTES = ("old", "new", "evidence", "was")


class Intent(NamedTuple):
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
    def line(self) -> str:
        """The move in words."""
        return f"{self.verb} of {self.ids[0]}, begun {self.moment}"


def begun(
    verb: str,
    ids: tuple[str, str],
    places: tuple[str, str, str],
    moves: list[tuple[str, str]],
    texts: tuple[bytes, bytes, bytes | None, bytes | None],
    operation: str = "",
    reverses: str = "",
) -> Intent:
    """A move that begins now.

    `places` are where its plan was, where it shall be, and where its artifacts shall be; `texts` are the plan's old and
    new ones and the new and the old evidence.
    """
    moment = write_stamp(now(), PLAIN).strip("()")
    made = [folder for _, target in moves for folder in _missing(os.path.dirname(target))]
    made += _missing(places[2]) if texts[2] is not None else []
    folders = tuple(sorted(set(made), key=len))
    old, new, evidence, was = texts
    return Intent(verb, moment, ids, *places, tuple(moves), folders, old, new, evidence, was, operation, reverses)


def _missing(folder: str) -> list[str]:
    """The folders on the way to one, and itself, that are not there."""
    found = []
    while not os.path.isdir(folder):
        found.append(folder)
        folder = os.path.dirname(folder)
    return found


def write(home: Home, intent: Intent) -> None:
    """Have an intent on disk; the caller holds the lock of the home. Raises ExecplanError."""
    import json

    told = _placed(intent, lambda path: os.path.relpath(path, home.anchor))._asdict()
    for name in _BYTES:
        told[name] = None if told[name] is None else b2a_base64(told[name], newline=False).decode()
    data = json.dumps(told).encode("utf-8")
    if not files.create(home.move, data, folders=True):
        raise ExecplanError(
            "half-moved",
            f"a move was cut short before this one: {home.move}",
            exit=INPUT,
            hint="see what is to be done: execplan doctor",
        )


def drop(home: Home) -> None:
    """Forget an intent: it was carried out, or nothing of it was; a second try is made. Raises ExecplanError."""
    try:
        with Folder(home.state) as folder:
            folder.unlink(os.path.basename(home.move))
    except OSError as error:
        raise disk.trouble(error, home.move, "remove") from None


def pending(home: Home) -> Intent | None:
    """The move that is under way, or was cut short; raises ExecplanError when it can't be read."""
    if not os.path.lexists(home.move):
        return None
    import json

    try:
        told = json.loads(disk.read(home.move, _LIMIT)[0])
        for name in _BYTES:
            told[name] = None if told[name] is None else a2b_base64(told[name])
        told["moves"] = tuple([(str(old), str(new)) for old, new in told["moves"]])
        told["ids"], told["made"] = tuple(told["ids"]), tuple(told["made"])
        return _placed(Intent(**told), lambda path: os.path.normpath(os.path.join(home.anchor, path)))
    except ExecplanError as error:
        if not os.path.lexists(home.move):
            return None
        raise error from None
    except (ValueError, TypeError, KeyError, Base64Error, RecursionError) as error:
        raise ExecplanError(
            "intent-damaged",
            f"{home.move}, which says what a move was about to do, can't be read: {error}",
            exit=INPUT,
            hint="look whether a plan and its artifacts lie apart, then remove that file",
        ) from None


def _placed(intent: Intent, place: Callable[[str], str]) -> Intent:
    """An intent with other paths."""
    return intent._replace(
        path=place(intent.path),
        goal=place(intent.goal),
        artifacts=place(intent.artifacts),
        moves=tuple([(place(old), place(new)) for old, new in intent.moves]),
        made=tuple([place(each) for each in intent.made]),
    )
