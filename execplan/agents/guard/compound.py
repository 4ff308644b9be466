"""A planned command with more around it: what comes before and after only reads, and what it prints is thrown away, joined or cut.

`cd sub && make test 2>&1 | tail -50; echo $?` runs `make test` in `sub`, and nothing else that changes anything.
"""

from __future__ import annotations

from execplan.agents.guard import reading
from execplan.execution.command.reader import Reader
from execplan.execution.permission import ALLOW
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.guard.call import Call
    from execplan.agents.guard.planned import Around
    from execplan.execution.command.simple import Simple

_LONGEST = 20_000
_PIPES = ("|",)
"""`|&` and `&>` are something else in some shells."""
_JOINS = frozenset(("&&", "||", ";", "\n", *_PIPES))
_OUT = (">", ">>")
_FILTERS = frozenset("cat column cut egrep fgrep fold grep nl rev sed sort tac tail tr uniq wc".split())
"""Programs that read their input to its end; one that stops before stops the command that writes to it as well."""
_STOPS = frozenset("qmlLr")
_STOPS_LONG = ("--q", "--si", "--m", "--f", "--r")
"""Flags of `grep` with which it stops at the first match, or reads files instead."""
_SETS = frozenset(("-e", "-u", "-o pipefail", "-eo pipefail", "-eu", "-euo pipefail"))
_STATUS = frozenset(("$?", "${PIPESTATUS[0]}"))


class Bare(NamedTuple):
    """What is left of a command."""

    command: str = ""
    """The one that does more than read, behind the `cd` in front; nothing where that can't be told, or where nothing is around it."""
    why: str = ""
    """Why it can't be told, or nothing."""


class _Piece(NamedTuple):
    """One command of several."""

    text: str
    """Without redirections."""
    argv: tuple[str, ...]
    joined: str
    """What stands in front of it."""


