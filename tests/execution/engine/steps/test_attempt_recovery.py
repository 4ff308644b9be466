"""Steps that were cut short: how far they came is told by what they left, and by nothing else."""

from __future__ import annotations

import os
import shutil

import pytest

from execplan.core.errors import CONFLICT, ENVIRONMENT, ExecplanError
from execplan.execution.engine.run_state import Attempt
from execplan.execution.engine.step_executor import (
    DONE,
    PARTIAL,
    UNDONE,
    UNKNOWN,
    RecoveredAttempt,
    read_interrupted_result,
    recover_attempt,
)
from execplan.execution.engine.steps import tree_snapshots
from execplan.execution.engine.steps.file_writes import undo_changes
from execplan.execution.engine.steps.step_execution import perform_step
from execplan.execution.engine.steps.step_paths import program_marks_path
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from tests.conftest import Folder
from tests.execution.engine.step_repository import StepRepository
from tests.execution.engine.steps import test_multi_file_steps
from tests.execution.engine.steps.test_file_writes import CREATE, DELETE, PATCH

COMMAND = "```sh {#it shell %s}\necho 1 >> count; mkdir -p out; echo x > out/x; echo printed\n```\n\n"


class Killed(BaseException):
    """The end of the process."""


def cut_short(step_repo: StepRepository, name: str, *, leave: str) -> RecoveredAttempt:
    """Do a step whose result nobody writes down; of its marks those are left that are named. How far it came."""
    prepared = step_repo.prepare(name)
    step = step_repo.step(name)
    if leave:
        try:
            perform_step(step_repo.context, step, 1, prepared)
        except Killed:
            pass
    marks_path = program_marks_path(step_repo.context.run_paths, step, 1)
    for mark in ("begun", "ended"):
        if mark not in leave and os.path.exists(f"{marks_path}.{mark}"):
            os.unlink(f"{marks_path}.{mark}")
    return recover_attempt(step_repo.context, step, Attempt(1, None, prepared.before, "policy"))


def count(step_repo: StepRepository) -> str:
    """How often the command ran."""
    return step_repo.path("count").read_text() if step_repo.path("count").exists() else ""


def test_a_command_that_never_began(repo: Folder) -> None:
    step_repo = StepRepository(repo, COMMAND % "")
    assert cut_short(step_repo, "it", leave="") == RecoveredAttempt(UNDONE)
    assert count(step_repo) == ""


def test_a_command_that_came_to_its_end(repo: Folder) -> None:
    step_repo = StepRepository(repo, COMMAND % "outputs=out/x")
    recovered = cut_short(step_repo, "it", leave="begun ended")
    assert recovered.kind == DONE
    performed = recovered.performed
    assert performed is not None
    assert (performed.ok, performed.exit, count(step_repo)) == (True, 0, "1\n")
    assert {change.path for change in performed.changes} == {"count", "out/x"}
    assert performed.folders == ("out",)
    assert "| printed" in step_repo.transcript(performed)


def test_one_that_failed_has_failed(repo: Folder) -> None:
    recovered = cut_short(StepRepository(repo, COMMAND % "exit=3"), "it", leave="begun ended")
    assert recovered.performed is not None
    assert (recovered.kind, recovered.performed.ok, recovered.performed.cause) == (DONE, False, "exit")
    recovered = cut_short(StepRepository(repo, COMMAND % "outputs=other"), "it", leave="begun ended")
    assert recovered.performed is not None
    assert (recovered.kind, recovered.performed.cause) == (DONE, "expectation")


def test_its_test_runs_when_it_is_looked_at(repo: Folder) -> None:
    step_repo = StepRepository(repo, COMMAND % "test-after='grep -c 1 count'".replace("'", '"'))
    recovered = cut_short(step_repo, "it", leave="begun ended")
    assert recovered.performed is not None
    assert (recovered.performed.ok, recovered.performed.checks.tests_passed, count(step_repo)) == (True, 1, "1\n")


@pytest.mark.parametrize(("effect", "kind"), [("once", UNKNOWN), ("idempotent", PARTIAL)])
@pytest.mark.parametrize(("leave", "expects"), [("begun", ""), ("begun ended", "expect=printed")])
def test_one_of_which_nobody_knows(repo: Folder, effect: str, kind: str, leave: str, expects: str) -> None:
    step_repo = StepRepository(repo, COMMAND % f"effect={effect} {expects}")
    recovered = cut_short(step_repo, "it", leave=leave)
    assert (recovered.kind, count(step_repo)) == (kind, "1\n")
    assert {change.path for change in recovered.changes} == {"count", "out/x"}
    assert (recovered.performed is not None and recovered.performed.ok) == (kind == UNKNOWN)
    undo_changes(step_repo.context, recovered.changes, recovered.folders)
    assert not step_repo.path("out").exists()
    assert count(step_repo) == ""


@pytest.mark.parametrize(("effect", "kind"), [("once", UNKNOWN), ("idempotent", PARTIAL)])
@pytest.mark.parametrize("start", [b"another", b""])
def test_once_the_machine_has_stopped_a_missing_mark_means_nothing(
    repo: Folder, monkeypatch: pytest.MonkeyPatch, effect: str, kind: str, start: bytes
) -> None:
    step_repo = StepRepository(repo, COMMAND % f"effect={effect}")
    step, prepared = step_repo.step("it"), step_repo.prepare("it")
    attempt = Attempt(1, None, prepared.before, "policy")
    assert recover_attempt(step_repo.context, step, attempt) == RecoveredAttempt(UNDONE)
    monkeypatch.setattr(tree_snapshots, "machine_start", lambda: start)
    assert recover_attempt(step_repo.context, step, attempt).kind == kind


