"""`doctor` on the guard: asked before every call, or what keeps it from that."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from execplan.doctor import doctor_runner
from execplan.edits.plan_writer import WriteOptions
from tests.repo.approving import InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.doctor.doctor_check import Finding
    from execplan.doctor.doctor_runner import CheckResult

CLAUDE, CODEX = ".claude/settings.json", ".codex/hooks.json"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with a guard, and an execplan on PATH."""
    made = InProcessRepository(tmp_path / "repo", monkeypatch)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    made.write("../bin/execplan", "#!/bin/sh\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    assert made.type("install", "guard").exit == 0
    return made


def looked(desk: InProcessRepository) -> CheckResult:
    """What the check of the guard says."""
    (found,) = [each for each in doctor_runner.run_checks(str(desk.path), lambda shell: "") if each.name == "guard"]
    return found


def one(desk: InProcessRepository) -> Finding:
    """The only thing that it finds."""
    (found,) = looked(desk).findings
    return found


def test_installed_and_asked(desk: InProcessRepository) -> None:
    assert looked(desk).ok
    assert "no plan is approved" in looked(desk).message
    desk.approve()
    assert looked(desk).ok
    assert "no plan is approved" not in looked(desk).message
    desk.write("Makefile", "other:\n")
    assert "no plan is approved" in looked(desk).message
    assert desk.type("uninstall", "guard").exit == 0
    assert "not installed" in looked(desk).message


def test_one_of_another_day_is_renewed(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("execplan.agents.guard_hook.TIMEOUT", 9)
        assert desk.type("install", "guard").exit == 0
    found = one(desk)
    assert (found.path, found.level, found.remedy) == (CLAUDE, "warning", "execplan install guard --for claude")
    done, refused = doctor_runner.apply_fixes(str(desk.path), lambda shell: "", WriteOptions())
    assert not refused
    assert [each.path for each in done] == [CLAUDE]
    assert looked(desk).ok


def test_one_that_was_edited_or_put_there_by_hand(desk: InProcessRepository) -> None:
    path = desk.path / CLAUDE
    said = json.loads(path.read_text())
    said["hooks"]["PreToolUse"][0]["matcher"] = "Bash"
    path.write_text(json.dumps(said))
    assert "edited by hand" in one(desk).message
    assert desk.type("uninstall", "guard", "--force").exit == 0
    desk.write(CLAUDE, '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "execplan guard"}]}]}}')
    assert looked(desk).ok
    assert f"put into {CLAUDE} by hand" in looked(desk).message


def test_execplan_is_not_found(desk: InProcessRepository) -> None:
    (desk.path.parent / "bin/execplan").unlink()
    assert "PATH" in one(desk).message


@pytest.mark.parametrize(
    "place", [".claude/settings.local.json", "../.claude/settings.json", "../elsewhere/settings.json", CLAUDE]
)
def test_hooks_are_switched_off(desk: InProcessRepository, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "elsewhere" in place:
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(desk.path.parent / "elsewhere"))
    said = json.loads((desk.path / CLAUDE).read_text()) if place == CLAUDE else {}
    desk.write(place, json.dumps({**said, "disableAllHooks": False}))
    assert looked(desk).ok
    desk.write(place, json.dumps({**said, "disableAllHooks": True}))
    found = one(desk)
    assert found.level == "error"
    assert "disableAllHooks" in found.message
    assert found.path.endswith(place.removeprefix("../"))


def test_an_organization_wants_only_its_own_hooks(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    managed = desk.write("../managed.json", '{"allowManagedHooksOnly": true}')
    monkeypatch.setattr("execplan.doctor.agent_hook_checks._MANAGED", (str(managed),))
    assert "allowManagedHooksOnly" in one(desk).message


@pytest.mark.parametrize(
    ("group", "where"),
    [
        ({"type": "command", "command": "x"}, "hooks.PreToolUse.1 "),
        ({"matcher": {"a": 1}, "hooks": []}, "hooks.PreToolUse.1.matcher "),
    ],
)
def test_a_file_that_claude_code_passes_over(desk: InProcessRepository, group: object, where: str) -> None:
    path = desk.path / CLAUDE
    said = json.loads(path.read_text())
    said["hooks"]["PreToolUse"].append(group)
    path.write_text(json.dumps(said))
    assert where in one(desk).message
    path.write_text(path.read_text() + "}")
    assert "can't read it either" in one(desk).message
    path.write_text("{}}")
    assert "not installed" in looked(desk).message


def test_codex_wants_hooks_on_and_trust(desk: InProcessRepository) -> None:
    desk.write("../.codex/config.toml", f'[projects."{desk.path}"]\ntrust_level = "trusted"\n')
    assert desk.type("install", "guard", "--for", "codex").exit == 0
    assert looked(desk).ok
    for line in ("hooks", "codex_hooks"):
        desk.write(".codex/config.toml", f"[features]\n{line} = false\n")
        found = one(desk)
        assert (found.level, found.path) == ("error", ".codex/config.toml")
    desk.write(".codex/config.toml", "nonsense")
    desk.write("../.codex/config.toml", 'model = "x"\n')
    found = one(desk)
    assert (found.level, found.path) == ("warning", CODEX)
    assert "/hooks" in found.remedy


def test_a_run_under_way_is_allowed_something(desk: InProcessRepository) -> None:
    from execplan.engine.journal import journal_entries
    from tests.engine.hand import begin_scripted_run

    hand, _ = begin_scripted_run(desk)
    hand.write(journal_entries.PAUSED, why="checkpoint", step="api", question="Go on?")
    assert "no plan is approved" not in looked(desk).message


def test_a_run_of_an_agent_is_allowed_something(desk: InProcessRepository) -> None:
    from execplan.engine.agent_runs.agent_start import start_or_resume
    from execplan.engine.run_lock import acquire_run_lock

    desk.approve()
    project, ref = desk.project()
    with acquire_run_lock(project, "test"):
        start_or_resume(project, ref, session="one")
    assert "no plan is approved" not in looked(desk).message
