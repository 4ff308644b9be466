"""What steps have changed is found without reading what was read before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.project import project_discovery
from execplan.execution import states
from execplan.execution.engine.steps import tree_snapshots
from execplan.execution.engine.workspace import workspace_snapshot
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from tests.execution.engine.run_repository import RunRepository, steps

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from execplan.execution.world import State

STEPS = steps("```sh {#one exit=0}\ntrue\n```\n", "```sh {#two exit=0}\ntrue\n```\n")


def test_a_run_reads_only_what_has_changed_since_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_snapshot, "_MARGIN", -(1 << 60))
    desk = RunRepository(tmp_path / "repo", monkeypatch)
    for name in ("kept.txt", "changed.txt"):
        desk.write(name, "x")
    read: list[str] = []
    state = WorkspaceFiles.state

    def record(files: WorkspaceFiles, path: str) -> State:
        read.append(path)
        return state(files, path)

    monkeypatch.setattr(WorkspaceFiles, "state", record)
    counts = []
    for content in ("xx", "xxx", "xxxx"):
        desk.write("changed.txt", content)
        desk.approve_plan(STEPS)
        read.clear()
        assert desk.run_plan().status == states.COMPLETED
        counts.append((read.count("kept.txt"), read.count("changed.txt")))
        if content == "xxx":  # a snapshot that can't be read is as none
            state_directory = project_discovery.find(str(desk.path)).state
            with open(f"{state_directory}/backups/{tree_snapshots._KNOWN_TREE}", "w", encoding="utf-8") as file:
                file.write("{")
    assert counts == [(1, 1), (0, 1), (1, 1)]
