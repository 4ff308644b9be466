"""Commands run as a step runs them: under their supervisor, in a sandbox or not, with a transcript."""

from __future__ import annotations

import os
import sys
from time import monotonic, sleep
from typing import TYPE_CHECKING

from execplan.core.secrets.redaction import Redactor
from execplan.execution.engine.commands.command_environment import build_environment, public_variables
from execplan.execution.engine.commands.command_transcript import Transcript
from execplan.execution.engine.commands.launcher import CommandResult, CommandSpec, Limits, read_marks, run_command
from execplan.execution.engine.commands.stop_signal import StopSignal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from execplan.execution.engine.commands.command_sandbox import Sandbox
    from execplan.execution.engine.commands.supervisor_parent import SupervisorParent

LIMITS = Limits(60, 4096, 512, 1024)
OWN_SESSION = f"{sys.executable} -IS -c 'import os, sys; os.setsid(); os.execvp(sys.argv[1], sys.argv[1:])'"
"""Runs a command in a session of its own, as `setsid` does, which not every machine has."""
DAEMON = f"({OWN_SESSION} sh -c 'echo $$ > daemon; exec sleep 99' &); while ! test -s daemon; do sleep 0.01; done; "
"""A line of shell that leaves a process behind which has left its session and its parent."""


class CommandFolder:
    """A folder to run commands in."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = path / "work"
        self.folder.mkdir(exist_ok=True)
        self.marks = str(path / "marks")
        self.stop = StopSignal()
        self.sandbox: Sandbox | None = None
        self.parent: SupervisorParent | None = None

    def run(
        self,
        *argv: str,
        limits: Limits = LIMITS,
        network: bool = False,
        line: Callable[[str, bool], None] | None = None,
        kept_bytes: int = 1 << 20,
        env: dict[str, str] | None = None,
    ) -> CommandResult:
        """Run a command to its end."""
        redaction = Redactor(os.environ, public_variables(os.environ))
        transcript = Transcript(str(self.path / "transcript.md"), "A step", redaction, kept_bytes, line)
        order = CommandSpec(argv, str(self.folder), build_environment(env or {}, ()), network, limits, self.marks)
        try:
            return run_command(order, self.sandbox, transcript, self.stop, self.parent)
        finally:
            transcript.close()

    def run_shell(self, script: str, seconds: float = LIMITS.seconds, **limits: int) -> CommandResult:
        """Run a script of the shell, with limits that differ from the usual."""
        return self.run("sh", "-c", script, limits=LIMITS._replace(seconds=seconds, **limits))

    def run_python(self, code: str, **limits: int) -> CommandResult:
        """Run some Python."""
        return self.run(sys.executable, "-I", "-S", "-c", code, limits=LIMITS._replace(**limits))

    def transcript(self) -> str:
        """What was written of it."""
        return (self.path / "transcript.md").read_text("utf-8")

    def printed_lines(self) -> list[str]:
        """The lines that it printed, with their marks."""
        return [line[4:] for line in self.transcript().splitlines() if line.startswith("    ")]

    def marked(self) -> str | CommandResult:
        """What the marks say."""
        return read_marks(self.marks)

    def pid(self, name: str = "daemon") -> int:
        """The process whose number lies in a file, once it is there."""
        path = self.folder / name
        until(lambda: path.exists() and path.read_text().endswith("\n"))
        return int(path.read_text())


def until(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    late = monotonic() + 20
    while not condition():
        assert monotonic() < late
        sleep(0.005)


def is_alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False
