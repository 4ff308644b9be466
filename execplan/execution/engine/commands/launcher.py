"""Running a command to its end under a supervisor, with its output processed as it arrives."""

from __future__ import annotations

import marshal
import os
import selectors
import sys
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from execplan.execution.engine.commands import processes
from execplan.execution.engine.commands.command_result import CommandResult, format_result, parse_report, read_marks
from execplan.execution.engine.commands.command_spec import CommandSpec, Limits
from execplan.execution.engine.commands.process_start import FILE_SIZE, KILL
from execplan.execution.engine.commands.supervisor_parent import SupervisorParent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from execplan.execution.engine.commands.command_sandbox import Sandbox
    from execplan.execution.engine.commands.stop_signal import StopSignal


class OutputReceiver(Protocol):
    """A receiver of both output streams."""

    limit: int
    """Number of bytes of the standard output that are kept to compare them with the expected output."""

    def out(self, data: bytes) -> None:
        """Append data of the standard output. Raises ExecplanError."""

    def err(self, data: bytes) -> None:
        """Append data of the standard error. Raises ExecplanError."""

    def note(self, message: str) -> None:
        """Append a message of execplan after the output so far. Raises ExecplanError."""


__all__ = ["CommandResult", "CommandSpec", "Limits", "read_marks", "run_command"]
_CHUNK = 1 << 20
_PIPE = 1031
"""F_SETPIPE_SZ of Linux: with a larger pipe, large output is read in larger parts."""
_GIVE_UP_AFTER = 20.0
"""Seconds after the timeout at which a supervisor is abandoned, because it was stopped or killed."""
_TOO_LARGE = b"File too large"
"""Message of a program that catches the signal for the file size limit and then fails."""


def run_command(
    spec: CommandSpec,
    sandbox: Sandbox | None,
    transcript: OutputReceiver,
    stop: StopSignal,
    parent: SupervisorParent | None = None,
) -> CommandResult:
    """Run a command, in a sandbox if one is given. Raises ExecplanError if its output cannot be stored.

    In every case, no process that the command has started remains. Without the parent of a run's supervisors, the
    command's supervisor gets a parent of its own.
    """
    if parent is None:
        with SupervisorParent() as own_parent:
            return run_command(spec, sandbox, transcript, stop, own_parent)
    wrap = sandbox.argv(spec) if sandbox is not None else []
    network = spec.loopback if sandbox is not None and not spec.network else ()
    env = sandbox.environment(spec.env) if sandbox is not None else spec.env
    request = {
        "argv": [os.fsencode(arg) for arg in spec.argv],
        "cwd": os.fsencode(os.path.realpath(spec.cwd)),
        "env": {os.fsencode(name): os.fsencode(value) for name, value in env.items()},
        "wrap": [os.fsencode(arg) for arg in wrap],
        "seconds": spec.limits.seconds,
        "memory": spec.limits.memory_mb << 20,
        "processes": spec.limits.processes,
        "file": spec.limits.file_mb << 20,
        "marks": spec.marks_path,
        "given": spec.stdin,
    }
    output = _SupervisorOutput(parent, network, transcript, spec.limits.seconds)
    try:
        output.send_request(marshal.dumps(request))
        output.read_until_exit(stop)
    finally:
        output.close()
    return output.build_result(spec)


_TAIL_BYTES = 16 << 10
"""Number of bytes kept from the end of the output, where test runners print their summaries."""


