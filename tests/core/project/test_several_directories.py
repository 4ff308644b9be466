"""Several plans directories in one project: one list, one board, one search, and edits where each plan is."""

from __future__ import annotations

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN

OPENSPEC = "openspec/changes/add-login"
SUPERPOWERS = "docs/superpowers/plans/2026-01-05-parser.md"
EXECPLAN = ".agent/execplans/2026-01-01_parser.md"
BACKLOG = "backlog/tasks/task-1 - Add-a-login.md"
BACKLOG_TEXT = """---
id: task-1
title: 'Add: a login'
status: To Do
---

## Acceptance Criteria

- [ ] #1 Reads the password
"""
PHASES = "# Build the app\n\n## Phases\n\n### Phase 1: Design\n\n- [ ] Draw it\n- **Status:** pending\n"
TODAY = "2026-01-01"


@pytest.fixture
def several(repo: Folder) -> Folder:
    """A repository with an ExecPlan, an OpenSpec change and a finished one, and a plan of superpowers."""
    repo.write(EXECPLAN, CLEAN)
    repo.write(f"{OPENSPEC}/tasks.md", "## 1. Backend\n- [ ] 1.1 Add the column\n- [ ] 1.2 Add the endpoint\n")
    repo.write(f"{OPENSPEC}/proposal.md", "# Change: Add a login\n\n## Why\n\nSafety.\n")
    repo.write("openspec/changes/archive/2025-01-02-old/tasks.md", "## 1. Old\n- [x] 1.1 Done\n")
    repo.write(SUPERPOWERS, "# Parser Implementation Plan\n\n### Task 1: Lexer\n\n- [ ] **Step 1: Write the test**\n")
    repo.write(BACKLOG, BACKLOG_TEXT)
    repo.write("backlog/completed/task-0 - Old.md", "---\ntitle: Old\nstatus: Done\n---\n\n## Description\n\nOld.\n")
    repo.write("task_plan.md", PHASES)
    repo.ok("init")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    return repo


def paths_of(folder: Folder, *command: str) -> set[str]:
    return {plan["path"] for plan in folder.ok(*command)["plans"]}


def test_every_listing_has_all_of_them(several: Folder) -> None:
    open_paths = {EXECPLAN, SUPERPOWERS, f"{OPENSPEC}/tasks.md", BACKLOG, "task_plan.md"}
    archived_paths = {"openspec/changes/archive/2025-01-02-old/tasks.md", "backlog/completed/task-0 - Old.md"}
    assert paths_of(several, "list") == paths_of(several, "status") == open_paths
    assert paths_of(several, "list", "--all") == open_paths | archived_paths
    dialects = {plan["path"]: plan["dialect"] for plan in several.ok("list")["plans"]}
    assert dialects == {
        EXECPLAN: "execplan",
        SUPERPOWERS: "superpowers",
        f"{OPENSPEC}/tasks.md": "openspec",
        BACKLOG: "backlog",
        "task_plan.md": "planning-with-files",
    }
    assert "backlog              task-1 - Add-a-login  Add: a login" in several.run("list").out
    cards = [card for column in several.ok("board")["columns"] for card in column["plans"]]
    assert {card["path"]: card["dialect"] for card in cards} == dialects
    assert all(name in several.run("board", "--plain").out for name in dialects.values())
    assert all(card["id"] in several.run("board", "--plain").out for card in cards)
    assert "Add the endpoint" in several.run("search", "endpoint").out
    assert several.run("doctor").exit == 0
    assert several.ok("new", "Another")["path"].startswith(".agent/execplans/")


