"""Steps that run a command: how it must end, what it must print and make, its test, and what it changes."""

from __future__ import annotations

import time

import pytest

from execplan.execution.engine.commands.command_sandbox import Sandbox
from execplan.execution.engine.steps.file_writes import undo_changes
from execplan.execution.engine.steps.step_execution import outside_effects, perform_step
from execplan.execution.engine.steps.tree_snapshots import ParallelChanges
from tests.conftest import Folder
from tests.execution.engine.step_repository import StepRepository


def step(command: str, attributes: str = "", following: str = "") -> str:
    """A fence with one command, or with a script."""
    return f"```sh {{#it {attributes}}}\n{command}\n```\n{following}\n"


def test_what_it_changes_is_found_and_taken_back(repo: Folder) -> None:
    repo.write("src/a.txt", "one\n")
    repo.write(".gitignore", "*.log\n")
    script = "echo two >> src/a.txt; mkdir -p out/deep; echo x > out/deep/b; rm README.md; echo l > x.log"
    step_repo = StepRepository(repo, step(script, "shell outputs=out/deep/b"))
    result = step_repo.perform("it")
    assert result.ok, result
    changed_lines = {change.path: (change.added, change.removed, change.declared) for change in result.changes}
    assert changed_lines == {"README.md": (0, 1, False), "out/deep/b": (1, 0, True), "src/a.txt": (1, 0, False)}
    assert result.folders == ("out", "out/deep")
    assert result.exit == 0
    assert result.outside == "its effects outside the repository, in files that git ignores or over the network"
    undo_changes(step_repo.context, result.changes, result.folders)
    assert step_repo.path("README.md").read_text() == "# A project\n"
    assert step_repo.path("src/a.txt").read_text() == "one\n"
    assert not step_repo.path("out").exists()
    assert step_repo.path("x.log").exists()


def test_what_git_ignores_is_found_where_it_is_declared(repo: Folder) -> None:
    repo.write(".gitignore", "*.log\nbuild/\n")
    step_repo = StepRepository(
        repo, step("mkdir build; echo a > build/a; echo b > x.log; echo c > y.log", "shell outputs=build,x.log")
    )
    result = step_repo.perform("it")
    assert [(change.path, change.declared) for change in result.changes] == [("build/a", True), ("x.log", True)]
    undo_changes(step_repo.context, result.changes, result.folders)
    assert [step_repo.path(name).exists() for name in ("build", "x.log", "y.log")] == [False, False, True]


@pytest.mark.parametrize(
    ("attributes", "command", "cause", "reason"),
    [
        ("", "false", "exit", "exit status 1, not 0"),
        ("exit=1", "false", "", ""),
        ("exit=2", "true", "exit", "exit status 0, not 2"),
        ("shell", "kill -9 $$", "exit", "it was ended by signal 9"),
        ("outputs=made,README.md", "true", "expectation", "it did not create made"),
        ('expect="ok …"', "echo ok then", "", ""),
        (
            "expect=ok",
            "echo no",
            "expectation",
            "its output is not as expected: line 1 of the expected output, 'ok', is not in the output",
        ),
        ("expect=ok", "echo no-at-all-found-here-please >/dev/null", "error", "it needs a shell"),
        ("", "no-such-program-anywhere", "error", "no-such-program-anywhere"),
        ("cwd=nowhere", "true", "error", "directory not found: nowhere"),
        ("cwd=../x", "true", "error", "directory not found: ../x"),
        ("timeout=1", "sleep 60", "timeout", "1"),
    ],
)
def test_how_it_must_end(repo: Folder, attributes: str, command: str, cause: str, reason: str) -> None:
    result = StepRepository(repo, step(command, attributes)).perform("it")
    assert (result.ok, result.cause) == (not cause, cause), result
    assert reason in result.reason


def test_more_than_is_kept_is_not_what_was_expected(repo: Folder) -> None:
    step_repo = StepRepository(repo, step("seq 100000", "expect=…"), output_kb=4)
    result = step_repo.perform("it")
    assert (result.ok, result.cause) == (False, "expectation")
    assert "its output is too long to be kept, so it can't be compared with the expected output" in result.reason
    assert step_repo.path(result.transcript).stat().st_size < 100_000


def test_a_secret_that_was_not_expected_is_not_told(repo: Folder) -> None:
    key = "AKIAQ3EGRCW7T5ZLM2" + "XB"
    step_repo = StepRepository(repo, step(f"printf '{'x' * 50}={key[:10]}%s' {key[10:]}", "expect=ok"))
    result = step_repo.perform("it")
    assert result.cause == "expectation"
    assert key[:8] not in result.reason
    assert "AKIA" not in step_repo.transcript(result).partition("|")[2]


def test_a_failed_command_s_changes_are_told(repo: Folder) -> None:
    step_repo = StepRepository(repo, step("echo x > README.md; exit 3", "shell"))
    result = step_repo.perform("it")
    assert (result.ok, result.exit, [change.path for change in result.changes]) == (False, 3, ["README.md"])
    assert (result.checks.pre, result.checks.post) == ("passed", "not_run")


