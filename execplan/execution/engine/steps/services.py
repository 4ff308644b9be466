"""Services: commands that a run starts, that serve its later steps, and that it stops when it stops itself."""

from __future__ import annotations

import os
import time
from shlex import join
from threading import Event, Thread
from typing import TYPE_CHECKING

from execplan.execution.engine.commands.command_result import CommandResult, not_run
from execplan.execution.engine.commands.launcher import run_command
from execplan.execution.engine.commands.loopback import Loopback
from execplan.execution.engine.commands.readiness_probe import FREE, SERVED, start_probe
from execplan.execution.engine.commands.stop_signal import StopSignal
from execplan.execution.engine.journal.journal_entries import AttemptResult
from execplan.execution.engine.steps.command_execution import ERROR, TIMEOUT, ActionResult, command_spec, program_argv
from execplan.execution.engine.steps.step_paths import program_marks_path
from execplan.execution.readiness import Readiness, parse_readiness

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from execplan.execution.engine.commands.command_sandbox import Sandbox
    from execplan.execution.engine.commands.command_spec import CommandSpec
    from execplan.execution.engine.commands.command_transcript import Transcript
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.execution_plan import Step

_POLL_SECONDS = 0.02
_MAX_SECONDS = 1_814_400
"""Time limit of a service itself: three times that of the longest run, and less than a system call can wait. The run stops it, or its supervisor when the run is killed."""
_MAX_LINE_BYTES = 1 << 16
_TAIL_LINES = 20
"""Number of lines of a service's output that are shown if it does not become ready."""


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

    def __init__(self, step: Step, attempt: int, spec: CommandSpec, sandbox: Sandbox | None, log: Transcript) -> None:
        """Start the command."""
        self.step, self.attempt, self.log = step, attempt, log
        self.output = ServiceLog(log, (parse_readiness(step.service or "") or Readiness()).line)
        self.has_ended = Event()
        self._result = not_run(ERROR, "it could not be started")
        self._error: BaseException | None = None
        self._stop = StopSignal()
        self._thread = Thread(target=self._run, args=(spec, sandbox), name=f"service {step.id}")
        self._thread.start()

    def stop(self) -> CommandResult:
        """Stop the command with all its processes, close its log, and return how it ended. Raises ExecplanError."""
        self._stop.set("stop")
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._result

    def _run(self, spec: CommandSpec, sandbox: Sandbox | None) -> None:
        try:
            self._result = run_command(spec, sandbox, self.output, self._stop)
            self.log.close()
        except BaseException as error:  # noqa: BLE001 - `stop` raises it
            self._error = error
        finally:
            self.has_ended.set()


class Services:
    """The services of one session of a run, in the order in which they were started."""

    def __init__(self) -> None:
        self._running: list[RunningService] = []
        self._loopback: Loopback | None = None

    @property
    def network(self) -> tuple[int, ...]:
        """Handles of the network that commands in the sandbox share with the services; empty if there is none."""
        return self._loopback.handles if self._loopback is not None else ()

    def start(
        self, context: RunContext, step: Step, attempt: int, transcript: Transcript, open_log: Callable[[], Transcript]
    ) -> ActionResult:
        """Start a service and wait until it is ready; if it isn't in time, stop it."""
        argv = program_argv(step)
        if argv is None:
            return ActionResult(ERROR, "it needs a shell but doesn't request one")
        transcript.command(step.command if step.shell is not None and step.command else join(argv))
        if context.sandbox is not None and not step.network and self._loopback is None:
            try:
                self._loopback = Loopback()
            except OSError as error:
                why = os.strerror(error.errno or 0).lower()
                reason = f"the sandbox can't give it a network that later steps share ({why}): add `network` to it and to them"
                return ActionResult(ERROR, reason)
        marks_path = program_marks_path(context.run_paths, step, attempt)
        spec = command_spec(context, step, argv, marks_path)
        if isinstance(spec, CommandResult):
            return ActionResult(spec.cause, spec.reason, spec)
        deadline = time.monotonic() + spec.limits.seconds
        env = {"PYTHONUNBUFFERED": "1", **spec.env}  # otherwise Python keeps lines back from a log
        spec = spec._replace(env=env, limits=spec.limits._replace(seconds=_MAX_SECONDS))
        wait = _Readiness(context, step, self.network if context.sandbox is not None and not step.network else ())
        if problem := wait.port_problem():
            return ActionResult(ERROR, problem)
        service = RunningService(step, attempt, spec, context.sandbox, open_log())
        self._running.append(service)
        cause, reason = wait.until_ready(service, deadline)
        if not cause:
            transcript.note(f"ready; its output is in {os.path.basename(service.log.path)}")
            return ActionResult()
        self._running.remove(service)
        result = service.stop()
        for line in result.output_tail.decode("utf-8", "replace").splitlines()[-_TAIL_LINES:]:
            transcript.out(f"{line}\n".encode())
        return ActionResult(cause, reason, result)

    def find_ended(self) -> RunningService | None:
        """Return a service that has ended although nothing stopped it."""
        return next((service for service in self._running if service.has_ended.is_set()), None)

    def stop(self, step: str = "") -> Iterator[tuple[RunningService, AttemptResult]]:
        """Stop all services, or that of one step, the last one first; yield how each ended."""
        for service in [service for service in reversed(self._running) if step in ("", service.step.id)]:
            has_ended = service.has_ended.is_set()
            result = service.stop()
            self._running.remove(service)
            yield service, _service_result(result, is_stopped=not has_ended)


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


class _Readiness:
    """The wait until a service is ready."""

    def __init__(self, context: RunContext, step: Step, network: tuple[int, ...]) -> None:
        self._stop, self._network = context.stop, network
        self.port, self.path, _ = parse_readiness(step.service or "") or Readiness()

    def port_problem(self) -> str:
        """Return why the port can't be waited for, because another program has it; empty if it is free."""
        if not self.port:
            return ""
        with self._probe(FREE) as probe:
            if not probe.wait():
                return ""
        return f"port {self.port} is used by another program: stop that, or use another port"

    def until_ready(self, service: RunningService, deadline: float) -> tuple[str, str]:
        """Wait until a service is ready, and return nothing; or the cause and the reason why it is not."""
        probe = self._probe(SERVED) if self.port else None
        try:
            while True:
                if service.has_ended.is_set():
                    result = service.stop()
                    hint = "" if result.cause or result.exit else "; a service must stay in the foreground"
                    return result.cause or "exit", f"{describe_end(result)} before it was ready{hint}"
                if service.output.has_line or (probe is not None and probe.poll() == 0):
                    return "", ""
                if time.monotonic() > deadline:
                    limit = f"the time limit ({service.step.timeout_s} s)"
                    return TIMEOUT, f"it was not ready, `{service.step.service}`, within {limit}"
                if self._stop.wait(_POLL_SECONDS):
                    return "interrupted", "the run was interrupted"
        finally:
            if probe is not None:
                probe.kill()
                probe.communicate()

    def _probe(self, wanted: str) -> subprocess.Popen[bytes]:
        return start_probe(wanted, self.port, self.path, self._network)
