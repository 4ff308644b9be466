"""One list of plans directories, for `init`, `new` and the pre-commit hook."""

from __future__ import annotations

import re

import pytest
import yaml

from execplan.core.project.plan_dialects import Dialect, dialect_of, find_dialect, load_dialects
from execplan.core.project.plan_directories import ACTIVE, FINISHED, existing_directories, plan_files_regex
from execplan.core.project.plan_path_pattern import plan_paths_regex
from execplan.core.project.project_discovery import find
from execplan.core.scaffold.plan_layouts import detect_layouts
from tests.conftest import Folder
from tests.shell import ROOT


def _files() -> str:
    """The pattern that the pre-commit program gets."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    pattern: str = hooks[0]["files"]
    assert hooks[1]["files"] == pattern
    return pattern.strip()


def test_the_hook_has_the_pattern_of_the_list() -> None:
    assert _files() == plan_files_regex()


@pytest.mark.parametrize(
    "directory",
    [
        directory
        for dialect in load_dialects()
        for directory in dialect.all_directories
        if not dialect.plan_file and not dialect.has_subdirectories
    ],
)
def test_init_and_the_hook_know_every_directory(directory: str) -> None:
    pattern = re.compile(_files())
    for state in ("", *ACTIVE, *FINISHED):
        folder = f"{directory}/{state}".rstrip("/")
        for file in ("parser.md", "2026-01-01_parser/2026-01-01_parser.md", "parser/EXECPLAN.md"):
            path = f"{folder}/{file}"
            assert pattern.search(path), path
            layouts = detect_layouts([path], lambda _: False)
            assert [layout.plans for layout in layouts.selected] == [(path,)], path


@pytest.mark.parametrize(
    "path",
    [
        ".agent/execplans/a.md",
        ".agent/execplans/archive/a.md",
        "services/x/.agent/execplans/a.md",
        "docs/exec-plans/active/a b.md",
        "docs/execplans/a.md",
        "docs/execplans/parser/EXECPLAN.md",
        "execplans/superseded/FP-0112-a.md",
        ".agents/done/a.md",
        ".agents/exec-plans/a.md",
        ".agents/plans/a.md",
        "docs/plans/active/a.md",
        "agent-docs/exec-plans/a.md",
        ".agent/exec_plans/active/EP-7_a/EP-7_a.md",
        ".agent/exec_plans/active/refresh/EP-20260306-002_refresh.md",
        ".agent/exec_plans/complete/2026/02/21/EP-20260221-001_b/EP-20260221-001_b.md",
        "docs/exec-plans/deferred/a.md",
        "plans/a.md",
        ".plans/a.md",
        "task_plan.md",
        ".planning/2026-01-01-parser/task_plan.md",
        "backlog/tasks/task-1 - Parse.md",
        "packages/a/openspec/changes/add-parser/tasks.md",
        "openspec/changes/archive/2026-01-01-add-parser/tasks.md",
        ".kiro/specs/parser/tasks.md",
        "specs/001-parser/tasks.md",
    ],
)
def test_a_plan_of_a_known_layout(path: str) -> None:
    assert re.search(_files(), path)


@pytest.mark.parametrize(
    "path",
    [
        ".agent/PLANS.md",
        ".agent/execplans/README.md",
        ".agent/execplans/artifacts/a/log.md",
        ".agent/execplans/artifacts/a/a.md",
        ".agent/execplans/.a.md",
        "docs/plans.md",
        "my-execplans-2/a.md",
        "src/plans/a.md",
        "myexecplans/a.md",
        "docs/task_plan.md",
        "openspec/changes/add-parser/proposal.md",
        "specs/001-parser/spec.md",
        "packages/a/specs/001-parser/tasks.md",
    ],
)
def test_no_plan_of_a_known_layout(path: str) -> None:
    assert not re.search(_files(), path)


def test_the_pattern_of_the_settings_is_not_wider(repo: Folder) -> None:
    settings_pattern = plan_paths_regex(find(str(repo.path)))
    for name in ("a.md", "archive/a.md", "README.md", "agents.MD", ".a.md", "artifacts/a.md"):
        path = f".agent/execplans/{name}"
        assert bool(re.search(_files(), path)) == bool(re.search(settings_pattern, path)), path


def test_existing_directories(repo: Folder) -> None:
    assert existing_directories(str(repo.path)) == [".agent/execplans"]
    repo.write("docs/exec-plans/active/a.md", "")
    assert existing_directories(str(repo.path)) == ["docs/exec-plans", ".agent/execplans"]


@pytest.mark.parametrize("dialect", load_dialects())
def test_each_dialect_describes_where_its_plans_are(dialect: Dialect) -> None:
    assert dialect.about
    assert dialect.all_directories or dialect.files
    for file in dialect.files:
        assert dialect_of(file) == dialect
    for directory in dialect.all_directories:
        assert dialect_of(directory) == dialect
        assert bool(find_dialect(f"packages/a/{directory}")) == (directory in dialect.directories)


def test_a_directory_for_finished_plans_belongs_to_its_plans_directory() -> None:
    found = find_dialect("backlog/archive/tasks/task-1 - Parse.md")
    assert found is not None
    assert (found.dialect.name, found.directory) == ("backlog", "backlog/tasks")


@pytest.mark.parametrize(
    ("existing", "plans", "name"),
    [
        (".specify/memory", "specs", "001-add-lines/tasks.md"),
        (".kiro/steering", ".kiro/specs", "add-lines/tasks.md"),
        ("openspec/changes", "openspec/changes", "add-lines/tasks.md"),
        ("docs/superpowers/plans", "docs/superpowers/plans", "2026-01-01-add-lines.md"),
        ("docs/exec-plans", "docs/exec-plans", "2026-01-01_add-lines.md"),
    ],
)
@pytest.mark.parametrize("has_init", [True, False])
def test_the_first_plan_where_a_tool_is_set_up(
    repo: Folder, existing: str, plans: str, name: str, *, has_init: bool
) -> None:
    created = f"{plans}/{name}"
    (repo.path / ".agent/execplans").rmdir()
    (repo.path / existing).mkdir(parents=True)
    if has_init:
        repo.ok("init")
    assert repo.ok("new", "Add lines", "--dry-run")["path"] == created
    assert (repo.path / ".agent/execplan.toml").exists() == has_init
    answer = repo.run("new", "Add lines", "--json").json
    assert answer["data"]["path"] == created
    assert answer["warnings"] == [] if has_init else [f"set up plans in {plans}: .agent/execplan.toml"]
    assert repo.ok("list")["plans"][0]["path"] == created
    is_execplan = "## Decision Log\n" in (repo.path / created).read_text()
    assert is_execplan == ("exec-plans" in existing)


def test_tools_in_packages_of_a_monorepo(repo: Folder) -> None:
    (repo.path / ".agent/execplans").rmdir()
    repo.write("packages/api/.specify/memory/constitution.md", "# Constitution\n")
    repo.write("packages/api/specs/001-login/tasks.md", "# Tasks: Log in\n\n- [ ] T001 Add the form\n")
    repo.write("packages/web/.kiro/steering/tech.md", "# Tech\n")
    repo.write("docs/plans/cache.md", "# Cache plan\n\n- [ ] Add the cache\n")
    (repo.path / "backlog/tasks").mkdir(parents=True)
    repo.ok("init")
    assert {plan["path"] for plan in repo.ok("list")["plans"]} == {
        "docs/plans/cache.md",
        "packages/api/specs/001-login/tasks.md",
    }
    new = ("new", "Add lines", "--json")
    assert repo.run(*new, cwd=repo.path / "packages/web").json["data"]["path"] == (
        "packages/web/.kiro/specs/add-lines/tasks.md"
    )
    assert repo.run(*new, cwd=repo.path / "packages/api").json["data"]["path"] == (
        "packages/api/specs/002-add-lines/tasks.md"
    )
    assert "## Decision Log" not in (repo.path / "packages/api/specs/002-add-lines/tasks.md").read_text()
    repo.write("backlog/tasks/task-1 - Later.md", "---\ntitle: Later\nstatus: To Do\n---\n")
    assert "backlog/tasks/task-1 - Later.md" in {plan["path"] for plan in repo.ok("list")["plans"]}


def test_the_first_plan_in_a_package_where_a_tool_is_set_up(repo: Folder) -> None:
    (repo.path / ".agent/execplans").rmdir()
    repo.write("packages/web/.kiro/steering/tech.md", "# Tech\n")
    answer = repo.run("new", "Add lines", "--json", cwd=repo.path / "packages/web").json
    assert answer["data"]["path"] == "packages/web/.kiro/specs/add-lines/tasks.md"
    assert repo.ok("new", "Another")["path"] == ".agent/execplans/2026-01-01_another.md"
