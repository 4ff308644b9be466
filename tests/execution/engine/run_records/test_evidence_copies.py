"""What a run syncs, and when: each file once, before something depends on it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from execplan.core.project import project_state
from execplan.execution import states
from tests.execution.engine.run_repository import RunRepository, steps

if TYPE_CHECKING:
    from pathlib import Path

STEPS = steps("```sh {#one exit=0}\ntrue\n```\n", "```sh {#two exit=0}\nfalse\n```\n")
TOUCH = steps("```sh {#touch}\ntouch new.txt\n```\n")


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The inode of everything that is synced, and its size at that time."""
    files: list[tuple[int, int]] = []
    sync = os.fsync

    def record(handle: int) -> None:
        status = os.fstat(handle)
        files.append((status.st_ino, status.st_size))
        sync(handle)

    monkeypatch.setattr(os, "fsync", record)
    return files


def test_the_evidence_is_on_disk_when_the_session_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synced: list[tuple[int, int]]
) -> None:
    desk = RunRepository(tmp_path / "repo", monkeypatch)
    desk.approve_plan(STEPS)
    assert desk.run_plan().status == states.FAILED
    paths = desk.last_run()
    transcripts = [os.path.join(paths.transcripts, name) for name in os.listdir(paths.transcripts)]
    assert len(transcripts) == 2
    for path in (*transcripts, paths.journal, paths.kept_path, os.path.join(paths.folder, "../../ledger.jsonl")):
        status = os.stat(path)
        assert (status.st_ino, status.st_size) in synced, path


def test_a_run_of_one_command_syncs_twelve_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synced: list[tuple[int, int]]
) -> None:
    desk = RunRepository(tmp_path / "repo", monkeypatch)
    for _ in range(2):  # the first run of a repository also makes directories
        (desk.path / "new.txt").unlink(missing_ok=True)
        desk.approve_plan(TOUCH)
        synced.clear()
        assert desk.run_plan().status == states.COMPLETED
    paths = desk.last_run()
    expected = [
        paths.kept_path,
        os.path.dirname(paths.state),
        project_state.plan_state_dir(paths.project, paths.ref.path),
        paths.state_journal,  # the beginning of the run
        os.path.join(os.environ["XDG_STATE_HOME"], "execplan", "approvals"),
        paths.kept_path,  # the list of files
        paths.state_journal,  # the beginning of the step
        paths.state_journal,  # the result, and the end
        os.path.join(paths.transcripts, "01-touch.md"),
        os.path.join(paths.folder, "../../ledger.jsonl"),
    ]
    assert sorted([inode for inode, _ in synced]) == sorted([os.stat(path).st_ino for path in expected])
    journal = os.stat(paths.state_journal).st_ino
    at = [number for number, (inode, _) in enumerate(synced) if inode == journal]
    before, between = synced[: at[0]], synced[at[0] + 1 : at[1]]
    assert {inode for inode, _ in before} == {os.stat(path).st_ino for path in expected[:3]}
    assert [inode for inode, _ in between] == [os.stat(path).st_ino for path in expected[4:6]]
