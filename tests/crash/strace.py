"""Running a command under strace: every system call that it makes, and a kill or an error at exactly one of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests import fork_server

CHANGING_CALLS = frozenset(
    """
    chmod copy_file_range creat fallocate fchmod fchmodat fchmodat2 fchown fdatasync flock fsetxattr fsync ftruncate
    link linkat mkdir mkdirat pwrite64 pwritev rename renameat renameat2 rmdir sendfile symlink symlinkat truncate
    unlink unlinkat utimensat write writev
    """.split()
)
"""Calls that change what is on disk, or wait for it; so do those of `open` that may create or write."""

_NAME = re.compile(r"([a-z]\w*)\(")
_WRITES = re.compile(r"O_(?:CREAT|WRONLY|RDWR|TRUNC|TMPFILE)")
_SECONDS = 120


class Call(NamedTuple):
    """A system call of a command."""

    number: int
    """Counted from 1, over all calls of the command."""
    name: str
    nth: int
    """Counted from 1, over the calls of this name: what strace counts."""
    line: str
    inside: bool
    """Whether it names something in the folder that is watched."""

    @property
    def changes(self) -> bool:
        """Whether it may change what is in the folder, or waits for that."""
        writes = self.name in CHANGING_CALLS or (self.name.startswith("open") and _WRITES.search(self.line) is not None)
        return self.inside and writes

    @property
    def position(self) -> str:
        """Which call of all, and which of its name."""
        return f"call {self.number}, {self.name} {self.nth}"


class TracedResult(NamedTuple):
    """How a command ended."""

    exit: int
    """Negative: the signal that killed it."""
    out: str
    err: str


def trace(command: tuple[str, ...], cwd: Path, env: dict[str, str], log: Path, watched: Path) -> list[Call]:
    """Run a command undisturbed; its system calls, without those of the processes that it starts."""
    result = _run(["-o", str(log)], command, cwd, env)
    assert result.exit >= 0, result
    calls: list[Call] = []
    counts = Counter[str]()
    for line in log.read_text("utf-8", "replace").splitlines():
        match = _NAME.match(line)
        if match:
            name = match.group(1)
            counts[name] += 1
            calls.append(Call(len(calls) + 1, name, counts[name], line, _inside(line, watched)))
    return calls


def _inside(line: str, watched: Path) -> bool:
    call_text = line.rpartition(" = ")[0]  # what comes of it is not there when it is killed or fails
    return f'"{watched}/.' in call_text or f"<{watched}/." in call_text


def kill(call: Call, command: tuple[str, ...], cwd: Path, env: dict[str, str], log: Path) -> TracedResult | None:
    """Run a command that is killed as it enters the call, which is not made; None when it did not come to that."""
    # strace counts each name for itself, also with `inject=all`; so a point is a name and a number. And it must not
    # follow children: each has a count of its own. With --seccomp-bpf strace 6.1 loses the signal.
    result = _run(_injection_options(call, "signal=KILL", log), command, cwd, env)
    *entered, end = log.read_text("utf-8", "replace").splitlines() or [""]
    entered = [line for line in entered if line.startswith(f"{call.name}(")]
    hit = result.exit == -signal.SIGKILL and end == "+++ killed by SIGKILL +++"
    is_expected = hit and len(entered) == call.nth and _inside(entered[-1], cwd) == call.inside
    return result if is_expected else None


def fail(
    call: Call, error: str, command: tuple[str, ...], cwd: Path, env: dict[str, str], log: Path
) -> TracedResult | None:
    """Run a command in which the call fails with an error, such as ENOSPC; None when it did not come to that."""
    result = _run(_injection_options(call, f"error={error}", log), command, cwd, env)
    failed = [line for line in log.read_text("utf-8", "replace").splitlines() if line.endswith("(INJECTED)")]
    return result if len(failed) == 1 and _inside(failed[0], cwd) == call.inside else None


def _injection_options(call: Call, effect: str, log: Path) -> list[str]:
    return ["-e", f"trace={call.name}", "-e", f"inject={call.name}:{effect}:when={call.nth}", "-o", str(log)]


def _run(options: list[str], command: tuple[str, ...], cwd: Path, env: dict[str, str]) -> TracedResult:
    """Run execplan, traced from where Python has started: forked, and held until strace has come to it."""
    tracers: list[subprocess.Popen[bytes]] = []

    def attach(pid: int) -> None:
        stat_file = Path(f"/proc/{pid}/stat")
        while b") T " not in stat_file.read_bytes():
            time.sleep(0.0005)
        tracers.append(subprocess.Popen(["strace", "-y", "-s", "0", *options, "-p", str(pid)], stderr=subprocess.PIPE))
        assert tracers[0].stderr is not None
        message = tracers[0].stderr.readline()
        os.kill(pid, signal.SIGCONT if b"attached" in message else signal.SIGKILL)
        assert b"attached" in message, message

    try:
        status, out, err = fork_server.run(command, cwd, {**env, fork_server.STOP: "1"}, b"", attach)
        tracers[0].communicate(timeout=_SECONDS)
    finally:
        for tracer in tracers:
            with tracer:
                tracer.kill()
    return TracedResult(status, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))
