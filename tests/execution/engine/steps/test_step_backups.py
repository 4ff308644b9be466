"""Before a step: what it is about to change is kept, and nothing is begun where that can't be done."""

from __future__ import annotations

import pytest

from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.execution.engine.run_records import evidence_copies
from execplan.execution.engine.steps.step_paths import snapshot_name
from execplan.execution.engine.workspace.backup_store import BackupStore
from execplan.execution.engine.workspace.workspace_snapshot import decode
from tests.conftest import Folder
from tests.execution.engine.step_repository import StepRepository
from tests.execution.engine.steps.test_file_writes import CREATE, DELETE

COMMAND = "```sh {#it outputs=made,deep/out}\ntrue\n```\n"


def test_a_file_is_kept_before_it_is_deleted(repo: Folder) -> None:
    repo.write("src/old.py", "x = 1\n")
    step_repo = StepRepository(repo, DELETE)
    prepared = step_repo.prepare("drop")
    assert not prepared.snapshot
    state = prepared.before["src/old.py"]
    step_repo.path("src/old.py").unlink()
    assert step_repo.context.store.get(state.sha256) == b"x = 1\n"


def test_the_tree_is_kept_before_a_command(repo: Folder) -> None:
    repo.write("made", "old\n")
    step_repo = StepRepository(repo, COMMAND)
    prepared = step_repo.prepare("it")
    assert prepared.snapshot
    assert {path: state.kind for path, state in prepared.before.items()} == {
        "deep": "absent", "deep/out": "absent", "made": "file",
    }  # fmt: skip
    name = snapshot_name(step_repo.step("it"))
    snapshot = decode(evidence_copies.read(step_repo.context.run_paths, name) or b"", name)
    assert {"README.md", "made"} <= snapshot.states.keys()
    assert step_repo.context.store.get(snapshot.states["README.md"].sha256) == b"# A project\n"


def test_and_before_the_test_of_a_file(repo: Folder) -> None:
    assert StepRepository(repo, CREATE.replace("type=", "test-after=true type=")).prepare("api").snapshot


@pytest.mark.parametrize("steps", [DELETE, COMMAND])
def test_nothing_is_begun_that_could_not_be_taken_back(
    repo: Folder, monkeypatch: pytest.MonkeyPatch, steps: str
) -> None:
    def full(self: BackupStore, parts: object, digest: str) -> bool:
        raise ExecplanError("io-error", "no space left on device")

    repo.write("src/old.py", "x = 1\n")
    step_repo = StepRepository(repo, steps)
    monkeypatch.setattr(BackupStore, "_write", full)
    with pytest.raises(ExecplanError) as caught:
        step_repo.prepare(step_repo.document.steps[0].id)
    assert caught.value.exit == ENVIRONMENT
    assert step_repo.path("src/old.py").exists()


def test_the_inputs_of_a_command_count_too(repo: Folder) -> None:
    repo.write("src/a", "1\n")
    step_repo = StepRepository(repo, COMMAND.replace("#it", "#it inputs=src/a,./src//b"))
    step_repo.repo.write("src/b", "new\n")
    with pytest.raises(ExecplanError) as caught:
        step_repo.prepare("it")
    assert caught.value.candidates == ("src/b: was absent and is now a file",)
    assert "execplan resume" in caught.value.hint


def test_what_the_run_has_left_is_expected_however_it_is_written(repo: Folder) -> None:
    steps = CREATE + "```sh {#it inputs=src/./new/api.py}\ncat src/new/api.py\n```\n"
    step_repo = StepRepository(repo, steps)
    step_repo.perform("api")
    assert step_repo.perform("it").ok


def test_the_whole_repository_as_an_output(repo: Folder) -> None:
    step_repo = StepRepository(repo, "```sh {#it outputs=. shell}\necho > made; mkdir d; echo > d/x\n```\n")
    result = step_repo.perform("it")
    assert (result.ok, [change.path for change in result.changes], result.folders) == (True, ["d/x", "made"], ("d",))