def test_the_test_behind_it(repo: Folder) -> None:
    step_repo = StepRepository(repo, step("touch made", 'test-after="test -e made"'))
    result = step_repo.perform("it")
    assert result.ok
    assert (result.checks.tests_run, result.checks.tests_passed, result.checks.post) == (1, 1, "passed")
    assert "$ test -e made" in step_repo.transcript(result)


@pytest.mark.parametrize("kind", ["command", "file"])
def test_a_test_that_fails(repo: Folder, kind: str) -> None:
    test = "test-after=\"sh -c 'echo trace; touch left; exit 1'\""
    file = f"```text {{#it type=create_file target=made {test}}}\nx\n```\n"
    step_repo = StepRepository(repo, step("touch made", test) if kind == "command" else file)
    result = step_repo.perform("it")
    assert (result.ok, result.cause) == (False, "test")
    assert "exit status 1" in result.reason
    assert "trace" in step_repo.transcript(result)
    assert sorted([change.path for change in result.changes]) == ["left", "made"]
    assert (result.checks.tests_run, result.checks.tests_passed, result.checks.post) == (1, 0, "failed")
    undo_changes(step_repo.context, result.changes, result.folders)
    assert not step_repo.path("made").exists()
    assert not step_repo.path("left").exists()


def test_what_is_known_to_read_only_leaves_nothing_outside(repo: Folder) -> None:
    assert StepRepository(repo, step("cat README.md")).perform("it").outside == ""


def test_what_can_not_be_taken_back_is_named_where_there_is_such(repo: Folder) -> None:
    step_repo = StepRepository(repo, step("touch made", "network"))
    assert step_repo.perform("it").outside == "its effects outside the repository or over the network"
    boxed = Sandbox(
        "/usr/bin/bwrap", can_limit_size=True, project=step_repo.context.run_paths.project, hidden_folders=()
    )
    effects = [
        outside_effects(step_repo.context._replace(sandbox=boxed), step_repo.step("it"), hidden)
        for hidden in ("", "in x")
    ]
    assert effects == ["its effects over the network", "its effects in x or over the network"]
    quiet = step_repo.step("it").model_copy(update={"network": False})
    assert outside_effects(step_repo.context._replace(sandbox=boxed), quiet, "") == ""


def test_a_step_s_environment_and_folder(repo: Folder) -> None:
    repo.write("src/x", "")
    step_repo = StepRepository(repo, step("pwd; echo $COLOUR", "shell cwd=src env=COLOUR=red"))
    result = step_repo.perform("it")
    assert result.ok, result
    assert f"| {repo.path}/src\n    | red\n" in step_repo.transcript(result)


def test_the_time_of_the_whole_run(repo: Folder) -> None:
    step_repo = StepRepository(repo, step("sleep 60"))
    step_repo.context = step_repo.context._replace(deadline=time.monotonic() + 0.3)
    result = step_repo.perform("it")
    assert (result.cause, result.reason) == ("timeout", "the run exceeded its time limit")
    result = step_repo.perform("it", 2)
    assert (result.cause, result.seconds < 5) == ("timeout", True)


def test_a_step_without_a_timeout_has_that_of_the_settings(repo: Folder) -> None:
    step_repo = StepRepository(repo, step("sleep 60"), timeout=1)
    result = step_repo.perform("it")
    assert (result.cause, result.reason) == ("timeout", "it took longer than 1 s")
    assert StepRepository(repo, step("sleep 1.2", "timeout=30"), timeout=1).perform("it").ok


def test_nothing_is_begun_when_the_run_was_interrupted(repo: Folder) -> None:
    step_repo = StepRepository(repo, step("touch made"))
    step_repo.context.stop.set("SIGINT")
    result = step_repo.perform("it")
    assert (result.ok, result.cause) == (False, "interrupted")
    assert not step_repo.path("made").exists()


def test_each_attempt_has_a_transcript_of_its_own(repo: Folder) -> None:
    step_repo = StepRepository(repo, step("echo one"))
    names = [step_repo.perform("it", attempt).transcript for attempt in (1, 2)]
    assert [name.rpartition("/")[2] for name in names] == ["01-it.md", "01-it-2.md"]
    assert step_repo.transcript(step_repo.perform("it", 3)).startswith("# 1. it, attempt 3\n")


def test_the_plan_that_is_ticked_meanwhile_is_no_work_of_a_step(repo: Folder) -> None:
    step_repo = StepRepository(repo, step("touch made"))
    prepared = step_repo.prepare("it")
    step_repo.repo.plan("# Another\n", "parser")
    result = perform_step(step_repo.context, step_repo.step("it"), 1, prepared)
    assert [change.path for change in result.changes] == ["made"]


def test_nor_of_steps_that_run_beside_each_other(repo: Folder) -> None:
    step_repo = StepRepository(repo, step("touch made", "parallel outputs=made"))
    parallel_changes = ParallelChanges(step_repo.context)
    step_repo.repo.plan("# Another\n", "parser")
    step_repo.repo.write("other", "x\n")
    assert [change.path for change in parallel_changes.undeclared()[0]] == ["other"]
