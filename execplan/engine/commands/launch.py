"""A command run to its end under its supervisor, what it prints taken as it comes."""

from __future__ import annotations

import marshal
import os
import selectors
import subprocess
import sys
from time import monotonic

from execplan.engine.commands import processes
from execplan.engine.commands.starting import FILE_SIZE, KILL
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from execplan.engine.commands.sandbox import Sandbox
    from execplan.engine.commands.stop import Stop
    from execplan.engine.commands.transcript import Transcript

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
"""The folder of execplan itself."""
_BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from execplan.engine.commands.{} import main; main()"
_CHUNK = 1 << 20
_PIPE = 1031
"""F_SETPIPE_SZ of Linux: what is printed much is read in larger parts."""
_LATE = 20.0
"""Seconds behind its time at which a command's supervisor is given up: it was stopped or killed itself."""
_TOO_LARGE = b"File too large"
"""What a program prints that catches the signal for a file beyond the limit, and fails."""


class Limits(NamedTuple):
    """What a command may take."""

    seconds: float
    memory_mb: int
    """Of all its processes together."""
    processes: int
    file_mb: int
    """Of each file."""


class Order(NamedTuple):
    """A command and how it is run."""

    argv: tuple[str, ...]
    cwd: str
    """Absolute."""
    env: dict[str, str]
    """All that it gets."""
    network: bool
    """Of consequence only in a sandbox."""
    limits: Limits
    marks: str
    """The path of its marks, without what follows the last dot."""


class Ended(NamedTuple):
    """How a command ended."""

    exit: int | None
    """None where a signal ended it."""
    signal: int | None
    cause: str
    """Why it did not end by itself: timeout, limit or interrupted; error where it could not be started."""
    reason: str
    seconds: float
    cpu_s: float
    """Of all its processes that were waited for."""
    peak_memory_bytes: int
    """The most that all its processes held at once, as far as that was seen, and at least what the largest did; never
    less than what starting it takes, some 10 MB."""
    stdout: bytes
    stdout_sha256: str
    """Of all of it."""
    whole: bool
    """Whether `stdout` is all that was printed to it."""


def python(module: str, root: str = os.path.dirname(PACKAGE)) -> list[str]:
    """The command that runs the `main` of a module beside this one, quickly."""
    quick = ["-B"] if sys.dont_write_bytecode else []
    return [os.path.realpath(sys.executable), "-I", "-S", "-E", *quick, "-c", _BOOT.format(module), root]


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
        env={
            name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ
        },  # it may need that to start
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
        told = _read(self.report) if self.report else {}
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
        ended = Ended(**told, stdout=bytes(self.stdout), stdout_sha256=self.digest.hexdigest(), whole=whole)
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
        self.transcript.out(data)

    def _err(self, data: bytes) -> None:
        self.last_words = (self.last_words + data)[-4096:]
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


def words_of(ended: Ended) -> str:
    """How a command ended, in a line."""
    how = f"exit {ended.exit}" if ended.exit is not None else f"signal {ended.signal}" if ended.signal else "not run"
    why = f", {ended.cause}: {ended.reason}" if ended.cause else ""
    return f"{how}{why}, after {ended.seconds:.1f} s"


def marked(marks: str) -> str | Ended:
    """How a command of which only the marks are left ended: `never` begun, `begun`, or how; what it printed is not known.

    Raises ExecplanError.
    """
    from execplan.text import disk

    if not os.path.lexists(f"{marks}.ended"):
        return "begun" if os.path.lexists(f"{marks}.begun") else "never"
    data = disk.read(f"{marks}.ended", 1 << 16)[0]
    try:
        told = _read(data)
        told.pop("left")
        return Ended(**told, stdout=b"", stdout_sha256="", whole=False)
    except (ValueError, KeyError, TypeError, SyntaxError, AttributeError, RecursionError):
        what = f"{marks}.ended is no mark of a command: somebody else has written there"
        raise ExecplanError(
            "journal-altered", what, exit=ENVIRONMENT, hint="bring it back as it was, or remove it"
        ) from None


def _read(data: bytes) -> dict[str, Any]:
    """What a supervisor has told; raises ValueError, SyntaxError for what none tells."""
    from ast import literal_eval

    told: dict[str, Any] = literal_eval(data.decode("ascii"))
    return told


def _widen(handle: int) -> None:
    """Let a pipe hold more, where that can be had."""
    import fcntl

    if sys.platform == "linux":
        try:
            fcntl.fcntl(handle, _PIPE, _CHUNK)
        except OSError:
            pass
