"""Calls that a step's `allow` permits besides its own, and calls that no step plans."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.agents.guard.guard_repository import GuardRepository, guard, hook

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


CHECKS = """
make test
make test 2>&1 | tail -20
cd {root} && make test
git status && make test
time make test
pytest
pytest -q tests/test_app.py
pytest -q | tail -5; git status
npm run build
""".strip().splitlines()
NO_CHECKS = """
make
make test install
make -C sub test
make test > out
make test && rm README.md
make test | sh
cd src && make test
MAKEFLAGS=x make test
PATH=. make test
./make test
npm run build -- --x
pytest-x
pytest $(rm x)
pytest "$X"
sh -c 'make test'
xargs make test
ls | xargs pytest
for f in a; do make test; done
pytest .claude/settings.json; rm x
""".strip().splitlines()


def test_checks_of_the_users_settings_may_always_run(desk: GuardRepository) -> None:
    calls = [command.replace("{root}", str(desk.path)) for command in CHECKS]
    settings = desk.path.parent / ".config/execplan/config.toml"
    checks = '["make test", "pytest ...", "npm run build"]'
    assert {desk.ask(call).kind for call in calls} == {"deny"}
    desk.write("../.config/execplan/config.toml", f'[agent_checks]\n"{desk.path.parent}/other" = {checks}\n')
    assert {desk.ask(call).kind for call in calls} == {"deny"}
    desk.write("../.config/execplan/config.toml", f'[agent_checks]\n"{desk.path}" = {checks}\n')
    assert {call: answer.why for call in calls if (answer := desk.ask(call)).kind != "allow"} == {}
    assert [call for call in NO_CHECKS if desk.ask(call).kind == "allow"] == []
    desk.plan(HEAD + "```sh {#test}\nmake test\n```\n\n```sh {#ship}\nmake ship\n```\n")
    desk.approve()
    assert {call: answer.why for call in calls if (answer := desk.ask(call)).kind != "allow"} == {}
    assert [desk.ask("make ship").kind for _ in range(2)] == ["allow", "deny"]
    assert desk.calls()[0] == "test"
    assert [call for call in NO_CHECKS if desk.ask(call).kind == "allow"] == []
    settings.write_text('[agent_checks]\n"~/x" = ["..."]\n')
    assert desk.ask("make test").kind == "deny"
    settings.unlink()
    desk.write(".agent/execplan.toml", f'[agent_checks]\n"{desk.path}" = {checks}\n')
    assert desk.ask("npm run build").kind == "deny"


def test_tools_of_the_users_settings_may_always_be_used(desk: GuardRepository) -> None:
    tools = {
        "WebSearch": {"query": "x"},
        "WebFetch": {"url": "https://example.com", "prompt": "x"},
        "mcp__ide__getDiagnostics": {},
    }

    def kinds() -> set[str]:
        calls = [json.dumps(hook(name, str(desk.path), **fields)).encode() for name, fields in tools.items()]
        return {guard(call).kind for call in calls}

    assert kinds() == {"deny"}
    desk.write("../.config/execplan/config.toml", f"[execution]\ntools = {json.dumps(list(tools))}\n")
    assert kinds() == {"allow"}
