"""A terminal of its own for a command in a forked process: what it shows, and what is typed there."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
import traceback
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LIMIT = 30
"""Seconds until which something has to come."""
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class TerminalResult(NamedTuple):
    """What was written to a terminal, and how the process ended."""

    exit: int
    raw: str

    @property
    def lines(self) -> list[str]:
        """All that was shown, redrawn lines each time, without colours and movements."""
        return [line.rstrip() for line in re.split(r"[\r\n]+", _ESCAPES.sub("", self.raw))]


class Terminal:
    """A process on a terminal."""

    def __init__(
        self,
        work: Callable[[], int],
        *,
        columns: int = 80,
        rows: int = 24,
        encoding: str = "utf-8",
        env: Mapping[str, str] = NO_VARIABLES,
    ) -> None:
        self._raw = b""
        self.pid, self._handle = pty.fork()
        if self.pid == 0:
            _run_child(work, columns, rows, encoding, env)

    def until(self, text: str) -> None:
        """Read until this is shown; an assertion fails when it never is."""
        begun = time.monotonic()
        while text.encode() not in self._raw:
            assert time.monotonic() - begun < _LIMIT, (text, self._raw.decode(errors="replace"))
            assert self._read(), (text, self._raw.decode(errors="replace"))

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._handle, keys.encode())

    def answer(self, question: str, keys: str) -> None:
        """Wait for a question, then type; what was shown before is no later question."""
        self.until(question)
        time.sleep(0.05)  # what is typed before the question is dropped
        at = len(self._raw)
        self.type(keys)
        while len(self._raw) == at and self._read():
            pass

    def close(self) -> None:
        """Close the terminal, as somebody who goes away."""
        os.close(self._handle)
        self._handle = -1

    def end(self) -> TerminalResult:
        """Read to the end and wait for the process."""
        while self._handle >= 0 and self._read():
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if self._handle >= 0:
            os.close(self._handle)
        return TerminalResult(status, self._raw.decode(errors="replace"))

    def _read(self) -> bool:
        """Read what comes next; whether something came."""
        if not select.select([self._handle], [], [], _LIMIT)[0]:
            os.kill(self.pid, signal.SIGKILL)
            return False
        try:
            data = os.read(self._handle, 65536)
        except OSError:  # the other end is closed
            return False
        self._raw += data
        return bool(data)


def _run_child(work: Callable[[], int], columns: int, rows: int, encoding: str, env: Mapping[str, str]) -> None:
    """Do the work in the child, whose standard streams are the terminal, and end."""
    status = 99
    try:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            os.environ.pop(name, None)
        os.environ.update({"TERM": "xterm", **env})
        sys.stdin = os.fdopen(0, encoding=encoding, closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding=encoding, errors="backslashreplace", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding=encoding, errors="backslashreplace", closefd=False)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        status = work()
        sys.stdout.flush()
    finally:
        if sys.exc_info()[0] is not None:
            traceback.print_exc(file=sys.stderr)
        os._exit(status)
