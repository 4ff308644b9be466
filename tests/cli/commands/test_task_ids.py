"""`add`, `split` and `reword` tell the id that a task has afterwards, and what it was."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Folder
from tests.plans import with_sections

TWO = with_sections("## Progress\n\n- [ ] Read lines\n- [ ] Write tests\n")


def ids(repo: Folder) -> dict[str, str]:
    """The id of each task, by its text."""
    return {task["text"]: task["id"] for task in repo.ok("show")["tasks"]}


def reported_tasks(repo: Folder, *arguments: str) -> list[tuple[Any, ...]]:
    """What a writer says of the tasks that it is about."""
    tasks = repo.ok(*arguments)["tasks"]
    return [tuple(task[name] for name in ("id", "number", "state", "text", "was")) for task in tasks]


def test_add(repo: Folder) -> None:
    repo.plan(TWO)
    tasks = reported_tasks(repo, "add", "Ship it", "--before", "2")
    name = ids(repo)["Ship it"]
    assert tasks == [(name, 2, "open", "Ship it", None)]
    assert f"added: 4. More  [{reported_tasks(repo, 'add', 'More', '--dry-run')[0][0]}]" in repo.run("add", "More").out
    assert reported_tasks(repo, "add", "Ship it") == [(name, 2, "open", "Ship it", name)]
    assert repo.run("add", "Ship it").out.startswith(f"already in the plan, open: 2. Ship it  [{name}]\n")


def test_reword(repo: Folder) -> None:
    repo.plan(TWO)
    old = ids(repo)["Read lines"]
    tasks = reported_tasks(repo, "reword", "1", "Read blocks")
    name = ids(repo)["Read blocks"]
    assert tasks == [(name, 1, "open", "Read blocks", old)]
    assert f"unchanged: 1. Read blocks  [{name}]\n" in repo.run("reword", "1", "Read blocks").out
    assert f"reworded: 1. Read lines  [{old}]\n" in repo.run("reword", "1", "Read lines").out


def test_split(repo: Folder) -> None:
    repo.plan(TWO)
    old = ids(repo)["Read lines"]
    arguments = ("split", "1", "--done", "Read LF", "--remaining", "Read CRLF")
    dry = reported_tasks(repo, *arguments, "--dry-run")
    assert reported_tasks(repo, *arguments) == dry
    done_id, open_id = ids(repo)["Read LF"], ids(repo)["Read CRLF"]
    assert dry == [(done_id, 1, "done", "Read LF", old), (open_id, 2, "open", "Read CRLF", old)]
    repo.ok("undo")
    out = repo.run(*arguments).out
    assert f"done: 1. Read LF  [{done_id}]\nopen: 2. Read CRLF  [{open_id}]\n" in out


def test_of_equal_tasks_the_id_is_the_right_one(repo: Folder) -> None:
    repo.plan(with_sections("## Progress\n\n### One\n\n- [ ] Test\n\n### Two\n\n- [ ] Build\n"))
    assert reported_tasks(repo, "add", "Test", "--under", "Two")[0][:2] == (f"{ids_of_test(repo)[0]}-2", 3)


def ids_of_test(repo: Folder) -> list[str]:
    """The ids of the tasks that are called Test."""
    return [task["id"] for task in repo.ok("show")["tasks"] if task["text"] == "Test"]


def test_done_and_reopen(repo: Folder) -> None:
    repo.plan(TWO)
    name = ids(repo)["Write tests"]
    assert reported_tasks(repo, "done", "2") == [(name, 2, "done", "Write tests", name)]
    assert reported_tasks(repo, "reopen", name) == [(name, 2, "open", "Write tests", name)]


@pytest.mark.parametrize(
    "more", [("--before", "1", "--after", "2"), ("--before", "1", "--under", "Two"), ("--after", "1", "--under", "Two")]
)
def test_one_place(repo: Folder, more: tuple[str, ...]) -> None:
    repo.plan(TWO)
    assert repo.run("add", "Ship it", *more).exit == 2
