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
from execplan.engine.commands.starting import FILE_SIZE, KILL, LINUX, TERM, failed, not_started, prepare, start

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
_SOON = 0.004
"""Seconds in which a process that was sent a signal may be gone."""
_PAUSE, _LONGER, _LONGEST = 0.005, 0.05, 1.0
"""Seconds between two looks at a program: at first, in the end, and where each look takes a process."""


def main() -> None:
    """Take an order, carry it out, tell how it ended."""
    report = int(sys.argv[1])
    os.set_inheritable(report, False)
    prepare()
    told = _Watched(_order()).carry_out()
    os.write(report, ascii(told).encode())  # to import json takes as long as to start Python


def _order() -> dict[str, Any]:
    size = int.from_bytes(_exactly(8), "big")
    order: dict[str, Any] = marshal.loads(_exactly(size))  # noqa: S302 - from the process that started this one
    return order


def _exactly(size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            os._exit(1)  # execplan died before it had said anything
        data += more
    return data


class _Watched:
    """A command and what is known of it."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.order = order
        self.wrap: list[bytes] = order["wrap"]
        """What the sandbox is made with; nothing without one."""
        self.child = 0
        self.status: int | None = None
        self.last_end = 0.0
        """When the last one of its processes was seen to have ended."""
        self.cause = self.reason = ""
        self.died = False
        """Whether execplan has died."""
        self.peak = 0
        self.left: list[str] = []
        self.report = -1
        """Where the one inside the sandbox tells how it ended."""
        self.inside: dict[str, Any] = {}

    def carry_out(self) -> dict[str, Any]:
        """Run the command to its end; what is to be told of it."""
        begun = time.monotonic()
        try:
            self._mark("begun", b"{'pid': %d}" % os.getpid())
            told = self._start()
        except OSError as error:
            told = failed(None, f"it could not be begun: {error}")
        if not told:
            self._watch(begun + self.order["seconds"])
            self._end()
            told = self._told()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        peak = self.inside.get("peak", used.ru_maxrss * (1024 if LINUX else 1))
        cpu = self.inside.get("cpu", used.ru_utime + used.ru_stime)
        seconds = time.monotonic() - begun
        told.update(seconds=seconds, cpu_s=cpu, peak_memory_bytes=max(peak, self.peak), left=self.left)
        if not self.died:  # of what was killed with execplan nobody knows how far it came
            try:
                self._mark("ended", ascii(told).encode())
            except OSError:
                pass  # then this is only known while execplan lives
        return told

    def _mark(self, kind: str, data: bytes) -> None:
        """Write a mark that is whole and on disk, or not there; raises OSError."""
        base: str = self.order["marks"]
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

    def _start(self) -> dict[str, Any]:
        """Start the program, or the sandbox with it; what is to be told if it could not be started."""
        if not self.wrap:
            self.child, error = start(self.order)
            return not_started(self.order, error) if error else {}
        handle = os.memfd_create("order", 0)  # without the flag that would close it
        os.write(handle, marshal.dumps(self.order))
        os.lseek(handle, 0, os.SEEK_SET)
        self.report, theirs = os.pipe()
        os.set_inheritable(theirs, True)
        argv = [*self.wrap, b"%d" % handle, b"%d" % theirs]
        wrapped = {"argv": argv, "env": dict(os.environb), "cwd": b"/"}
        self.child, error = start(wrapped)
        os.close(theirs)
        os.close(handle)
        return not_started(wrapped, error) if error else {}

    def _watch(self, deadline: float) -> None:
        """Wait until the program has ended, or has to."""
        poll = select.poll()
        poll.register(0, select.POLLIN)
        if LINUX:
            try:
                poll.register(os.pidfd_open(self.child), select.POLLIN)
            except OSError:
                pass  # before Linux 5.3 its end is seen at the next look
        pause, longest = _PAUSE, _LONGER if processes.walks() else _LONGEST
        while not self.cause:
            left = deadline - time.monotonic()
            ready = [handle for handle, _ in poll.poll(1000 * max(min(pause, left), 0))]
            pause = min(pause * 1.5, longest)
            if 0 in ready:
                self.died = not os.read(0, 1)
                self.cause, self.reason = "interrupted", "execplan died" if self.died else "it was stopped"
            elif processes.reaped(self._see) or self.status is not None:
                return
            elif left <= 0:
                self.cause, self.reason = "timeout", f"it took longer than {self.order['seconds']:g} s"
            else:
                self._look()

    def _look(self) -> None:
        """See whether it keeps to its limits."""
        found = processes.family(self._root(), self.order["processes"] + 1)
        memory = sum([each.rss for each in found])
        if memory > self.order["memory"]:  # what is shared was counted for each
            memory = sum([processes.held(each) for each in found])
        self.peak = max(self.peak, memory)
        if memory > self.order["memory"]:
            self.cause, self.reason = "limit", f"more than {self.order['memory'] >> 20} MB of memory"
        elif len(found) > self.order["processes"]:
            self.cause, self.reason = "limit", f"more than {self.order['processes']} processes"

    def _root(self) -> int:
        """The process above those of the step; 0 for none."""
        if not self.wrap:
            return os.getpid()
        return next(iter(processes.children(self.child)), 0)

    def _see(self, pid: int, status: int) -> None:
        self.last_end = time.monotonic()
        if pid == self.child:
            self.status = status

    def _end(self) -> None:
        """End all that is left: asked first, unless it is to be gone at once."""
        self.last_end = time.monotonic()
        left = processes.family(os.getpid(), 100)
        if not self.cause:
            self.left = [each.name for each in left]
        stopped = self.cause in ("timeout", "interrupted") and not self.died
        if stopped or not self.cause:
            self._ask(GRACE if stopped else BRIEF)
        if not LINUX:  # what has lost its parent is nobody's child here
            processes.send(-self.child, KILL)
        while not processes.all_gone(self._see, _SOON):
            self._kill()
            if time.monotonic() > self.last_end + PATIENCE:
                self.reason += f"; {len(processes.family(os.getpid()))} of its processes can't be killed"
                return

    def _ask(self, seconds: float) -> None:
        """Ask all that is there to end, and what comes meanwhile, and wait so long."""
        until = time.monotonic() + seconds
        asked: set[int] = set()
        while not processes.all_gone(self._see, _SOON) and time.monotonic() < until:
            found = {each.pid for each in processes.family(self._root())}
            for pid in found - asked:
                processes.send(pid, TERM)
            asked |= found
            if not found:
                return

    def _kill(self) -> None:
        """Kill all below: of a sandbox its first process takes all with it, else nothing may fork meanwhile."""
        if self.wrap:
            processes.send(self._root() or self.child, KILL)
            processes.send(self.child, KILL)
        processes.kill_all(os.getpid())

    def _told(self) -> dict[str, Any]:
        """How it ended."""
        status = self.status
        if self.wrap:
            os.set_blocking(self.report, False)
            data = os.read(self.report, 1 << 20)
            self.inside = marshal.loads(data) if data else {}  # noqa: S302 - from what this one has started
            if "failed" in self.inside:
                return not_started(self.order, self.inside["failed"])
            if not self.cause and "status" not in self.inside:
                return failed(None, "the sandbox could not be made")
            self.left = self.inside.get("left", self.left)
            status = self.inside.get("status", KILL)
        code = os.waitstatus_to_exitcode(KILL if status is None else status)
        if code == -FILE_SIZE and not self.cause:
            self.cause, self.reason = "limit", f"a file of more than {self.order['file'] >> 20} MB"
        told = {"exit": code, "signal": None} if code >= 0 else {"exit": None, "signal": -code}
        return {**told, "cause": self.cause, "reason": self.reason}
