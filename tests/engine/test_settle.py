"""Steps that were cut short: how far they came is told by what they left, and by nothing else."""

from __future__ import annotations

import os
import shutil

import pytest

from execplan.engine.recovery.interruption import read_interrupted_result
from execplan.engine.run_state import Attempt
from execplan.engine.steps.attempt_recovery import DONE, PARTIAL, UNDONE, UNKNOWN, RecoveredAttempt, recover_attempt
from execplan.engine.steps.file_writes import undo_changes
from execplan.engine.steps.step_execution import perform_step
from execplan.engine.steps.step_paths import program_marks_path
from execplan.engine.workspace.workspace_files import WorkspaceFiles
from execplan.errors import CONFLICT, ENVIRONMENT, ExecplanError
from tests.conftest import Folder
from tests.engine import test_refactor
from tests.engine.bench import Shop
from tests.engine.test_create import CREATE, DELETE, PATCH

COMMAND = "```sh {#it shell %s}\necho 1 >> count; mkdir -p out; echo x > out/x; echo printed\n```\n\n"


class Killed(BaseException):
    """The end of the process."""


def cut_short(made: Shop, name: str, *, leave: str) -> RecoveredAttempt:
    """Do a step whose result nobody writes down; of its marks those are left that are named. How far it came."""
    prepared = made.prepare(name)
    step = made.step(name)
    if leave:
        try:
            perform_step(made.bench, step, 1, prepared)
        except Killed:
            pass
    where = program_marks_path(made.bench.run_paths, step, 1)
    for mark in ("begun", "ended"):
        if mark not in leave and os.path.exists(f"{where}.{mark}"):
            os.unlink(f"{where}.{mark}")
    return recover_attempt(made.bench, step, Attempt(1, None, prepared.before, "policy"))


def count(made: Shop) -> str:
    """How often the command ran."""
    return made.path("count").read_text() if made.path("count").exists() else ""


def test_a_command_that_never_began(repo: Folder) -> None:
    made = Shop(repo, COMMAND % "")
    assert cut_short(made, "it", leave="") == RecoveredAttempt(UNDONE)
    assert count(made) == ""


def test_a_command_that_came_to_its_end(repo: Folder) -> None:
    made = Shop(repo, COMMAND % "outputs=out/x")
    found = cut_short(made, "it", leave="begun ended")
    assert found.kind == DONE
    done = found.performed
    assert done is not None
    assert (done.ok, done.exit, count(made)) == (True, 0, "1\n")
    assert {each.path for each in done.changes} == {"count", "out/x"}
    assert done.folders == ("out",)
    assert "| printed" in made.transcript(done)


def test_one_that_failed_has_failed(repo: Folder) -> None:
    found = cut_short(Shop(repo, COMMAND % "exit=3"), "it", leave="begun ended")
    assert found.performed is not None
    assert (found.kind, found.performed.ok, found.performed.cause) == (DONE, False, "exit")
    found = cut_short(Shop(repo, COMMAND % "outputs=other"), "it", leave="begun ended")
    assert found.performed is not None
    assert (found.kind, found.performed.cause) == (DONE, "expectation")


def test_its_test_runs_when_it_is_looked_at(repo: Folder) -> None:
    made = Shop(repo, COMMAND % "test-after='grep -c 1 count'".replace("'", '"'))
    found = cut_short(made, "it", leave="begun ended")
    assert found.performed is not None
    assert (found.performed.ok, found.performed.checks.tests_passed, count(made)) == (True, 1, "1\n")


@pytest.mark.parametrize(("effect", "kind"), [("once", UNKNOWN), ("idempotent", PARTIAL)])
@pytest.mark.parametrize(("leave", "expects"), [("begun", ""), ("begun ended", "expect=printed")])
def test_one_of_which_nobody_knows(repo: Folder, effect: str, kind: str, leave: str, expects: str) -> None:
    made = Shop(repo, COMMAND % f"effect={effect} {expects}")
    found = cut_short(made, "it", leave=leave)
    assert (found.kind, count(made)) == (kind, "1\n")
    assert {each.path for each in found.changes} == {"count", "out/x"}
    assert (found.performed is not None and found.performed.ok) == (kind == UNKNOWN)
    undo_changes(made.bench, found.changes, found.folders)
    assert not made.path("out").exists()
    assert count(made) == ""


