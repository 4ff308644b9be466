"""The word to stop: given once, by a signal handler or any thread, and seen by all who wait for something."""

from __future__ import annotations

import os
import select


class StopSignal:
    """Whether what runs is to be stopped, and by which signal."""

    def __init__(self) -> None:
        self.signal = ""
        """The name of the signal; nothing before."""
        self._read_end, self._write_end = os.pipe()

    def set(self, signal: str) -> None:
        """Say so; the first one counts. Takes no lock and raises nothing, so that a signal handler may call it."""
        if not self.signal:
            self.signal = signal
            os.write(self._write_end, b"!")

    def is_set(self) -> bool:
        """Whether it was said."""
        return bool(self.signal)

    def fileno(self) -> int:
        """A descriptor that can be read from then on; nobody reads it, so that all see it."""
        return self._read_end

    def wait(self, seconds: float) -> bool:
        """Wait until it is said, or so long; whether it was said."""
        if not self.signal:
            select.select([self._read_end], [], [], max(seconds, 0))
        return bool(self.signal)

    def __del__(self) -> None:
        os.close(self._read_end)
        os.close(self._write_end)
