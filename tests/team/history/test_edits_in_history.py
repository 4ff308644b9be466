"""For any sequence of edits by execplan, each in a commit, the history has exactly their events in this order."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.plan.plan_lookup import task_ids
from execplan.library.plan_api import Plan
from execplan.library.project_api import Project
from tests.conftest import Folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.team.history.history_event import HistoryEvent

COMMIT = WriteOptions(commit=True)
WORDS = ("lexer", "parser", "reader", "table", "größe", "`code`", "index")
Events = list[tuple[str, str]]


class Editor:
    """Edits a plan, and says which events the edits must have."""

    def __init__(self, plan: Plan, data: st.DataObject) -> None:
        self.plan = plan
        self.data = data
        self.count = 0

    def edit(self, *, renames: bool = True) -> Events:
        """Make some edit, commit it, and give its events."""
        edits: list[Callable[[], Events]] = [
            self._add,
            self._done,
            self._reopen,
            self._reword,
            self._split,
            self._decide,
            self._discover,
            self._outcome,
            self._revise,
            self._set,
            *([self._rename] if renames else []),
        ]
        return self.data.draw(st.sampled_from(edits))()

    def text(self) -> str:
        """A text that is not in the plan yet."""
        self.count += 1
        words = self.data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
        return f"Write {' and '.join(words)} {self.count}"

    def task(self, mark: str) -> tuple[str, str]:
        """The ID and the text of a task with a mark; both are empty if there is none."""
        tasks = self.plan.tasks
        chosen = [
            (task_id, task.text) for task_id, task in zip(task_ids(tasks), tasks, strict=True) if task.mark == mark
        ]
        return self.data.draw(st.sampled_from(chosen)) if chosen else ("", "")

    def _add(self) -> Events:
        text = self.text()
        before = self.data.draw(st.booleans()) and bool(self.plan.tasks)
        self.plan.add(text, before="1" if before else None, options=COMMIT)
        return [("task-added", text)]

    def _done(self) -> Events:
        task, text = self.task(" ")
        if not task:
            return self._add()
        self.plan.done(task, options=COMMIT)
        return [("task-done", text)]

    def _reopen(self) -> Events:
        task, text = self.task("x")
        if not task:
            return self._add()
        self.plan.reopen(task, options=COMMIT)
        return [("task-reopened", text)]

    def _reword(self) -> Events:
        task, _ = self.task(" ")
        if not task:
            return self._add()
        text = self.text()
        self.plan.reword(task, text, options=COMMIT)
        return [("task-reworded", text)]

    def _split(self) -> Events:
        task, text = self.task(" ")
        if not task:
            return self._add()
        done, remaining = f"{text}, first half", f"{text}, second half"
        self.plan.split(task, done=done, remaining=remaining, options=COMMIT)
        return [("task-reworded", done), ("task-done", done), ("task-added", remaining)]

    def _decide(self) -> Events:
        text = self.text()
        self.plan.decide(text, why="It is simple.", options=COMMIT)
        return [("decision-added", text)]

    def _discover(self) -> Events:
        text = self.text()
        self.plan.discover(text, evidence="a test", options=COMMIT)
        return [("discovery-added", text)]

    def _outcome(self) -> Events:
        text = self.text()
        self.plan.outcome(text, options=COMMIT)
        return [("outcome-added", text)]

    def _revise(self) -> Events:
        text = self.text()
        self.plan.revise(text, options=COMMIT)
        return [("revision-added", text)]

    def _set(self) -> Events:
        self.plan.set("Plan of Work", [self.text()], options=COMMIT)
        return [("section-changed", "Plan of Work")]

    def _rename(self) -> Events:
        title = self.text()
        self.plan.rename(title, options=COMMIT)
        return [("renamed", title)]


def rows(events: list[HistoryEvent]) -> list[Events]:
    """The kinds and texts of events by commit, oldest first."""
    by_commit: dict[str, Events] = {}
    for event in events:
        by_commit.setdefault(event.commit, []).append((event.kind, event.text))
    return list(by_commit.values())[::-1]


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_history_has_the_events_of_all_edits(
    repo: Folder, monkeypatch: pytest.MonkeyPatch, data: st.DataObject
) -> None:
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)
    project = Project.find(os.fspath(repo.path))
    plan = project.new("Edit at random", tasks=["Begin"], commit=True)
    editor = Editor(plan, data)
    expected = [editor.edit() for _ in range(data.draw(st.integers(min_value=1, max_value=8)))]
    created, *edits = rows(plan.history())
    assert created == [("created", "Edit at random"), ("task-added", "Begin")]
    assert edits == expected
    assert [event for event in project.history() if event.plan_id == plan.id] == plan.history()


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_a_merge_adds_no_events_to_those_of_its_branches(
    repo: Folder, monkeypatch: pytest.MonkeyPatch, data: st.DataObject
) -> None:
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)
    repo.git("checkout", "-q", "main")
    project = Project.find(os.fspath(repo.path))
    tasks = [f"Begin with part {number}" for number in range(6)]
    plan = project.new("Edit on branches", tasks=tasks, commit=True)
    sides: list[list[Events]] = []
    for branch in ("one", "two"):
        repo.git("checkout", "-q", "-B", branch, "main")
        # else the same first edit in the same second would be the same commit on both branches
        repo.git("commit", "-q", "--allow-empty", "-m", f"Begin {branch}")
        editor = Editor(plan, data)
        editor.count = len(sides) * 100
        sides.append([editor.edit(renames=False) for _ in range(data.draw(st.integers(min_value=1, max_value=4)))])
    assume(_merges(repo, "one"))
    # git leaves out a branch whose edits cancel each other out, or which the other one contains, too
    assume(all(repo.git("diff", "--name-only", f"HEAD^{parent}", "HEAD") for parent in (1, 2)))
    created, *edits = rows(plan.history())
    assert created[0] == ("created", "Edit on branches")
    assert sorted(edits) == sorted([*sides[0], *sides[1]])


def _merges(repo: Folder, branch: str) -> bool:
    """Merge a branch with a commit of its own, without a word of execplan's; give whether there was no conflict."""
    try:
        repo.git("merge", "-q", "--no-ff", "--no-edit", branch)
    except AssertionError:
        repo.git("merge", "--abort")
        repo.git("checkout", "-q", "main")
        return False
    return True