@pytest.mark.parametrize(
    ("name", "path", "archived"),
    [
        ("add-login", f"{OPENSPEC}/tasks.md", f"openspec/changes/archive/{TODAY}-add-login/tasks.md"),
        ("task-1 - Add-a-login", BACKLOG, "backlog/completed/task-1 - Add-a-login.md"),
        ("task_plan", "task_plan.md", f".agent/execplans/archive/{TODAY}_build-the-app.md"),
        ("2026-01-05-parser", SUPERPOWERS, "docs/superpowers/plans/archive/2026-01-05-parser.md"),
    ],
)
@pytest.mark.parametrize("by_path", [False, True])
def test_a_plan_is_edited_archived_and_restored_in_its_directory(
    several: Folder, name: str, path: str, archived: str, by_path: bool
) -> None:
    plan = path if by_path else name
    before = (several.path / path).read_bytes()
    several.ok("done", "1", "-p", plan)
    done = before.replace(b"- [ ]", b"- [x]", 1).replace(b"**Status:** pending", b"**Status:** complete", 1)
    assert (several.path / path).read_bytes() == done
    assert [line[3:].strip('"') for line in several.git("status", "--short").splitlines()] == [path]
    several.ok("undo")
    assert (several.path / path).read_bytes() == before
    several.ok("archive", plan, "--force", "--reason", "Not needed")
    assert not (several.path / path).exists()
    assert (several.path / archived).exists()
    assert archived in paths_of(several, "list", "--all")
    several.ok("undo")
    assert (several.path / path).read_bytes() == before
    assert several.git("status", "--short") == ""


def test_a_task_of_backlog_gets_the_status_of_finished_ones(several: Folder) -> None:
    several.ok("done", "1", "-p", BACKLOG)
    several.ok("archive", BACKLOG)
    archived = several.path / "backlog/completed/task-1 - Add-a-login.md"
    assert archived.read_text() == BACKLOG_TEXT.replace("To Do", "Done").replace("[ ]", "[x]")
    several.ok("undo")
    assert (several.path / BACKLOG).read_text() == BACKLOG_TEXT.replace("[ ]", "[x]")
    several.ok("archive", BACKLOG)
    several.ok("restore", archived.as_posix())
    assert (several.path / BACKLOG).read_text() == BACKLOG_TEXT.replace("To Do", "In Progress").replace("[ ]", "[x]")


def test_new_tasks_of_backlog_have_its_prefix_and_their_number_is_a_name(repo: Folder) -> None:
    for number in ("1", "1.1", "10"):
        repo.write(f"backlog/tasks/back-{number} - Task.md", BACKLOG_TEXT)
    repo.ok("init")
    assert repo.ok("new", "Eleventh", "--task", "Do it")["path"] == "backlog/tasks/back-11 - eleventh.md"
    for number in ("1", "1.1", "10"):
        assert repo.ok("next", f"back-{number}")["id"] == f"back-{number} - Task"


def test_commands_work_from_any_of_them_and_hooks_see_all(several: Folder) -> None:
    several.ok("done", "2", "-p", "add-login")
    several.ok("done", "1", "-p", SUPERPOWERS)
    several.ok("commit", "--all")
    assert several.git("status", "--short") == ""
    for directory in ("openspec/changes", "docs/superpowers/plans"):
        assert paths_of(several, "-C", directory, "list") == paths_of(several, "list")
    several.ok("install", "merge-driver")
    attributes = (several.path / ".gitattributes").read_text()
    assert "/openspec/changes/*/tasks.md" in attributes
    assert "/docs/superpowers/plans/*.md" in attributes
    several.ok("install", "agents")
    assert "`openspec/changes`" in (several.path / "AGENTS.md").read_text()


def test_a_package_of_a_monorepo_has_several(repo: Folder) -> None:
    paths = {"plans/root.md", "packages/a/docs/plans/one.md", "packages/a/.claude/plans/two.md"}
    for path in paths:
        repo.write(path, CLEAN)
    repo.ok("init")
    assert paths_of(repo, "list") == paths_of(repo, "status") == paths
    assert paths_of(repo, "-C", "packages/a", "list") == paths - {"plans/root.md"}
    repo.ok("done", "2", "-p", "two")
    assert repo.run("doctor").exit == 0


