"""`install plugin`: a folder that Claude Code and Codex accept, and what its hooks do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from execplan.agents.integrations import plugin
from tests.agents.integrations.agent_formats import plugin_problems
from tests.agents.integrations.codex_program import Codex
from tests.agents.integrations.file_tree import tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Folder

PLACE = ".local/share/execplan/plugin"


@pytest.fixture
def folder(repo: Folder) -> Path:
    """The folder of the installed plugin."""
    repo.ok("install", "plugin")
    return repo.path.parent / PLACE


def test_it_keeps_the_rules_of_plugins(folder: Path) -> None:
    assert plugin_problems(folder) == []


def edit(name: str, **fields: Any) -> Callable[[Path], object]:
    """Return a change of a JSON file."""

    def apply(folder: Path) -> None:
        path = folder / name
        path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))

    return apply


@pytest.mark.parametrize(
    "change",
    [
        edit(".claude-plugin/marketplace.json", owner=None),
        edit("execplan/.claude-plugin/plugin.json", version="1"),
        edit("execplan/.claude-plugin/plugin.json", interface={}),
        edit("execplan/.codex-plugin/plugin.json", hooks="./hooks/none"),
        edit("execplan/hooks/codex.json", description="Ours"),
        edit("execplan/hooks/hooks.json", hooks={"Never": []}),
        lambda folder: (folder / "execplan/plugin.json").write_text("{}"),
        lambda folder: (folder / "execplan/skills/next").rename(folder / "execplan/skills/following"),
    ],
)
def test_the_rules_can_be_broken(folder: Path, change: Callable[[Path], object]) -> None:
    try:
        change(folder)
        problems = plugin_problems(folder)
    except FileNotFoundError as error:
        problems = [str(error)]
    assert problems


def test_there_and_back_in_a_given_folder(repo: Folder) -> None:
    before = tree(repo.path.parent)
    repo.ok("install", "plugin", "--to", "tools/plugin")
    assert plugin_problems(repo.path / "tools/plugin") == []
    assert repo.ok("uninstall", "plugin")["changed"] is False
    repo.ok("uninstall", "plugin", "--to", "tools/plugin")
    assert tree(repo.path.parent) == before
    assert repo.run("install", "agents", "--to", "tools").exit == 2


def test_without_a_project(repo: Folder, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert repo.run("install", "plugin", cwd=tmp_path / "empty").exit == 0
    assert plugin_problems(repo.path.parent / PLACE) == []


def test_it_says_how_programs_add_it(repo: Folder) -> None:
    document = repo.run("install", "plugin", "--json").json
    folder = repo.path.parent / PLACE
    assert {f"claude plugin marketplace add {folder}", "codex plugin add execplan@execplan"} <= set(document["next"])


def test_no_server_where_it_can_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "SERVER_PACKAGE", "no_such_package")
    without = plugin.plugin_files()
    assert "execplan/.mcp.json" not in without
    assert b"mcpServers" not in without["execplan/.codex-plugin/plugin.json"]
    monkeypatch.setattr(plugin, "SERVER_PACKAGE", "json")
    files = plugin.plugin_files()
    assert json.loads(files["execplan/.mcp.json"])["mcpServers"]["execplan"]["command"] == "execplan"
    name = "execplan/.claude-plugin/plugin.json"
    assert json.loads(files[name])["version"] != json.loads(without[name])["version"], "a program must see the update"


def hook_output(repo: Folder, folder: Path, program: str, cwd: Path) -> str:
    """What the plugin's hook prints at the start of a session."""
    name = {"claude": "hooks.json", "codex": "codex.json"}[program]
    hooks = json.loads((folder / "execplan/hooks" / name).read_text())["hooks"]
    line = hooks["SessionStart"][0]["hooks"][0]["command"]
    tools = repo.path.parent / "tools"
    if not tools.exists():
        tools.mkdir()
        (tools / "execplan").write_text(f'#!/bin/sh\nexec {sys.executable} -m execplan "$@"\n')
        (tools / "execplan").chmod(0o755)
    env = {**repo.env, "PATH": f"{tools}:{os.environ['PATH']}"}
    completed = subprocess.run(["sh", "-c", line], cwd=cwd, env=env, capture_output=True, check=True, timeout=60)
    assert completed.stderr == b""
    return completed.stdout.decode()


@pytest.mark.parametrize("program", ["claude", "codex"])
def test_a_session_gets_one_overview_and_only_of_a_project(repo: Folder, folder: Path, program: str) -> None:
    repo.plan()
    assert "Build the parser" in hook_output(repo, folder, program, repo.path)
    assert hook_output(repo, folder, program, repo.path.parent) == ""
    repo.ok("install", "session-hooks", "--for", program)
    assert hook_output(repo, folder, program, repo.path) == ""


def test_codex_accepts_it(repo: Folder, folder: Path) -> None:
    codex = Codex(repo.path.parent)
    assert "Added marketplace `execplan`" in codex.run("plugin", "marketplace", "add", str(folder))
    document = json.loads(codex.run("plugin", "add", "execplan@execplan", "--json"))
    manifest = json.loads((folder / "execplan/.codex-plugin/plugin.json").read_text())
    assert document["version"] == manifest["version"]
    assert "installed, enabled" in codex.run("plugin", "list")
    servers = codex.run("mcp", "list")
    assert ("execplan" in servers) == plugin.has_server()


def test_codex_takes_an_update(repo: Folder, folder: Path) -> None:
    codex = Codex(repo.path.parent)
    codex.run("plugin", "marketplace", "add", str(folder))
    codex.run("plugin", "add", "execplan@execplan")
    skill = folder / "execplan/skills/execplan/SKILL.md"
    skill.write_text(skill.read_text() + "Be quick.\n")
    for name in (".claude-plugin", ".codex-plugin"):
        edit(f"execplan/{name}/plugin.json", version="0.1.0+0123abcd")(folder)
    installed = json.loads(codex.run("plugin", "add", "execplan@execplan", "--json"))["installedPath"]
    with open(os.path.join(installed, "skills/execplan/SKILL.md")) as file:
        assert file.read().endswith("Be quick.\n")


def test_codex_ignores_hooks_and_servers_beside_a_root_manifest(repo: Folder, folder: Path) -> None:
    if not plugin.has_server():
        pytest.skip("the package mcp is not installed")
    codex = Codex(repo.path.parent)
    schema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
    (folder / "execplan/plugin.json").write_text(json.dumps({"$schema": schema, "name": "execplan"}))
    codex.run("plugin", "marketplace", "add", str(folder))
    codex.run("plugin", "add", "execplan@execplan")
    assert "No MCP servers" in codex.run("mcp", "list")