@pytest.mark.parametrize(("effect", "kind"), [("once", UNKNOWN), ("idempotent", PARTIAL)])
def test_without_the_state_of_the_run_no_command_is_taken_for_one_that_never_began(
    repo: Folder, effect: str, kind: str
) -> None:
    made = Shop(repo, COMMAND % f"effect={effect}")
    step, prepared = made.step("it"), made.prepare("it")
    perform_step(made.bench, step, 1, prepared)
    shutil.rmtree(made.bench.run_paths.state)
    attempt = Attempt(1, None, prepared.before, "policy")
    found = recover_attempt(made.bench, step, attempt)
    assert (found.kind, found.changes, count(made)) == (kind, (), "1\n")
    assert "in the repository (" in read_interrupted_result(made.bench, step, attempt)["outside"]


def test_a_file_that_was_written_or_was_not(repo: Folder) -> None:
    repo.write("src/old.py", "x = 1\n")
    made = Shop(repo, CREATE + DELETE)
    assert cut_short(made, "api", leave="") == RecoveredAttempt(UNDONE)
    found = cut_short(made, "api", leave="all")
    assert found.performed is not None
    assert (found.kind, found.performed.ok, found.folders) == (DONE, True, ("src/new",))
    assert cut_short(made, "drop", leave="") == RecoveredAttempt(UNDONE)
    assert cut_short(made, "drop", leave="all").kind == DONE


def test_only_the_folder_was_made(repo: Folder) -> None:
    made = Shop(repo, CREATE)
    prepared = made.prepare("api")
    os.makedirs(made.path("src/new"))
    found = recover_attempt(made.bench, made.step("api"), Attempt(1, None, prepared.before, "policy"))
    assert (found.kind, found.folders) == (PARTIAL, ("src", "src/new"))
    undo_changes(made.bench, found.changes, found.folders)
    assert not made.path("src").exists()


def test_what_could_not_have_been_done_was_not(repo: Folder) -> None:
    repo.write("src/new/api.py", "mine\n")
    made = Shop(repo, CREATE)
    assert cut_short(made, "api", leave="all") == RecoveredAttempt(UNDONE)


@pytest.mark.parametrize("fails", range(1, 6))
def test_several_files_half_way(repo: Folder, monkeypatch: pytest.MonkeyPatch, fails: int) -> None:
    made = test_refactor.shop(repo)
    before = test_refactor.tree(repo)
    calls = 0
    with monkeypatch.context() as patch:
        for name in ("write", "remove"):
            real = getattr(WorkspaceFiles, name)

            def call(self: WorkspaceFiles, path: str, *more: object, real: object = real) -> object:
                nonlocal calls
                calls += 1
                if calls > fails:
                    raise Killed
                assert callable(real)
                return real(self, path, *more)

            patch.setattr(WorkspaceFiles, name, call)
        found = cut_short(made, "split", leave="all")
    assert found.kind == PARTIAL
    undo_changes(made.bench, found.changes, found.folders)
    assert test_refactor.tree(repo) == before
    assert made.do("split", 2).ok


def test_without_its_backup_nothing_is_said_of_it(repo: Folder) -> None:
    repo.write("src/app.py", "A = 1\nB = 1\n")
    made = Shop(repo, PATCH)
    prepared = made.prepare("patch")
    with open(made.bench.store.path(prepared.before["src/app.py"].sha256), "wb"):
        pass
    for work in (
        lambda: recover_attempt(made.bench, made.step("patch"), Attempt(1, None, prepared.before, "policy")),
        lambda: perform_step(made.bench, made.step("patch"), 1, prepared),
    ):
        with pytest.raises(ExecplanError) as caught:
            work()
        assert (caught.value.exit, caught.value.code) == (ENVIRONMENT, "backup-altered")
    assert made.path("src/app.py").read_text() == "A = 1\nB = 1\n"


def test_a_file_that_its_test_has_changed(repo: Folder) -> None:
    repo.write("format.sh", "echo more >> src/new/api.py; exit 1\n")
    made = Shop(repo, CREATE.replace("type=", 'test-after="sh format.sh" type='))
    found = cut_short(made, "api", leave="begun")
    assert (found.kind, [each.path for each in found.changes]) == (PARTIAL, ["src/new/api.py"])
    undo_changes(made.bench, found.changes, found.folders)
    assert not made.path("src").exists()


def test_a_file_that_somebody_has_changed_since_is_not_lost(repo: Folder) -> None:
    repo.write("src/old.py", "x = 1\n")
    made = Shop(repo, DELETE)
    prepared = made.prepare("drop")
    made.repo.write("src/old.py", "mine\n")
    found = recover_attempt(made.bench, made.step("drop"), Attempt(1, None, prepared.before, "policy"))
    with pytest.raises(ExecplanError) as caught:
        undo_changes(made.bench, found.changes, found.folders)
    assert caught.value.exit == CONFLICT
    assert made.path("src/old.py").read_text() == "mine\n"