@pytest.mark.parametrize(("effect", "kind"), [("once", UNKNOWN), ("idempotent", PARTIAL)])
def test_without_the_state_of_the_run_no_command_is_taken_for_one_that_never_began(
    repo: Folder, effect: str, kind: str
) -> None:
    step_repo = StepRepository(repo, COMMAND % f"effect={effect}")
    step, prepared = step_repo.step("it"), step_repo.prepare("it")
    perform_step(step_repo.context, step, 1, prepared)
    shutil.rmtree(step_repo.context.run_paths.state)
    attempt = Attempt(1, None, prepared.before, "policy")
    assert {change.path for change in recover_attempt(step_repo.context, step, attempt).changes} == {"count", "out/x"}
    os.unlink(step_repo.context.run_paths.kept_path)
    recovered = recover_attempt(step_repo.context, step, attempt)
    assert (recovered.kind, recovered.changes, count(step_repo)) == (kind, (), "1\n")
    assert "in the repository (" in read_interrupted_result(step_repo.context, step, attempt).outside


def test_a_file_that_was_written_or_was_not(repo: Folder) -> None:
    repo.write("src/old.py", "x = 1\n")
    step_repo = StepRepository(repo, CREATE + DELETE)
    assert cut_short(step_repo, "api", leave="") == RecoveredAttempt(UNDONE)
    recovered = cut_short(step_repo, "api", leave="all")
    assert recovered.performed is not None
    assert (recovered.kind, recovered.performed.ok, recovered.folders) == (DONE, True, ("src/new",))
    assert cut_short(step_repo, "drop", leave="") == RecoveredAttempt(UNDONE)
    assert cut_short(step_repo, "drop", leave="all").kind == DONE


def test_only_the_folder_was_made(repo: Folder) -> None:
    step_repo = StepRepository(repo, CREATE)
    prepared = step_repo.prepare("api")
    os.makedirs(step_repo.path("src/new"))
    recovered = recover_attempt(step_repo.context, step_repo.step("api"), Attempt(1, None, prepared.before, "policy"))
    assert (recovered.kind, recovered.folders) == (PARTIAL, ("src", "src/new"))
    undo_changes(step_repo.context, recovered.changes, recovered.folders)
    assert not step_repo.path("src").exists()


def test_what_could_not_have_been_done_was_not(repo: Folder) -> None:
    repo.write("src/new/api.py", "mine\n")
    step_repo = StepRepository(repo, CREATE)
    assert cut_short(step_repo, "api", leave="all") == RecoveredAttempt(UNDONE)


@pytest.mark.parametrize("fails", range(1, 6))
def test_several_files_half_way(repo: Folder, monkeypatch: pytest.MonkeyPatch, fails: int) -> None:
    step_repo = test_multi_file_steps.make_step_repo(repo)
    before = test_multi_file_steps.tree(repo)
    calls = 0
    with monkeypatch.context() as patch:
        for name in ("write", "remove"):
            real = getattr(WorkspaceFiles, name)

            def call(self: WorkspaceFiles, path: str, *arguments: object, real: object = real) -> object:
                nonlocal calls
                calls += 1
                if calls > fails:
                    raise Killed
                assert callable(real)
                return real(self, path, *arguments)

            patch.setattr(WorkspaceFiles, name, call)
        recovered = cut_short(step_repo, "split", leave="all")
    assert recovered.kind == PARTIAL
    undo_changes(step_repo.context, recovered.changes, recovered.folders)
    assert test_multi_file_steps.tree(repo) == before
    assert step_repo.perform("split", 2).ok


def test_without_its_backup_nothing_is_said_of_it(repo: Folder) -> None:
    repo.write("src/app.py", "A = 1\nB = 1\n")
    step_repo = StepRepository(repo, PATCH)
    prepared = step_repo.prepare("patch")
    with open(step_repo.context.store.path(prepared.before["src/app.py"].sha256), "wb"):
        pass
    for work in (
        lambda: recover_attempt(
            step_repo.context, step_repo.step("patch"), Attempt(1, None, prepared.before, "policy")
        ),
        lambda: perform_step(step_repo.context, step_repo.step("patch"), 1, prepared),
    ):
        with pytest.raises(ExecplanError) as caught:
            work()
        assert (caught.value.exit, caught.value.code) == (ENVIRONMENT, "backup-altered")
    assert step_repo.path("src/app.py").read_text() == "A = 1\nB = 1\n"


def test_a_file_that_its_test_has_changed(repo: Folder) -> None:
    repo.write("format.sh", "echo more >> src/new/api.py; exit 1\n")
    step_repo = StepRepository(repo, CREATE.replace("type=", 'test-after="sh format.sh" type='))
    recovered = cut_short(step_repo, "api", leave="begun")
    assert (recovered.kind, [change.path for change in recovered.changes]) == (PARTIAL, ["src/new/api.py"])
    undo_changes(step_repo.context, recovered.changes, recovered.folders)
    assert not step_repo.path("src").exists()


def test_a_file_that_somebody_has_changed_since_is_not_lost(repo: Folder) -> None:
    repo.write("src/old.py", "x = 1\n")
    step_repo = StepRepository(repo, DELETE)
    prepared = step_repo.prepare("drop")
    step_repo.repo.write("src/old.py", "mine\n")
    recovered = recover_attempt(step_repo.context, step_repo.step("drop"), Attempt(1, None, prepared.before, "policy"))
    with pytest.raises(ExecplanError) as caught:
        undo_changes(step_repo.context, recovered.changes, recovered.folders)
    assert caught.value.exit == CONFLICT
    assert step_repo.path("src/old.py").read_text() == "mine\n"
