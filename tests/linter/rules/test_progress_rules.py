"""Progress with list items that have no checkbox, which become tasks."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.conftest import Folder

TASKS = "- [x] (2025-12-30 09:15Z) Read lines.\n- [ ] Build the parser.\n- [ ] Write the tests.\n"


@pytest.mark.parametrize(
    ("items", "tasks"),
    [
        ("- Read lines.\n- Write the tests.\n", "- [ ] Read lines.\n- [ ] Write the tests.\n"),
        ("1. Read lines.\n2) Write.\n", "1. [ ] Read lines.\n2) [ ] Write.\n"),
        ("* Read lines\n  twice.\n  - A note.\n", "* [ ] Read lines\n  twice.\n  - A note.\n"),
        ("- (2025-12-30 09:15Z) Read lines.\n- Write.\n", "- [x] (2025-12-30 09:15Z) Read lines.\n- [ ] Write.\n"),
        ("-  - deep\n- 2025\n", "-  - deep\n- [ ] 2025\n"),
    ],
)
def test_items_become_tasks(repo: Folder, items: str, tasks: str) -> None:
    path = repo.plan(CLEAN.replace(TASKS, items))
    out = repo.run("lint").out
    assert "EP201 no task: the " in out
    assert f"can become tasks with `execplan lint {path.relative_to(repo.path)} --fix --unsafe-fixes`" in out
    repo.run("lint", "--fix", "--unsafe-fixes", "--select", "EP201")
    assert path.read_text() == CLEAN.replace(TASKS, tasks)


def test_without_items_a_task_is_added(repo: Folder) -> None:
    path = repo.plan(CLEAN.replace(TASKS, "Work has begun.\n"))
    repo.plan(CLEAN, "2026-01-02_other")  # so the command must name the plan
    command = repo.run("lint").out.split("EP201 no task: add one with `execplan ")[1].partition("`")[0]
    repo.run("lint", "--fix", "--unsafe-fixes", "--select", "EP201")
    assert path.read_text() == CLEAN.replace(TASKS, "Work has begun.\n")
    repo.ok(*shlex.split(command))
    assert "First step" in path.read_text()


def test_an_item_that_looks_like_a_task_is_fixed(repo: Folder) -> None:
    path = repo.plan(CLEAN.replace(TASKS, "- [ ]Read lines.\n"))
    out = repo.run("lint").out
    assert "EP201 no task: make one of what looks like one with `execplan lint --fix " in out
    repo.run(*shlex.split(out.rpartition("next: execplan ")[2].splitlines()[0]))
    assert path.read_text() == CLEAN.replace(TASKS, "- [ ] Read lines.\n")


def test_lists_of_tasks_in_another_form(repo: Folder) -> None:
    notes = "### Code changes\n\n- None.\n\n## Step 2: Details\n\n- Fast.\n"
    form = "# Parser\n\n## Phase 1\n\n### Tasks\n\n{0}Read lines.\n  - A note.\n{1}2026-01-01: Write.\n\n{2}\n## TODO\n\n{3}Test.\n"
    path = repo.plan(form.format("- ", "- ", notes, "1. "))
    assert "EP215 no task: the 3 list items" in repo.run("lint").out
    repo.ok("install", "guard")
    command = f"execplan lint {path.relative_to(repo.path)} --fix --unsafe-fixes"
    assert repo.run("lint", EXECPLAN_AGENT="ann").out.endswith(f"\nnext: ask a person to run: {command}\n")
    repo.ok(*shlex.split(command)[1:])
    assert path.read_text() == form.format("- [ ] ", "- [x] ", notes, "1. [ ] ")
    assert "EP215" not in repo.run("lint").out
