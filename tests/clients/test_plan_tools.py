"""Other tools that write plans read what execplan edits, and the other way around."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

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
    path = repo.path / created["path"]
    path.write_text(
        re.sub(r"\n---\s+## Description\n", r"\n---## Description\n", path.read_text())
    )  # as it writes some
    assert "\n---## " in path.read_text()
    repo.ok("done", "1", "-p", created["id"])
    assert "- [x] #1 Writes lines" in _run(repo, "backlog", "task", "2", "--plain")


TRACKED = """\
# Build the parser

## Purpose / Big Picture

Plans can be read.

## Progress

- [x] (2025-12-30 09:15Z) Read `lines`: "all" of them.
- [~] Build the parser.
  - [ ] Blocks
- [ ] Write the tests.

## Plan of Work

First the lines.

- [ ] Not a task.
"""


def test_backlog_reads_an_export(repo: Folder) -> None:
    need("backlog", "node")
    _run(repo, "backlog", "init", "demo", "--defaults", "--integration-mode", "none")
    repo.plan(TRACKED)
    repo.ok("export", "parser", "--to", "backlog", "--out", ".")
    listed = _run(repo, "backlog", "task", "list", "--plain")
    states = dict.fromkeys(("To Do", "In Progress", "Done"), "")
    state = ""
    for line in listed.splitlines():
        state = line.rstrip(":") if line.rstrip(":") in states else state
        states[state] = states.get(state, "") + line
    assert 'TASK-1 - Read `lines`: "all" of them.' in states["Done"]
    assert "TASK-2 - Build the parser." in states["In Progress"]
    assert "TASK-2.1 - Blocks" in states["To Do"]
    assert "TASK-3 - Write the tests." in states["To Do"]
    assert "doc-1 - Build the parser" in _run(repo, "backlog", "doc", "list", "--plain")


def test_openspec_accepts_an_export(repo: Folder) -> None:
    need("openspec", "node")
    _run(repo, "openspec", "init", ".", "--tools", "none")
    repo.plan(TRACKED)
    repo.ok("export", "parser", "--to", "openspec", "--out", ".")
    assert "1 passed, 0 failed" in _run(repo, "openspec", "validate", "--all", "--strict")
    [change] = json.loads(_run(repo, "openspec", "list", "--json"))["changes"]
    assert (change["name"], change["completedTasks"], change["totalTasks"]) == ("build-the-parser", 1, 4)


def test_tasks_of_task_master_are_imported(repo: Folder) -> None:
    need("task-master", "node")
    tasks = repo.write(".taskmaster/tasks/tasks.json", '{"master": {"tasks": [], "metadata": {}}}')
    _run(
        repo,
        "task-master",
        "add-task",
        "--title",
        "Write `a` [x] parser",
        "--description",
        "Reads",
        "--priority",
        "high",
    )
    _run(repo, "task-master", "add-task", "--title", "Write the tests", "--description", "All", "--dependencies", "1")
    _run(repo, "task-master", "add-subtask", "--parent", "1", "--title", "Lines", "--description", "By line")
    _run(repo, "task-master", "set-status", "--id", "1.1", "--status", "done")
    data = repo.ok("import", str(tasks))
    assert data["form"] == "task-master"
    shown = [(task["mark"], task["depth"], task["text"]) for task in repo.ok("show", data["path"])["tasks"]]
    assert shown[1:] == [("x", 1, "Lines (id: 1.1)"), (" ", 0, "Write the tests (id: 2)")]
    assert shown[0][1:] == (0, "Write `a` [x] parser (id: 1)")
    _run(repo, "task-master", "set-status", "--id", "2", "--status", "done")
    assert "done: 2 Write the tests" in repo.ok("import", str(tasks))["said"]
    assert repo.ok("import", str(tasks))["changed"] is False


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


def test_planning_with_files_and_execplan_agree(repo: Folder) -> None:
    """Its scripts count phases by their status lines, execplan the tasks in them; neither changes what the other counts."""
    need("planning-with-files")
    check = client("planning-with-files")

    def script(name: str, *arguments: str) -> str:
        command = ["sh", os.path.join(os.path.dirname(check), f"{name}.sh"), *arguments]
        return subprocess.run(command, cwd=repo.path, capture_output=True, text=True, timeout=60, check=True).stdout

    script("init-session", "demo")
    repo.ok("init")
    [plan] = repo.ok("list")["plans"]
    path = repo.path / plan["path"]
    assert plan["dialect"] == "planning-with-files"
    assert plan["counts"]["total"] == path.read_text().count("- [ ]")
    lines = path.read_text().splitlines()
    repo.ok("done", "1", "2", "-p", plan["id"])
    changed = [line for line, old in zip(path.read_text().splitlines(), lines, strict=True) if line != old]
    assert [line[:6] for line in changed] == ["- [x] ", "- [x] "]
    assert "(0/5 phases complete)" in script("check-complete", plan["path"])
    script("phase-status", "1", "complete")
    assert "(1/5 phases complete)" in script("check-complete", plan["path"])
    assert repo.ok("list")["plans"][0]["counts"]["done"] == 2
    created = repo.ok("new", "Write lines")["path"]
    assert "(0/1 phases complete)" in script("check-complete", created)


def test_spec_kit_and_execplan_agree(repo: Folder) -> None:
    need("specify")
    options = ("--force", "--non-interactive", "--ignore-agent-tools", "--integration", "claude", "--script", "sh")
    _run(repo, "specify", "init", ".", *options)
    (repo.path / ".agent/execplans").rmdir()
    assert "would create  specs  (directory)\n" in repo.run("init", "--dry-run").out

    def script(name: str, *arguments: str) -> dict[str, Any]:
        command = ["bash", f".specify/scripts/bash/{name}.sh", "--json", *arguments]
        completed = subprocess.run(command, cwd=repo.path, env=repo.env, capture_output=True, timeout=60, check=True)
        document: dict[str, Any] = json.loads(completed.stdout)
        return document

    assert script("create-new-feature", "Add a parser", "--short-name", "parser")["FEATURE_NUM"] == "001"
    script("setup-plan")
    tasks_template = Path(script("setup-tasks")["TASKS_TEMPLATE"])
    path = repo.write("specs/001-parser/tasks.md", tasks_template.read_bytes())
    lines = path.read_text().splitlines()
    boxes = [line for line in lines if line.startswith("- [ ] T")]
    report = repo.run("init")
    assert "found 1 plan (spec-kit): 1 in specs," in report.out
    assert "belongs to a plan (2): specs/001-parser/plan.md, specs/001-parser/spec.md" in report.out
    [plan] = repo.ok("list")["plans"]
    assert (plan["id"], plan["dialect"], plan["counts"]["open"]) == ("001-parser", "spec-kit", len(boxes))
    assert f"- [ ] {repo.ok('next')['task']['text']}" == boxes[0]
    repo.ok("done", "1", "3")
    edited = path.read_text().splitlines()
    changed = [(old, new) for old, new in zip(lines, edited, strict=True) if old != new]
    assert changed == [(box, box.replace("[ ]", "[x]")) for box in (boxes[0], boxes[2])]
    assert repo.ok("lint")["findings"] == []
    assert repo.ok("new", "Write lines", "--task", "T001 Add a writer")["path"] == "specs/002-write-lines/tasks.md"
    assert script("check-prerequisites", "--require-tasks", "--include-tasks")["AVAILABLE_DOCS"] == ["tasks.md"]
    assert script("create-new-feature", "Read boxes", "--short-name", "boxes")["FEATURE_NUM"] == "003"
    repo.ok("done", f"1-{len(boxes)}", "-p", "001-parser")
    repo.ok("archive", "001-parser")
    moved = {file.name for file in (repo.path / "specs/archive/001-parser").iterdir()}
    assert moved == {"tasks.md", "plan.md", "spec.md", "execplan-evidence.json"}
    assert script("create-new-feature", "Read quotes", "--short-name", "quotes")["FEATURE_NUM"] == "004"
    assert repo.ok("new", "Read links")["id"] == "005-read-links"
