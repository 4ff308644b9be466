"""Running a command under strace: every system call that it makes, and a kill or an error at exactly one of them."""

from __future__ import annotations

import re
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

CHANGES = frozenset(
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
        writes = self.name in CHANGES or (self.name.startswith("open") and _WRITES.search(self.line) is not None)
        return self.inside and writes

    @property
    def shown(self) -> str:
        """Which call of all, and which of its name."""
        return f"call {self.number}, {self.name} {self.nth}"


class Ran(NamedTuple):
    """How a command ended."""

    exit: int
    """Negative: the signal that killed it."""
    out: str
    err: str


def trace(command: list[str], cwd: Path, env: dict[str, str], log: Path, watched: Path) -> list[Call]:
    """Run a command undisturbed; its system calls, without those of the processes that it starts."""
    ran = _run(["strace", "-qq", "-y", "-s", "0", "-e", "signal=none", "-o", str(log), *command], cwd, env)
    assert ran.exit >= 0, ran
    calls: list[Call] = []
    counts = Counter[str]()
    for line in log.read_text("utf-8", "replace").splitlines():
        found = _NAME.match(line)
        if found:
            name = found.group(1)
            counts[name] += 1
            calls.append(Call(len(calls) + 1, name, counts[name], line, _inside(line, watched)))
    return calls


def _inside(line: str, watched: Path) -> bool:
    asked = line.rpartition(" = ")[0]  # what comes of it is not there when it is killed or fails
    return f'"{watched}/.' in asked or f"<{watched}/." in asked


def kill(call: Call, command: list[str], cwd: Path, env: dict[str, str], log: Path) -> Ran | None:
    """Run a command that is killed as it enters the call, which is not made; None when it did not come to that."""
    # strace counts each name for itself, also with `inject=all`; so a point is a name and a number. And it must not
    # follow children: each has a count of its own. With --seccomp-bpf strace 6.1 loses the signal.
    ran = _run(_injecting(call, "signal=KILL", log) + command, cwd, env)
    *entered, end = log.read_text("utf-8", "replace").splitlines() or [""]
    entered = [line for line in entered if line.startswith(f"{call.name}(")]
    hit = ran.exit == -signal.SIGKILL and end == "+++ killed by SIGKILL +++"
    there = hit and len(entered) == call.nth and _inside(entered[-1], cwd) == call.inside
    return ran if there else None


def fail(call: Call, error: str, command: list[str], cwd: Path, env: dict[str, str], log: Path) -> Ran | None:
    """Run a command in which the call fails with an error, such as ENOSPC; None when it did not come to that."""
    ran = _run(_injecting(call, f"error={error}", log) + command, cwd, env)
    failed = [line for line in log.read_text("utf-8", "replace").splitlines() if line.endswith("(INJECTED)")]
    return ran if len(failed) == 1 and _inside(failed[0], cwd) == call.inside else None


def _injecting(call: Call, what: str, log: Path) -> list[str]:
    where = ["-e", f"trace={call.name}", "-e", f"inject={call.name}:{what}:when={call.nth}"]
    return ["strace", "-y", "-o", str(log), "-s", "0", *where]


def _run(command: list[str], cwd: Path, env: dict[str, str]) -> Ran:
    done = subprocess.run(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
    )
    return Ran(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
