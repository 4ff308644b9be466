"""The transcript of a command: markdown in which all that was printed is indented code, without secrets and not too long."""

from __future__ import annotations

import os
from collections import deque
from time import monotonic

from execplan.clock import now
from execplan.engine.commands.stream_redactor import WINDOW, StreamRedactor
from execplan.files import atomic_files
from execplan.files.file_access import file_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from execplan.secrets.redaction import Redactor

_MARKS = ("|", "!")
"""What stands before a line of standard output and of standard error."""
_MAX_WIDTH = 2000
"""Characters of a line; a longer one goes on in the next, behind a `…`."""
_MAX_REDRAWS = 4
"""How often a line may be written over (`\\r`) before only its first and its last form are kept."""
_CHUNK_SIZE = 1 << 16
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
        redaction: Redactor,
        limit: int,
        on_line: Callable[[str, bool], None] | None = None,
    ) -> None:
        """Begin the file; of the output the first and the last half of so many bytes is kept. Raises ExecplanError.

        `on_line` is told each line, and whether it is an error's; where they come too fast, some of them.
        """
        self.path = path
        self.limit = limit
        self._redaction = redaction
        self._on_line = on_line
        self._head_room = limit // 2
        self._streams = [StreamRedactor(redaction), StreamRedactor(redaction)]
        self._tail: deque[tuple[int, bytes]] = deque()
        self._tail_size = 0
        self._dropped_size = 0
        self._last_sample_at = 0.0
        atomic_files.make_directory(os.path.dirname(path))
        try:
            self._file = open(path, "wb", opener=_opener)  # noqa: SIM115 - it is closed by close()
        except OSError as error:
            raise file_error(error, path, "write") from None
        name = _escape_markdown(escape_unprintable(redaction.redact_text(" ".join(title.split()))))
        try:
            self._write([f"# {name}", "", f"{now():%Y-%m-%d %H:%M:%SZ}", ""])
        except BaseException:
            self._close_quietly()
            raise

    def command(self, command_line: str) -> None:
        """Say what is run."""
        self._write_note("$", command_line)

    def out(self, data: bytes) -> None:
        """Take what was printed to standard output; raises ExecplanError."""
        self._append(0, data)

    def err(self, data: bytes) -> None:
        """Take what was printed to standard error; raises ExecplanError."""
        self._append(1, data)

    def note(self, message: str) -> None:
        """Say something of one's own behind what was printed so far."""
        self._flush()
        self._write_note("=", message)

    def close(self) -> None:
        """Write what is left and have it all on disk; raises ExecplanError."""
        if self._file.closed:
            return
        try:
            self._flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise file_error(error, self.path, "write") from None
        finally:
            self._close_quietly()

    def _close_quietly(self) -> None:
        """Close the file though what is left can't be written."""
        try:
            self._file.close()
        except OSError:
            pass

    def _write_note(self, mark: str, message: str) -> None:
        text = self._redaction.redact_text(message)
        self._write([f"    {mark} {display_line}" for line in text.split("\n") for display_line in _wrap_line(line)])

    def _append(self, kind: int, data: bytes) -> None:
        if self._head_room:
            head, data = data[: self._head_room], data[self._head_room :]
            self._head_room -= len(head)
            self._feed(kind, head, notify=True)
        if not data:
            return
        self._tail.append((kind, data))
        self._tail_size += len(data)
        max_tail = self.limit - self.limit // 2 + WINDOW
        while self._tail_size - len(self._tail[0][1]) >= max_tail:
            removed_size = len(self._tail.popleft()[1])
            self._tail_size -= removed_size
            self._dropped_size += removed_size
        self._report_sample(kind, data)

    def _flush(self) -> None:
        """Write what waits for its end or was kept for it."""
        excess = self._tail_size - (self.limit - self.limit // 2)
        if excess > WINDOW:
            self._drop_middle(excess - WINDOW)
        for kind, data in self._tail:
            self._feed(kind, data, notify=False)
        self._tail.clear()
        self._tail_size = 0
        for kind, stream in enumerate(self._streams):
            self._write_stream(kind, stream.flush())

    def _drop_middle(self, excess: int) -> None:
        """Drop the middle, and so many bytes of what was kept; of what comes behind, what is cut off goes too."""
        for kind, stream in enumerate(self._streams):
            self._write_stream(kind, stream.flush())
            self._streams[kind] = StreamRedactor(self._redaction, is_truncated=True)
        self._dropped_size += excess
        while excess:
            kind, data = self._tail.popleft()
            if len(data) > excess:
                self._tail.appendleft((kind, data[excess:]))
            excess -= min(len(data), excess)
        self._write_note("=", f"… about {self._dropped_size:,} bytes left out …")
        self._dropped_size = 0

    def _feed(self, kind: int, data: bytes, *, notify: bool) -> None:
        for offset in range(0, len(data), _CHUNK_SIZE):
            self._write_stream(kind, self._streams[kind].feed(data[offset : offset + _CHUNK_SIZE]), notify=notify)

    def _write_stream(self, kind: int, lines: Iterable[str], *, notify: bool = True) -> None:
        """Write lines of a stream, and tell them."""
        display_lines = [display_line for line in lines for display_line in _wrap_line(line)]
        self._write([f"    {_MARKS[kind]} {display_line}" for display_line in display_lines])
        if self._on_line is not None and notify:
            for display_line in display_lines:
                self._on_line(display_line, bool(kind))

    def _report_sample(self, kind: int, data: bytes) -> None:
        """Tell the last line of many, now and then."""
        if self._on_line is None or monotonic() - self._last_sample_at < _PAUSE:
            return
        self._last_sample_at = monotonic()
        complete_lines = data[-2 * WINDOW : data.rfind(b"\n") + 1]
        lines = (
            StreamRedactor(self._redaction, is_truncated=True).feed(complete_lines)[-1:]
            if len(complete_lines) > WINDOW
            else []
        )
        for line in lines:
            self._on_line(_wrap_line(line)[-1], bool(kind))

    def _write(self, lines: list[str]) -> None:
        if not lines:
            return
        try:
            self._file.write("".join([f"{line}\n" for line in lines]).encode("utf-8", "backslashreplace"))
            self._file.flush()
        except OSError as error:
            raise file_error(error, self.path, "write") from None


def escape_unprintable(text: str) -> str:
    """A line in which every character that can't be seen, or does something, is shown by its number."""
    return text if text.isprintable() else text.translate(_ESCAPES)


def _wrap_line(line: str) -> list[str]:
    """A line as lines of a transcript: what was written over apart, escaped, cut."""
    forms = line.removesuffix("\r").split("\r") if "\r" in line else [line]
    if len(forms) > _MAX_REDRAWS:
        forms = [forms[0], f"… written over {len(forms) - 2:,} times …", forms[-1]]
    return [
        f"{'…' if offset else ''}{text[offset : offset + _MAX_WIDTH]}"
        for text in map(escape_unprintable, forms)
        for offset in range(0, max(len(text), 1), _MAX_WIDTH)
    ]


def _escape_markdown(text: str) -> str:
    """Words in which no character means anything to a renderer of markdown."""
    return "".join([f"\\{char}" if char in "\\`*_[]<>#&!|~" else char for char in text])


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
