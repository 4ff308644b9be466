"""Bad inputs 32 and 39: folders that lead out of the repository, names that differ by case only."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.bad_inputs.assertions import WRITERS, checked_output
from tests.plans import CLEAN, with_sections

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder

pytestmark = pytest.mark.exhaustive

PATH = ".agent/execplans/2026-01-01_parser.md"
COMPLETE_PLAN = with_sections("## Progress\n\n- [x] (2025-12-30 09:15Z) Read lines.\n")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("init",),
    ("init", "--check"),
    ("new", "Lexer"),
    ("list",),
    ("list", "--all"),
    ("status",),
    ("next",),
    ("show",),
    ("show", "parser"),
    ("show", PATH),
    ("lint",),
    ("lint", PATH),
    ("archive", "parser"),
    ("commit",),
    *WRITERS,
    *[(*writer, "-p", PATH) for writer in WRITERS],
)


def _snapshot(*folders: Path) -> dict[str, bytes]:
    contents = {}
    for top in folders:
        for folder, names, files in os.walk(top):
            names[:] = [name for name in names if name != ".git"]
            contents[folder] = b""
            contents.update({f"{folder}/{name}": open_bytes(f"{folder}/{name}") for name in files})
    return contents


def open_bytes(path: str) -> bytes:
    """The bytes of a file, or where a link leads."""
    if os.path.islink(path):
        return os.fsencode(os.readlink(path))
    with open(path, "rb") as file:
        return file.read()


@pytest.mark.parametrize("kind", ["plain", "repo"])
@pytest.mark.parametrize("link", [".agent/execplans", ".agent"])
def test_32_plans_folder_is_a_link_out(request: pytest.FixtureRequest, kind: str, link: str) -> None:
    """Every verb that reads or writes refuses, and nothing outside is read or made."""
    folder: Folder = request.getfixturevalue(kind)
    outside = folder.path.parent / "outside"
    subfolder = "execplans/" if link == ".agent" else ""
    (outside / subfolder).mkdir(parents=True)
    (outside / subfolder / "2026-01-01_parser.md").write_text(CLEAN, encoding="utf-8")
    path = folder.path / link
    if path.is_dir():
        (folder.path / ".agent/execplans").rmdir()
        if link == ".agent":
            path.rmdir()
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(outside)
    before = _snapshot(folder.path, outside)
    for command in COMMANDS:
        result = folder.run(*command)
        assert result.exit == 7, (command, result)
        assert "outside of the repository" in checked_output(result)
        assert str(outside) in result.err
        assert "hint: " in result.err
        assert "Read lines" not in result.out
        assert folder.run(*command, "--json").json["error"]["code"] == "link-outside"
        assert _snapshot(folder.path, outside) == before, command


@pytest.mark.parametrize("name", ["archive", "artifacts", "archive/artifacts"])
def test_32_another_folder_of_the_home_is_a_link_out(repo: Folder, name: str) -> None:
    """Where plans or their artifacts would be moved to, too."""
    repo.plan(COMPLETE_PLAN)
    outside = repo.path.parent / "outside"
    outside.mkdir()
    link = repo.path / ".agent/execplans" / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    for command in (("new", "Lexer"), ("archive", "parser"), ("list", "--all"), ("init",), ("commit",)):
        assert repo.run(*command).exit == 7, command
    assert list(outside.iterdir()) == []
    assert (repo.path / PATH).read_text() == COMPLETE_PLAN


def test_32_a_plan_s_own_folder_is_a_link_out(repo: Folder) -> None:
    """In a layout with a folder for each plan."""
    outside = repo.path.parent / "outside"
    outside.mkdir()
    (outside / "ExecPlan.md").write_text(CLEAN, encoding="utf-8")
    repo.write("epics/b/ExecPlan.md", CLEAN)
    repo.ok("init")
    (repo.path / "epics/a").symlink_to(outside)
    for command in (("show", "a"), ("done", "2", "-p", "a"), ("archive", "a")):
        assert repo.run(*command).exit == 7, command
    assert repo.run("list", "--json").json["data"]["plans"][0]["state"] == "broken"
    assert (outside / "ExecPlan.md").read_text() == CLEAN
    assert repo.run("done", "2", "-p", "b").exit == 0


def test_32_the_settings_folder_is_a_link_out(repo: Folder) -> None:
    """`init` writes no settings and no guide through a link."""
    outside = repo.path.parent / "outside"
    outside.mkdir()
    repo.write("plans/a.md", CLEAN)
    (repo.path / ".agent/execplans").rmdir()
    (repo.path / ".agent").rmdir()
    (repo.path / ".agent").symlink_to(outside)
    assert repo.run("init").exit == 7
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("kind", ["plain", "repo"])
def test_32_a_link_inside_is_fine(request: pytest.FixtureRequest, kind: str) -> None:
    """Plans may lie elsewhere in the repository, behind a link."""
    folder: Folder = request.getfixturevalue(kind)
    folder.ok("init")
    target = folder.path / "docs/plans"
    target.parent.mkdir()
    link = folder.path / ".agent/execplans"
    link.rename(target)
    link.symlink_to("../docs/plans")
    (target / "2026-01-01_parser.md").write_text(COMPLETE_PLAN, encoding="utf-8")
    for command in COMMANDS:
        if command[0] != "archive":
            result = folder.run(*command)
            assert result.exit != 7, command
            assert "outside of the repository" not in checked_output(result)
    assert folder.ok("show", PATH)["id"] == folder.ok("show", "docs/plans/2026-01-01_parser.md")["id"]
    assert folder.ok("archive", "parser", "--force", "--reason", "Over.")["changed"] is True
    assert (target / "archive/2026-01-01_parser.md").is_file()
    assert link.is_symlink()


def test_32_a_repository_behind_a_link_is_fine(repo: Folder) -> None:
    """What lies in front of the repository may be a link."""
    repo.plan()
    link = repo.path.parent / "link"
    link.symlink_to(repo.path)
    assert repo.run("show", str(link / PATH)).exit == 0
    assert repo.run("done", "2", "-p", str(link / PATH)).exit == 0
    assert repo.run("-C", str(link), "list").exit == 0


def test_39_names_that_differ_by_case_only(repo: Folder) -> None:
    """Each of the names is ambiguous, in whichever case; their paths are not."""
    upper, lower = repo.plan(name="Parser"), repo.plan(CLEAN.replace("parser", "lexer"), name="parser")
    if len(os.listdir(upper.parent)) < 2:
        pytest.skip("this file system takes both names for one")
    for name in ("Parser", "parser", "PARSER", "parser.md"):
        for command in (("show", name), ("done", "2", "-p", name), ("archive", name), ("commit", name)):
            result = repo.run(*command, "--json")
            assert (result.exit, result.json["error"]["code"]) == (3, "ambiguous-plan"), command
            assert [candidate["path"] for candidate in result.json["error"]["candidates"]] == [
                ".agent/execplans/Parser.md",
                ".agent/execplans/parser.md",
            ]
    assert upper.read_text() == CLEAN
    assert repo.ok("done", "2", "-p", str(lower))["path"] == ".agent/execplans/parser.md"
    assert upper.read_text() == CLEAN
    assert len(repo.ok("list")["plans"]) == 2


def test_39_one_of_them_archived(repo: Folder) -> None:
    """A name in the archive that differs by case only is no less a danger; one and the same name is none."""
    repo.plan(name="Parser")
    filed = repo.write(".agent/execplans/archive/parser.md", CLEAN)
    assert repo.run("done", "2", "-p", "Parser").exit == 3
    assert repo.run("done", "2", "-p", "parser").exit == 3
    filed.rename(filed.with_name("Parser.md"))
    assert repo.run("done", "2", "-p", "Parser").exit == 0


def test_39_in_folders_of_their_own(repo: Folder) -> None:
    repo.write("epics/Alpha/ExecPlan.md", CLEAN)
    repo.write("epics/alpha/ExecPlan.md", CLEAN)
    repo.ok("init")
    if len(os.listdir(repo.path / "epics")) < 2:
        pytest.skip("this file system takes both names for one")
    assert repo.run("done", "2", "-p", "alpha").exit == 3
    assert repo.ok("done", "2", "-p", "epics/alpha/ExecPlan.md")["changed"] is True


def test_39_a_new_name_never_differs_by_case_only(repo: Folder) -> None:
    repo.plan(name="2026-01-01_LEXER")
    assert repo.ok("new", "Lexer")["id"] == "2026-01-01_lexer-2"
