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

PLANS_PER_PROCESS = 40
"""Plans from which on a process of their own pays: it takes some milliseconds, a plan takes one."""
_MAX_PROCESSES = 16
_SIGKILL = 9
"""SIGKILL; the module signal takes five milliseconds to import."""


def process_count(plan_count: int) -> int:
    """How many processes so many plans are spread over."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, min(cores, _MAX_PROCESSES, plan_count // PLANS_PER_PROCESS))


def run_in_processes(task: Callable[[int], Any], count: int, workers: int, tick: Callable[[int], None]) -> list[Any]:
    """What the work gives for each number below a count, in order; its results are of what marshal can write.

    This process does a part of it, and a part in which the work failed elsewhere, so that it fails here as it would
    without the others. Raises ExecplanError when a process was ended from outside.
    """
    outcomes: list[Any] = [None] * count
    children: dict[int, tuple[int, int]] = {}
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        for worker in range(1, workers):
            _start_worker(task, range(worker, count, workers), worker, children)
        for index in range(0, count, workers):
            outcomes[index] = task(index)
            tick(min(index + workers, count))
        for pid, (worker, pipe) in list(children.items()):
            with open(pipe, "rb", closefd=False) as file:
                data = file.read()
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            del children[pid]
            os.close(pipe)
            indexes = range(worker, count, workers)
            if status < 0:
                raise _worker_died_error(-status, len(indexes))
            if status:
                outcomes[worker::workers] = [task(index) for index in indexes]
            else:
                outcomes[worker::workers] = marshal.loads(data)  # noqa: S302 (from a copy of this process)
    finally:
        _kill_workers(children)
    return outcomes


def _start_worker(
    task: Callable[[int], Any], indexes: range, worker: int, children: dict[int, tuple[int, int]]
) -> None:
    """Start a process that does a part; signals wait until it is known."""
    import signal

    stop_signals = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals)
    try:
        reader, writer = os.pipe()
        parent = os.getpid()
        pid = os.fork()
        if pid:
            children[pid] = worker, reader
            os.close(writer)
            return
        status = 1
        try:
            os.close(reader)
            for stop_signal in stop_signals:
                signal.signal(stop_signal, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, stop_signals)
            status = _run_worker(task, indexes, writer, parent)
        finally:
            os._exit(status)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, stop_signals)


def _run_worker(task: Callable[[int], Any], indexes: range, writer: int, parent: int) -> int:
    """Do a part and write its results; the exit status. Ends when the process that started it has ended."""
    outcomes = []
    for index in indexes:
        if os.getppid() != parent:
            return 1
        outcomes.append(task(index))
    with open(writer, "wb") as file:
        file.write(marshal.dumps(outcomes))
    return 0


def _kill_workers(children: dict[int, tuple[int, int]]) -> None:
    """End the processes that are still at work."""
    for pid, (_, pipe) in children.items():
        try:
            os.close(pipe)
            os.kill(pid, _SIGKILL)
            os.waitpid(pid, 0)
        except OSError:
            pass  # it ended at the same moment


def _worker_died_error(signal_number: int, plan_count: int) -> ExecplanError:
    return ExecplanError(
        "worker-died",
        f"a process that checked {plan_count} plans was ended by signal {signal_number}, so nothing is known of them",
        exit=ENVIRONMENT,
        hint="run it again; signal 9 often says that memory ran out",
    )
