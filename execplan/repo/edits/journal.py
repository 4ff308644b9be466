"""Every edit of a plan, with the text before and after it, so that it can be taken back; bounded, never committed."""

from __future__ import annotations

import os
import zlib
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64

from execplan.clock import PLAIN, now, write_stamp
from execplan.errors import ExecplanError
from execplan.record import NamedTuple
from execplan.repo import state
from execplan.text import disk
from execplan.trace import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from execplan.repo.home import Home

MAX_EDITS = 100
MAX_BYTES = 4 << 20
"""What is kept of a plan: so many edits, in so many bytes; an edit of a 20 KB plan takes some 9 KB, of a 135 KB plan 60 KB."""

UNDO = "undo"
_KEPT = (UNDO, "archive", "restore", "rename")
"""Verbs whose edits are not taken back: they take back others, or go with a move."""

_MAX_PLANS = 500
_FOLDER = "journal"


class Journaled(NamedTuple):
    """An edit that was begun."""

    number: int
    moment: str
    """When, as a stamp in UTC."""
    verb: str
    words: str
    """What was done, packed."""
    texts: str
    """Before and after, packed."""
    made: bool
    """Whether it is known to have come to the disk."""
    undone: bool

    @property
    def summary(self) -> str:
        """What was done, as a commit message says it."""
        return _unpacked(self.words).decode("utf-8", "replace") or self.verb

    def unpack(self) -> tuple[bytes, bytes]:
        """The bytes before and after it; raises ValueError when they were damaged."""
        try:
            spans, old, middle = zlib.decompress(a2b_base64(self.texts)).split(b"\0", 2)
        except (Base64Error, zlib.error) as error:
            raise ValueError(str(error)) from None
        above, below = [int(each) for each in spans.split()]
        return old, old[:above] + middle + old[len(old) - below :]


class Recording:
    """Writes an edit down before it is made, and that it was made; takes it out when it was not."""

    def __init__(self, home: Home, path: str, verb: str, summary: str, old: bytes, new: bytes) -> None:
        self.home = home
        self.path = path_of(home, path)
        self.plan = path
        self.new = new
        self.verb = verb
        self.summary = summary
        self.texts = b2a_base64(zlib.compress(_packed(old, new), 6), newline=False).decode()
        self._number = 0
        self._size = 0

    def __enter__(self) -> None:
        edits = edits_in(self.path)
        self._number = edits[-1].number + 1 if edits else 1
        self._size = os.path.getsize(self.path) if os.path.exists(self.path) else 0
        if not edits:
            self._make_room()
        moment = write_stamp(now(), PLAIN).strip("()").replace(" ", "T")
        summary = b2a_base64(self.summary.encode("utf-8", "backslashreplace"), newline=False).decode()
        _append(self.path, f"edit {self._number} {moment} {self.verb} {summary} {self.texts}\n")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is not None and not self._is_there():
                os.truncate(self.path, self._size)
                return
            undone = _last(edits_in(self.path)) if self.verb == UNDO else None
            _append(self.path, f"made {self._number}\n" + (f"undone {undone.number}\n" if undone else ""))
            _shorten(self.path)
        except (OSError, ExecplanError) as failed:  # the plan is as it should be, and it tells what was made
            tell(f"the journal {self.path} could not be brought up to date: {failed}")

    def _is_there(self) -> bool:
        """Whether the plan holds the new text, however its replacement ended."""
        try:
            return disk.read(self.plan, len(self.new))[0] == self.new
        except ExecplanError:
            return False

    def _make_room(self) -> None:
        """Let go of the journals that were left alone for the longest."""
        folder = os.path.dirname(self.path)
        if state.folder(self.home, _FOLDER):
            return
        try:
            journals = sorted([(each.stat().st_mtime, each.path) for each in os.scandir(folder)])
            for _, path in journals[: max(len(journals) - _MAX_PLANS + 1, 0)]:
                os.unlink(path)
        except OSError as error:  # others may make room at the same time
            tell(f"not all old journals in {folder} could be removed: {error}")


def _packed(old: bytes, new: bytes) -> bytes:
    """The text before an edit, and of the text after it only what is not the same above and below; no text holds NUL."""
    above = _alike(old, new)
    below = _alike(old[above:][::-1], new[above:][::-1])
    return b"%d %d\0" % (above, below) + old + b"\0" + new[above : len(new) - below]


