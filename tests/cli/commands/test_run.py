"""`run` and `resume` as somebody types them: what is printed, and the exit status."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import USAGE
from execplan.execution.engine.workspace.workspace_walk import BYTES, FILES
from tests.cli.approved_plan import ASKS, FAILS, HEAD, MAKE, SEE, run_id, sandbox_off, with_approved_plan
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository."""
    return InProcessRepository(tmp_path / "desk", monkeypatch)


def test_a_run_that_is_completed(desk: InProcessRepository) -> None:
    result = with_approved_plan(sandbox_off(desk), MAKE, SEE).type("run")
    assert (result.exit, result.err) == (0, ""), result
    run = run_id(desk)
    lines = result.out.splitlines()
    assert lines[0].startswith(f"run {run} of {NAME}: approved by the policy, without a sandbox")
    assert [line.partition(" (")[0] for line in lines[1:5]] == [
        "ok 1 make",
        "  checked off: Make it.",
        "ok 2 see",
        "  checked off: See it.",
    ]
    assert lines[1].endswith("): created src/made.py")
    assert lines[5].startswith("completed 2 of 2 steps in ")
    assert lines[5].endswith(f": run {run}")
    assert lines[6:] == [f"next: execplan outcome 'What works now' -p {NAME} --create"]
    assert (desk.path / "src/made.py").read_text() == "X = 1\n"


def test_what_failed_is_shown_and_kept(desk: InProcessRepository) -> None:
    result = with_approved_plan(desk, MAKE, FAILS).type("run")
    assert result.exit == 1
    rollback = f"execplan rollback {run_id(desk)} -p {NAME}"
    assert f"\nits changes are still in place; to revert them: {rollback}\n" in result.out
    assert (desk.path / "src/made.py").exists()
    for command in ("next", "status", "show"):
        assert f"execplan replan 1 -p {NAME}" in desk.type(command).out, command


def test_what_failed_is_shown_and_rolled_back_where_the_user_wants_it(desk: InProcessRepository) -> None:
    desk.write("../.config/execplan/config.toml", '[execution]\nrollback_on = ["failure"]\n')
    result = with_approved_plan(desk, MAKE, FAILS).type("run")
    assert result.exit == 1
    run = run_id(desk)
    transcript = f".agent/execplans/artifacts/{NAME}/runs/{run}/transcripts/"
    assert "failed 2 see (" in result.out
    assert "\n    ls: cannot access" in result.out
    assert f"\n  transcript: {transcript}02-see.md\n" in result.out
    assert "\nrolling back " in result.out
    assert "\n  remove src/made.py\n" in result.out
    assert "\n  reopened: Make it.\n" in result.out
    assert not (desk.path / "src/made.py").exists()
    assert result.out.splitlines()[-1].startswith(f"next: execplan show {NAME} --run 0001-")
    document = with_approved_plan(desk, MAKE, FAILS).type("run", "--json")
    assert document.exit == 1
    assert document.json["ok"] is False
    data = document.json["data"]
    assert (data["status"], data["cause"]) == ("rolled_back", "failure")
    assert data["rolled_back"]["removed"] == ["src/made.py"]


def test_each_record_is_a_line_and_the_document_is_the_last(desk: InProcessRepository) -> None:
    result = with_approved_plan(desk, MAKE, SEE).type("run", "--jsonl")
    *records, last = map(json.loads, result.out.splitlines())
    assert result.err == ""
    assert {record["kind"] for record in records} == {"run"}
    kinds = [record["entry"]["kind"] for record in records]
    assert kinds == ["begun", "intent", "result", "ticked", "intent", "result", "ticked", "ended"]
    assert [record["entry"]["number"] for record in records] == list(range(1, 9))
    assert {record["run"] for record in records} == {run_id(desk)}
    assert (last["kind"], last["ok"], last["error"]) == ("run", True, None)
    data = last["data"]
    assert (data["status"], data["counts"]) == ("completed", {"done": 2, "skipped": 0, "total": 2})
    assert [step["status"] for step in data["steps"]] == ["completed", "completed"]
    assert (data["rolled_back"], data["differences"], data["commit"]) == (None, [], None)
    assert desk.data("show", "--run")["run"] == data["run"]


def test_a_refusal_is_a_document_in_a_stream_too(desk: InProcessRepository) -> None:
    desk.plan(HEAD + MAKE + SEE)
    result = desk.type("run", "--jsonl")
    assert result.exit == 7
    assert json.loads(result.out)["error"]["code"] == "not-approved"
    assert desk.type("run", "--jsonl", "--jobs", "0").json["error"]["exit"] == 2


