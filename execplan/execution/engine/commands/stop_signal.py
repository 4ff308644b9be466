"""The stop signal: set once by a signal handler or any thread, and visible to everything that waits."""

from __future__ import annotations

import os
import select


class StopSignal:
    """Whether the current work must stop, and because of which signal."""

    def __init__(self) -> None:
        self.signal = ""
        """Name of the signal; empty until it is set."""
        self._read_end, self._write_end = os.pipe()

    def set(self, signal: str) -> None:
        """Set the signal to stop; only the first call counts.

        Takes no lock and raises nothing, so that a signal handler may call it.
        """
        if not self.signal:
            self.signal = signal
            os.write(self._write_end, b"!")

    def is_set(self) -> bool:
        """Return whether the signal is set."""
        return bool(self.signal)

    def fileno(self) -> int:
        """Return a file descriptor that becomes readable; its data is never read, so that all waiters see it."""
        return self._read_end

    def wait(self, seconds: float) -> bool:
        """Wait until the signal is set or the time is up; return whether it is set."""
        if not self.signal:
            select.select([self._read_end], [], [], max(seconds, 0))
        return bool(self.signal)

    def __del__(self) -> None:
        os.close(self._read_end)
        os.close(self._write_end)
