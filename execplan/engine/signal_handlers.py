"""SIGINT, SIGTERM and SIGHUP while a run goes on: it is stopped, and whatever handled them before does so again behind it."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, TracebackType

    from execplan.engine.commands.stop_signal import StopSignal

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class SignalHandlers:
    """The handlers, while it is entered from the main thread; in another one none can be set, and none is."""

    def __init__(self, stop: StopSignal, wake: Callable[[], object]) -> None:
        """`wake` is called from the handler: it must take no lock."""
        self._stop, self._wake = stop, wake
        self._is_asking = False
        self._previous_handlers: list[tuple[int, object]] = []

    def __enter__(self) -> SignalHandlers:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                previous = signal.getsignal(number)
                if previous is not signal.SIG_IGN:  # nohup, and what a shell does to its background jobs
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
        """While somebody is asked a signal raises KeyboardInterrupt, which ends the waiting for an answer."""
        self._is_asking = True
        try:
            yield
        finally:
            self._is_asking = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self._stop.is_set():
            self._stop.set(signal.Signals(number).name)
        self._wake()
        if self._is_asking:
            self._is_asking = False
            raise KeyboardInterrupt