def test_who_runs_what_nobody_approved_sees_how_to_approve_it(desk: InProcessRepository) -> None:
    desk.plan(HEAD + MAKE + SEE)
    result = desk.type("run")
    assert result.exit == 7
    assert result.err.endswith(f": execplan evaluate {NAME}\n")
    assert desk.type("runs").out == f"no runs yet\nnext: execplan compile {NAME}\n"


def test_a_dry_run_shows_what_would_be_done(desk: InProcessRepository) -> None:
    before = tree(with_approved_plan(desk, MAKE, SEE))
    out = desk.type("run", "--dry-run", "--step", "make").out
    assert out.startswith("would run 1 of 2 steps, approved by the policy, ")
    assert out.splitlines()[1:] == [
        "1 make: Create src/made.py",
        "2 see: skipped: not selected",
        f"changes, risk and findings of each step: execplan evaluate {NAME}",
        f"next: execplan run {NAME} --step make",
    ]
    assert "\n  runs: cat src/made.py\n" in desk.type("run", "--dry-run").out
    evaluated, tried = [set(desk.type(*call).out.splitlines()) for call in (("evaluate",), ("run", "--dry-run"))]
    assert evaluated & tried == {f"next: execplan run {NAME}"}, "it says what evaluate does not"
    data = desk.data("run", "--dry-run")
    assert [step["runs"] for step in data["steps"]] == [True, True]
    assert data["changed"] is False
    assert tree(desk) == before


def tree(desk: InProcessRepository) -> dict[str, bytes]:
    """Every file below the desk and beside it."""
    return {str(path): path.read_bytes() for path in desk.path.parent.rglob("*") if path.is_file()}


def test_a_run_that_waits(desk: InProcessRepository) -> None:
    result = with_approved_plan(desk, MAKE, ASKS).type("run")
    assert result.exit == 8
    run = run_id(desk)
    assert (
        f"execplan: run {run} of {NAME} is paused, 1 of 2 steps done: step see requires confirmation: Run cat src/made.py"
        in result.err
    )
    assert result.err.endswith(
        "\n  go    run the step\n  skip  continue without the step\n  stop  end the run as failed and roll it back\n"
        f"next: execplan resume {run} -p {NAME} --answer go\n"
    )
    assert "is waiting for an answer: step see requires confirmation: Run cat" in desk.type("status").out
    assert result.err.endswith(desk.type("resume").err), "the warning that nothing is sandboxed is of a run"
    document = desk.type("resume", "--answer", "skip", "--json").json
    assert document["data"]["steps"][1]["status"] == "skipped"
    assert document["data"]["status"] == "completed"
    assert desk.refused(1, "nothing-to-resume", "resume")


def test_the_document_of_a_run_that_waits(desk: InProcessRepository) -> None:
    error = with_approved_plan(desk, MAKE, ASKS).refused(8, "paused", "run")
    assert error["candidates"] == ["go", "skip", "stop"]
    assert error["hint"] == f"execplan resume {run_id(desk)} -p {NAME} --answer go"
    assert desk.refused(2, "bad-answer", "resume", "--answer", "again")["candidates"] == ["go", "skip", "stop"]
    assert desk.type("resume", "--answer", "perhaps").exit == 2
    resumed = desk.type("resume", "--jsonl", "--answer", "go")
    kinds = [json.loads(line)["entry"]["kind"] for line in resumed.out.splitlines()[:-1]]
    assert kinds == ["resumed", "answered", "intent", "result", "ticked", "ended"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--step", "make", "--from", "make"], "can't be combined"),
        (["run", "--jobs", "0"], "--jobs"),
        (["run", "--timeout", "0"], "--timeout"),
        (["resume", "--answer", "yes"], "--answer"),
        (["runs", "--state", "done"], "--state"),
    ],
)
def test_usage(desk: InProcessRepository, arguments: list[str], words: str) -> None:
    result = desk.type(*arguments)
    assert result.exit == 2
    assert words in result.err


