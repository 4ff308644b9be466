"""`doctor` on the guard: asked before every call, or what keeps it from that."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from execplan.agents.integrations import guard_hook
from execplan.cli.doctor import agent_hook_checks, agent_program_limits, doctor_runner
from execplan.core.edits.plan_writer import WriteOptions
from tests.in_process_repository import InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.cli.doctor.doctor_check import DoctorFinding
    from execplan.cli.doctor.doctor_runner import DoctorCheckResult

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


def guard_check(desk: InProcessRepository) -> DoctorCheckResult:
    """What the check of the guard says."""
    (result,) = [check for check in doctor_runner.run_checks(str(desk.path), lambda shell: "") if check.name == "guard"]
    return result


def only_finding(desk: InProcessRepository) -> DoctorFinding:
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
    monkeypatch.setattr("execplan.cli.doctor.agent_hook_checks._MANAGED", (str(managed),))
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


def trust(desk: InProcessRepository, *, more: str = "") -> None:
    """Trust the repository and the guard's hook, as Codex stores it."""
    (entry,) = guard_hook.open_file(desk.project()[0], "codex").entries
    key, digest = agent_hook_checks.trust_key(str(desk.path / CODEX), entry), agent_hook_checks.trust_digest(entry)
    desk.write(
        "../.codex/config.toml",
        f'[projects."{desk.path}"]\ntrust_level = "trusted"\n[hooks.state."{key}"]\ntrusted_hash = "{digest}"\n{more}',
    )


def test_codex_wants_hooks_on_and_trust(desk: InProcessRepository) -> None:
    assert desk.type("install", "guard", "--for", "codex").exit == 0
    trust(desk)
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


def test_codex_trusts_a_hook_as_it_is_and_where_it_is(desk: InProcessRepository) -> None:
    assert desk.type("install", "guard", "--for", "codex").exit == 0
    desk.write("../.codex/config.toml", f'[projects."{desk.path}"]\ntrust_level = "trusted"\n')
    assert "doesn't trust the hook yet" in only_finding(desk).message
    trust(desk, more="enabled = false\n")
    assert "is disabled in Codex" in only_finding(desk).message
    trust(desk)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("execplan.agents.integrations.guard_hook.TIMEOUT", 9)
        assert desk.type("install", "guard").exit == 0
        assert "an earlier form" in only_finding(desk).message
    assert desk.type("install", "guard").exit == 0
    assert guard_check(desk).ok
    settings = json.loads((desk.path / CODEX).read_text())
    settings["hooks"]["PreToolUse"].insert(0, {"hooks": []})
    desk.write(CODEX, json.dumps(settings))
    finding = only_finding(desk)
    assert "out of date" in finding.message
    assert finding.remedy == "execplan install guard --for codex"


CODEX_HOOK = '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"%s}]}%s]}%s}'
CODEX_IGNORES = {
    "an unknown field": CODEX_HOOK % ("", "", ', "x": 1'),
    "a schema": CODEX_HOOK % ("", "", ', "$schema": "x"'),
    "a description that is no text": CODEX_HOOK % ("", "", ', "description": 1'),
    "an unknown type": CODEX_HOOK % ("", ', {"hooks": [{"type": "http", "url": "x"}]}', ""),
    "no type": CODEX_HOOK % ("", ', {"hooks": [{"command": "x"}]}', ""),
    "no command": CODEX_HOOK % ("", ', {"hooks": [{"type": "command"}]}', ""),
    "a tool without a server": CODEX_HOOK % ("", ', {"hooks": [{"type": "mcp_tool", "tool": "x"}]}', ""),
    "a group that is none": CODEX_HOOK % ("", ', "x"', ""),
    "a matcher that is no text": CODEX_HOOK % ("", ', {"matcher": 1}', ""),
    "hooks that are no list": CODEX_HOOK % ("", ', {"hooks": {}}', ""),
    "an event that is no list": '{"hooks": {"PreToolUse": [], "Stop": {}}}',
    "hooks that are none": '{"hooks": null}',
    "a time below zero": CODEX_HOOK % (', "timeout": -1', "", ""),
    "a time that is no whole number": CODEX_HOOK % (', "timeout": 1.5', "", ""),
    "a time that is a text": CODEX_HOOK % (', "timeout": "1"', "", ""),
    "a message that is no text": CODEX_HOOK % (', "statusMessage": 1', "", ""),
    "a flag that is none": CODEX_HOOK % (', "async": "x"', "", ""),
    "a field that occurs twice": CODEX_HOOK % (', "command": "y"', "", ""),
    "a comma too many": '{"hooks": {},}',
    "a comment": '// x\n{"hooks": {}}',
    "a mark at the beginning": '\ufeff{"hooks": {}}',
    "text after the end": '{"hooks": {}} x',
    "nothing": "",
}
CODEX_READS = {
    "a hook": CODEX_HOOK % ("", "", ""),
    "a description": CODEX_HOOK % ("", "", ', "description": "x"'),
    "fields that it does not know": CODEX_HOOK % (', "x": 1', ', {"x": 1}', ""),
    "an event that it does not know": '{"hooks": {"PreToolUse": [], "Other": {}}}',
    "other types": CODEX_HOOK % ("", ', {"hooks": [{"type": "prompt"}, {"type": "agent"}]}', ""),
    "a time that is null": CODEX_HOOK % (', "timeout": null', "", ""),
    "a matcher that is null": CODEX_HOOK % ("", ', {"matcher": null}', ""),
    "no hooks": "{}",
}


