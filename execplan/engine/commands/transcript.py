"""The transcript of a command: markdown in which all that was printed is indented code, without secrets and not too long."""

from __future__ import annotations

import os
from collections import deque
from time import monotonic

from execplan.clock import now
from execplan.engine.commands.flow import WINDOW, Flow
from execplan.text import files
from execplan.text.disk import trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from execplan.text.redaction import Redaction

_MARKS = ("|", "!")
"""What stands before a line of standard output and of standard error."""
_WIDEST = 2000
"""Characters of a line; a longer one goes on in the next, behind a `…`."""
_REDRAWN = 4
"""How often a line may be written over (`\\r`) before only its first and its last form are kept."""
_PART = 1 << 16
"""Bytes that are made lines of at once."""
_PAUSE = 0.1
"""Seconds between two lines that are told where more come than anybody reads."""
_SPACES = "\t\u00a0\u202f\u3000"


class _Escapes(dict[int, str]):
    """By its number, how each character is shown."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if not char.isprintable() and char not in _SPACES:
            char = f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
        self[code] = char
        return char


_ESCAPES = _Escapes()


class Transcript:
    """What a step ran and what that printed."""

    def __init__(
        self,
        path: str,
        title: str,
        redaction: Redaction,
        limit: int,
        line: Callable[[str, bool], None] | None = None,
    ) -> None:
        """Begin the file; of the output the first and the last half of so many bytes is kept. Raises ExecplanError.

        `line` is told each line, and whether it is an error's; where they come too fast, some of them.
        """
        self.path = path
        self.limit = limit
        self._redaction = redaction
        self._line = line
        self._room = limit // 2
        self._flows = [Flow(redaction), Flow(redaction)]
        self._later: deque[tuple[int, bytes]] = deque()
        self._kept = 0
        self._dropped = 0
        self._told = 0.0
        files.make_folder(os.path.dirname(path))
        try:
            self._file = open(path, "wb", opener=_opener)  # noqa: SIM115 - it is closed by close()
        except OSError as error:
            raise trouble(error, path, "write") from None
        name = _plain(escaped(redaction.text(" ".join(title.split()))))
        try:
            self._write([f"# {name}", "", f"{now():%Y-%m-%d %H:%M:%SZ}", ""])
        except BaseException:
            self._abandon()
            raise

    def command(self, words: str) -> None:
        """Say what is run."""
        self._own("$", words)

    def out(self, data: bytes) -> None:
        """Take what was printed to standard output; raises ExecplanError."""
        self._take(0, data)

    def err(self, data: bytes) -> None:
        """Take what was printed to standard error; raises ExecplanError."""
        self._take(1, data)

    def note(self, words: str) -> None:
        """Say something of one's own behind what was printed so far."""
        self._settle()
        self._own("=", words)

    def close(self) -> None:
        """Write what is left and have it all on disk; raises ExecplanError."""
        if self._file.closed:
            return
        try:
            self._settle()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise trouble(error, self.path, "write") from None
        finally:
            self._abandon()

    def _abandon(self) -> None:
        """Close the file though what is left can't be written."""
        try:
            self._file.close()
        except OSError:
            pass

    def _own(self, mark: str, words: str) -> None:
        text = self._redaction.text(words)
        self._write([f"    {mark} {each}" for line in text.split("\n") for each in _shown(line)])

    def _take(self, kind: int, data: bytes) -> None:
        if self._room:
            first, data = data[: self._room], data[self._room :]
            self._room -= len(first)
            self._feed(kind, first, tell=True)
        if not data:
            return
        self._later.append((kind, data))
        self._kept += len(data)
        most = self.limit - self.limit // 2 + WINDOW
        while self._kept - len(self._later[0][1]) >= most:
            gone = len(self._later.popleft()[1])
            self._kept -= gone
            self._dropped += gone
        self._tell_some(kind, data)

    def _settle(self) -> None:
        """Write what waits for its end or was kept for it."""
        over = self._kept - (self.limit - self.limit // 2)
        if over > WINDOW:
            self._leave_out(over - WINDOW)
        for kind, data in self._later:
            self._feed(kind, data, tell=False)
        self._later.clear()
        self._kept = 0
        for kind, flow in enumerate(self._flows):
            self._print(kind, flow.rest())

    def _leave_out(self, over: int) -> None:
        """Drop the middle, and so many bytes of what was kept; of what comes behind, what is cut off goes too."""
        for kind, flow in enumerate(self._flows):
            self._print(kind, flow.rest())
            self._flows[kind] = Flow(self._redaction, cut=True)
        self._dropped += over
        while over:
            kind, data = self._later.popleft()
            if len(data) > over:
                self._later.appendleft((kind, data[over:]))
            over -= min(len(data), over)
        self._own("=", f"… about {self._dropped:,} bytes left out …")
        self._dropped = 0

    def _feed(self, kind: int, data: bytes, *, tell: bool) -> None:
        for at in range(0, len(data), _PART):
            self._print(kind, self._flows[kind].feed(data[at : at + _PART]), tell=tell)

    def _print(self, kind: int, lines: Iterable[str], *, tell: bool = True) -> None:
        """Write lines of a stream, and tell them."""
        shown = [each for line in lines for each in _shown(line)]
        self._write([f"    {_MARKS[kind]} {each}" for each in shown])
        if self._line is not None and tell:
            for each in shown:
                self._line(each, bool(kind))

    def _tell_some(self, kind: int, data: bytes) -> None:
        """Tell the last line of many, now and then."""
        if self._line is None or monotonic() - self._told < _PAUSE:
            return
        self._told = monotonic()
        whole = data[-2 * WINDOW : data.rfind(b"\n") + 1]
        lines = Flow(self._redaction, cut=True).feed(whole)[-1:] if len(whole) > WINDOW else []
        for line in lines:
            self._line(_shown(line)[-1], bool(kind))

    def _write(self, lines: list[str]) -> None:
        if not lines:
            return
        try:
            self._file.write("".join([f"{line}\n" for line in lines]).encode("utf-8", "backslashreplace"))
            self._file.flush()
        except OSError as error:
            raise trouble(error, self.path, "write") from None


def escaped(text: str) -> str:
    """A line in which every character that can't be seen, or does something, is shown by its number."""
    return text if text.isprintable() else text.translate(_ESCAPES)


def _shown(line: str) -> list[str]:
    """A line as lines of a transcript: what was written over apart, escaped, cut."""
    forms = line.removesuffix("\r").split("\r") if "\r" in line else [line]
    if len(forms) > _REDRAWN:
        forms = [forms[0], f"… written over {len(forms) - 2:,} times …", forms[-1]]
    return [
        f"{'…' if at else ''}{text[at : at + _WIDEST]}"
        for text in map(escaped, forms)
        for at in range(0, max(len(text), 1), _WIDEST)
    ]


def _plain(words: str) -> str:
    """Words in which no character means anything to a renderer of markdown."""
    return "".join([f"\\{each}" if each in "\\`*_[]<>#&!|~" else each for each in words])


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
