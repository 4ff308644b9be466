"""What is synced when a session of a run ends."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.execution import states
from tests.execution.engine.run_repository import RunRepository, steps

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

STEPS = steps("```sh {#one exit=0}\ntrue\n```\n", "```sh {#two exit=0}\nfalse\n```\n")


def test_the_evidence_is_on_disk_when_the_session_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = RunRepository(tmp_path / "repo", monkeypatch)
    desk.approve_plan(STEPS)
    synced: dict[int, int] = {}
    sync = os.fsync

    def record(handle: int) -> None:
        status = os.fstat(handle)
        synced[status.st_ino] = status.st_size
        sync(handle)

    monkeypatch.setattr(os, "fsync", record)
    assert desk.run_plan().status == states.FAILED
    paths = desk.last_run()
    evidence = [os.path.join(paths.transcripts, name) for name in os.listdir(paths.transcripts)]
    assert len(evidence) == 2
    for path in (*evidence, paths.journal, paths.record):
        status = os.stat(path)
        assert synced[status.st_ino] == status.st_size, path
