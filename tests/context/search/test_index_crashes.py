"""A search that is killed, or whose disk fails, at a system call: it and the next search find everything."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from execplan.core.files.file_status import MTIME_MARGIN_NS
from tests.conftest import Folder
from tests.crash.strace import Call, fail, kill, trace
from tests.needs import need
from tests.plans import CLEAN

pytestmark = pytest.mark.exhaustive

COMMAND = ("search", "without loss", "--limit", "100")
STRIDE = 4
"""Which of the calls that write are tried; each one takes half a second."""


def prepare(repo: Folder, state: str) -> Path:
    """Make plans, and an index of them or of other plans; return a copy of the state directory."""
    for at in range(4):
        repo.plan(CLEAN.replace("parser", f"parser {at}"), f"2026-01-01_plan-{at}")
    (repo.path / ".git/execplan").mkdir()
    if state == "outdated":
        assert repo.run(*COMMAND).exit == 0
        for at in range(3):
            repo.plan(CLEAN.replace("parser", f"tables {at}"), f"2026-01-01_plan-{at}")
    # An index never trusts the status of a file this young, so a later run would make other system calls.
    time.sleep(MTIME_MARGIN_NS / 1e9)
    return shutil.copytree(repo.path / ".git/execplan", repo.path.parent / "state")


def restore(repo: Folder, state: Path) -> None:
    """Put the state directory back, with an index that the next run uses."""
    shutil.rmtree(repo.path / ".git/execplan")
    shutil.copytree(state, repo.path / ".git/execplan")
    for path in (repo.path / ".git/execplan/index").glob("*.sqlite3"):
        # The version of an index ends with its inode, and whether a copy gets the old one is chance.
        with closing(sqlite3.connect(path)) as index, index:
            version_without_inode = "substr(value, 1, instr(value, ' '))"
            index.execute(f"update properties set value = {version_without_inode} || ?", (path.stat().st_ino,))


def writing_calls(repo: Folder, state: Path) -> Iterator[Call]:
    """The calls of an undisturbed search that write."""
    calls = [call for call in trace(COMMAND, repo.path, repo.env, repo.path.parent / "log", repo.path) if call.changes]
    assert {"pwrite64", "unlink"} <= {call.name for call in calls}
    for call in calls[::STRIDE]:
        restore(repo, state)
        yield call


@pytest.mark.parametrize("state", ["missing", "outdated"])
def test_killed(repo: Folder, state: str) -> None:
    need("strace")
    copy = prepare(repo, state)
    expected = repo.run(*COMMAND)
    assert expected.out.count("without loss") == 4
    restore(repo, copy)
    kill_count = 0
    for call in writing_calls(repo, copy):
        if kill(call, COMMAND, repo.path, repo.env, repo.path.parent / "log") is not None:
            kill_count += 1
            assert repo.run(*COMMAND) == expected, call
    assert kill_count > 4


@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_the_disk_fails(repo: Folder, error: str) -> None:
    need("strace")
    copy = prepare(repo, "outdated")
    expected = repo.run(*COMMAND)
    restore(repo, copy)
    fail_count = 0
    for call in writing_calls(repo, copy):
        result = fail(call, error, COMMAND, repo.path, repo.env, repo.path.parent / "log")
        if result is not None:
            fail_count += 1
            assert (result.exit, result.out, result.err) == expected, call
            assert repo.run(*COMMAND) == expected, call
    assert fail_count > 4
