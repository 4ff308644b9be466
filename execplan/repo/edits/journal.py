"""The journal of a plan: every operation on it, with the text before and after it. Not committed.

A journal is a file of lines, which only grows until `retention` shortens it:

- `op`: an operation that begins, with all of `Journaled`;
- `edit`: the same, as older versions wrote it;
- `made NUMBER`: it came to the disk;
- `undone NUMBER`: it no longer counts, without an operation that undid it;
- `with NUMBER PATH`: another plan whose text followed the move of this one;
- `left NUMBER PATH`: a path that the plan, or a file of its artifacts, was moved away from.
"""

from __future__ import annotations

import os

from execplan.clock import PLAIN, now, write_stamp
from execplan.errors import ExecplanError
from execplan.record import NamedTuple
from execplan.repo import state
from execplan.repo.author import actor
from execplan.repo.edits import order, texts
from execplan.repo.edits.entries import EDIT, FOLLOW, MOVE, REMOVE, Journaled, parse
from execplan.repo.edits.log import append, read_lines, tail
from execplan.text import disk
from execplan.text.lines import digest
from execplan.trace import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from execplan.repo.home import Home

MAX_BYTES = 4 << 20
"""Above this a journal is shortened, see `retention`; an edit takes some 500 bytes, and its share of a whole text."""
FOLDER = "journal"
_LONGEST_CHAIN = 50
"""After so many differences the texts are stored whole again, so that one damaged line costs few others."""


class Operation(NamedTuple):
    """What an entry of the journal belongs to."""

    id: str = ""
    """The same in every plan whose text it changes; empty for a new one."""
    kind: str = EDIT
    undoes: str = ""
    """For `undo` and `redo`, the id of the operation that is undone or redone."""
    details: str = "-"
    """What else it takes to undo it, packed JSON."""


class Recording:
    """Journals an operation before it is done, and that it was done; removes the entry when it was not."""

    def __init__(
        self,
        home: Home,
        path: str,
        verb: str,
        summary: str,
        old: bytes,
        new: bytes,
        operation: Operation = Operation(),  # noqa: B008
    ) -> None:
        self.home = home
        self.plan = path
        self.path = path_of(home, path)
        self.verb = verb
        self.summary = summary
        self.texts = old, new
        self.operation = operation._replace(id=operation.id or new_id())
        self._number = 0
        self._size = 0
        self._ended = False

    def __enter__(self) -> Recording:
        state.folder(self.home, FOLDER)
        old, new = self.texts
        last, chain, self._size = _last(self.path)
        self._number = last.number + 1 if last else 1
        before, after = digest(old), digest(new)
        follows = last is not None and last.after == before and chain < _LONGEST_CHAIN
        stored = texts.difference(old, new) if follows else texts.whole(old, new)
        moment = write_stamp(now(), PLAIN).strip("()").replace(" ", "T")
        name, kind, undoes, details = self.operation
        words = [moment, self.verb, kind, name, undoes or "-", texts.quote(actor(self.home))]
        words += [texts.quote(self.summary), before, after, str(chain + 1 if follows else 0), stored, details]
        if last is not None and not last.made and last.before != last.after == before:
            append(self.path, f"made {last.number}\n")  # whoever made it was killed before it could say so
        if kind not in (FOLLOW, MOVE):
            order.add(self.home, name, self.plan)
        append(self.path, f"op {self._number} {' '.join(words)}\n", durable=kind == REMOVE)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ended:
            return
        if kind is not None and not self._is_done():
            self.cancel()
            return
        try:
            append(self.path, f"made {self._number}\n")
        except (OSError, ExecplanError) as failed:  # the plan is as it should be, and it tells what was made
            tell(f"the journal {self.path} could not be brought up to date: {failed}")

    @property
    def grew(self) -> tuple[int, int]:
        """The size of the journal before and after."""
        return self._size, os.path.getsize(self.path) if os.path.exists(self.path) else 0

    def cancel(self) -> None:
        """Remove the entry: nothing of the operation was done."""
        self._ended = True
        try:
            os.truncate(self.path, self._size)
        except OSError as error:  # an entry that does not say that it was made does not count
            tell(f"{self.path} keeps an entry of what was not done: {error}")

    def _is_done(self) -> bool:
        """Whether the plan holds the new text, or is gone, however the operation ended."""
        if self.operation.kind == REMOVE:
            return not os.path.lexists(self.plan)
        try:
            return disk.read(self.plan, len(self.texts[1]))[0] == self.texts[1]
        except ExecplanError:
            return False


def new_id() -> str:
    """The id of a new operation."""
    return os.urandom(6).hex()


def edits(home: Home, path: str) -> list[Journaled]:
    """Every entry of the journal of the plan at the path, in order; raises ExecplanError."""
    return edits_in(path_of(home, path))


def knows(home: Home, path: str, data: bytes) -> bool:
    """Whether the bytes are what the plan at the path held before or after one of its last three edits."""
    seen = digest(data)
    for entry in edits(home, path)[:-4:-1]:
        try:
            if seen in (entry.before, entry.after) if entry.after else data in entry.unpack():
                return True
        except ValueError:
            continue
    return False


def mark_undone(home: Home, path: str, number: int) -> None:
    """Remember that an edit no longer counts."""
    append(path_of(home, path), f"undone {number}\n")


def path_of(home: Home, path: str) -> str:
    """The file of a plan's journal."""
    return os.path.join(home.state, FOLDER, state.key(os.path.realpath(path)))


def edits_in(path: str) -> list[Journaled]:
    """Every entry in the file of a journal, in order; raises ExecplanError."""
    return parse(read_lines(path))


def _last(path: str) -> tuple[Journaled | None, int, int]:
    """The last entry of a journal, how many differences lead to it, and the size of the file; raises ExecplanError."""
    lines, size = tail(path)
    entries = parse(lines)
    if not entries:
        lines = read_lines(path)
        entries = parse(lines)
    if not entries:
        return None, 0, size
    begin = [line for line in lines if line.startswith(("op ", "edit "))][-1].split(" ")
    if begin[1] != str(entries[-1].number):  # a damaged line comes last: no difference can refer to it
        return entries[-1]._replace(after=""), 0, size
    chain = begin[11] if begin[0] == "op" and len(begin) == 14 else "0"
    return entries[-1], int(chain) if chain.isdecimal() else _LONGEST_CHAIN, size
