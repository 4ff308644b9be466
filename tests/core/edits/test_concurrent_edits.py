"""Many processes at one plan: every edit is there, in order, and so are the commits; who waits too long is told of whom."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from execplan.core.files.file_lock import FileLock
from execplan.core.plan import reader
from execplan.core.plan.model import DONE, ParsedPlan
from execplan.core.project import project_discovery, project_state
from tests import processes
from tests.cli.test_contract import CALLS, WRITERS
from tests.conftest import Folder
from tests.core.edits import concurrent_editor
from tests.plans import CLEAN

PROCESS_COUNT = 16


def start(folder: Folder, number: int, edits: int, commit: str = "") -> subprocess.Popen[bytes]:
    root = Path(concurrent_editor.__file__).resolve().parents[2]
    return processes.start(
        [sys.executable, concurrent_editor.__file__, str(number), str(edits), commit],
        cwd=folder.path,
        env={**folder.env, "PYTHONPATH": str(root)},
        stderr=subprocess.PIPE,
    )


def finish(writers: list[subprocess.Popen[bytes]]) -> None:
    """Wait for all of them, and expect each to have had its way."""
    for process in writers:
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err.decode()


def missing(plan: ParsedPlan, edits: int) -> list[str]:
    """The edits that are not there, or not in the order in which their hand made them."""
    ticked = {task.text for task in plan.tasks if task.state == DONE}
    lines = "\n".join(plan.text.lines)
    contents = (
        [task.text for task in plan.tasks],
        [task.text for task in plan.tasks],
        [entry.text for entry in plan.decisions],
        [entry.text for entry in plan.discoveries],
        [line for line in lines[lines.index("## Artifacts and Notes") :].split("\n") if line],
    )
    lost: list[str] = []
    for number in range(PROCESS_COUNT):
        for kind in range(concurrent_editor.KINDS):
            texts = [concurrent_editor.edit_text(number, edit) for edit in range(kind, edits, concurrent_editor.KINDS)]
            if kind == 1:
                lost += [
                    f"tick {edit}"
                    for edit in range(kind, edits, concurrent_editor.KINDS)
                    if concurrent_editor.edit_text(number, edit - 1) not in ticked
                ]
                continue
            positions = [contents[kind].index(text) if text in contents[kind] else -1 for text in texts]
            lost += [text for text, position in zip(texts, positions, strict=True) if position < 0]
            assert positions == sorted(positions)
            assert all(contents[kind].count(text) < 2 for text in texts)
    return lost


@pytest.mark.exhaustive
def test_sixteen_hands_make_fifty_edits_each(repo: Folder) -> None:
    """And whoever reads meanwhile sees a whole plan, which only ever gains."""
    path = repo.plan()
    writers = [start(repo, number, 50) for number in range(PROCESS_COUNT)]
    counts = [0]
    while any([process.poll() is None for process in writers]):
        data = path.read_bytes()
        assert data.endswith(CLEAN.encode()[-40:])
        counts.append(reader.read(data).counts()["total"])
        time.sleep(0.02)
    finish(writers)
    assert counts == sorted(counts)
    plan = reader.read(path.read_bytes())
    assert missing(plan, 50) == []
    assert plan.counts()["total"] == 3 + PROCESS_COUNT * 10
    assert repo.run("lint").exit == 0
    assert [name for name in os.listdir(path.parent) if name.startswith(".")] == []


@pytest.mark.exhaustive
def test_sixteen_hands_commit(repo: Folder) -> None:
    """Each commit holds one edit, and nothing of anybody's index."""
    path = repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    repo.write("staged.txt", "mine\n")
    repo.git("add", "staged.txt")
    finish([start(repo, number, 5, "commit") for number in range(PROCESS_COUNT)])
    assert missing(reader.read(path.read_bytes()), 5) == []
    subjects = repo.git("log", "--format=%s").splitlines()
    assert len(subjects) == 2 + PROCESS_COUNT * 5
    for number in range(PROCESS_COUNT):
        for edit in (0, 2, 3):
            assert sum(concurrent_editor.edit_text(number, edit) in subject for subject in subjects) == (
                2 if edit == 0 else 1
            )
    assert repo.git("log", "--format=", "--name-only", f"-{PROCESS_COUNT * 5}").split() == [
        ".agent/execplans/2026-01-01_parser.md"
    ] * (PROCESS_COUNT * 5)
    assert repo.git("status", "--porcelain") == "A  staged.txt\n"