@pytest.mark.parametrize(
    ("verb", "command"), [("resume", f"execplan compile {NAME}"), ("rollback", f"execplan undo -p {NAME} --list")]
)
def test_there_is_no_run(desk: InProcessRepository, verb: str, command: str) -> None:
    assert desk.refused(3, "no-such-run", verb)["hint"].endswith(f": {command}")
    with_approved_plan(desk, MAKE, SEE).type("run", "-q")
    assert desk.refused(3, "no-such-run", verb, "7")["candidates"] == [run_id(desk)]
    assert os.listdir(desk.path / f".agent/execplans/artifacts/{NAME}/runs") == [run_id(desk)]


def without_sandbox(desk: InProcessRepository) -> InProcessRepository:
    """Let bwrap not be found."""
    folder = desk.path.parent / "programs"
    folder.mkdir()
    for name in ("git", "cat", "sh", "env"):
        (folder / name).symlink_to(str(shutil.which(name)))
    desk.env["PATH"] = str(folder)
    desk.patch.setenv("PATH", str(folder))
    return desk


WARNING = "execplan: warning: commands run without a sandbox: bwrap is not installed"


def test_a_missing_sandbox_is_reported_at_the_approval_and_before_the_run(desk: InProcessRepository) -> None:
    without_sandbox(desk).plan(HEAD + MAKE + SEE)
    approved = desk.type("approve", "--digest", desk.digest())
    assert WARNING in approved.err
    process = desk.start("run")
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.decode().count(WARNING)) == (0, 1), err
    lines = subprocess_lines(desk)
    assert lines.index(WARNING) < next(at for at, line in enumerate(lines) if line.startswith("run 000"))
    assert any(WARNING.endswith(warning) for warning in desk.type("run", "--dry-run", "--json").json["warnings"])


def subprocess_lines(desk: InProcessRepository) -> list[str]:
    """What another run prints, both streams as one."""
    assert desk.type("rollback").exit == 0
    desk.approve()
    command = [sys.executable, "-m", "execplan", "run"]
    completed = subprocess.run(
        command, cwd=desk.path, env=desk.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True
    )
    assert desk.type("rollback").exit == 0
    desk.approve()
    return completed.stdout.decode().splitlines()


def test_a_repository_that_is_too_large_to_be_compared_is_warned_of(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (FILES, BYTES) == (20_000, 256 << 20)
    monkeypatch.setattr("execplan.execution.engine.workspace.workspace_walk.FILES", 3)
    with_approved_plan(desk, MAKE, SEE)
    expected = (
        "the repository has more than 3 files or 256 MB; a rollback restores only the paths that commands declare"
    )
    assert any(expected in warning for warning in desk.type("run", "--json").json["warnings"])


def test_a_run_with_many_steps_warns_of_uncommitted_changes(desk: InProcessRepository) -> None:
    commands = "\n".join([f"ls src/{number}" for number in range(11)])
    for count, is_warned in ((10, False), (11, True)):
        lines = "\n".join(commands.split("\n")[:count])
        with_approved_plan(desk, f"```sh {{#see}}\n{lines}\n```\n")
        desk.commit()
        assert "uncommitted" not in desk.type("run", "--dry-run").err
        desk.write("src/other.py", f"y = {count}\n")
        expected = "the working tree has uncommitted changes, such as src/other.py, and the run has 11 steps"
        assert (expected in desk.type("run", "--dry-run").err) == is_warned


def test_a_missing_sandbox_is_in_the_document_of_a_run(desk: InProcessRepository) -> None:
    with_approved_plan(without_sandbox(desk), MAKE, SEE)
    document = desk.type("run", "--json").json
    assert document["ok"] is True
    assert [warning for warning in document["warnings"] if "without a sandbox" in warning] == [
        WARNING.partition("warning: ")[2]
    ]


def test_a_resume_warns_before_it_says_resumed(desk: InProcessRepository) -> None:
    with_approved_plan(without_sandbox(desk), MAKE, ASKS)
    assert desk.type("run").exit == 8
    process = desk.start("resume", "--answer", "go")
    _, err = process.communicate(timeout=60)
    assert WARNING in err.decode()


def test_steps_without_commands_warn_of_no_sandbox(desk: InProcessRepository) -> None:
    with_approved_plan(without_sandbox(desk), MAKE)
    assert "sandbox" not in desk.type("run").err


@pytest.mark.parametrize("command", ["run", "resume"])
def test_an_empty_executor_is_not_this_machine(desk: InProcessRepository, command: str) -> None:
    with_approved_plan(desk, MAKE)
    desk.refused(USAGE, "bad-executor", command, "--executor", "")
    assert not (desk.path / "src/made.py").exists()
