"""The services that a session of a run has started; it stops them when it stops itself."""

from __future__ import annotations

from threading import Event, Thread
from typing import TYPE_CHECKING

from execplan.execution.engine.commands.command_result import not_run
from execplan.execution.engine.commands.loopback import Loopback
from execplan.execution.engine.commands.stop_signal import StopSignal
from execplan.execution.engine.journal.journal_entries import AttemptResult
from execplan.execution.readiness import Readiness, parse_readiness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from execplan.execution.engine.commands.command_result import CommandResult
    from execplan.execution.engine.commands.command_transcript import Transcript
    from execplan.execution.execution_plan import Step

_MAX_LINE_BYTES = 1 << 16


class ServiceLog:
    """The output of a service, written to its log and searched for the line that says that it is ready."""

    limit = 0

    def __init__(self, log: Transcript, text: str) -> None:
        """Search for a text; an empty one is in no line."""
        self._log, self._text = log, text.encode()
        self._lines = [b"", b""]
        """The incomplete last line of each stream."""
        self.has_line = False

    def out(self, data: bytes) -> None:
        """Append data of the standard output. Raises ExecplanError."""
        self._search(0, data)
        self._log.out(data)

    def err(self, data: bytes) -> None:
        """Append data of the standard error. Raises ExecplanError."""
        self._search(1, data)
        self._log.err(data)

    def note(self, message: str) -> None:
        """Append a message of execplan after the output so far. Raises ExecplanError."""
        self._log.note(message)

    def _search(self, stream: int, data: bytes) -> None:
        if self._text and not self.has_line:
            line = self._lines[stream] + data
            self.has_line = self._text in line
            self._lines[stream] = line.rpartition(b"\n")[2][-_MAX_LINE_BYTES:]


class RunningService:
    """A command that runs in a thread of its own until it is stopped."""

    def __init__(self, step: Step, attempt: int, run: Callable[..., CommandResult], log: Transcript) -> None:
        """Start the command in its thread; `run` runs it with its output and the signal that stops it."""
        self.step, self.attempt, self.log = step, attempt, log
        self.output = ServiceLog(log, (parse_readiness(step.service or "") or Readiness()).line)
        self.has_ended = Event()
        self._result = not_run("error", "it could not be started")
        self._error: BaseException | None = None
        self._stop = StopSignal()
        self._thread = Thread(target=self._run, args=(run,), name=f"service {step.id}")
        self._thread.start()

    def stop(self) -> CommandResult:
        """Stop the command with all its processes, close its log, and return how it ended. Raises ExecplanError."""
        self._stop.set("stop")
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._result

    def _run(self, run: Callable[..., CommandResult]) -> None:
        try:
            self._result = run(self.output, self._stop)
            self.log.close()
        except BaseException as error:  # noqa: BLE001 - `stop` raises it
            self._error = error
        finally:
            self.has_ended.set()


class Services:
    """The services of one session of a run, in the order in which they were started."""

    def __init__(self, start: Callable[..., Any]) -> None:
        """`start` is `start_service`: what only inspects a run does not depend on it."""
        self.start = start
        self._running: list[RunningService] = []
        self._loopback: Loopback | None = None

    def open_loopback(self) -> None:
        """Create the network that commands in the sandbox share, unless there is one. Raises OSError."""
        if self._loopback is None:
            self._loopback = Loopback()

    def add(self, service: RunningService) -> None:
        """Add a service that was just started."""
        self._running.append(service)

    def remove(self, service: RunningService) -> CommandResult:
        """Stop a service, and return how it ended. Raises ExecplanError."""
        self._running.remove(service)
        return service.stop()

    @property
    def network(self) -> tuple[int, ...]:
        """Handles of the network that commands in the sandbox share with the services; empty if there is none."""
        return self._loopback.handles if self._loopback is not None else ()

    def find_ended(self) -> RunningService | None:
        """Return a service that has ended although nothing stopped it."""
        return next((service for service in self._running if service.has_ended.is_set()), None)

    def stop(self, step: str = "") -> Iterator[tuple[RunningService, AttemptResult]]:
        """Stop all services, or that of one step, the last one first; yield how each ended."""
        for service in [service for service in reversed(self._running) if step in ("", service.step.id)]:
            has_ended = service.has_ended.is_set()
            yield service, _service_result(self.remove(service), is_stopped=not has_ended)


def _service_result(result: CommandResult, *, is_stopped: bool) -> AttemptResult:
    return AttemptResult(
        is_stopped,
        "" if is_stopped else result.cause or "exit",
        "" if is_stopped else describe_end(result),
        result.exit,
        result.signal,
        result.seconds,
        result.cpu_s,
        result.peak_memory_bytes,
    )


def describe_end(result: CommandResult) -> str:
    """Describe how a service ended that was not stopped."""
    if result.cause:
        return result.reason
    ending = f"signal {result.signal}" if result.signal is not None else f"exit status {result.exit}"
    return f"it ended with {ending}"
