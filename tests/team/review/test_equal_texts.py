"""A comment on one of several tasks with the same text stays with that task."""

from __future__ import annotations

import shutil

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN

PLAN = CLEAN.replace(
    "- [ ] Build the parser.\n- [ ] Write the tests.\n",
    "### Reader\n\n- [ ] Write the tests.\n\n### Writer\n\n- [ ] Write the tests.\n- [ ] Release it.\n",
)
FIRST = "### Reader\n\n- [ ] Write the tests.\n"
SECOND = "### Writer\n\n- [ ] Write the tests.\n"


@pytest.mark.parametrize("way", ["journal", "git"])
@pytest.mark.parametrize(
    ("task", "old", "new", "place"),
    [
        (2, FIRST, FIRST.replace("the tests", "the tests of the reader"), 2),
        (3, FIRST, FIRST.replace("the tests", "the tests of the reader"), 3),
        (2, SECOND, SECOND.replace("the tests", "more tests"), 2),
        (3, SECOND, SECOND.replace("the tests", "more tests"), 3),
        (2, FIRST, "### Reader\n", None),
        (3, FIRST, "### Reader\n", 2),
        (2, SECOND, "### Writer\n", 2),
        (3, SECOND, "### Writer\n", None),
        (2, FIRST, FIRST.replace("- [ ]", "- [x] Write the tests.\n- [ ]"), 3),
        (3, FIRST, FIRST.replace("- [ ]", "- [ ] Write the tests.\n- [ ]"), 4),
        (4, FIRST, FIRST.replace("- [ ]", "- [ ] Release it.\n- [ ]"), 5),
    ],
)
def test_a_comment_stays_with_its_task(
    repo: Folder, way: str, task: int, old: str, new: str, place: int | None
) -> None:
    path = repo.plan(PLAN)
    repo.ok("comment", "Why?", "--on", str(task))
    repo.ok("note", "Commented.", "--commit")
    assert _place(repo) == task
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    if way == "git":
        shutil.rmtree(repo.path / ".git/execplan")
    assert _place(repo) == place


def test_without_a_history_a_comment_never_moves_to_the_task_that_is_left(repo: Folder) -> None:
    path = repo.plan(PLAN)
    repo.ok("comment", "Why?", "--on", "2")
    path.write_text(PLAN.replace(FIRST, ""))
    assert _place(repo) is None
    path.write_text(PLAN)
    assert _place(repo) == 2


def test_comments_without_a_total_are_read(repo: Folder) -> None:
    repo.plan(PLAN)
    repo.ok("comment", "Why?", "--on", "2")
    (comments,) = repo.path.rglob("comments.jsonl")
    assert ', "occurrence": 1, "total": 2}' in comments.read_text()
    comments.write_text(comments.read_text().replace(', "occurrence": 1, "total": 2}', "}"))
    assert _place(repo) == 2


def _place(repo: Folder) -> int | None:
    (comment,) = repo.ok("show")["comments"]
    assert comment["stale"] is (comment["label"] is None)
    return int(comment["label"].removeprefix("task ")) if comment["label"] else None
