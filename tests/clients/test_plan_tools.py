"""Other tools that write plans read what execplan edits, and the other way around: Backlog.md and OpenSpec from npm."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.conftest import Folder
from tests.needs import client, need

pytestmark = pytest.mark.exhaustive


def _run(folder: Folder, tool: str, *arguments: str) -> str:
    environment = {**os.environ, "DO_NOT_TRACK": "1", "OPENSPEC_TELEMETRY": "0", "NO_COLOR": "1", "CI": "1"}
    command = [client(tool), *arguments]
    completed = subprocess.run(
        command, cwd=folder.path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert completed.returncode == 0, (command, completed.stdout, completed.stderr)
    return completed.stdout


def test_backlog_and_execplan_agree(repo: Folder) -> None:
    need("backlog", "node")
    _run(repo, "backlog", "init", "demo", "--defaults", "--integration-mode", "none")
    _run(repo, "backlog", "task", "create", "Add: it's a parser", "--ac", "Reads lines", "--ac", "Reads boxes")
    repo.ok("init")
    [plan] = repo.ok("list")["plans"]
    assert (plan["title"], plan["counts"]["total"]) == ("Add: it's a parser", 2)
    repo.ok("done", "2", "-p", plan["id"])
    shown = _run(repo, "backlog", "task", "1", "--plain")
    assert "- [ ] #1 Reads lines" in shown
    assert "- [x] #2 Reads boxes" in shown
    _run(repo, "backlog", "task", "edit", "1", "--check-ac", "1")
    assert repo.ok("list")["plans"][0]["state"] == "complete"
    repo.ok("archive", plan["id"])
    [archived] = (repo.path / "backlog/completed").glob("task-1 *.md")
    assert "\nstatus: Done\n" in archived.read_text()
    assert "TASK-1" not in _run(repo, "backlog", "task", "list", "--plain")
    created = repo.ok("new", "Write: it's done", "--task", "Writes lines")
    assert created["path"].startswith("backlog/tasks/task-2 - ")
    _run(repo, "backlog", "task", "edit", "2", "-s", "Done")
    assert "Write: it's done (ac: 0/1)" in _run(repo, "backlog", "task", "list", "--plain")


def test_openspec_and_execplan_agree(repo: Folder) -> None:
    need("openspec", "node")
    _run(repo, "openspec", "init", ".", "--tools", "none")
    _run(repo, "openspec", "new", "change", "add-login")
    repo.write("openspec/changes/add-login/tasks.md", "## 1. Backend\n\n- [ ] 1.1 Add a column\n- [ ] 1.2 Add a page\n")
    repo.ok("init")
    repo.ok("done", "1", "-p", "add-login")
    repo.ok("add", "1.3 Add a test", "-p", "add-login")
    [change] = json.loads(_run(repo, "openspec", "list", "--json"))["changes"]
    assert (change["completedTasks"], change["totalTasks"]) == (1, 3)
    repo.ok("new", "Add a logout", "--task", "1.1 Add a button")
    changes = json.loads(_run(repo, "openspec", "list", "--json"))["changes"]
    assert {change["name"]: change["totalTasks"] for change in changes} == {"add-login": 3, "add-a-logout": 1}
    repo.ok("done", "2", "3", "-p", "add-login")
    repo.ok("archive", "add-login")
    assert [change["name"] for change in json.loads(_run(repo, "openspec", "list", "--json"))["changes"]] == [
        "add-a-logout"
    ]
    assert (repo.path / "openspec/changes/archive/2026-01-01-add-login/tasks.md").exists()
