"""Running the check of a task: in the sandbox, with the limits of the policy, without the network, with a transcript."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from typing import Final

from execplan.core import features
from execplan.core.clock import now
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.core.secrets.redaction import Redactor
from execplan.execution import rare_features
from execplan.execution.acceptance_check import AcceptanceCheck
from execplan.execution.engine.commands.command_environment import build_environment
from execplan.execution.engine.commands.command_result import CommandResult
from execplan.execution.engine.commands.command_sandbox import Sandbox
from execplan.execution.engine.commands.command_spec import CommandSpec, Limits
from execplan.execution.engine.commands.command_transcript import Transcript, escape_unprintable
from execplan.execution.engine.commands.stop_signal import StopSignal
from execplan.execution.policy import Policy

STATE_DIRECTORY: Final = "checks"
"""Name of the state directory with the transcripts of checks that are running or have failed."""
_MAX_TRANSCRIPTS: Final = 50
"""Number of transcripts in the state directory after which the oldest are removed."""
_TAIL_LINES: Final = 10
"""Number of output lines that are shown of a failed check."""


class TaskCheckResult(NamedTuple):
    """The result of a check."""

    check: AcceptanceCheck
    passed: bool
    summary: str
    """Exit status and duration, or why the check was ended."""
    seconds: float
    tail: tuple[str, ...]
    """Last lines of the output, without secrets and control characters."""
    transcript: str
    """Absolute path of the transcript."""

    @property
    def name(self) -> str:
        """Name of the transcript's file."""
        return os.path.basename(self.transcript)


class CheckRunner:
    """Runs the checks of tasks one after another, with the same sandbox and limits."""

    def __init__(
        self, project: Project, policy: Policy, sandbox: Sandbox | None, stop: StopSignal, artifacts: str
    ) -> None:
        """Prepare to run checks; `artifacts` is the directory to which transcripts may be moved later."""
        from execplan.execution.engine.commands.command_environment import make_redaction

        self._artifacts = artifacts
        self._project, self._policy, self._sandbox, self._stop = project, policy, sandbox, stop
        self._redaction: Redactor = make_redaction()

    def run(
        self, check: AcceptanceCheck, on_line: Callable[[str, bool], None] | None = None, *, only_reads: bool = False
    ) -> TaskCheckResult:
        """Run a check to its end; no process that it has started remains.

        With `only_reads`, the sandbox lets it write no file of the repository. `on_line` gets each line of output, and whether it is from standard error. Raises ExecplanError if the
        transcript can't be written, and KeyboardInterrupt if a signal has stopped the check.
        """
        path = self._transcript_path(check)
        title = f"Check of {check.task_id}: {check.task_text}"
        transcript = Transcript(path, title, self._redaction, self._policy.output_kb << 10, on_line)
        try:
            transcript.command(check.command)
            run_command = features.load(rare_features.RUN_COMMAND)
            result: CommandResult = run_command(
                self._command_spec(check, path, only_reads=only_reads), self._sandbox, transcript, self._stop
            )
        finally:
            transcript.close()
            _remove_marks(path)
        passed = result.exit == 0 and not result.cause
        return TaskCheckResult(check, passed, _describe(result), result.seconds, self._tail_lines(result), path)

    def _transcript_path(self, check: AcceptanceCheck) -> str:
        """Reserve a file in the state directory, with a name that the artifacts don't have."""
        project_state.make_state_dir(self._project, STATE_DIRECTORY)
        directory = os.path.join(self._project.state, STATE_DIRECTORY)
        _remove_oldest(directory)
        stem = f"{check.task_id}-{now():%Y%m%dT%H%M%SZ}"
        for number in count(1):
            name = f"{stem}-{number}.md" if number > 1 else f"{stem}.md"
            path = os.path.join(directory, name)
            if os.path.lexists(os.path.join(self._artifacts, name)):
                continue
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            except FileExistsError:
                continue
            except OSError as error:
                raise file_access.file_error(error, path, "write") from None
            return path
        raise AssertionError

    def _command_spec(self, check: AcceptanceCheck, path: str, *, only_reads: bool) -> CommandSpec:
        policy = self._policy
        directory = os.path.normpath(os.path.join(self._project.root, check.cwd))
        seconds = min(policy.step_seconds(check.timeout_s), policy.seconds)
        limits = Limits(seconds, policy.memory_mb, policy.processes, policy.file_mb)
        environment = build_environment(dict(check.env), policy.environment)
        if only_reads:
            environment["GIT_OPTIONAL_LOCKS"] = "0"
        return CommandSpec(
            check.argv, directory, environment, network=False, limits=limits, marks_path=path, only_reads=only_reads
        )

    def _tail_lines(self, result: CommandResult) -> tuple[str, ...]:
        text = self._redaction.redact_text(result.output_tail.decode("utf-8", "replace"))
        lines = [line.rpartition("\r")[2] for line in text.replace("\r\n", "\n").split("\n")]
        while lines and not lines[-1].strip():
            lines.pop()
        return tuple([escape_unprintable(line) for line in lines[-_TAIL_LINES:]])


def _describe(result: CommandResult) -> str:
    seconds = f"after {result.seconds:.1f} s"
    if result.cause:
        return f"{result.cause}: {result.reason}, {seconds}"
    return f"exit {result.exit}, {seconds}" if result.exit is not None else f"signal {result.signal}, {seconds}"


def _remove_marks(path: str) -> None:
    for suffix in ("begun", "ended", "tmp"):
        try:
            os.unlink(f"{path}.{suffix}")
        except FileNotFoundError:
            continue


def _remove_oldest(directory: str) -> None:
    """Remove the oldest transcripts; another process may do the same."""
    names = [name for name in file_access.list_names(directory) if name.endswith(".md")]
    paths = sorted([os.path.join(directory, name) for name in names], key=_modified_at)
    for path in paths[: max(0, len(paths) - _MAX_TRANSCRIPTS + 1)]:
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue


def _modified_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except FileNotFoundError:
        return 0.0
