"""Standard output that may be closed while a run goes on: the run does not end with who reads it."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from execplan.cli.door import discard_output

if TYPE_CHECKING:
    from typing import TextIO


class ResilientStdout(io.TextIOBase):
    """Standard output, flushed at once; what can't be written there any more goes nowhere."""

    def __init__(self) -> None:
        self._stream: TextIO = sys.stdout

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a plain attribute there, which nobody can set
        """That of the stream."""
        return self._stream.encoding or "ascii"

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """That of the stream."""
        return self._stream.fileno()

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, text: str) -> int:
        """Write text, escaped where the stream has no characters for it."""
        try:
            return self._stream.write(text)
        except OSError:
            self._discard_output()
            return len(text)

    def flush(self) -> None:
        """Have it written."""
        try:
            self._stream.flush()
        except OSError:
            self._discard_output()

    def _discard_output(self) -> None:
        """Let all that is still to be written go nowhere: the exit status stays that of the run."""
        discard_output()
