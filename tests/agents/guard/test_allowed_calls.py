"""Calls that a step's `allow` permits besides its own, and calls that no step plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agents.guard.guard_repository import GuardRepository

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "# Build it\n\n## Progress\n\n- [ ] Build it.\n\n## Concrete Steps\n\n"
ALLOWED = (
    '```sh {#test allow="npm run lint, npm test ..."}\nmake test\n```\n\n```sh {#ship needs=test}\nmake ship\n```\n'
)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GuardRepository:
    """A repository."""
    return GuardRepository(tmp_path / "desk", monkeypatch)


def test_a_further_call_does_not_use_up_the_step(desk: GuardRepository) -> None:
    desk.plan(HEAD + ALLOWED)
    desk.approve()
    further = ["npm run lint", "npm test", "npm test -- --watch=false"]
    assert [desk.ask(command).kind for command in further * 2] == ["allow"] * 6
    assert desk.ask("make ship").kind == "deny"
    assert [desk.ask("make test").kind for _ in range(2)] == ["allow", "deny"]
    assert desk.ask("npm run lint").kind == "allow"


def test_a_further_call_of_a_step_that_is_done_or_not_its_turn_is_denied(desk: GuardRepository) -> None:
    desk.plan(HEAD + ALLOWED.replace("{#ship needs=test}", '{#ship needs=test allow="npm audit"}'))
    desk.approve()
    assert desk.ask("npm audit").kind == "deny"
    assert desk.ask("make test").kind == "allow"
    assert desk.type("report", "test", "--status", "completed", "--result", "passed").exit == 0
    assert desk.ask("npm run lint").kind == "deny"
    assert desk.ask("npm audit").kind == "allow"


def test_a_call_outside_the_plan_is_asked_about_where_a_person_approved_that(desk: GuardRepository) -> None:
    settings = "```text {execution mode=agent allow-unplanned}\n```\n\n"
    desk.plan(HEAD + settings + "```text {#note type=create_file target=note.txt}\nx\n```\n")
    evaluation = desk.data("evaluate")
    assert evaluation["ok"]
    assert any("a person is asked about each" in finding["message"] for finding in evaluation["findings"])
    assert evaluation["steps"][0]["needs_person"]
    assert evaluation["steps"][0]["risk"]["level"] == "LOW"
    desk.approve()
    assert desk.ask("make anything").kind == "ask"
    assert desk.ask("make anything", program="codex").kind == "deny"
    assert desk.ask("execplan approve").kind == "deny"


def test_without_agent_mode_nothing_is_outside_the_plan(desk: GuardRepository) -> None:
    desk.plan(HEAD + "```text {execution allow-unplanned}\n```\n\n```sh {#a}\nls\n```\n")
    result = desk.type("evaluate")
    assert result.exit == 1
    assert "set the mode to agent" in result.out