def test_plans_with_the_same_id_are_named_by_path(several: Folder) -> None:
    several.write("docs/superpowers/plans/2026-01-01_parser.md", "# Parser\n\n- [ ] One\n")
    result = several.run("done", "1", "-p", "2026-01-01_parser", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "ambiguous-plan")
    several.ok("done", "1", "-p", "docs/superpowers/plans/2026-01-01_parser.md")
    assert "- [ ] Scan" not in (several.path / "docs/superpowers/plans/2026-01-01_parser.md").read_text()


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("directories = 3", "directories must be a table for each directory"),
        ("directories = {'../x' = {}}", "directories: plans must be a path inside the repository"),
        ("directories = {'x' = 3}", "directories must be a table for each directory"),
        ("directories = {'x' = {archiv = 'y'}}", "accepts only archive, superseded, layout, name, not 'archiv'"),
        ("directories = {'x' = {archive = '/y'}}", "must be a path inside the repository"),
    ],
)
def test_a_mistake_in_the_setting_is_named(repo: Folder, table: str, problem: str) -> None:
    repo.write(".agent/execplan.toml", f"{table}\n")
    result = repo.run("list")
    assert result.exit == 3, result
    assert problem in result.err


def test_a_roadmap_of_phases_and_notes_next_to_a_plan(repo: Folder) -> None:
    """The files of the phases belong to the roadmap of GSD, as `NAME.progress.md` does to NAME."""
    repo.write(
        ".planning/ROADMAP.md", "# Roadmap: App\n\n## Phases\n\n- [x] **Phase 1: Log in**\n- [ ] **Phase 2: Pay**\n"
    )
    repo.write(
        ".planning/phases/01-log-in/01-01-PLAN.md", "---\nphase: 01\n---\n\n<objective>\nLog in.\n</objective>\n"
    )
    repo.write("docs/exec-plans/active/parser.md", "# Parser\n\n- [ ] Cut\n")
    repo.write("docs/exec-plans/active/parser.progress.md", "# Parser progress\n\n## Next step\n\nCut.\n")
    assert {file["path"]: file["why"] for file in repo.ok("init")["passed_over"]} == dict.fromkeys(
        (".planning/phases/01-log-in/01-01-PLAN.md", "docs/exec-plans/active/parser.progress.md"), "belongs to a plan"
    )
    assert paths_of(repo, "list") == {".planning/ROADMAP.md", "docs/exec-plans/active/parser.md"}
    assert {plan["dialect"] for plan in repo.ok("list")["plans"]} == {"gsd", "harness"}
    repo.ok("done", "Pay", "-p", ".planning/ROADMAP.md")
    assert "- [x] **Phase 2: Pay**" in (repo.path / ".planning/ROADMAP.md").read_text()


def test_an_open_task_of_backlog_without_checkboxes_is_not_archived(repo: Folder) -> None:
    path = "backlog/tasks/task-2 - Later.md"
    repo.write(path, "---\ntitle: Design a logo\nstatus: To Do\n---\n\n## Description\n\nLater.\n")
    repo.ok("init")
    result = repo.run("archive", path)
    assert "the status is `To Do`" in result.err
    repo.write(path, "---\ntitle: Design a logo\nstatus: Done\n---\n\n## Description\n\nLater.\n")
    repo.ok("archive", path)


def test_new_tasks_of_backlog_have_the_prefix_of_the_repository(repo: Folder) -> None:
    for number in (9, 93):
        repo.write(
            f"backlog/tasks/pac-{number} - Read.md",
            f"---\nid: PAC-{number}\ntitle: 'Read: lines'\nstatus: To Do\n---\n\n## Description\n\nRead.\n\n- [ ] #1 One\n",
        )
    repo.ok("init")
    path = repo.ok("new", "Write lines", "--task", "Write")["path"]
    assert path == "backlog/tasks/pac-94 - write-lines.md"
    assert "\nid: pac-94\n" in (repo.path / path).read_text()
    repo.ok("convert", "pac-93 - Read")
    assert "\n# Read: lines\n" in (repo.path / "backlog/tasks/pac-93 - Read.md").read_text()