@pytest.mark.parametrize("name", [*CODEX_IGNORES, *CODEX_READS])
def test_files_that_codex_ignores(name: str) -> None:
    """The same files are given to the real program in tests/clients."""
    assert bool(agent_program_limits.find_codex_problem({**CODEX_IGNORES, **CODEX_READS}[name])) == (
        name in CODEX_IGNORES
    )


def test_a_file_that_codex_ignores_is_reported(desk: InProcessRepository) -> None:
    assert desk.type("install", "guard", "--for", "codex").exit == 0
    trust(desk)
    settings = json.loads((desk.path / CODEX).read_text())
    desk.write(CODEX, json.dumps({**settings, "$schema": "x"}))
    finding = only_finding(desk)
    assert (finding.level, finding.path) == ("error", CODEX)
    assert "$schema is unknown to Codex" in finding.message


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"permissions": {"allow": 5}}, "permissions.allow "),
        ({"permissions": {"deny": ["x", 1]}}, "permissions.deny "),
        ({"permissions": []}, "permissions "),
        ({"hooks": {"Stop": {}}}, "hooks.Stop "),
        ({"hooks": {"Stop": [{"hooks": [{"type": "shell", "command": "x"}]}]}}, "hooks.Stop.0.hooks.0.type "),
        ({"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}}, "hooks.Stop.0.hooks.0.command "),
        ({"hooks": {"Stop": [{"hooks": ["x"]}]}}, "hooks.Stop.0.hooks.0 "),
        (
            {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": "1"}]}]}},
            "hooks.Stop.0.hooks.0.timeout ",
        ),
        ({"hooks": {"Others": []}}, "hooks.Others "),
    ],
)
def test_settings_that_claude_code_ignores(desk: InProcessRepository, settings: dict[str, Any], where: str) -> None:
    own = json.loads((desk.path / CLAUDE).read_text())
    merged = {**own, **settings, "hooks": {**own["hooks"], **settings.get("hooks", {})}}
    desk.write(CLAUDE, json.dumps(merged))
    finding = only_finding(desk)
    assert finding.message.startswith(where), finding
    assert finding.level == ("warning" if "Others" in where else "error")


@pytest.mark.parametrize(("version", "level"), [("2.0.77 (Claude Code)", "error"), ("2.1.330 (Claude Code)", None)])
def test_an_event_that_old_versions_do_not_know(desk: InProcessRepository, version: str, level: str | None) -> None:
    desk.write("../bin/claude", f"#!/bin/sh\necho '{version}'\n").chmod(0o755)
    own = json.loads((desk.path / CLAUDE).read_text())
    own["hooks"]["TaskCompleted"] = []
    desk.write(CLAUDE, json.dumps(own))
    assert [finding.level for finding in guard_check(desk).findings] == ([level] if level else [])


def test_what_each_installed_program_guarantees(desk: InProcessRepository) -> None:
    desk.write("../bin/claude", "#!/bin/sh\necho '2.1.90 (Claude Code)'\n").chmod(0o755)
    desk.write("../bin/codex", "#!/bin/sh\necho codex-cli 0.165.0\n").chmod(0o755)
    assert desk.type("install", "guard", "--for", "codex").exit == 0
    trust(desk)
    message = guard_check(desk).message
    assert "Claude Code 2.1.90 asks the guard before each call, and blocks what it denies, but: a guard that" in message
    assert "may ignore a question" not in message
    assert "below the root" in message
    assert "Codex 0.165.0" in message
    assert "a relative workdir" in message
    desk.write("../bin/claude", "#!/bin/sh\necho '2.1.20 (Claude Code)'\n")
    desk.write("../bin/codex", "#!/bin/sh\necho codex-cli 0.169.0\n")
    message = guard_check(desk).message
    assert "may ignore a question" in message
    assert "a relative workdir" not in message


def test_a_run_under_way_is_allowed_something(desk: InProcessRepository) -> None:
    from execplan.execution.engine.journal import journal_entries
    from tests.execution.engine.scripted_run import begin_scripted_run

    journal_writer, _ = begin_scripted_run(desk)
    journal_writer.write(journal_entries.PAUSED, why="checkpoint", step="api", question="Go on?")
    assert "no plan is approved" not in guard_check(desk).message


def test_a_run_of_an_agent_is_allowed_something(desk: InProcessRepository) -> None:
    from execplan.execution.engine.agent_runs.agent_start import start_or_resume
    from execplan.execution.engine.run_lock import acquire_run_lock

    desk.approve()
    project, ref = desk.project()
    with acquire_run_lock(project, "test"):
        start_or_resume(project, ref, session="one")
    assert "no plan is approved" not in guard_check(desk).message
