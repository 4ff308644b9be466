"""Parallel work in forked processes, which share everything loaded so far."""

from __future__ import annotations

import marshal
import os
import sys

from execplan.core.errors import ExecplanError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

PLANS_PER_PROCESS = 40
"""Minimum number of plans per additional process; starting one takes some milliseconds, and a plan takes one."""
_MAX_PROCESSES = 16
_SIGKILL = 9
"""Signal number of SIGKILL; importing the `signal` module takes five milliseconds."""


def process_count(plan_count: int) -> int:
    """Return the number of processes for a number of plans; one on Windows, and if other threads run, which a fork would break."""
    threading = sys.modules.get("threading")  # importing it takes milliseconds
    if threading is not None and threading.active_count() > 1:
        return 1
    if sys.platform == "win32":
        return 1
    if sys.platform == "linux":
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min(cores, _MAX_PROCESSES, plan_count // PLANS_PER_PROCESS))


def run_in_processes(task: Callable[[int], Any], count: int, workers: int, tick: Callable[[int], None]) -> list[Any]:
    """Run a task for each number below a count and return the results in order; `marshal` must be able to write them.

    This process does one part of the work. It also repeats a part that failed in a worker, so that the error is raised
    here as it would be without workers. Raises ExecplanError if a signal killed a worker.
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


def iter_parts(
    task: Callable[[int], Any], count: int, part_size: int, tick: Callable[[int], None]
) -> Iterator[list[Any]]:
    """Do what `run_in_processes` does in parts, each with its own workers, so that few results are in memory."""
    for start in range(0, count, part_size):
        yield _run_part(task, start, min(part_size, count - start), tick)


def _run_part(task: Callable[[int], Any], start: int, size: int, tick: Callable[[int], None]) -> list[Any]:
    return run_in_processes(
        lambda index: task(start + index), size, process_count(size), lambda finished: tick(start + finished)
    )


def _start_worker(
    task: Callable[[int], Any], indexes: range, worker: int, children: dict[int, tuple[int, int]]
) -> None:
    """Start a process for one part of the work, blocking signals until it is registered."""
    if sys.platform == "win32":
        raise NotImplementedError
    import signal

    stop_signals = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals)
    try:
        reader, writer = os.pipe()
        parent = os.getpid()
        if pid := os.fork():
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
    """Do one part of the work, write its results and return the exit status. Stops if the parent process has ended."""
    outcomes = []
    for index in indexes:
        if os.getppid() != parent:
            return 1
        outcomes.append(task(index))
    with open(writer, "wb") as file:
        file.write(marshal.dumps(outcomes))
    return 0


def _kill_workers(children: dict[int, tuple[int, int]]) -> None:
    """Kill the worker processes that are still running."""
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
        f"a worker process that handled {plan_count} plans was killed by signal {signal_number}; their results are lost",
        hint="run it again; signal 9 often means that memory ran out",
    )
