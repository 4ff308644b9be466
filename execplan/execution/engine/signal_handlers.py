"""Handlers of SIGINT, SIGTERM and SIGHUP that stop a run; the previous handlers are restored afterwards."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, TracebackType

    from execplan.execution.engine.commands.stop_signal import StopSignal

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