@pytest.mark.parametrize("verb", [*WRITERS, "attach", "archive", "rename", "edit", "undo", "commit"])
def test_a_writer_that_waits_too_long(repo: Folder, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    before = path.read_bytes()
    project = project_discovery.find(str(repo.path))
    call = {**CALLS, "reopen": ["reopen", "2"], "done": ["done", "3"]}[verb]
    monkeypatch.setenv("EXECPLAN_AUTHOR", "Ann")
    with FileLock(project_state.lock_path(project, os.path.realpath(path)), "done of 2026-01-01_parser"):
        result = repo.run(*call, "--lock-timeout", "0.1", "--json", EDITOR="sh -c 'echo more >> \"$0\"'")
        for reading in (["show"], ["list"], ["status"], ["next"], ["lint"], ["lint", str(path)]):
            assert repo.run(*reading).exit == 0
    assert result.exit == 5, result
    error = result.json["error"]
    assert error["code"] == "busy"
    assert f"done of 2026-01-01_parser by Ann, pid {os.getpid()}, since 20" in error["message"]
    assert "waited 0.1 s" in error["message"]
    assert path.read_bytes() == before
    assert not (repo.path / ".agent/execplans/archive").exists()


@pytest.mark.parametrize("seconds", ["nan", "-1", "-inf", "soon"])
def test_what_is_no_time_to_wait(repo: Folder, seconds: str) -> None:
    path = repo.plan()
    before = path.read_bytes()
    result = repo.run("done", "2", "--lock-timeout", seconds)
    assert result.exit == 2, result
    assert "--lock-timeout must be a number of at least 0" in result.err
    assert path.read_bytes() == before


def test_who_waits_gets_it(repo: Folder) -> None:
    """And says what it is doing, for those who wait next."""
    path = repo.plan()
    project = project_discovery.find(str(repo.path))
    lock = project_state.lock_path(project, os.path.realpath(path))
    with project_state.lock(project, os.path.realpath(path), "the test"):
        waiting = [repo.start("add", f"Task {number}", "-q") for number in range(4)]
        time.sleep(1)
    finish(waiting)
    assert "add of 2026-01-01_parser by Ann" in Path(lock).read_text()
    assert reader.read(path.read_bytes()).counts()["total"] == 7


@pytest.mark.exhaustive
def test_a_writer_waits_ten_seconds(repo: Folder) -> None:
    path = repo.plan()
    project = project_discovery.find(str(repo.path))
    with project_state.lock(project, os.path.realpath(path), "the test"):
        begin = time.monotonic()
        result = repo.run("done", "2")
    assert result.exit == 5
    assert "waited 10 s" in result.err
    assert time.monotonic() - begin >= 10


@pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="nothing tells here who waits for a lock")
def test_writers_get_it_in_the_order_in_which_they_came(repo: Folder) -> None:
    path = repo.plan()
    project = project_discovery.find(str(repo.path))
    waiting = []
    with project_state.lock(project, os.path.realpath(path), "the test"):
        for number in (4, 2, 3, 1):
            waiting.append(repo.start("add", f"Task {number}", "-q", "--lock-timeout", "60"))
            until_it_waits(waiting[-1])
    finish(waiting)
    tasks = [task.text for task in reader.read(path.read_bytes()).tasks]
    assert tasks[-4:] == ["Task 4", "Task 2", "Task 3", "Task 1"]


def until_it_waits(process: subprocess.Popen[bytes]) -> None:
    """Until the kernel has a process in the queue of a lock."""
    end = time.monotonic() + 30
    while not any(
        "->" in line and str(process.pid) in line.split() for line in Path("/proc/locks").read_text().splitlines()
    ):
        assert process.poll() is None
        assert time.monotonic() < end, "it does not wait"
        time.sleep(0.02)


def test_interrupted_while_it_waits(repo: Folder) -> None:
    import signal

    path = repo.plan()
    project = project_discovery.find(str(repo.path))
    with project_state.lock(project, os.path.realpath(path), "the test"):
        waiting = repo.start("done", "2")
        time.sleep(1.5)
        waiting.send_signal(signal.SIGINT)
        _, err = waiting.communicate(timeout=30)
    assert waiting.returncode == 130
    assert b"Traceback" not in err
    assert path.read_text() == CLEAN
    repo.ok("done", "2")
