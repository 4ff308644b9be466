"""Work spread over processes: each is a copy of this one, so that what was read and made so far is there."""

from __future__ import annotations

import marshal
import os
import sys

from execplan.errors import ENVIRONMENT, ExecplanError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SHARE = 40
"""Plans from which on a process of their own pays: it takes some milliseconds, a plan takes one."""
_MOST = 16
_KILL = 9
"""SIGKILL; the module signal takes five milliseconds to import."""


def processes(count: int) -> int:
    """How many processes so many plans are spread over."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, min(cores, _MOST, count // SHARE))


def spread(work: Callable[[int], Any], count: int, among: int, tick: Callable[[int], None]) -> list[Any]:
    """What the work gives for each number below a count, in order; its results are of what marshal can write.

    This process does a part of it, and a part in which the work failed elsewhere, so that it fails here as it would
    without the others. Raises ExecplanError when a process was ended from outside.
    """
    results: list[Any] = [None] * count
    children: dict[int, tuple[int, int]] = {}
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        for part in range(1, among):
            _start(work, range(part, count, among), part, children)
        for at in range(0, count, among):
            results[at] = work(at)
            tick(min(at + among, count))
        for process, (part, pipe) in list(children.items()):
            with open(pipe, "rb", closefd=False) as file:
                data = file.read()
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            del children[process]
            os.close(pipe)
            mine = range(part, count, among)
            if status < 0:
                raise _died(-status, len(mine))
            if status:
                results[part::among] = [work(at) for at in mine]
            else:
                results[part::among] = marshal.loads(data)  # noqa: S302 (from a copy of this process)
    finally:
        _end(children)
    return results


def _start(work: Callable[[int], Any], part: range, number: int, children: dict[int, tuple[int, int]]) -> None:
    """Start a process that does a part; signals wait until it is known."""
    import signal

    stops = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    try:
        reader, writer = os.pipe()
        parent = os.getpid()
        process = os.fork()
        if process:
            children[process] = number, reader
            os.close(writer)
            return
        status = 1
        try:
            os.close(reader)
            for stop in stops:
                signal.signal(stop, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, stops)
            status = _do(work, part, writer, parent)
        finally:
            os._exit(status)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, stops)


def _do(work: Callable[[int], Any], part: range, writer: int, parent: int) -> int:
    """Do a part and write its results; the exit status. Ends when the process that started it has ended."""
    results = []
    for at in part:
        if os.getppid() != parent:
            return 1
        results.append(work(at))
    with open(writer, "wb") as file:
        file.write(marshal.dumps(results))
    return 0


def _end(children: dict[int, tuple[int, int]]) -> None:
    """End the processes that are still at work."""
    for process, (_, pipe) in children.items():
        try:
            os.close(pipe)
            os.kill(process, _KILL)
            os.waitpid(process, 0)
        except OSError:
            pass  # it ended at the same moment


def _died(number: int, plans: int) -> ExecplanError:
    return ExecplanError(
        "worker-died",
        f"a process that checked {plans} plans was ended by signal {number}, so nothing is known of them",
        exit=ENVIRONMENT,
        hint="run it again; signal 9 often says that memory ran out",
    )
