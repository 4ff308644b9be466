"""One command watched from a process of its own, so that nothing of it outlives its step, its limits or execplan.

It is started without site-packages and imports only what is needed. Its standard input is a pipe from execplan: first the
order, then nothing; a byte in it asks to stop, its end means that execplan has died. In a sandbox a second one (inner.py) is
the first process inside, which starts the program; this one stays outside, writes the marks and looks at the limits.
"""

from __future__ import annotations

import marshal
import os
import resource
import select
import sys
import time

from execplan.engine.commands import processes
from execplan.engine.commands.process_start import (
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
    from typing import Any

GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL for what is stopped."""
BRIEF = 0.5
"""The same for what a program that has ended leaves behind."""
PATIENCE = 10.0
"""Seconds without the end of any process after which those that are left are given up: another user's, or one that waits
for a disk."""
_REAP_TIMEOUT = 0.004
"""Seconds in which a process that was sent a signal may be gone."""
_FIRST_PAUSE, _LONGEST_PAUSE, _LONGEST_PS_PAUSE = 0.005, 0.05, 1.0
"""Seconds between two looks at a program: at first, in the end, and where each look takes a process."""


def main() -> None:
    """Take an order, carry it out, tell how it ended."""
    report_handle = int(sys.argv[1])
    os.set_inheritable(report_handle, False)
    become_subreaper()
    report = _SupervisedCommand(_read_spec()).run()
    os.write(report_handle, ascii(report).encode())  # to import json takes as long as to start Python


def _read_spec() -> dict[str, Any]:
    size = int.from_bytes(_read_exactly(8), "big")
    spec: dict[str, Any] = marshal.loads(_read_exactly(size))  # noqa: S302 - from the process that started this one
    return spec


def _read_exactly(size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = os.read(0, size - len(data))
        if not chunk:
            os._exit(1)  # execplan died before it had said anything
        data += chunk
    return data


class _SupervisedCommand:
    """A command and what is known of it."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.wrap: list[bytes] = spec["wrap"]
        """What the sandbox is made with; nothing without one."""
        self.child = 0
        self.status: int | None = None
        self.last_exit_at = 0.0
        """When the last one of its processes was seen to have ended."""
        self.cause = self.reason = ""
        self.execplan_died = False
        """Whether execplan has died."""
        self.peak = 0
        self.leftovers: list[str] = []
        self.report_handle = -1
        """Where the one inside the sandbox tells how it ended."""
        self.sandbox_report: dict[str, Any] = {}

    def run(self) -> dict[str, Any]:
        """Run the command to its end; what is to be told of it."""
        started_at = time.monotonic()
        try:
            self._write_mark("begun", b"{'pid': %d}" % os.getpid())
            report = self._start_command()
        except OSError as error:
            report = failure_report(None, f"it could not be begun: {error}")
        if not report:
            self._wait_for_end(started_at + self.spec["seconds"])
            self._end_processes()
            report = self._build_report()
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        peak = self.sandbox_report.get("peak", usage.ru_maxrss * (1024 if LINUX else 1))
        cpu = self.sandbox_report.get("cpu", usage.ru_utime + usage.ru_stime)
        seconds = time.monotonic() - started_at
        report.update(seconds=seconds, cpu_s=cpu, peak_memory_bytes=max(peak, self.peak), left=self.leftovers)
        if not self.execplan_died:  # of what was killed with execplan nobody knows how far it came
            try:
                self._write_mark("ended", ascii(report).encode())
            except OSError:
                pass  # then this is only known while execplan lives
        return report

    def _write_mark(self, kind: str, data: bytes) -> None:
        """Write a mark that is whole and on disk, or not there; raises OSError."""
        base: str = self.spec["marks"]
        if kind == "begun" and os.path.lexists(f"{base}.ended"):
            os.unlink(f"{base}.ended")
        handle = os.open(f"{base}.tmp", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
        try:
            os.write(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.rename(f"{base}.tmp", f"{base}.{kind}")
        folder = os.open(os.path.dirname(base), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _start_command(self) -> dict[str, Any]:
        """Start the program, or the sandbox with it; what is to be told if it could not be started."""
        if not self.wrap:
            self.child, error = start_program(self.spec)
            return start_failure_report(self.spec, error) if error else {}
        spec_handle = os.memfd_create("order", 0)  # without the flag that would close it
        os.write(spec_handle, marshal.dumps(self.spec))
        os.lseek(spec_handle, 0, os.SEEK_SET)
        self.report_handle, write_end = os.pipe()
        os.set_inheritable(write_end, True)
        argv = [*self.wrap, b"%d" % spec_handle, b"%d" % write_end]
        wrapped = {"argv": argv, "env": dict(os.environb), "cwd": b"/"}
        self.child, error = start_program(wrapped)
        os.close(write_end)
        os.close(spec_handle)
        return start_failure_report(wrapped, error) if error else {}

    def _wait_for_end(self, deadline: float) -> None:
        """Wait until the program has ended, or has to."""
        poll = select.poll()
        poll.register(0, select.POLLIN)
        if LINUX:
            try:
                poll.register(os.pidfd_open(self.child), select.POLLIN)
            except OSError:
                pass  # before Linux 5.3 its end is seen at the next look
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
        """See whether it keeps to its limits."""
        running = processes.descendants(self._root_pid(), self.spec["processes"] + 1)
        memory = sum([process.rss for process in running])
        if memory > self.spec["memory"]:  # what is shared was counted for each
            memory = sum([processes.proportional_memory(process) for process in running])
        self.peak = max(self.peak, memory)
        if memory > self.spec["memory"]:
            self.cause, self.reason = "limit", f"more than {self.spec['memory'] >> 20} MB of memory"
        elif len(running) > self.spec["processes"]:
            self.cause, self.reason = "limit", f"more than {self.spec['processes']} processes"

    def _root_pid(self) -> int:
        """The process above those of the step; 0 for none."""
        if not self.wrap:
            return os.getpid()
        return next(iter(processes.child_pids(self.child)), 0)

    def _record_exit(self, pid: int, status: int) -> None:
        self.last_exit_at = time.monotonic()
        if pid == self.child:
            self.status = status

    def _end_processes(self) -> None:
        """End all that is left: asked first, unless it is to be gone at once."""
        self.last_exit_at = time.monotonic()
        remaining = processes.descendants(os.getpid(), 100)
        if not self.cause:
            self.leftovers = [process.name for process in remaining]
        was_stopped = self.cause in ("timeout", "interrupted") and not self.execplan_died
        if was_stopped or not self.cause:
            self._request_exit(GRACE if was_stopped else BRIEF)
        if not LINUX:  # what has lost its parent is nobody's child here
            processes.send_signal(-self.child, KILL)
        while not processes.wait_for_children(self._record_exit, _REAP_TIMEOUT):
            self._kill_processes()
            if time.monotonic() > self.last_exit_at + PATIENCE:
                self.reason += f"; {len(processes.descendants(os.getpid()))} of its processes can't be killed"
                return

    def _request_exit(self, seconds: float) -> None:
        """Ask all that is there to end, and what comes meanwhile, and wait so long."""
        deadline = time.monotonic() + seconds
        signaled: set[int] = set()
        while not processes.wait_for_children(self._record_exit, _REAP_TIMEOUT) and time.monotonic() < deadline:
            running = {process.pid for process in processes.descendants(self._root_pid())}
            for pid in running - signaled:
                processes.send_signal(pid, TERM)
            signaled |= running
            if not running:
                return

    def _kill_processes(self) -> None:
        """Kill all below: of a sandbox its first process takes all with it, else nothing may fork meanwhile."""
        if self.wrap:
            processes.send_signal(self._root_pid() or self.child, KILL)
            processes.send_signal(self.child, KILL)
        processes.kill_all(os.getpid())

    def _build_report(self) -> dict[str, Any]:
        """How it ended."""
        status = self.status
        if self.wrap:
            os.set_blocking(self.report_handle, False)
            data = os.read(self.report_handle, 1 << 20)
            self.sandbox_report = marshal.loads(data) if data else {}  # noqa: S302 - from what this one has started
            if "failed" in self.sandbox_report:
                return start_failure_report(self.spec, self.sandbox_report["failed"])
            if not self.cause and "status" not in self.sandbox_report:
                return failure_report(None, "the sandbox could not be made")
            self.leftovers = self.sandbox_report.get("left", self.leftovers)
            status = self.sandbox_report.get("status", KILL)
        code = os.waitstatus_to_exitcode(KILL if status is None else status)
        if code == -FILE_SIZE and not self.cause:
            self.cause, self.reason = "limit", f"a file of more than {self.spec['file'] >> 20} MB"
        exit_fields = {"exit": code, "signal": None} if code >= 0 else {"exit": None, "signal": -code}
        return {**exit_fields, "cause": self.cause, "reason": self.reason}
