"""A merge, rebase or cherry-pick that a person began: an agent finishes it with its own resolution, and nothing else of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.agents.guard.guard_repository import GuardRepository
from tests.in_process_repository import NAME

if TYPE_CHECKING:
    from pathlib import Path

FILE = f".agent/execplans/{NAME}.md"
PLAN = "# Build the parser\n\n## Progress\n\n- [ ] Build it.\n\n## Context\n\n{}\n"
REBASE = "git -c core.editor=true rebase --continue"
PICK = "git -c core.editor=true cherry-pick --continue"
OPERATIONS = {"merge": "git commit --no-edit", "rebase": REBASE, "cherry-pick": PICK}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GuardRepository:
    """Two branches that have changed the same line of a plan; the other one has also changed code."""
    repository = GuardRepository(tmp_path / "repo", monkeypatch)
    monkeypatch.setenv("EXECPLAN_AGENT", "ann")
    for name in ("src/app.py", "src/both.py"):
        repository.write(name, "x = 0\n")
    repository.plan(PLAN.format("Old."))
    repository.commit()
    repository.git("branch", "-M", "main")
    repository.git("checkout", "-qb", "side")
    repository.write("src/app.py", "x = 1\n")
    repository.plan(PLAN.format("Theirs."))
    repository.commit()
    repository.git("checkout", "-q", "main")
    repository.plan(PLAN.format("Ours."))
    repository.commit()
    return repository


def begin(desk: GuardRepository, operation: str) -> None:
    """Begin an operation as a person, which stops at the conflict."""
    if operation == "rebase":
        desk.git("checkout", "-q", "side")
    target = "main" if operation == "rebase" else "side"
    with pytest.raises(AssertionError):
        desk.git(operation, target)


def resolve(desk: GuardRepository) -> None:
    desk.plan(PLAN.format("Both."))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_next_prints_is_allowed_and_finishes_the_operation(desk: GuardRepository, operation: str) -> None:
    begin(desk, operation)
    resolve(desk)
    commands = []
    for _ in range(3):
        (command, *_) = json.loads(desk.type("next", "parser", "--json").out)["next"]
        if command.startswith("execplan"):
            break
        answer = desk.ask(command)
        assert answer.kind == "allow", (command, answer.why)
        commands.append(command)
        desk.git(*command.split()[1:])
    assert commands == [f"git add {FILE}", OPERATIONS[operation]]
    assert "Both." in desk.git("show", f"HEAD:{FILE}")
    assert desk.git("show", "HEAD:src/app.py") == "x = 1\n"


@pytest.mark.parametrize("command", ["git commit -m merged", "git commit --no-edit && execplan commit parser"])
def test_a_merge_is_finished_with_a_message_or_a_command_after_it(desk: GuardRepository, command: str) -> None:
    begin(desk, "merge")
    resolve(desk)
    assert desk.ask(f"git add {FILE} && {command}").kind == "allow"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_with_a_change_of_code_that_is_not_gits_own_is_not_finished(
    desk: GuardRepository, operation: str
) -> None:
    begin(desk, operation)
    resolve(desk)
    desk.write("src/app.py", "x = 2\n")
    desk.git("add", "-A")
    answer = desk.ask(OPERATIONS[operation])
    assert answer.kind == "deny"
    assert "src/app.py" in answer.why


def test_an_operation_without_a_resolution_is_finished_by_a_person(desk: GuardRepository) -> None:
    desk.git("merge", "-q", "--no-commit", "-X", "ours", "side")
    answer = desk.ask("git commit --no-edit")
    assert answer.kind == "deny"
    assert "src/app.py" in answer.why
    desk.git("merge", "--abort")
    desk.git("merge", "-q", "--no-commit", "-s", "ours", "side")
    answer = desk.ask("git commit --no-edit")
    assert answer.kind == "deny"
    assert "a person finishes it" in answer.why


def test_a_rebase_that_runs_commands_is_continued_by_a_person(desk: GuardRepository) -> None:
    desk.git("checkout", "-q", "side")
    with pytest.raises(AssertionError):
        desk.git("rebase", "--exec", "touch ran", "main")
    resolve(desk)
    desk.git("add", "-A")
    answer = desk.ask(REBASE)
    assert answer.kind == "deny"
    assert "runs commands" in answer.why


def test_no_other_command_passes_as_one_that_finishes_an_operation(desk: GuardRepository) -> None:
    assert "would start an editor" in desk.ask("git commit --no-edit").why
    assert "no operation" in desk.ask(REBASE).why
    begin(desk, "rebase")
    resolve(desk)
    desk.git("add", "-A")
    assert REBASE in desk.ask("git rebase --continue").why
    for command in (
        "git -c core.editor=touch rebase --continue",
        "git -c core.editor=true rebase --skip",
        "git -c core.editor=true rebase --abort",
        "git -c core.editor=true rebase --continue --exec 'touch x'",
        "git -c core.editor=true -c core.pager=x rebase --continue",
        "git -c core.hooksPath=true rebase --continue",
        "git -c sequence.editor=true rebase --continue",
        "git --config-env=core.editor=HOME rebase --continue",
        "GIT_EDITOR=true git rebase --continue",
        f"{REBASE}; touch x",
        f"{REBASE} && git push",
        "git commit --amend --no-edit",
        "git -c core.editor=true commit --amend",
        "git commit --no-edit --no-verify",
    ):
        assert desk.ask(command).kind == "deny", command
    assert desk.ask(REBASE).kind == "allow"
