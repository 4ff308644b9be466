"""The descendants of a process, their memory use and how to end them; for the supervisor, or execplan if that fails."""

from __future__ import annotations

import os
import time

from execplan.core.named_tuple import NamedTuple
from execplan.execution.engine.commands.process_start import KILL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PAGE = os.sysconf("SC_PAGE_SIZE")
_PAUSE = 0.002
"""Seconds between two checks whether processes have ended."""


class Process(NamedTuple):
    """A running process with its memory use."""

    pid: int
    name: str
    rss: int
    """Resident memory in bytes, including shared memory."""


def has_children_files() -> bool:
    """Return whether the kernel lists the children of a process; otherwise `ps` is needed, which starts a process."""
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def child_pids(pid: int) -> list[int]:
    """Return the children of a process; none if it has ended."""
    pids: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", "rb", buffering=0) as file:
                pids += map(int, file.readall().split())
    except OSError:
        pass
    return pids


def descendants(pid: int, limit: int = 1 << 20) -> list[Process]:
    """Return up to `limit` running descendants of a process, without itself; none for process 0."""
    if not pid:
        return []
    if not has_children_files():
        return _descendants_by_ps(pid)
    members: list[Process] = []
    for descendant_pid in _descendant_pids(pid):
        process = _read_process(descendant_pid)
        if process is not None:
            members.append(process)
            if len(members) == limit:
                break
    return members


def kill_all(pid: int) -> None:
    """Kill all descendants of a process, each before its children are listed.

    A process that forks endlessly is as fast as this function.
    """
    for descendant in (
        _descendant_pids(pid) if has_children_files() else [descendant.pid for descendant in _descendants_by_ps(pid)]
    ):
        send_signal(descendant, KILL)


def _descendant_pids(pid: int) -> Iterator[int]:
    """Iterate over the descendants of a process; yield each one before its children are listed."""
    visited = {pid}
    pending = child_pids(pid)
    while pending:
        descendant_pid = pending.pop()
        if descendant_pid not in visited:
            visited.add(descendant_pid)
            yield descendant_pid
            pending += child_pids(descendant_pid)


def proportional_memory(process: Process) -> int:
    """Return the memory of a process in bytes, with shared memory divided among its users; slower than `rss`."""
    try:
        with open(f"/proc/{process.pid}/smaps_rollup", "rb", buffering=0) as file:
            for line in file.readall().split(b"\n"):
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) << 10
    except (OSError, ValueError):
        pass
    return process.rss


def send_signal(pid: int, signal: int) -> None:
    """Send a signal to a process, or to a group for a negative number; ignore missing processes and permissions."""
    try:
        os.kill(pid, signal)
    except (ProcessLookupError, PermissionError):
        pass


def reap_children(on_exit: Callable[[int, int], object]) -> bool:
    """Reap children that have ended and report each status; return whether no children remain."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        if not pid:
            return False
        on_exit(pid, status)


def wait_for_children(on_exit: Callable[[int, int], object], seconds: float) -> bool:
    """Wait until no children remain or the time is up; return whether none remain."""
    deadline = time.monotonic() + seconds
    while not reap_children(on_exit):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_PAUSE)
    return True


def _read_process(pid: int) -> Process | None:
    """Return a process by its ID; None if it has ended or only waits to be reaped."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            data = file.readall()
    except OSError:
        return None
    begin, end = data.find(b"(") + 1, data.rfind(b")")
    fields = data[end + 2 :].split()
    if not fields or fields[0] in (b"Z", b"X"):
        return None
    return Process(pid, data[begin:end].decode("utf-8", "replace"), int(fields[21]) * _PAGE)


def _descendants_by_ps(pid: int) -> list[Process]:
    """Return the running descendants of a process with `ps`, for systems without children files."""
    import subprocess

    children_by_parent: dict[int, list[Process]] = {}
    command = ["ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "rss=", "-o", "stat=", "-o", "comm="]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as ps:  # noqa: S603 - as it stands
        data = ps.stdout.read() if ps.stdout is not None else b""
    for line in data.decode("utf-8", "replace").splitlines():
        child_pid, parent_pid, rss, state, name = line.split(None, 4)
        if not state.startswith("Z") and int(child_pid) != ps.pid:
            children_by_parent.setdefault(int(parent_pid), []).append(
                Process(int(child_pid), os.path.basename(name), int(rss) << 10)
            )
    members = list(children_by_parent.get(pid, ()))
    for process in members:
        members += children_by_parent.get(process.pid, ())
    return members
