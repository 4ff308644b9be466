"""Work in several processes: in order, all of it, and nothing is left over when it is stopped."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from execplan.core import worker_processes
from execplan.core.errors import ENVIRONMENT, INTERRUPTED, ExecplanError
from execplan.core.plan.model import ParsedPlan
from execplan.core.worker_processes import PLANS_PER_PROCESS, iter_parts, process_count, run_in_processes
from execplan.linter.checking.batch_check import check_plans
from execplan.linter.checking.check_targets import resolve_target_groups
from execplan.linter.checking.plan_check import CheckOptions
from execplan.linter.rule import RULES, RuleContext, RuleMatch
from tests.conftest import Folder
from tests.plans import CLEAN


def no_tick(done: int) -> None:
    pass


@pytest.mark.parametrize("among", [1, 2, 3, 7])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 50])
def test_results_are_in_order(count: int, among: int) -> None:
    progress: list[int] = []
    big = "x" * 10_000  # more than a pipe holds
    assert run_in_processes(lambda at: (at, big), count, among, progress.append) == [(at, big) for at in range(count)]
    assert progress == sorted(progress)
    assert not progress or progress[-1] == count


@pytest.mark.parametrize("count", [0, 1, 1000, 1001, 2345])
def test_results_of_several_parts_are_in_order(count: int) -> None:
    progress: list[int] = []
    parts = list(iter_parts(lambda at: at * 2, count, 1_000, progress.append))
    assert [len(part) for part in parts[:-1]] == [1_000] * (len(parts) - 1)
    assert [result for part in parts for result in part] == [at * 2 for at in range(count)]
    assert progress == sorted(progress)
    assert not progress or progress[-1] == count


def test_a_part_starts_when_the_one_before_it_was_taken() -> None:
    progress: list[int] = []
    next(iter_parts(lambda at: at, 3_000, 1_000, progress.append))
    assert progress[-1] == 1_000
    assert_no_child()


def test_processes_are_others() -> None:
    process_ids = set(run_in_processes(lambda at: os.getpid(), 9, 3, no_tick))
    assert len(process_ids) == 3
    assert os.getpid() in process_ids


def test_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert [
        process_count(count)
        for count in (0, 1, PLANS_PER_PROCESS, 2 * PLANS_PER_PROCESS, 3 * PLANS_PER_PROCESS, 10_000)
    ] == [1, 1, 1, 2, 3, 4]
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert process_count(10_000) == 1
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert process_count(10_000) == 1
    monkeypatch.setattr(os, "cpu_count", lambda: 500)
    assert process_count(10_000) == 16


def test_what_fails_elsewhere_fails_here() -> None:
    def work(at: int) -> int:
        if at == 5:
            raise LookupError("five")
        return at

    with pytest.raises(LookupError, match="five"):
        run_in_processes(work, 8, 2, no_tick)
    assert_no_child()


def test_what_fails_only_elsewhere_is_done_here() -> None:
    own_pid = os.getpid()

    def work(at: int) -> int:
        if os.getpid() != own_pid:
            raise MemoryError
        return at

    assert run_in_processes(work, 8, 3, no_tick) == list(range(8))


def test_a_process_that_is_ended(capfd: pytest.CaptureFixture[str]) -> None:
    own_pid = os.getpid()

    def work(at: int) -> int:
        if os.getpid() != own_pid:
            os.kill(os.getpid(), signal.SIGKILL)
        return at

    with pytest.raises(ExecplanError, match="signal 9") as caught:
        run_in_processes(work, 9, 2, no_tick)
    assert (caught.value.code, caught.value.exit) == ("worker-died", ENVIRONMENT)
    assert "4 plans" in caught.value.message
    assert capfd.readouterr().err == ""
    assert_no_child()


def test_the_first_trouble_ends_the_others() -> None:
    own_pid = os.getpid()

    def work(at: int) -> int:
        if os.getpid() != own_pid:
            time.sleep(600)
        raise LookupError

    with pytest.raises(LookupError):
        run_in_processes(work, 9, 3, no_tick)
    assert_no_child()


def assert_no_child() -> None:
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_plans_in_processes(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(25):
        repo.plan(CLEAN.replace("- [ ] Build the parser.", f"- [x] Build {at}."), f"2026-01-01_plan-{at:02}")
    monkeypatch.chdir(repo.path)
    expected = check_plans(resolve_target_groups([]), CheckOptions(), use_cache=False, with_data=True)
    monkeypatch.setattr(worker_processes, "PLANS_PER_PROCESS", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert check_plans(resolve_target_groups([]), CheckOptions(), use_cache=False, with_data=True) == expected
    assert check_plans(resolve_target_groups([]), CheckOptions(), with_data=True) == expected
    assert check_plans(resolve_target_groups([]), CheckOptions(), with_data=True) == expected
    assert [result.path for result in expected] == sorted(result.path for result in expected)


def test_a_rule_that_fails_is_a_bug_wherever_it_runs(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(4):
        repo.plan(name=f"2026-01-01_plan-{at}")
    monkeypatch.chdir(repo.path)
    monkeypatch.setattr(worker_processes, "PLANS_PER_PROCESS", 1)
    monkeypatch.setattr(worker_processes, "process_count", lambda count: 2)

    def broken(plan: ParsedPlan, context: RuleContext) -> list[RuleMatch]:
        raise ZeroDivisionError

    monkeypatch.setitem(RULES, "EP101", RULES["EP101"]._replace(check=broken))
    with pytest.raises(ZeroDivisionError):
        check_plans(resolve_target_groups([]), CheckOptions())


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(pid) for pid in text.split()]


@pytest.mark.skipif(
    not Path("/proc/self/task").is_dir() or process_count(10_000) == 1, reason="takes /proc and two processors"
)
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("verb", [["lint"], ["lint", "--no-cache"]])
def test_stopped(repo: Folder, by: signal.Signals, verb: list[str]) -> None:
    plan = CLEAN + "\nA line of prose that goes on for a while, and names `src/reader.py` once more.\n" * 2000
    for at in range(400):
        repo.plan(plan, f"2026-01-01_plan-{at:03}")
    started = repo.start(*verb)
    child_pids: list[int] = []
    while not child_pids:
        assert started.poll() is None, "it was over before it could be stopped"
        child_pids = children(started.pid)
    started.send_signal(by)
    out, err = started.communicate(timeout=60)
    assert out == b""
    assert b"Traceback" not in err
    if by == signal.SIGINT:
        assert started.returncode == INTERRUPTED
        assert err.strip() == b"execplan: interrupted"
    for child in child_pids:
        while is_running(child):  # one whose parent was killed ends behind the plan that it was at
            time.sleep(0.01)
    assert not (repo.path / ".git" / "execplan").exists()


def is_running(process: int) -> bool:
    """Whether a process is there, and no zombie that nobody has asked for."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_beside_other_threads_there_is_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork copies the locks of other threads, but not the threads that would release them."""
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert process_count(10_000) == 1
    finally:
        stop.set()
        thread.join()
    assert process_count(10_000) == 4
