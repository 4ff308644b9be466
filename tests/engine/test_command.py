"""Steps that run a command: how it must end, what it must print and make, its test, and what it changes."""

from __future__ import annotations

import time

import pytest

from execplan.engine.commands.command_sandbox import Sandbox
from execplan.engine.steps.file_writes import undo_changes
from execplan.engine.steps.step_execution import outside_effects, perform_step
from execplan.engine.steps.tree_snapshots import ParallelChanges
from tests.conftest import Folder
from tests.engine.bench import Shop


def step(command: str, attributes: str = "", below: str = "") -> str:
    """A fence with one command, or with a script."""
    return f"```sh {{#it {attributes}}}\n{command}\n```\n{below}\n"


def test_what_it_changes_is_found_and_taken_back(repo: Folder) -> None:
    repo.write("src/a.txt", "one\n")
    repo.write(".gitignore", "*.log\n")
    script = "echo two >> src/a.txt; mkdir -p out/deep; echo x > out/deep/b; rm README.md; echo l > x.log"
    made = Shop(repo, step(script, "shell outputs=out/deep/b"))
    done = made.do("it")
    assert done.ok, done
    told = {each.path: (each.added, each.removed, each.declared) for each in done.changes}
    assert told == {"README.md": (0, 1, False), "out/deep/b": (1, 0, True), "src/a.txt": (1, 0, False)}
    assert done.folders == ("out", "out/deep")
    assert done.exit == 0
    assert done.outside == "what it did outside the repository, in files that git ignores or over the network"
    undo_changes(made.bench, done.changes, done.folders)
    assert made.path("README.md").read_text() == "# A project\n"
    assert made.path("src/a.txt").read_text() == "one\n"
    assert not made.path("out").exists()
    assert made.path("x.log").exists()


def test_what_git_ignores_is_found_where_it_is_declared(repo: Folder) -> None:
    repo.write(".gitignore", "*.log\nbuild/\n")
    made = Shop(
        repo, step("mkdir build; echo a > build/a; echo b > x.log; echo c > y.log", "shell outputs=build,x.log")
    )
    done = made.do("it")
    assert [(each.path, each.declared) for each in done.changes] == [("build/a", True), ("x.log", True)]
    undo_changes(made.bench, done.changes, done.folders)
    assert [made.path(name).exists() for name in ("build", "x.log", "y.log")] == [False, False, True]


@pytest.mark.parametrize(
    ("attributes", "command", "cause", "reason"),
    [
        ("", "false", "exit", "exit status 1, not 0"),
        ("exit=1", "false", "", ""),
        ("exit=2", "true", "exit", "exit status 0, not 2"),
        ("shell", "kill -9 $$", "exit", "it was ended by signal 9"),
        ("outputs=made,README.md", "true", "expectation", "it has not made made"),
        ('expect="ok …"', "echo ok then", "", ""),
        ("expect=ok", "echo no", "expectation", "it printed something else than expected: line 1 is 'no', not 'ok'"),
        ("expect=ok", "echo no-at-all-found-here-please >/dev/null", "error", "it needs a shell"),
        ("", "no-such-program-anywhere", "error", "no-such-program-anywhere"),
        ("cwd=nowhere", "true", "error", "there is no folder nowhere"),
        ("cwd=../x", "true", "error", "there is no folder ../x"),
        ("timeout=1", "sleep 60", "timeout", "1"),
    ],
)
def test_how_it_must_end(repo: Folder, attributes: str, command: str, cause: str, reason: str) -> None:
    done = Shop(repo, step(command, attributes)).do("it")
    assert (done.ok, done.cause) == (not cause, cause), done
    assert reason in done.reason


def test_more_than_is_kept_is_not_what_was_expected(repo: Folder) -> None:
    made = Shop(repo, step("seq 100000", "expect=…"), output_kb=4)
    done = made.do("it")
    assert (done.ok, done.cause) == (False, "expectation")
    assert "more than is kept" in done.reason
    assert made.path(done.transcript).stat().st_size < 100_000


def test_a_secret_that_was_not_expected_is_not_told(repo: Folder) -> None:
    key = "AKIAQ3EGRCW7T5ZLM2" + "XB"
    made = Shop(repo, step(f"printf '{'x' * 50}={key[:10]}%s' {key[10:]}", "expect=ok"))
    done = made.do("it")
    assert done.cause == "expectation"
    assert key[:8] not in done.reason
    assert "AKIA" not in made.transcript(done).partition("|")[2]


