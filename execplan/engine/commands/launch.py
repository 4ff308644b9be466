"""A command run to its end under its supervisor, what it prints taken as it comes."""

from __future__ import annotations

import marshal
import os
import selectors
import subprocess
import sys
from time import monotonic

from execplan.engine.commands import processes
from execplan.engine.commands.ended import Ended, marked, read, words_of
from execplan.engine.commands.order import Limits, Order, python
from execplan.engine.commands.starting import FILE_SIZE, KILL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from execplan.engine.commands.sandbox import Sandbox
    from execplan.engine.commands.stop import Stop
    from execplan.engine.commands.transcript import Transcript

__all__ = ["Ended", "Limits", "Order", "launch", "marked"]
_CHUNK = 1 << 20
_PIPE = 1031
"""F_SETPIPE_SZ of Linux: what is printed much is read in larger parts."""
_NEEDED = ("LD_LIBRARY_PATH",)
"""What Python itself may need to start."""
_LATE = 20.0
"""Seconds behind its time at which a command's supervisor is given up: it was stopped or killed itself."""
_TOO_LARGE = b"File too large"
"""What a program prints that catches the signal for a file beyond the limit, and fails."""


def launch(order: Order, sandbox: Sandbox | None, transcript: Transcript, stop: Stop) -> Ended:
    """Run a command, within a sandbox if one is given; raises ExecplanError where what it prints can't be kept.

    Whatever happens, nothing that it has started is left.
    """
    ours, theirs = os.pipe()
    wrap = sandbox.argv(order) if sandbox is not None else []
    env = sandbox.environment(order.env) if sandbox is not None else order.env
    told = {
        "argv": [os.fsencode(each) for each in order.argv],
        "cwd": os.fsencode(os.path.realpath(order.cwd)),
        "env": {os.fsencode(name): os.fsencode(value) for name, value in env.items()},
        "wrap": [os.fsencode(each) for each in wrap],
        "seconds": order.limits.seconds,
        "memory": order.limits.memory_mb << 20,
        "processes": order.limits.processes,
        "file": order.limits.file_mb << 20,
        "marks": order.marks,
        "given": order.given,
    }
    supervisor = subprocess.Popen(  # noqa: S603 - our own
        [*python("supervisor"), str(theirs)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[theirs],
        bufsize=0,
        start_new_session=True,
        cwd="/",
        env={name: os.environ[name] for name in _NEEDED if name in os.environ},
    )
    os.close(theirs)
    taken = _Taken(supervisor, ours, transcript, order.limits.seconds)
    try:
        _send(supervisor, marshal.dumps(told))
        taken.follow(stop)
    finally:
        taken.close()
    return taken.ended(order)


def _send(supervisor: subprocess.Popen[bytes], data: bytes) -> None:
    assert supervisor.stdin is not None
    view = memoryview(len(data).to_bytes(8, "big") + data)
    try:
        while view:
            view = view[supervisor.stdin.write(view) :]
    except BrokenPipeError:
        pass  # that it died is told by what it does not report


_END = 16 << 10
"""Bytes of the end of the output that are kept: where test runners print their summaries."""


class _Taken:
    """What comes from a supervisor and from what it watches."""

    def __init__(
        self, supervisor: subprocess.Popen[bytes], report: int, transcript: Transcript, seconds: float
    ) -> None:
        from hashlib import sha256

        self.supervisor = supervisor
        self.transcript = transcript
        self.begun = monotonic()
        self.latest = self.begun + seconds + _LATE
        self.report = b""
        self.digest = sha256()
        self.stdout = bytearray()
        self.printed = 0
        self.last_words = b""
        """The end of what was printed to standard error."""
        self.end = b""
        """The end of what was printed to both streams."""
        self.late = False
        assert supervisor.stdout is not None
        assert supervisor.stderr is not None
        self.handles = {
            supervisor.stdout.fileno(): self._out,
            supervisor.stderr.fileno(): self._err,
            report: self._told,
        }
        self.reports = report
        for handle in self.handles:
            os.set_blocking(handle, False)
            _widen(handle)

    def follow(self, stop: Stop) -> None:
        """Take what comes until the supervisor has ended; raises ExecplanError."""
        with selectors.DefaultSelector() as selector:
            for handle, take in self.handles.items():
                selector.register(handle, selectors.EVENT_READ, take)
            selector.register(stop, selectors.EVENT_READ)
            while self.reports in selector.get_map():
                left = self.latest - monotonic()
                if left <= 0 and not self.late:
                    self._give_up()
                for key, _ in selector.select(max(left, 1.0)):
                    if key.data is None:
                        selector.unregister(stop)
                        self._ask_to_stop()
                    elif self._read(key.fd) == b"":
                        selector.unregister(key.fd)
        for handle in self.handles:  # what is still in the pipes, which one that can't be killed may hold open
            while self._read(handle):
                pass

    def close(self) -> None:
        """Let the supervisor end, which ends all else, and wait for it."""
        for stream in (self.supervisor.stdin, self.supervisor.stdout, self.supervisor.stderr):
            assert stream is not None
            stream.close()
        os.close(self.reports)
        self.supervisor.wait()

    def ended(self, order: Order) -> Ended:
        """How it ended, said in the transcript too; raises ExecplanError."""
        told: dict[str, Any] = read(self.report) if self.report else {}
        left = told.pop("left", ())
        if not told:
            told = {"exit": None, "signal": None, "cause": "error", "reason": "its supervisor was killed"}
            told.update(seconds=monotonic() - self.begun, cpu_s=0.0, peak_memory_bytes=0)
        if not told["cause"] and (told["exit"] == 128 + FILE_SIZE or (told["exit"] and _TOO_LARGE in self.last_words)):
            told.update(cause="limit", reason=f"a file of more than {order.limits.file_mb} MB")
        if left:
            names = ", ".join(sorted(set(left)))
            self.transcript.note(
                f"{len(left)} of its processes were still there when it had ended, and were ended: {names}"
            )
        whole = self.printed == len(self.stdout)
        ended = Ended(
            **told, stdout=bytes(self.stdout), stdout_sha256=self.digest.hexdigest(), whole=whole, end=self.end
        )
        self.transcript.note(words_of(ended))
        return ended

    def _read(self, handle: int) -> bytes | None:
        """Take what can be read; nothing at the end, None where there is none as yet."""
        try:
            data = os.read(handle, _CHUNK)
        except BlockingIOError:
            return None
        self.handles[handle](data)
        return data

    def _told(self, data: bytes) -> None:
        self.report += data

    def _out(self, data: bytes) -> None:
        self.printed += len(data)
        self.digest.update(data)
        if len(self.stdout) < self.transcript.limit:
            self.stdout += data[: self.transcript.limit - len(self.stdout)]
        self.end = (self.end + data)[-_END:]
        self.transcript.out(data)

    def _err(self, data: bytes) -> None:
        self.last_words = (self.last_words + data)[-4096:]
        self.end = (self.end + data)[-_END:]
        self.transcript.err(data)

    def _ask_to_stop(self) -> None:
        assert self.supervisor.stdin is not None
        try:
            self.supervisor.stdin.write(b"!")
        except BrokenPipeError:
            pass  # it has just ended

    def _give_up(self) -> None:
        """End what is left of a command whose supervisor does nothing any more."""
        self.late = True
        for each in [self.supervisor.pid, *[each.pid for each in processes.family(self.supervisor.pid)]]:
            processes.send(each, KILL)


def _widen(handle: int) -> None:
    """Let a pipe hold more, where that can be had."""
    import fcntl

    if sys.platform == "linux":
        try:
            fcntl.fcntl(handle, _PIPE, _CHUNK)
        except OSError:
            pass
