"""`doctor` on the guard: asked before every call, or what keeps it from that."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from execplan.doctor import doctor_runner
from execplan.edits.plan_writer import WriteOptions
from tests.in_process_repository import InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.doctor.doctor_check import Finding
    from execplan.doctor.doctor_runner import CheckResult

CLAUDE, CODEX = ".claude/settings.json", ".codex/hooks.json"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with a guard, and an execplan on PATH."""
    repository = InProcessRepository(tmp_path / "repo", monkeypatch)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    repository.write("../bin/execplan", "#!/bin/sh\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    assert repository.type("install", "guard").exit == 0
    return repository


def guard_check(desk: InProcessRepository) -> CheckResult:
    """What the check of the guard says."""
    (result,) = [check for check in doctor_runner.run_checks(str(desk.path), lambda shell: "") if check.name == "guard"]
    return result


def only_finding(desk: InProcessRepository) -> Finding:
    """The only thing that it finds."""
    (finding,) = guard_check(desk).findings
    return finding


def test_installed_and_asked(desk: InProcessRepository) -> None:
    assert guard_check(desk).ok
    assert "no plan is approved" in guard_check(desk).message
    desk.approve()
    assert guard_check(desk).ok
    assert "no plan is approved" not in guard_check(desk).message
    desk.write("Makefile", "other:\n")
    assert "no plan is approved" in guard_check(desk).message
    assert desk.type("uninstall", "guard").exit == 0
    assert "not installed" in guard_check(desk).message


def test_one_of_another_day_is_renewed(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("execplan.agents.integrations.guard_hook.TIMEOUT", 9)
        assert desk.type("install", "guard").exit == 0
    finding = only_finding(desk)
    assert (finding.path, finding.level, finding.remedy) == (CLAUDE, "warning", "execplan install guard --for claude")
    fixed, refused = doctor_runner.apply_fixes(str(desk.path), lambda shell: "", WriteOptions())
    assert not refused
    assert [fix.path for fix in fixed] == [CLAUDE]
    assert guard_check(desk).ok


def test_one_that_was_edited_or_put_there_by_hand(desk: InProcessRepository) -> None:
    path = desk.path / CLAUDE
    settings = json.loads(path.read_text())
    settings["hooks"]["PreToolUse"][0]["matcher"] = "Bash"
    path.write_text(json.dumps(settings))
    assert "edited by hand" in only_finding(desk).message
    assert desk.type("uninstall", "guard", "--force").exit == 0
    desk.write(CLAUDE, '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "execplan guard"}]}]}}')
    assert guard_check(desk).ok
    assert f"added to {CLAUDE} by hand" in guard_check(desk).message


def test_execplan_is_not_found(desk: InProcessRepository) -> None:
    (desk.path.parent / "bin/execplan").unlink()
    assert "PATH" in only_finding(desk).message


@pytest.mark.parametrize(
    "place", [".claude/settings.local.json", "../.claude/settings.json", "../elsewhere/settings.json", CLAUDE]
)
def test_hooks_are_switched_off(desk: InProcessRepository, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "elsewhere" in place:
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(desk.path.parent / "elsewhere"))
    settings = json.loads((desk.path / CLAUDE).read_text()) if place == CLAUDE else {}
    desk.write(place, json.dumps({**settings, "disableAllHooks": False}))
    assert guard_check(desk).ok
    desk.write(place, json.dumps({**settings, "disableAllHooks": True}))
    finding = only_finding(desk)
    assert finding.level == "error"
    assert "disableAllHooks" in finding.message
    assert finding.path.endswith(place.removeprefix("../"))


def test_an_organization_wants_only_its_own_hooks(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    managed = desk.write("../managed.json", '{"allowManagedHooksOnly": true}')
    monkeypatch.setattr("execplan.doctor.agent_hook_checks._MANAGED", (str(managed),))
    assert "allowManagedHooksOnly" in only_finding(desk).message


@pytest.mark.parametrize(
    ("group", "where"),
    [
        ({"type": "command", "command": "x"}, "hooks.PreToolUse.1 "),
        ({"matcher": {"a": 1}, "hooks": []}, "hooks.PreToolUse.1.matcher "),
    ],
)
def test_a_file_that_claude_code_passes_over(desk: InProcessRepository, group: object, where: str) -> None:
    path = desk.path / CLAUDE
    settings = json.loads(path.read_text())
    settings["hooks"]["PreToolUse"].append(group)
    path.write_text(json.dumps(settings))
    assert where in only_finding(desk).message
    path.write_text(path.read_text() + "}")
    assert "can't read it either" in only_finding(desk).message
    path.write_text("{}}")
    assert "not installed" in guard_check(desk).message


def test_codex_wants_hooks_on_and_trust(desk: InProcessRepository) -> None:
    desk.write("../.codex/config.toml", f'[projects."{desk.path}"]\ntrust_level = "trusted"\n')
    assert desk.type("install", "guard", "--for", "codex").exit == 0
    assert guard_check(desk).ok
    for line in ("hooks", "codex_hooks"):
        desk.write(".codex/config.toml", f"[features]\n{line} = false\n")
        finding = only_finding(desk)
        assert (finding.level, finding.path) == ("error", ".codex/config.toml")
    desk.write(".codex/config.toml", "nonsense")
    desk.write("../.codex/config.toml", 'model = "x"\n')
    finding = only_finding(desk)
    assert (finding.level, finding.path) == ("warning", CODEX)
    assert "/hooks" in finding.remedy


def test_a_run_under_way_is_allowed_something(desk: InProcessRepository) -> None:
    from execplan.engine.journal import journal_entries
    from tests.engine.scripted_run import begin_scripted_run

    journal_writer, _ = begin_scripted_run(desk)
    journal_writer.write(journal_entries.PAUSED, why="checkpoint", step="api", question="Go on?")
    assert "no plan is approved" not in guard_check(desk).message


def test_a_run_of_an_agent_is_allowed_something(desk: InProcessRepository) -> None:
    from execplan.engine.agent_runs.agent_start import start_or_resume
    from execplan.engine.run_lock import acquire_run_lock

    desk.approve()
    project, ref = desk.project()
    with acquire_run_lock(project, "test"):
        start_or_resume(project, ref, session="one")
    assert "no plan is approved" not in guard_check(desk).message
