"""Options that mean the same for several commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder

COMPLETE = """# Sort the list

This ExecPlan is a living document.

## Progress

- [x] (2025-07-01 09:00Z) A.

## Surprises & Discoveries

None.

## Decision Log

None.

## Outcomes & Retrospective

Sorted.
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with an active, a complete and an archived plan, all of them committed."""
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    desk.plan(COMPLETE, "old")
    assert desk.type("archive", "old").exit == 0
    desk.plan(COMPLETE, "list")
    desk.git("add", "-A")
    desk.git("commit", "-q", "-m", "Plans")
    return desk


@pytest.mark.parametrize("command", ["list", "status"])
@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ([], {NAME, "list"}),
        (["--all"], {NAME, "list", "old"}),
        (["--state", "archived"], {"old"}),
        (["--all", "--state", "complete"], {"list"}),
        (["--state", "active", "--state", "complete"], {NAME, "list"}),
        (["--state", "broken"], set()),
    ],
)
def test_list_and_status_have_the_same_filters(
    desk: InProcessRepository, command: str, options: list[str], ids: set[str]
) -> None:
    assert {plan["id"] for plan in desk.data(command, *options)["plans"]} == ids
    assert ("no plans match" in desk.type(command, *options).out) == (not ids)


def test_log_takes_n_and_diff_since(desk: InProcessRepository) -> None:
    desk.type("add", "More", "-p", "parser")
    assert desk.data("log", "-n", "1") == desk.data("log", "--limit", "1")
    assert desk.data("diff", "parser", "--since", "HEAD") == desk.data("diff", "parser", "HEAD")
    assert desk.data("diff", "-p", "parser", "--since", "1d")["events"]
    desk.refused(2, "usage", "diff", "parser", "HEAD", "--since", "HEAD")


def test_search_takes_a_plan_and_still_excludes_words_that_begin_like_the_option(desk: InProcessRepository) -> None:
    assert {plan["id"] for plan in desk.data("search", "a")["plans"]} >= {"list", "old"}
    assert [plan["id"] for plan in desk.data("search", "a", "-p", "list")["plans"]] == ["list"]
    assert desk.data("search", "sorted", "-progress")["query"] == "sorted -progress"
    desk.refused(3, "no-such-plan", "search", "a", "-p", "nothing")


def test_comment_and_note_take_the_plan_in_the_same_places(desk: InProcessRepository) -> None:
    for command in ("comment", "note"):
        create = ["--create"] if command == "note" else []
        assert desk.type(command, "First.", "-p", "parser", *create).exit == 0
        assert desk.type(command, NAME, "Second.", *create).exit == 0
        assert (
            f"{command} [OPTIONS] {'[TEXT]' if command == 'comment' else 'TEXT'}\n" in desk.type(command, "--help").out
        )
    assert desk.type("comment", "parser", "Third.").exit == 0  # was its documented form


def test_worktree_list_lists_although_a_plan_is_called_so(desk: InProcessRepository) -> None:
    assert desk.type("worktree", "list").out == "no plan has a worktree\n"
    assert len(desk.git("worktree", "list").splitlines()) == 1


def test_a_directory_that_is_not_there_is_an_error_before_any_command(repo: Folder) -> None:
    """Above all for `init`, which must not create it."""
    for command in ("init", "status", "prime", "lint", "new X", "mcp"):
        for arguments in (["-C", "nowhere", *command.split()], [*command.split(), "-C", "nowhere"]):
            error = repo.run(*arguments).err
            assert error.startswith("execplan: can't change the directory to nowhere: no such file"), arguments
            assert "init" not in error
    assert not (repo.path / "nowhere").exists()
