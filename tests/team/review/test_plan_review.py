"""What is new for a reviewer: since the last review of each person, also after moves, and with damaged state."""

from __future__ import annotations

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN

FINISHED = CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)")


def kinds(repo: Folder, *arguments: str) -> list[str]:
    return [event["kind"] for event in repo.ok("review", *arguments)["events"]]


def test_each_person_has_a_review_of_their_own(repo: Folder) -> None:
    repo.plan()
    assert kinds(repo) == [
        "task-added",
        "task-done",
        "task-added",
        "task-added",
        "discovery-added",
        "decision-added",
        "outcome-added",
        "section-changed",
        *["section-added"] * 12,
    ]
    assert repo.ok("review", "--mark")["marked"] is True
    repo.ok("done", "2")
    assert kinds(repo) == ["task-done"]
    assert repo.ok("review", "--as", "Bob")["reviewed"] is None
    repo.ok("review", "--mark", "--as", "Bob")
    assert kinds(repo, "--as", "Bob") == []
    assert kinds(repo) == ["task-done"]


def test_a_change_of_layout_is_no_change_of_the_plan(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("review", "--mark")
    path.write_text(path.read_text().replace("\n\n## ", "\n\n\n## "))
    assert kinds(repo) == []


def test_comments_of_others_are_new_until_they_are_reviewed(repo: Folder) -> None:
    repo.plan()
    repo.ok("review", "--mark")
    mine = repo.ok("comment", "Mine")["id"]
    assert repo.ok("review")["comments"] == []
    repo.ok("reply", mine, "Theirs", "--as", "Bob")
    assert [comment["id"] for comment in repo.ok("review")["comments"]] == [mine]
    repo.ok("review", "--mark")
    assert repo.ok("review")["comments"] == []
    repo.ok("resolve", mine, "--as", "Bob")
    assert [comment["open"] for comment in repo.ok("review")["comments"]] == [False]


def test_reviews_move_with_their_plan(repo: Folder) -> None:
    repo.plan(FINISHED)
    repo.ok("review", "--mark")
    repo.ok("rename", "parser", "Build the reader")
    assert kinds(repo, "build-the-reader") == ["retitled"]
    repo.ok("review", "build-the-reader", "--mark")
    repo.ok("archive", "build-the-reader")
    assert repo.ok("review", "build-the-reader")["reviewed"] is not None


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b'{"time": "x", "text": "", "records": []}', b"\xff", b"[" * 100_000]
)
def test_a_damaged_state_is_as_if_nothing_was_reviewed(repo: Folder, damage: bytes) -> None:
    repo.plan()
    repo.ok("review", "--mark")
    (file,) = (repo.path / ".git/execplan/plans").glob("*/reviewed-*.json")
    file.write_bytes(damage)
    assert repo.ok("review")["reviewed"] is None
    repo.ok("review", "--mark")
    assert repo.ok("review")["reviewed"] is not None


def test_reviewing_leaves_no_trace_in_the_repository(repo: Folder) -> None:
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    repo.ok("review", "--mark")
    assert repo.git("status", "--porcelain") == ""