def test_a_failed_command_s_changes_are_told(repo: Folder) -> None:
    made = Shop(repo, step("echo x > README.md; exit 3", "shell"))
    done = made.do("it")
    assert (done.ok, done.exit, [each.path for each in done.changes]) == (False, 3, ["README.md"])
    assert (done.checks.pre, done.checks.post) == ("passed", "not_run")


def test_the_test_behind_it(repo: Folder) -> None:
    made = Shop(repo, step("touch made", 'test-after="test -e made"'))
    done = made.do("it")
    assert done.ok
    assert (done.checks.tests_run, done.checks.tests_passed, done.checks.post) == (1, 1, "passed")
    assert "$ test -e made" in made.transcript(done)


@pytest.mark.parametrize("kind", ["command", "file"])
def test_a_test_that_fails(repo: Folder, kind: str) -> None:
    test = "test-after=\"sh -c 'echo trace; touch left; exit 1'\""
    file = f"```text {{#it type=create_file target=made {test}}}\nx\n```\n"
    made = Shop(repo, step("touch made", test) if kind == "command" else file)
    done = made.do("it")
    assert (done.ok, done.cause) == (False, "test")
    assert "exit status 1" in done.reason
    assert "trace" in made.transcript(done)
    assert sorted([each.path for each in done.changes]) == ["left", "made"]
    assert (done.checks.tests_run, done.checks.tests_passed, done.checks.post) == (1, 0, "failed")
    undo_changes(made.bench, done.changes, done.folders)
    assert not made.path("made").exists()
    assert not made.path("left").exists()


def test_what_is_known_to_read_only_leaves_nothing_outside(repo: Folder) -> None:
    assert Shop(repo, step("cat README.md")).do("it").outside == ""


def test_what_can_not_be_taken_back_is_named_where_there_is_such(repo: Folder) -> None:
    made = Shop(repo, step("touch made", "network"))
    assert made.do("it").outside == "what it did outside the repository or over the network"
    boxed = Sandbox("/usr/bin/bwrap", can_limit_size=True, project=made.bench.project, hidden_folders=())
    told = [outside_effects(made.bench._replace(sandbox=boxed), made.step("it"), hidden) for hidden in ("", "in x")]
    assert told == ["what it did over the network", "what it did in x or over the network"]
    quiet = made.step("it").model_copy(update={"network": False})
    assert outside_effects(made.bench._replace(sandbox=boxed), quiet, "") == ""


def test_a_step_s_environment_and_folder(repo: Folder) -> None:
    repo.write("src/x", "")
    made = Shop(repo, step("pwd; echo $COLOUR", "shell cwd=src env=COLOUR=red"))
    done = made.do("it")
    assert done.ok, done
    assert f"| {repo.path}/src\n    | red\n" in made.transcript(done)


def test_the_time_of_the_whole_run(repo: Folder) -> None:
    made = Shop(repo, step("sleep 60"))
    made.bench = made.bench._replace(deadline=time.monotonic() + 0.3)
    done = made.do("it")
    assert (done.cause, done.reason) == ("timeout", "the time of the whole run is over")
    done = made.do("it", 2)
    assert (done.cause, done.seconds < 5) == ("timeout", True)


def test_nothing_is_begun_when_the_run_was_interrupted(repo: Folder) -> None:
    made = Shop(repo, step("touch made"))
    made.bench.stop.set("SIGINT")
    done = made.do("it")
    assert (done.ok, done.cause) == (False, "interrupted")
    assert not made.path("made").exists()


def test_each_attempt_has_a_transcript_of_its_own(repo: Folder) -> None:
    made = Shop(repo, step("echo one"))
    names = [made.do("it", attempt).transcript for attempt in (1, 2)]
    assert [name.rpartition("/")[2] for name in names] == ["01-it.md", "01-it-2.md"]
    assert made.transcript(made.do("it", 3)).startswith("# 1. it, attempt 3\n")


def test_the_plan_that_is_ticked_meanwhile_is_no_work_of_a_step(repo: Folder) -> None:
    made = Shop(repo, step("touch made"))
    prepared = made.prepare("it")
    made.repo.plan("# Another\n", "parser")
    done = perform_step(made.bench, made.step("it"), 1, prepared)
    assert [each.path for each in done.changes] == ["made"]


def test_nor_of_steps_that_run_beside_each_other(repo: Folder) -> None:
    made = Shop(repo, step("touch made", "parallel outputs=made"))
    beside = ParallelChanges(made.bench)
    made.repo.plan("# Another\n", "parser")
    made.repo.write("other", "x\n")
    assert [each.path for each in beside.undeclared()[0]] == ["other"]
