"""The transcript of a command: Markdown with all output as indented code, without secrets and limited in length."""

from __future__ import annotations

import os
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING

from execplan.core.clock import now
from execplan.core.files import atomic_files
from execplan.core.files.file_access import file_error
from execplan.core.files.sync_group import SyncGroup
from execplan.execution.engine.commands.stream_redactor import WINDOW, StreamRedactor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from execplan.core.secrets.redaction import Redactor

_MARKS = ("|", "!")
"""Markers before a line of standard output and of standard error."""
_MAX_WIDTH = 2000
"""Maximum number of characters in a line; a longer one continues on the next line after a `…`."""
_MAX_REDRAWS = 4
"""Number of overwrites of a line (`\\r`) above which only its first and last form are kept."""
_CHUNK_SIZE = 1 << 16
"""Number of bytes converted to lines at a time."""
_PAUSE = 0.1
"""Seconds between two reported lines if more arrive than a person can read."""
_SPACES = "\t\u00a0\u202f\u3000"


class _Escapes(dict[int, str]):
    """The displayed form of each character by code point."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if not char.isprintable() and char not in _SPACES:
            if code < 0x100:
                char = f"\\x{code:02x}"
            elif code < 0x10000:
                char = f"\\u{code:04x}"
            else:
                char = f"\\U{code:08x}"
        self[code] = char
        return char


_ESCAPES = _Escapes()


class Transcript:
    """A step's commands and their output, written to a file."""

    def __init__(
        self,
        path: str,
        title: str,
        redaction: Redactor,
        limit: int,
        on_line: Callable[[str, bool], None] | None = None,
        *,
        durable: bool = True,
    ) -> None:
        """Create the file; of the output, keep the first and the last half of `limit` bytes. Raises ExecplanError.

        Unless it must be `durable`, the file is not synced when it is closed.
        `on_line` is called with each line and whether it is from standard error. If lines come too fast, it gets only
        some of them.
        """
        self.path = path
        self.limit = limit
        self._redaction = redaction
        self._on_line = on_line
        self._is_durable = durable
        self._head_room = limit // 2
        self._streams = [StreamRedactor(redaction), StreamRedactor(redaction)]
        self._tail: deque[tuple[int, bytes]] = deque()
        self._tail_size = 0
        self._dropped_size = 0
        self._last_sample_at = 0.0
        with SyncGroup(is_replaceable=True):  # the name of the file in it isn't synced either
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
        """Write the command that runs."""
        self._write_note("$", command_line)

    def out(self, data: bytes) -> None:
        """Append data of the standard output. Raises ExecplanError."""
        self._append(0, data)

    def err(self, data: bytes) -> None:
        """Append data of the standard error. Raises ExecplanError."""
        self._append(1, data)

    def note(self, message: str) -> None:
        """Write a message of execplan after the output so far."""
        self._flush()
        self._write_note("=", message)

    def close(self) -> None:
        """Write the remaining data, and sync the file if it must be durable. Raises ExecplanError."""
        if self._file.closed:
            return
        try:
            self._flush()
            if self._is_durable:
                os.fsync(self._file.fileno())
        except OSError as error:
            raise file_error(error, self.path, "write") from None
        finally:
            self._close_quietly()

    def _close_quietly(self) -> None:
        """Close the file, even if the remaining data cannot be written."""
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
        """Write incomplete lines and the buffered end of the output."""
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
        """Drop the middle of the output and `excess` more bytes of the buffered end.

        The start of what follows is dropped too if it may be the rest of a secret.
        """
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
        """Write the lines of a stream, and report them if requested."""
        display_lines = [display_line for line in lines for display_line in _wrap_line(line)]
        self._write([f"    {_MARKS[kind]} {display_line}" for display_line in display_lines])
        if self._on_line is not None and notify:
            for display_line in display_lines:
                self._on_line(display_line, bool(kind))

    def _report_sample(self, kind: int, data: bytes) -> None:
        """Report the last of many lines now and then."""
        if self._on_line is None or monotonic() - self._last_sample_at < _PAUSE:
            return
        self._last_sample_at = monotonic()
        complete_lines = data[-2 * WINDOW : data.rfind(b"\n") + 1]
        if len(complete_lines) > WINDOW:
            lines = StreamRedactor(self._redaction, is_truncated=True).feed(complete_lines)[-1:]
        else:
            lines = []
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
    """Return a line with every invisible or control character shown as its code point."""
    return text if text.isprintable() else text.translate(_ESCAPES)


def _wrap_line(line: str) -> list[str]:
    """Return a line as lines of a transcript: overwritten forms separated, escaped and wrapped."""
    forms = line.removesuffix("\r").split("\r") if "\r" in line else [line]
    if len(forms) > _MAX_REDRAWS:
        forms = [forms[0], f"… overwritten {len(forms) - 2:,} times …", forms[-1]]
    return [
        f"{'…' if offset else ''}{text[offset : offset + _MAX_WIDTH]}"
        for text in map(escape_unprintable, forms)
        for offset in range(0, max(len(text), 1), _MAX_WIDTH)
    ]


def _escape_markdown(text: str) -> str:
    """Return a text with all Markdown characters escaped."""
    return "".join([f"\\{char}" if char in "\\`*_[]<>#&!|~" else char for char in text])


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