class _SupervisorOutput:
    """The output of a supervisor and of its command."""

    def __init__(
        self, parent: SupervisorParent, network: Sequence[int], transcript: OutputReceiver, seconds: float
    ) -> None:
        """Start the supervisor of a command. Raises OSError."""
        from hashlib import sha256

        self.transcript = transcript
        self.started_at = monotonic()
        self.deadline = self.started_at + seconds + _GIVE_UP_AFTER
        self.report = b""
        self.digest = sha256()
        self.stdout = bytearray()
        self.stdout_size = 0
        self.stderr_tail = b""
        """End of the standard error."""
        self.output_tail = b""
        """End of the output of both streams."""
        self.is_late = False
        (stdin_end, self.stdin), *outputs = [os.pipe() for _ in range(4)]
        other_ends = [stdin_end, *[write_end for _, write_end in outputs]]
        try:
            self.parent_pid = parent.start([*other_ends, *network])
        finally:
            for handle in other_ends:
                os.close(handle)
        takers = (self._take_stdout, self._take_stderr, self._take_report)
        self.handles = {read_end: take for (read_end, _), take in zip(outputs, takers, strict=True)}
        self.report_handle = outputs[2][0]
        for handle in self.handles:
            os.set_blocking(handle, False)
            _widen(handle)

    def send_request(self, data: bytes) -> None:
        """Send the specification of the command to the supervisor."""
        view = memoryview(len(data).to_bytes(8, "big") + data)
        try:
            while view:
                view = view[os.write(self.stdin, view) :]
        except BrokenPipeError:
            pass  # the missing report shows that it died

    def read_until_exit(self, stop: StopSignal) -> None:
        """Read all output until the supervisor has ended. Raises ExecplanError."""
        with selectors.DefaultSelector() as selector:
            for handle, handler in self.handles.items():
                selector.register(handle, selectors.EVENT_READ, handler)
            selector.register(stop, selectors.EVENT_READ)
            while self.report_handle in selector.get_map():
                remaining = self.deadline - monotonic()
                if remaining <= 0 and not self.is_late:
                    self._kill_all()
                for key, _ in selector.select(max(remaining, 1.0)):
                    if key.data is None:
                        selector.unregister(stop)
                        self._ask_to_stop()
                    elif self._read_available(key.fd) == b"":
                        selector.unregister(key.fd)
        for handle in self.handles:  # data still in the pipes, which an unkillable process may keep open
            while self._read_available(handle):
                pass

    def close(self) -> None:
        """Close the pipes, which makes the supervisor end all processes, and wait for it."""
        for handle in {self.stdin, *self.handles} - {self.report_handle}:
            os.close(handle)
        os.set_blocking(self.report_handle, True)
        while os.read(self.report_handle, _CHUNK):
            pass
        os.close(self.report_handle)

    def build_result(self, spec: CommandSpec) -> CommandResult:
        """Return the result of the command and note it in the transcript. Raises ExecplanError."""
        report = self.report.partition(b"\n")[2]
        fields: dict[str, Any] = parse_report(report) if report else {}
        leftovers = fields.pop("left", ())
        if not fields:
            fields = {"exit": None, "signal": None, "cause": "error", "reason": "its supervisor was killed"}
            fields.update(seconds=monotonic() - self.started_at, cpu_s=0.0, peak_memory_bytes=0)
        if not fields["cause"] and (
            fields["exit"] == 128 + FILE_SIZE or (fields["exit"] and _TOO_LARGE in self.stderr_tail)
        ):
            fields.update(cause="limit", reason=f"a file larger than {spec.limits.file_mb} MB")
        if leftovers:
            names = ", ".join(sorted(set(leftovers)))
            self.transcript.note(
                f"{len(leftovers)} of its processes were still running after it ended and were terminated: {names}"
            )
        is_complete = self.stdout_size == len(self.stdout)
        result = CommandResult(
            **fields,
            stdout=bytes(self.stdout),
            stdout_sha256=self.digest.hexdigest(),
            is_complete=is_complete,
            output_tail=self.output_tail,
        )
        self.transcript.note(format_result(result))
        return result

    def _read_available(self, handle: int) -> bytes | None:
        """Process the available data; return empty bytes at the end, None if there is no data yet."""
        try:
            data = os.read(handle, _CHUNK)
        except BlockingIOError:
            return None
        self.handles[handle](data)
        return data

    def _take_report(self, data: bytes) -> None:
        self.report += data

    def _take_stdout(self, data: bytes) -> None:
        self.stdout_size += len(data)
        self.digest.update(data)
        if len(self.stdout) < self.transcript.limit:
            self.stdout += data[: self.transcript.limit - len(self.stdout)]
        self.output_tail = (self.output_tail + data)[-_TAIL_BYTES:]
        self.transcript.out(data)

    def _take_stderr(self, data: bytes) -> None:
        self.stderr_tail = (self.stderr_tail + data)[-4096:]
        self.output_tail = (self.output_tail + data)[-_TAIL_BYTES:]
        self.transcript.err(data)

    def _ask_to_stop(self) -> None:
        try:
            os.write(self.stdin, b"!")
        except BrokenPipeError:
            pass  # it has just ended

    def _kill_all(self) -> None:
        """Kill the remaining processes of a command whose supervisor no longer works."""
        self.is_late = True
        pid = int(self.report.partition(b"\n")[0] or self.parent_pid)
        for target in [pid, *[process.pid for process in processes.descendants(pid)]]:
            processes.send_signal(target, KILL)


def _widen(handle: int) -> None:
    """Increase the capacity of a pipe if possible."""
    import fcntl

    if sys.platform == "linux":
        try:
            fcntl.fcntl(handle, _PIPE, _CHUNK)
        except OSError:
            pass
