"""The start of a service, and the wait until it is ready."""

from __future__ import annotations

import os
import time
from shlex import join
from typing import TYPE_CHECKING

from execplan.execution.engine.commands.command_result import CommandResult
from execplan.execution.engine.commands.launcher import OutputReceiver, run_command
from execplan.execution.engine.commands.readiness_probe import FREE, SERVED, start_probe
from execplan.execution.engine.steps.command_execution import ERROR, TIMEOUT, ActionResult, command_spec, program_argv
from execplan.execution.engine.steps.services import RunningService, Services, describe_end
from execplan.execution.engine.steps.step_paths import program_marks_path
from execplan.execution.readiness import Readiness, parse_readiness

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from execplan.execution.engine.commands.command_transcript import Transcript
    from execplan.execution.engine.commands.stop_signal import StopSignal
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.execution_plan import Step

_POLL_SECONDS = 0.02
_MAX_SECONDS = 1_814_400
"""Time limit of a service itself: three times that of the longest run, and less than a system call can wait. The run
stops it, or its supervisor when the run is killed.
"""
_TAIL_LINES = 20
"""Number of lines of a service's output that are shown if it does not become ready."""


def create_services() -> Services:
    """Return the services of a session of a run, of which none was started yet."""
    return Services(start_service)


def start_service(
    context: RunContext, step: Step, attempt: int, transcript: Transcript, open_log: Callable[[], Transcript]
) -> ActionResult:
    """Start a service and wait until it is ready; if it isn't in time, stop it."""
    argv = program_argv(step)
    if argv is None:
        return ActionResult(ERROR, "it needs a shell but doesn't request one")
    transcript.command(step.command if step.shell is not None and step.command else join(argv))
    if context.sandbox is not None and not step.network and not context.services.network:
        try:
            context.services.open_loopback()
        except OSError as error:
            why = os.strerror(error.errno or 0).lower()
            reason = (
                f"the sandbox can't give it a network that later steps share ({why}): add `network` to it and to them"
            )
            return ActionResult(ERROR, reason)
    marks_path = program_marks_path(context.run_paths, step, attempt)
    spec = command_spec(context, step, argv, marks_path)
    if isinstance(spec, CommandResult):
        return ActionResult(spec.cause, spec.reason, spec)
    seconds = spec.limits.seconds
    env = {"PYTHONUNBUFFERED": "1", **spec.env}  # otherwise Python keeps lines back from a log
    spec = spec._replace(env=env, limits=spec.limits._replace(seconds=_MAX_SECONDS))
    wait = _Readiness(
        context, step, context.services.network if context.sandbox is not None and not step.network else ()
    )
    if problem := wait.port_problem():
        return ActionResult(ERROR, problem)

    def run(output: OutputReceiver, stop: StopSignal) -> CommandResult:
        return run_command(spec, context.sandbox, output, stop, context.supervisor_parent)

    service = RunningService(step, attempt, run, open_log())
    context.services.add(service)
    cause, reason = wait.until_ready(service, seconds)
    if not cause:
        transcript.note(f"ready; its output is in {os.path.basename(service.log.path)}")
        return ActionResult()
    result = context.services.remove(service)
    for line in result.output_tail.decode("utf-8", "replace").splitlines()[-_TAIL_LINES:]:
        transcript.out(f"{line}\n".encode())
    return ActionResult(cause, reason, result)


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

    def until_ready(self, service: RunningService, seconds: float) -> tuple[str, str]:
        """Wait until a service is ready, and return nothing; or the cause and the reason why it is not."""
        deadline = time.monotonic() + seconds
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
                    limit = f"the time limit ({seconds:.0f} s)"
                    return TIMEOUT, f"it was not ready, `{service.step.service}`, within {limit}"
                if self._stop.wait(_POLL_SECONDS):
                    return "interrupted", "the run was interrupted"
        finally:
            if probe is not None:
                probe.kill()
                probe.communicate()

    def _probe(self, port_state: str) -> subprocess.Popen[bytes]:
        return start_probe(port_state, self.port, self.path, self._network)
