"""Plans of nested projects with the same ID: which name the suggested commands use."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.plans import CLEAN
from tests.team.dependencies.plan_files import plan_text

if TYPE_CHECKING:
    from tests.conftest import Folder

ID = "2026-01-01_parser"
COMPLETE = CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)")
OUTER, INNER = f".agent/execplans/{ID}.md", f"my lib/.agent/execplans/{ID}.md"


@pytest.fixture
def repo_with_namesakes(repo: Folder) -> Folder:
    """A repository with a nested project; both have a plan with the same ID."""
    repo.write(".agent/execplan.toml", 'homes = ["my lib"]\n')
    repo.write("my lib/.agent/execplan.toml", "")
    repo.write(OUTER, plan_text("Build the parser", "Read blocks", "Read lists"))
    repo.write(INNER, plan_text("Build the other parser", "Read lines", "Read tabs"))
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "All")
    return repo


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        (("status",), OUTER),
        (("board",), OUTER),
        (("show", OUTER), OUTER),
        (("show", INNER), INNER),
        (("next", INNER), INNER),
        (("done", "1", "-p", INNER), INNER),
        (("next", "--project", "."), OUTER),
    ],
)
def test_suggested_commands_name_the_plan_by_its_path(
    repo_with_namesakes: Folder, arguments: tuple[str, ...], path: str
) -> None:
    document = repo_with_namesakes.run(*arguments, "--json").json
    commands = [command for command in document["next"] if command.startswith("execplan ")]
    assert commands
    for command in commands:
        words = shlex.split(command)[1:]
        assert path in words
        assert repo_with_namesakes.run(*words).exit == 0


def test_next_of_several_projects_shows_which_plan_is_which(repo_with_namesakes: Folder) -> None:
    lines = repo_with_namesakes.run("next", "--project", ".").out.splitlines()
    assert [line.partition("  ")[2].split("  ")[0] for line in lines[:2]] == [OUTER, INNER]


def test_a_full_id_of_two_plans_is_answered_with_paths(repo_with_namesakes: Folder) -> None:
    result = repo_with_namesakes.run("show", ID)
    assert result.exit == 3
    assert "hint: use its path\n" in result.err


def test_a_plan_without_a_namesake_is_named_by_its_id(repo_with_namesakes: Folder) -> None:
    repo_with_namesakes.write(".agent/execplans/2026-01-02_scanner.md", plan_text("Build the scanner", "Read"))
    commands = repo_with_namesakes.run("show", "scanner", "--json").json["next"]
    assert all(["2026-01-02_scanner" in command and ".md" not in command for command in commands])


def test_a_missing_nested_project_does_not_stop_an_edit(repo_with_namesakes: Folder) -> None:
    repo_with_namesakes.write(".agent/execplan.toml", 'homes = ["gone"]\n')
    document = repo_with_namesakes.run("done", "1", "-p", OUTER, "--json").json
    assert (document["ok"], document["next"]) == (True, [f"execplan next {ID}"])


def test_plans_with_the_same_id_are_archived_each_by_itself(repo_with_namesakes: Folder) -> None:
    repo = repo_with_namesakes
    repo.write(OUTER, COMPLETE)
    result = repo.run("archive", OUTER, INNER)
    assert result.exit == 1
    assert f"{INNER}: task 1 is open: Read lines" in result.err
    repo.write(INNER, COMPLETE)
    document = repo.run("archive", "--complete", "--json").json
    assert len(document["data"]["plans"]) == 2
    assert repo.run(*shlex.split(document["next"][0])[1:]).exit == 0


@pytest.mark.parametrize("command", ["undo", "restore", "handoff", "worktree"])
def test_commands_about_a_plan_given_by_path_name_it_by_path(repo_with_namesakes: Folder, command: str) -> None:
    repo = repo_with_namesakes
    repo.ok("done", "1", "2", "-p", OUTER)
    arguments = [] if command == "undo" else [OUTER]
    if command == "restore":
        repo.write(OUTER, COMPLETE)
        arguments = [repo.ok("archive", OUTER)["path"]]
    result = repo.run(command, *arguments)
    words = shlex.split((result.out + result.err).strip().splitlines()[-1].rpartition("execplan ")[2])
    assert OUTER in words
    assert repo.run(*words).exit == 0