class _Pieces(Reader):
    """Keeps each command as it is typed."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.pieces: list[_Piece] = []
        self.wrong = ""
        self.redirects = False
        self._joined = ""
        self._cuts: list[tuple[int, int]] = []
        self._from, self._number = 0, ""

    def _separator(self, char: str) -> str:
        mark = super()._separator(char)
        if mark not in _JOINS or (self._joined and mark != "\n"):
            self.wrong = self.wrong or f"`{mark}`"
        self._joined = self._joined or mark
        return mark

    def _simple(self, feeding: tuple[str, ...]) -> list[Simple]:
        start, known, self._cuts = self.at, len(self.raw), []
        found = super()._simple(feeding)
        if len(self.raw) != known + 1 or not self.raw[-1][0]:
            self.wrong = self.wrong or "no program is named"
            return found
        text, at = "", start
        for begin, end in self._cuts:
            text, at = f"{text}{self.text[at:begin]} ", end
        text = (text + self.text[at : self.at]).strip(" \t")
        self.pieces.append(_Piece(text, self.raw[-1][0], self._joined))
        self._joined = ""
        return found

    def _redirection(self) -> str:
        start = self.at
        mark = super()._redirection()
        if mark:
            self._from, self._number = start, self.text[start : self.at]
        return mark

    def _redirect(self, mark: str, writes: list[str], fed: list[str], found: list[Simple]) -> None:
        start, number, behind = self._from, self._number, self.at + len(mark)
        super()._redirect(mark, writes, fed, found)
        to = self.text[behind : self.at].strip(" \t")
        is_output = number in ("", "1", "2") and (
            (mark in _OUT and to == "/dev/null") or (mark == ">&" and to in ("1", "2"))
        )
        if not is_output and not (mark == "<" and to == "/dev/null" and number in ("", "0")):
            self.wrong = self.wrong or f"`{number}{mark}` to {to[:60]}"
        self.redirects = True
        self._cuts.append((start, self.at))

    def _reserved(self, text: str) -> list[Simple]:
        self.wrong = self.wrong or f"`{text}`"
        return super()._reserved(text)

    def _deeper(self, stop: str, feeding: tuple[str, ...] = ()) -> list[Simple]:
        self.wrong = self.wrong or "`(`"
        return super()._deeper(stop, feeding)

    def backticks(self) -> list[Simple]:
        """The commands between backticks."""
        self.wrong = self.wrong or "`` ` ``"
        return super().backticks()


def only_reads(call: Call, around: Around, reads: str) -> bool:
    """Whether each of several commands only reads, or prints how the one before has ended."""
    if len(call.command) > _LONGEST:
        return False
    reader = _Pieces(call.command.strip(" \t\n"))
    reader.commands()
    if reader.problem or reader.wrong or len(reader.pieces) < 2:
        return False
    return not any([_aside(each, call, "", around, reads) for each in reader.pieces])


def bare(call: Call, around: Around, reads: str) -> Bare:
    """The command of a call without what is around it; `reads` is what the policy says of reading."""
    if len(call.command) > _LONGEST:
        return Bare()
    reader = _Pieces(call.command.strip(" \t\n"))
    reader.commands()
    if wrong := reader.problem or reader.wrong:
        return Bare(why=wrong if len(reader.pieces) > 1 or reader.redirects else "")
    pieces = reader.pieces
    enters = pieces[:1] if len(pieces) > 1 and pieces[0].argv[0] == "cd" and pieces[1].joined == "&&" else []
    rest = pieces[len(enters) :]
    if len(rest) == 1 and not reader.redirects and not reader.text.endswith(";"):
        return Bare()
    front = f"{enters[0].text} && " if enters else ""
    whys = [_aside(each, call, front, around, reads) for each in rest]
    cores = [at for at, why in enumerate(whys) if why]
    if len(cores) != 1:
        two = " and ".join([f"`{rest[at].argv[0]}`" for at in cores[:2]])
        return Bare(why=f"{two} do more than read, and a call is of one step" if cores else "")
    return _checked(rest, cores[0], front)


def _checked(rest: Sequence[_Piece], core: int, front: str) -> Bare:
    """The command that does more than read, if what is around it leaves it as it is."""
    if rest[core].joined in _PIPES:
        return Bare(why="it reads what another command prints")
    if front and any([each.joined not in ("&&", *_PIPES) for each in rest[: core + 1]]):
        return Bare(why="where `cd` fails it would run elsewhere")
    for each in rest[core + 1 :]:
        if each.joined not in _PIPES:
            break
        if why := _stops(each.argv):
            return Bare(why=why)
    return Bare(front + rest[core].text)


def _aside(piece: _Piece, call: Call, front: str, around: Around, reads: str) -> str:
    """Why a command does more than read or print, or nothing."""
    name, words = piece.argv[0], piece.argv[1:]
    if name == "echo" and _prints_status(piece.text, words):
        return ""
    if name == "set" and " ".join(words) in _SETS:
        return ""
    if piece.joined in _PIPES and not _stops(piece.argv):
        return ""
    for text in dict.fromkeys((piece.text, front + piece.text)):  # the folder that `cd` leaves may count as well
        found = reading.judge(call._replace(command=text), around, reads)
        if found.kind != ALLOW:
            return found.why or "it does more than read"
    return ""


def _prints_status(text: str, words: Sequence[str]) -> bool:
    """Whether `echo` prints texts, and how a command has ended."""
    expands = [each for each in words if "$" in each]
    if not expands or "`" in text or "\\" in text or "'" in text:
        return False
    for each in _STATUS:
        text = text.replace(each, "0")
    found = Reader(text)
    return bool(found.commands()) and not found.problem and not found.needs and len(found.raw) == 1


def _stops(argv: Sequence[str]) -> str:
    """Why a program may stop before all is read that is piped into it, or nothing."""
    name, words = argv[0], argv[1:]
    if name not in _FILTERS:
        return (
            f"`{name}` may end before the command that prints into it, and so end that too: `tail` does not"
            if name == "head"
            else f"`{name}` behind a pipe may do more than read"
        )
    if name in ("grep", "egrep", "fgrep"):
        short = {char for word in words if word[:1] == "-" and word[:2] != "--" for char in word}
        if short & _STOPS or any([word.startswith(_STOPS_LONG) for word in words]):
            return f"`{name}` may end before the command that prints into it, and so end that too"
    return "" if reading.filtered(argv) == [] else f"`{name}` behind a pipe is to read nothing else"
