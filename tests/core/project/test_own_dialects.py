"""Dialects that a repository's settings adjust or add, and what the guide of a dialect demands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execplan.core.project.plan_dialects import Dialect, dialect_of, load_dialects

if TYPE_CHECKING:
    from tests.conftest import Folder

SETTINGS = ".agent/execplan.toml"
TASKS = "\n- [ ] 1.1 Read lines.\n"


def test_the_settings_adjust_a_dialect_and_add_one(repo: Folder) -> None:
    """The added one has its directory before all others; the files of a plan's directory are adjusted in place."""
    repo.write("openspec/changes/add-login/tasks.md", f"## 1. Reader\n{TASKS.replace('[ ]', '[x]')}")
    repo.write("docs/plans/a.md", f"# Read lines\n\n## Steps\n{TASKS}")
    repo.ok("init")
    with (repo.path / SETTINGS).open("a") as file:
        file.write('[dialects.rfc]\ndirectories = ["docs/plans"]\nrequired_lines = ["## Risks"]\n')
        file.write('[dialects.openspec]\narchived_name = "{id}"\n')
    plans = {plan["id"]: plan["dialect"] for plan in repo.ok("list")["plans"]}
    assert plans == {"a": "rfc", "add-login": "openspec"}
    directories = {entry["directory"]: entry for entry in repo.ok("explain", "dialects")["directories"]}
    assert directories["docs/plans"]["why"] == "has docs/plans, before plain, as the settings say"
    assert directories["openspec/changes"]["why"] == "has openspec/changes, as the settings say"
    [finding] = repo.run("lint", "docs/plans/a.md", "--json").json["data"]["findings"]
    assert (finding["code"], finding["level"]) == ("EP103", "warning")
    assert finding["message"] == "no line starts with `## Risks`, as the guide of this dialect demands"
    assert repo.ok("archive", "add-login")["path"] == "openspec/changes/archive/add-login/tasks.md"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            '[dialects.ours]\nabout = "Ours"\ndirectory = ["docs"]\n',
            f"{SETTINGS}:3: dialects.ours accepts only about, directories, companions, archived_name, done_status, restored_status, required_lines, not 'directory'",
            "did you mean directories?",
        ),
        (
            '\n[dialects.kiro]\narchived_name = "{name}"\n',
            f"{SETTINGS}:3: dialects.kiro.archived_name must be a file name without .md that contains {{id}} or {{slug}}, not '{{name}}'",
            "see the settings: execplan explain dialects",
        ),
        (
            '[dialects]\nours = { directories = ["../plans"] }\n',
            f"{SETTINGS}:2: dialects.ours.directories must be paths inside the repository, of at most 32 directories, not ('../plans',)",
            "see the settings: execplan explain dialects",
        ),
        (
            '[dialects]\nours = "docs/rfcs"\n',
            f"{SETTINGS}: dialects must be a table for each dialect: dialects.ours = {{ directories = [\"docs/rfcs\"] }}, not {{'ours': 'docs/rfcs'}}",
            "correct the value; dialects means: Your own dialects, and changes of built-in ones: execplan explain dialects.",
        ),
    ],
)
def test_a_mistake_in_a_dialect_names_its_line_and_what_is_allowed(
    repo: Folder, text: str, message: str, hint: str
) -> None:
    repo.write(SETTINGS, text)
    result = repo.run("list", "--json")
    assert (result.exit, result.json["error"]["message"]) == (3, message)
    assert result.json["error"]["hint"] == hint


def test_a_dialect_of_a_repository_comes_first() -> None:
    own = {"ours": {"directories": ["docs/plans"]}, "plain": {"about": "Any"}}
    assert [dialect.name for dialect in load_dialects(own)] == ["ours", *[dialect.name for dialect in load_dialects()]]
    assert dialect_of("docs/plans/a.md", own) == Dialect("ours", directories=("docs/plans",))
    assert dialect_of("docs/notes/a.md", own).about == "Any"
    assert dialect_of("docs/plans/a.md").name == "plain"


