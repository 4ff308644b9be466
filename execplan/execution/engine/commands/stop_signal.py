"""The stop signal, set once by a signal handler or any thread and visible to everything that waits, and the handlers that set it."""

from __future__ import annotations

import os
import select
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, TracebackType


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


SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class SignalHandlers:
    """Context manager that installs the handlers in the main thread; in other threads it does nothing."""

    def __init__(self, stop: StopSignal, wake: Callable[[], object]) -> None:
        """Store the stop signal and `wake`, which the handler calls and which must not take a lock."""
        self.stop, self._wake = stop, wake
        self._is_asking = False
        self._previous_handlers: list[tuple[int, object]] = []

    def __enter__(self) -> SignalHandlers:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                previous = signal.getsignal(number)
                if previous is not signal.SIG_IGN:  # set by nohup, and by shells for background jobs
                    signal.signal(number, self._handle)
                    self._previous_handlers.append((number, previous if previous is not None else signal.SIG_DFL))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, previous in self._previous_handlers:
            signal.signal(number, previous)  # type: ignore[arg-type]  # what getsignal gave, signal takes

    @contextmanager
    def interruptible_prompt(self) -> Iterator[None]:
        """Make signals raise KeyboardInterrupt while a person is asked, to end the wait for an answer."""
        self._is_asking = True
        try:
            yield
        finally:
            self._is_asking = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self.stop.is_set():
            self.stop.set(signal.Signals(number).name)
        self._wake()
        if self._is_asking:
            self._is_asking = False
            raise KeyboardInterrupt
