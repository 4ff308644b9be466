"""Several homes in one repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.plans import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder

A, B = "packages/a/docs/execplans", "services/b/plans"


@pytest.fixture
def packages(repo: Folder) -> Folder:
    """Two packages that keep plans in their own ways."""
    (repo.path / ".agent" / "execplans").rmdir()
    (repo.path / ".agent").rmdir()
    repo.write(f"{A}/active/0007-lexer.md", CLEAN.replace("parser", "lexer"))
    repo.write(f"{A}/completed/0001-reader.md", CLEAN.replace("- [ ]", "- [x]"))
    repo.write(f"{B}/2026-01-01-parser.md", CLEAN)
    (repo.path / "services/b/src").mkdir()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    return repo


def _ids(folder: Folder, *arguments: str, cwd: Path | None = None) -> set[str]:
    return {plan["id"] for plan in folder.run(*arguments, "--json", cwd=cwd).json["data"]["plans"]}


def test_init_at_the_root_sets_up_each(packages: Folder) -> None:
    data = packages.ok("init", "--commit")
    assert [(project["base"], project["plans"], project["archived"]) for project in data["homes"]] == [
        (".", 0, 0),
        ("packages/a", 1, 1),
        ("services/b", 1, 0),
    ]
    created = {entry["path"] for entry in data["paths"] if entry["made"]}
    assert created == {f"{base}.agent/execplan.toml" for base in ("", "packages/a/", "services/b/")} | {
        ".agent/PLANS.md"
    }
    assert set(packages.git("show", "--name-only", "--format=").split()) == created
    assert packages.git("status", "--porcelain") == ""
    assert packages.ok("init")["changed"] is False
    assert packages.run("init", "--check").exit == 0


def test_the_root_sees_all_and_a_package_its_own(packages: Folder) -> None:
    packages.ok("init")
    assert _ids(packages, "list") == {"0007-lexer", "2026-01-01-parser"}
    assert f"{A}/active/0007-lexer.md" in packages.run("list").out
    assert f"{B}/2026-01-01-parser.md" in packages.run("status").out
    assert _ids(packages, "list", "--all") == {"0007-lexer", "0001-reader", "2026-01-01-parser"}
    assert packages.ok("status")["states"] == {
        "broken": 0,
        "draft": 0,
        "active": 2,
        "complete": 0,
        "archived": 1,
        "document": 0,
    }
    assert packages.ok("lint")["plans"] == 3
    inside = packages.path / "services/b/src"
    for command in ("list", "status"):
        assert _ids(packages, command, cwd=inside) == {"2026-01-01-parser"}
    assert packages.run("next", "--json", cwd=inside).json["data"]["id"] == "2026-01-01-parser"
    assert packages.run("lint", "--json", cwd=inside).json["data"]["plans"] == 1
    assert packages.run("show", "lexer", cwd=inside).exit == 3
    new_plan = packages.run("new", "Write it", "--json", "-C", "packages/a").json["data"]
    assert new_plan["path"] == f"{A}/active/0008-write-it.md"
    assert packages.run("next").exit == 3


def test_a_plan_is_named_from_the_root_and_by_path_from_anywhere(packages: Folder) -> None:
    packages.ok("init")
    assert packages.ok("done", "2", "-p", "lexer")["path"] == f"{A}/active/0007-lexer.md"
    assert packages.ok("done", "2", "-p", "2026-01-01-parser")["path"] == f"{B}/2026-01-01-parser.md"
    deep = packages.path / "packages/a/docs"
    path = f"{B}/2026-01-01-parser.md"
    assert packages.run("done", "3", "-p", path, "--json", cwd=deep).json["data"]["path"] == path
    assert (
        packages.ok("archive", "packages/a/docs/execplans/active/0007-lexer.md", "--force", "--reason", "Over.")["path"]
        == f"{A}/completed/0007-lexer.md"
    )


def test_the_same_id_in_two_packages_is_ambiguous_and_its_path_is_not(packages: Folder) -> None:
    packages.ok("init")
    packages.write(f"{B}/0007-lexer.md", CLEAN)
    error = packages.run("show", "0007-lexer", "--json").json["error"]
    assert error["code"] == "ambiguous-plan"
    assert {candidate["path"] for candidate in error["candidates"]} == {
        f"{A}/active/0007-lexer.md",
        f"{B}/0007-lexer.md",
    }
    assert f"  {B}/0007-lexer.md  Build the parser\n" in packages.run("show", "0007-lexer").err
    assert packages.ok("show", f"{B}/0007-lexer.md")["path"] == f"{B}/0007-lexer.md"
    assert packages.run("show", "0007-lexer", "-C", "services/b").exit == 0


@pytest.mark.parametrize("verb", ["status", "list", "lint", "next", "show", "commit"])
def test_without_a_project_at_the_root_those_below_are_named(packages: Folder, verb: str) -> None:
    packages.ok("init", "packages/a")
    packages.ok("init", "services/b")
    result = packages.run(verb, "--json")
    assert (result.exit, result.json["error"]["code"]) == (6, "no-home")
    assert result.json["error"]["candidates"] == ["packages/a", "services/b"]
    assert "execplan -C packages/a status" in result.json["error"]["hint"]
    assert packages.run("-C", "packages/a", "status").exit == 0


def test_init_of_a_folder_makes_a_project_in_it_alone(packages: Folder) -> None:
    packages.plan()
    packages.ok("init")
    folder = packages.path / "packages/c"
    result = packages.run("init", "packages/c", "--json")
    assert result.exit == 0
    assert {entry["path"] for entry in result.json["data"]["paths"] if entry["made"]} == {
        f"packages/c/.agent/{name}"
        for name in (
            "execplan.toml",
            "execplans",
            "execplans/archive",
            "execplans/artifacts",
            "execplans/archive/artifacts",
        )
    }
    new_path = packages.run("new", "Write it", "--json", cwd=folder).json["data"]["path"]
    assert new_path == "packages/c/.agent/execplans/2026-01-01_write-it.md"
    assert "packages/c" in packages.run("init", "--json").json["warnings"][0]
    assert "2026-01-01_write-it" not in _ids(packages, "list")
    assert packages.run("list", "-C", "packages/c").exit == 0


def test_a_project_that_is_listed_and_gone(packages: Folder) -> None:
    packages.ok("init")
    (packages.path / "services/b/.agent/execplan.toml").unlink()
    result = packages.run("list", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "no-such-home")
    assert "execplan init services/b" in result.json["error"]["hint"]
    assert packages.run("init", "services/b").exit == 0
    assert _ids(packages, "list") == {"0007-lexer", "2026-01-01-parser"}


def test_without_git_paths_count_from_the_root(plain: Folder) -> None:
    plain.write("packages/a/plans/lexer.md", CLEAN)
    plain.write("packages/b/plans/parser.md", CLEAN)
    plain.ok("init")
    assert {plan["path"] for plan in plain.ok("list")["plans"]} == {
        "packages/a/plans/lexer.md",
        "packages/b/plans/parser.md",
    }
    assert plain.ok("done", "2", "-p", "packages/a/plans/lexer.md")["changed"] is True
