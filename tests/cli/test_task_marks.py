"""Marks of tasks in all commands: only `x` is done, `-` and struck-through text are dropped, and the rest is unfinished."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.conftest import Folder

NAME = "2026-01-01_parser"
FINISHED = CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)")


def last_task(text: str) -> str:
    """The plan whose tasks are done, but the last one is as given."""
    return FINISHED.replace("- [x] (2025-12-31 10:00Z) Write the tests.", text)


def data(repo: Folder, *args: str) -> Any:
    """What a command prints with --json."""
    return json.loads(repo.run(*args, "--json").out)["data"]


@pytest.mark.parametrize("mark", ["~", "/", ">", "?"])
def test_another_mark_keeps_the_plan_open(repo: Folder, mark: str) -> None:
    repo.plan(last_task(f"- [{mark}] Write the tests."), NAME)
    (plan,) = data(repo, "list")["plans"]
    assert (plan["state"], plan["counts"]) == ("active", {"open": 0, "done": 2, "other": 1, "total": 3})
    assert f"3. Write the tests. (marked [{mark}])" in repo.run("status").out
    assert f"3. Write the tests. (marked [{mark}])" in repo.run("next").out
    assert (data(repo, "next")["task"]["state"], data(repo, "next")["task"]["mark"]) == ("other", mark)
    assert "2 of 3 tasks done, 1 marked otherwise" in repo.run("prime").out
    assert repo.run("archive", "--complete").out.startswith("no complete plans to archive")
    refused = repo.run("archive", NAME)
    assert refused.exit == 1
    assert f"task 3 is marked [{mark}]: Write the tests." in refused.err
    assert "claimed" in repo.run("next", "--claim", "--as", "ann").out
    assert repo.run("done", "3", "--as", "ann").exit == 0
    assert data(repo, "list")["plans"][0]["state"] == "complete"


@pytest.mark.parametrize(
    "task",
    ["- [-] Write the tests.", "- [ ] ~~Write the tests.~~", "- [ ] ~~Write the tests~~ (nobody reads them)."],
)
def test_a_dropped_task_is_neither_open_nor_done(repo: Folder, task: str) -> None:
    repo.plan(last_task(task), NAME)
    (plan,) = data(repo, "list")["plans"]
    assert (plan["state"], plan["counts"]) == ("complete", {"open": 0, "done": 2, "other": 1, "total": 3})
    assert data(repo, "next")["task"] is None
    assert repo.run("lint").exit == 0
    assert "1 dropped" in repo.run("summarize", NAME).out
    assert "## Dropped" in repo.run("summarize", NAME, "--as", "report").out
    refused = repo.run("next", NAME, "--claim", "--task", "3", "--as", "ann")
    assert refused.exit == 3
    assert "task 3 is dropped" in refused.err
    archived = repo.run("archive", NAME)
    assert archived.exit == 0
    assert "dropped: 3. " in archived.out


@pytest.mark.parametrize(
    "text", ["~~Use a table~~ Write a scanner.", "~~One~~, two, ~~three~~", "~~~~", "~~ ~~ (none)"]
)
def test_text_that_is_struck_through_in_part_is_open(repo: Folder, text: str) -> None:
    repo.plan(last_task(f"- [ ] {text}"), NAME)
    assert data(repo, "list")["plans"][0]["counts"]["open"] == 1


def test_a_dropped_task_is_reopened_by_its_mark_or_its_text(repo: Folder) -> None:
    path = repo.plan(last_task("- [-] Write the tests."), NAME)
    assert repo.run("reopen", "3").exit == 0
    assert path.read_text() == last_task("- [ ] Write the tests.")
    repo.plan(last_task("- [ ] ~~Write the tests.~~"), NAME)
    refused = repo.run("reopen", "3")
    assert refused.exit == 3
    assert "execplan reword 3 'Text'" in refused.err
    assert repo.run("reword", "3", "Write the tests.").exit == 0
    assert path.read_text() == last_task("- [ ] Write the tests.")


def test_the_history_says_when_a_task_was_dropped(repo: Folder) -> None:
    repo.plan(last_task("- [ ] Write the tests."), NAME)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    repo.plan(last_task("- [ ] ~~Write the tests.~~"), NAME)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    events = data(repo, "log", NAME)["events"]
    assert [(event["kind"], event["detail"]) for event in events if event["kind"] == "task-marked"] == [
        ("task-marked", "-")
    ]


def test_a_checkbox_in_a_given_text_is_no_part_of_the_text(repo: Folder) -> None:
    repo.plan(CLEAN, NAME)
    for command in (
        ["add", "- [ ] Ship it."],
        ["reword", "2", "* [ ] Build all."],
        ["split", "3", "--done", "[ ] Begin.", "--remaining", "- [ ] Finish."],
    ):
        repo.ok(*command)
    assert [task["text"] for task in data(repo, "show")["tasks"][1:]] == ["Build all.", "Begin.", "Finish.", "Ship it."]
    new = repo.ok("new", "Scan lines", "--task", "- [ ] Scan.")["id"]
    assert [task["text"] for task in data(repo, "show", new)["tasks"]] == ["Scan."]


@pytest.mark.parametrize("mark", ["x", "-", "~"])
def test_a_checkbox_with_another_mark_is_an_error(repo: Folder, mark: str) -> None:
    path = repo.plan(CLEAN, NAME)
    text = f"- [{mark}] Ship it."
    for command in (
        ["add", text],
        ["reword", "2", text],
        ["split", "3", "--done", text, "--remaining", "B"],
        ["split", "3", "--done", "A", "--remaining", text],
        ["new", "Scan lines", "--task", text],
    ):
        result = repo.run(*command)
        assert result.exit == 2, command
        assert f"a task's text can't begin with a checkbox marked '{mark}'" in result.err
    assert path.read_text() == CLEAN
    repo.ok("reword", "2", "[a] is a link")
    assert data(repo, "show")["tasks"][1]["text"] == "[a] is a link"
