"""The supervisor of one command: a separate process, so that nothing outlives its step, its limits or execplan.

Its parent forks it (supervisor_fork.py). Its standard input is a pipe from execplan: first the specification, then
nothing. A byte asks it to stop; the end of the pipe means that execplan has died. In a sandbox,
sandbox_init.py is the first process inside and starts the program; the supervisor stays outside, writes the marker
files and checks the limits.
"""

from __future__ import annotations

import marshal
import os
import resource
import select
import time

from execplan.execution.engine.commands import processes
from execplan.execution.engine.commands.process_start import (
    FILE_SIZE,
    KILL,
    LINUX,
    TERM,
    become_subreaper,
    failure_report,
    start_failure_report,
    start_program,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL for a stopped command."""
BRIEF = 0.5
"""Seconds between SIGTERM and SIGKILL for processes that an ended program leaves."""
PATIENCE = 10.0
"""Seconds without any process ending after which the remaining ones are abandoned: they belong to another user or wait
for a disk.
"""
_REAP_TIMEOUT = 0.004
"""Seconds in which a process may end after a signal."""
_CLOCK_TICK = 0.02
"""Seconds after which the times of files differ for sure: the clock for them has up to ten milliseconds."""
_FIRST_PAUSE, _LONGEST_PAUSE, _LONGEST_PS_PAUSE = 0.005, 0.05, 1.0
"""Seconds between two checks of a program: at first, at most, and at most if each check starts `ps`."""


def supervise(report_handle: int, network: Sequence[int]) -> None:
    """Read a specification, run the command in a network, and report the ID of this process, then the result."""
    os.write(report_handle, b"%d\n" % os.getpid())
    become_subreaper()
    report = _SupervisedCommand({**_read_spec(), "network": tuple(network)}).run()
    os.write(report_handle, ascii(report).encode())  # importing json takes as long as starting Python


def _read_spec() -> dict[str, Any]:
    size = int.from_bytes(_read_exactly(8), "big")
    spec: dict[str, Any] = marshal.loads(_read_exactly(size))  # noqa: S302 - from the process that started this one
    return spec


def _read_exactly(size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = os.read(0, size - len(data))
        if not chunk:
            os._exit(1)  # execplan died before it sent anything
        data += chunk
    return data


class _SupervisedCommand:
    """A command under supervision, with its state."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.wrap: list[bytes] = spec["wrap"]
        """Command line of the sandbox; empty without a sandbox."""
        self.child = 0
        self.status: int | None = None
        self.last_exit_at = 0.0
        """Time when the last end of one of its processes was seen."""
        self.cause = self.reason = ""
        self.execplan_died = False
        """Whether execplan has died."""
        self.peak = 0
        self.leftovers: list[str] = []
        self.report_handle = -1
        """File descriptor for the report of the sandbox's first process."""
        self.sandbox_report: dict[str, Any] = {}

    def run(self) -> dict[str, Any]:
        """Run the command to its end and return the report."""
        started_at = time.monotonic()
        try:
            self._write_mark("begun", b"{'pid': %d}" % os.getpid())
            report = self._start_command()
        except OSError as error:
            report = failure_report(None, f"it could not be started: {os.strerror(error.errno or 0).lower()}")
        if not report:
            self._wait_for_end(started_at + self.spec["seconds"])
            self._end_processes()
            report = self._build_report()
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        peak = self.sandbox_report.get("peak", usage.ru_maxrss * (1024 if LINUX else 1))
        cpu = self.sandbox_report.get("cpu", usage.ru_utime + usage.ru_stime)
        seconds = time.monotonic() - started_at
        report.update(seconds=seconds, cpu_s=cpu, peak_memory_bytes=max(peak, self.peak), left=self.leftovers)
        if self.execplan_died:
            time.sleep(_CLOCK_TICK)  # what is written after the mark then has a later time than all that came before
        try:  # if execplan was killed, the progress of the command is unknown, and only the time of its end is known
            self._write_mark("stopped" if self.execplan_died else "ended", ascii(report).encode())
        except OSError:
            pass  # then the result is known only while execplan lives
        return report

    def _write_mark(self, kind: str, data: bytes) -> None:
        """Write a marker file, completely or not at all. Raises OSError.

        It is not synced: once the machine has stopped, a missing marker means nothing.
        """
        base: str = self.spec["marks"]
        for other_kind in ("ended", "stopped") if kind == "begun" else ():
            if os.path.lexists(f"{base}.{other_kind}"):
                os.unlink(f"{base}.{other_kind}")
        handle = os.open(f"{base}.tmp", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
        try:
            os.write(handle, data)
        finally:
            os.close(handle)
        os.rename(f"{base}.tmp", f"{base}.{kind}")

    def _start_command(self) -> dict[str, Any]:
        """Start the program or its sandbox; return the report if it could not be started."""
        if not self.wrap:
            self.child, error = start_program(self.spec)
            return start_failure_report(self.spec, error) if error else {}
        spec_handle = os.memfd_create("order", 0)  # without the close-on-exec flag
        os.write(spec_handle, marshal.dumps({**self.spec, "network": ()}))
        os.lseek(spec_handle, 0, os.SEEK_SET)
        self.report_handle, write_end = os.pipe()
        os.set_inheritable(write_end, True)
        argv = [*self.wrap, b"%d" % spec_handle, b"%d" % write_end]
        wrapped = {"argv": argv, "env": dict(os.environb), "cwd": b"/", "network": self.spec["network"]}
        self.child, error = start_program(wrapped)
        os.close(write_end)
        os.close(spec_handle)
        return start_failure_report(wrapped, error) if error else {}

    def _wait_for_end(self, deadline: float) -> None:
        """Wait until the program has ended or must be stopped."""
        poll = select.poll()
        poll.register(0, select.POLLIN)
        if LINUX:
            try:
                poll.register(os.pidfd_open(self.child), select.POLLIN)
            except OSError:
                pass  # before Linux 5.3, the next check sees its end
        pause, longest_pause = _FIRST_PAUSE, _LONGEST_PAUSE if processes.has_children_files() else _LONGEST_PS_PAUSE
        while not self.cause:
            remaining = deadline - time.monotonic()
            ready_handles = [handle for handle, _ in poll.poll(1000 * max(min(pause, remaining), 0))]
            pause = min(pause * 1.5, longest_pause)
            if 0 in ready_handles:
                self.execplan_died = not os.read(0, 1)
                self.cause, self.reason = "interrupted", "execplan died" if self.execplan_died else "it was stopped"
            elif processes.reap_children(self._record_exit) or self.status is not None:
                return
            elif remaining <= 0:
                self.cause, self.reason = "timeout", f"it took longer than {self.spec['seconds']:g} s"
            else:
                self._check_limits()

    def _check_limits(self) -> None:
        """Check the memory and process limits of the command."""
        running = processes.descendants(self._root_pid(), self.spec["processes"] + 1)
        memory = sum([process.rss for process in running])
        if memory > self.spec["memory"]:  # shared memory was counted for each process
            memory = sum([processes.proportional_memory(process) for process in running])
        self.peak = max(self.peak, memory)
        if memory > self.spec["memory"]:
            self.cause, self.reason = "limit", f"more than {self.spec['memory'] >> 20} MB of memory"
        elif len(running) > self.spec["processes"]:
            self.cause, self.reason = "limit", f"more than {self.spec['processes']} processes"

    def _root_pid(self) -> int:
        """Return the parent of the step's processes; 0 if there is none."""
        if not self.wrap:
            return os.getpid()
        return next(iter(processes.child_pids(self.child)), 0)

    def _record_exit(self, pid: int, status: int) -> None:
        self.last_exit_at = time.monotonic()
        if pid == self.child:
            self.status = status

    def _end_processes(self) -> None:
        """End all remaining processes: with a request first, unless they must end immediately."""
        self.last_exit_at = time.monotonic()
        remaining = processes.descendants(os.getpid(), 100)
        if not self.cause:
            self.leftovers = [process.name for process in remaining]
        was_stopped = self.cause in ("timeout", "interrupted") and not self.execplan_died
        if was_stopped or not self.cause:
            self._request_exit(GRACE if was_stopped else BRIEF)
        if not LINUX:  # orphaned processes are not children of this one
            processes.send_signal(-self.child, KILL)
        while not processes.wait_for_children(self._record_exit, _REAP_TIMEOUT):
            self._kill_processes()
            if time.monotonic() > self.last_exit_at + PATIENCE:
                self.reason += f"; {len(processes.descendants(os.getpid()))} of its processes can't be killed"
                return

    def _request_exit(self, seconds: float) -> None:
        """Ask all processes to end, new ones included, and wait up to `seconds`.

        Parents come first: a shell whose child ends before it would report the signal as its own exit status.
        """
        deadline = time.monotonic() + seconds
        signaled: set[int] = set()
        while not processes.wait_for_children(self._record_exit, _REAP_TIMEOUT) and time.monotonic() < deadline:
            running = [process.pid for process in processes.descendants(self._root_pid())]
            for pid in running:
                if pid not in signaled:
                    processes.send_signal(pid, TERM)
            signaled.update(running)
            if not running:
                return

    def _kill_processes(self) -> None:
        """Kill all descendants of the supervisor.

        The first process of a sandbox takes all others with it. Without a sandbox, no process may fork meanwhile.
        """
        if self.wrap:
            processes.send_signal(self._root_pid() or self.child, KILL)
            processes.send_signal(self.child, KILL)
        processes.kill_all(os.getpid())

    def _build_report(self) -> dict[str, Any]:
        """Return the report of the ended command."""
        status = self.status
        if self.wrap:
            os.set_blocking(self.report_handle, False)
            data = os.read(self.report_handle, 1 << 20)
            self.sandbox_report = marshal.loads(data) if data else {}  # noqa: S302 - from what this one has started
            if "failed" in self.sandbox_report:
                return start_failure_report(self.spec, self.sandbox_report["failed"])
            if not self.cause and "status" not in self.sandbox_report:
                return failure_report(None, "the sandbox could not be created")
            self.leftovers = self.sandbox_report.get("left", self.leftovers)
            status = self.sandbox_report.get("status", KILL)
        code = os.waitstatus_to_exitcode(KILL if status is None else status)
        if code == -FILE_SIZE and not self.cause:
            self.cause, self.reason = "limit", f"a file larger than {self.spec['file'] >> 20} MB"
        exit_fields = {"exit": code, "signal": None} if code >= 0 else {"exit": None, "signal": -code}
        return {**exit_fields, "cause": self.cause, "reason": self.reason}