@pytest.mark.parametrize(
    ("path", "text", "missing"),
    [
        (
            "docs/superpowers/plans/a.md",
            f"# Read\n\n**Goal:** Lines.\n{TASKS}",
            ["**Architecture:**", "**Tech Stack:**"],
        ),
        ("task_plan.md", f"# Read\n\n## Goal\n\nLines.\n{TASKS}", ["## Phases"]),
        ("openspec/changes/add-login/tasks.md", f"# Read\n\n## Reader\n{TASKS}", ["## 1."]),
        ("openspec/changes/add-logout/tasks.md", f"## 1. Reader\n{TASKS}", []),
        ("docs/exec-plans/active/a.md", f"# Read\n\n## Steps\n{TASKS}", []),
    ],
)
def test_an_open_plan_has_what_the_guide_of_its_dialect_demands(
    repo: Folder, path: str, text: str, missing: list[str]
) -> None:
    repo.write(path, text)
    repo.ok("init")
    for plan, expected in ((text, missing), (text.replace("[ ]", "[x]"), [])):
        repo.write(path, plan)
        findings = repo.run("lint", path, "--json").json["data"]["findings"]
        starts = [finding["message"].split("`")[1] for finding in findings if finding["code"] == "EP103"]
        assert starts == expected


@pytest.mark.parametrize("path", ["docs/superpowers/plans/a.md", "openspec/changes/a/tasks.md", "task_plan.md"])
def test_a_new_plan_has_it_too(repo: Folder, path: str) -> None:
    repo.write(path, f"# Read\n\n## 1.\n{TASKS}")
    repo.ok("init")
    created = repo.ok("new", "Write lines")["path"]
    findings = repo.run("lint", created, "--json").json["data"]["findings"]
    assert "EP103" not in [finding["code"] for finding in findings]


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("openspec/changes/add-login/tasks.md", "", "Add login"),
        ("specs/004-add-login/tasks.md", "# Tasks: Log in by mail\n", "Log in by mail"),
        ("specs/004-add-login/tasks.md", "# Tasks\n", "Add login"),
        (".kiro/specs/2fa_login/tasks.md", "# Implementation Plan\n", "2fa login"),
        (".kiro/specs/add-login/tasks.md", "# Phase 2: Log in\n", "Phase 2: Log in"),
        ("docs/plans/add-login.md", "# Tasks\n", "Tasks"),
    ],
)
def test_a_plan_with_its_own_directory_has_its_name(repo: Folder, path: str, text: str, title: str) -> None:
    repo.write(path, f"{text}\n## 1. Reader\n{TASKS}")
    repo.ok("init")
    [plan] = repo.ok("list")["plans"]
    assert plan["title"] == title
    assert repo.ok("show", plan["id"])["title"] == title
    assert [hit["title"] for hit in repo.ok("search", "lines")["plans"]] == [title]


def test_a_plan_without_a_title_is_renamed_by_its_directory(repo: Folder) -> None:
    repo.write("openspec/changes/add-login/tasks.md", f"## 1. Reader\n{TASKS}")
    repo.ok("init")
    repo.ok("rename", "add-login", "Add logout")
    assert [plan["title"] for plan in repo.ok("list")["plans"]] == ["Add logout"]
    repo.ok("undo")
    assert (repo.path / "openspec/changes/add-login/tasks.md").read_text() == f"## 1. Reader\n{TASKS}"


def test_the_notes_of_spec_kits_template_are_no_tasks(repo: Folder) -> None:
    """They explain the label of parallel tasks in an item that starts like a checkbox; the plan can be completed."""
    notes = "\n## Notes\n\n- [P] tasks = different files, no dependencies\n- [Story] label maps task to user story\n"
    repo.write(
        "specs/001-add-login/tasks.md", f"# Tasks: Log in\n\n## Phase 1: Setup\n\n- [ ] T001 [P] Read lines\n{notes}"
    )
    repo.ok("init")
    assert repo.ok("list")["plans"][0]["counts"] == {"open": 1, "done": 0, "other": 0, "total": 1}
    repo.ok("done", "1")
    assert repo.ok("list")["plans"][0]["state"] == "complete"