def _alike(one: bytes, two: bytes) -> int:
    """How many bytes at the beginning are the same."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == two[:middle] else (low, middle - 1)
    return low


def last(home: Home, path: str) -> Journaled | None:
    """The last edit of the plan at the path that was not taken back."""
    return _last(edits_in(path_of(home, path)))


def edits(home: Home, path: str) -> list[Journaled]:
    """Every edit of the plan at the path that is kept, in order."""
    return edits_in(path_of(home, path))


def knows(home: Home, path: str, data: bytes) -> bool:
    """Whether the bytes are what the plan at the path held before or after one of its last edits."""
    for edit in edits(home, path)[:-4:-1]:
        try:
            if data in edit.unpack():
                return True
        except ValueError:
            continue
    return False


def _last(edits: list[Journaled]) -> Journaled | None:
    return next((each for each in reversed(edits) if can_be_undone(each)), None)


def can_be_undone(edit: Journaled) -> bool:
    """Whether `undo` takes it back, or would have: it was not taken back, and goes with no move."""
    return not edit.undone and edit.verb not in _KEPT


def mark_undone(home: Home, path: str, number: int) -> None:
    """Remember that an edit was taken back."""
    _append(path_of(home, path), f"undone {number}\n")


def move(home: Home, old: str, new: str, left: Sequence[str]) -> None:
    """Let the edits of a plan follow it to another path, and remember the paths that it left."""
    path = path_of(home, new)
    try:
        try:
            if not os.path.islink(new):  # else they are where they were: with the file that the link leads to
                os.replace(path_of(home, old), path)
        except FileNotFoundError:
            state.folder(home, _FOLDER)
        edits = edits_in(path)
        number = edits[-1].number if edits else 1
        known = left_by(home, new)
        for each in left:
            if each not in known:
                _append(path, f"left {number} {b2a_base64(os.fsencode(each), newline=False).decode()}\n")
    except (OSError, ExecplanError) as failed:  # the plan is where it should be
        tell(f"the journal {path} could not follow: {failed}")


def left_by(home: Home, path: str) -> list[str]:
    """The paths, of itself and of its artifacts, that the plan at the path was moved away from."""
    lines = [line.split(" ") for line in _lines(path_of(home, path)) if line.startswith("left ")]
    return [os.fsdecode(_unpacked(words[2])) for words in lines if len(words) == 3]


def path_of(home: Home, path: str) -> str:
    """The file of a plan's journal."""
    return os.path.join(home.state, _FOLDER, state.key(os.path.realpath(path)))


def _lines(path: str) -> list[str]:
    """The lines of a journal; one that a crash cut off is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().split("\n")[:-1]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise disk.trouble(error, path, "read") from None


def _unpacked(words: str) -> bytes:
    """The bytes of base64, none when it was damaged."""
    try:
        return a2b_base64(words)
    except Base64Error:
        return b""


def edits_in(path: str) -> list[Journaled]:
    """Every edit in the file of a journal, in order; raises ExecplanError."""
    edits: dict[int, Journaled] = {}
    for line in _lines(path):
        number, (kind, *rest) = _number(line), line.split(" ")
        if kind == "edit" and len(rest) == 5 and number:
            edits[number] = Journaled(number, rest[1], rest[2], rest[3], rest[4], made=False, undone=False)
        elif kind == "made" and number in edits:
            edits[number] = edits[number]._replace(made=True)
        elif kind == "undone" and number in edits:
            edits[number] = edits[number]._replace(undone=True)
    return list(edits.values())


def _number(line: str) -> int:
    """The number of the edit that a line is about; 0 for a line that is damaged."""
    words = line.split(" ", 2)
    return int(words[1]) if len(words) > 1 and words[1].isdecimal() else 0


def _append(path: str, line: str) -> None:
    """Add a line, behind what a crash may have cut off."""
    try:
        with open(path, "a+b") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                line = line if file.read() == b"\n" else "\n" + line
            file.write(line.encode())
    except OSError as error:
        raise disk.trouble(error, path, "write") from None
    tell(f"journaled {line.split(' ', 2)[0]} in {path}")


def _shorten(path: str) -> None:
    """Drop the oldest edits of a journal that has grown too long, down to half, and those that were taken back."""
    edits = edits_in(path)
    if len(edits) <= MAX_EDITS and os.path.getsize(path) <= MAX_BYTES:
        return
    kept, size = {edits[-1].number}, len(edits[-1].texts)
    for each in [each for each in reversed(edits[:-1]) if can_be_undone(each)][: MAX_EDITS // 2 - 1]:
        size += len(each.texts)
        if size > MAX_BYTES // 2:
            break
        kept.add(each.number)
    lines = [line for line in _lines(path) if _number(line) in kept or line.startswith("left ")]
    temporary = f"{path}.new"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write("".join([f"{line}\n" for line in lines]))
    os.replace(temporary, path)
