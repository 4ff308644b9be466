"""Comments follow their part of the plan through edits, with and without the journal, and are stale when it is gone."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN

Rewrite = Callable[[Folder, str, str], None]


def by_hand(repo: Folder, old: str, new: str) -> None:
    path = repo.path / ".agent/execplans/2026-01-01_parser.md"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def committed(repo: Folder, old: str, new: str) -> None:
    by_hand(repo, old, new)
    repo.git("commit", "-q", "-a", "-m", f"Write {new}")


def by_command(repo: Folder, old: str, new: str) -> None:
    if old in CLEAN and old.startswith("Build"):
        repo.ok("reword", old, new)
    else:
        by_hand(repo, old, new)
        repo.ok("note", f"After {new}")


def place(repo: Folder) -> tuple[str | None, bool]:
    (comment,) = repo.ok("show")["comments"]
    return comment["label"], comment["stale"]


def commented(repo: Folder, on: str) -> None:
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    repo.ok("comment", "Why?", "--on", on)


@pytest.mark.parametrize("rewrite", [by_hand, committed, by_command])
@pytest.mark.parametrize(
    ("on", "rewordings", "label"),
    [
        ("2", ["Build the parser.", "Build the parser of plans.", "Make a reader of plans."], "task 2"),
        (
            "decision 1",
            ["Read line by line.", "Read line by line, as bytes.", "Read all bytes at once, line by line."],
            "decision 1",
        ),
        (
            "section Interfaces and Dependencies",
            ["## Interfaces and Dependencies", "## What others call"],
            "section What others call",
        ),
        (
            "discovery 1",
            ["The last line is dropped.", "The last line is dropped without a line end."],
            "discovery 1",
        ),
    ],
)
def test_a_comment_follows_its_text(repo: Folder, rewrite: Rewrite, on: str, rewordings: list[str], label: str) -> None:
    commented(repo, on)
    pairs = list(pairwise(rewordings))
    for old, new in pairs[:1] if rewrite is by_hand else pairs:  # the texts in between were not recorded anywhere
        rewrite(repo, old, new)
    assert place(repo) == (label, False)


def test_a_comment_follows_a_task_that_moves(repo: Folder) -> None:
    commented(repo, "2")
    by_hand(
        repo,
        "- [ ] Build the parser.\n- [ ] Write the tests.\n",
        "- [ ] Write the tests.\n- [ ] Build the parser now.\n",
    )
    assert place(repo) == ("task 3", False)


def test_of_a_split_task_the_remaining_one_keeps_the_comment(repo: Folder) -> None:
    commented(repo, "2")
    repo.ok("split", "2", "--done", "Build the scanner", "--remaining", "Build the reader")
    assert place(repo) == ("task 3", False)


def test_the_history_is_enough_without_the_journal(repo: Folder) -> None:
    commented(repo, "2")
    repo.ok("reword", "2", "Build the reader", "--commit")
    repo.ok("reword", "2", "Read plans of all kinds", "--commit")
    shutil.rmtree(repo.path / ".git/execplan/journal")
    assert place(repo) == ("task 2", False)


def test_the_comment_follows_through_a_merge(repo: Folder) -> None:
    commented(repo, "2")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Comment")
    repo.git("checkout", "-q", "-b", "other")
    committed(repo, "Build the parser.", "Build the parser of plans.")
    committed(repo, "Build the parser of plans.", "Read plans.")
    repo.git("checkout", "-q", "-")
    committed(repo, "None so far.", "Something.")
    repo.git("merge", "-q", "other")
    shutil.rmtree(repo.path / ".git/execplan", ignore_errors=True)
    assert place(repo) == ("task 2", False)


@pytest.mark.parametrize(
    ("on", "old", "part_text"),
    [
        ("2", "- [ ] Build the parser.\n", "Build the parser."),
        ("section Artifacts and Notes", "## Artifacts and Notes\n\nNone so far.\n\n", "Artifacts and Notes"),
        ("decision 1", CLEAN[CLEAN.index("- Decision") : CLEAN.index("## Outcomes")], "Read line by line."),
    ],
)
def test_a_comment_on_what_is_gone_is_stale(repo: Folder, on: str, old: str, part_text: str) -> None:
    commented(repo, on)
    committed(repo, old, "")
    assert place(repo) == (None, True)
    text = repo.run("show").out
    assert f"that is no longer in the plan (stale): {part_text}" in text
    by_hand(repo, "## Progress", f"{old}\n## Progress") if old.startswith("##") else repo.git("revert", "-n", "HEAD")
    assert place(repo)[1] is False


def test_a_comment_on_a_step_is_stale_when_the_step_is_gone(repo: Folder) -> None:
    path = repo.plan(CLEAN.replace("## Validation", "```sh {#build}\nmake\n```\n\n## Validation"))
    repo.ok("comment", "Which target?", "--on", "build")
    assert place(repo) == ("step build", False)
    path.write_text(path.read_text().replace("#build", "#make"))
    assert place(repo) == (None, True)


def test_a_comment_is_not_stale_while_the_plan_is_in_conflict(repo: Folder) -> None:
    commented(repo, "2")
    ours, theirs = "Construct a parser in Rust.", "Do the parsing by hand."
    markers = f"<<<<<<< HEAD\n- [ ] {ours}\n=======\n- [ ] {theirs}\n>>>>>>> side"
    by_hand(repo, "- [ ] Build the parser.", markers)
    assert place(repo) == (None, False)
    text = repo.run("show", "--comments").out
    assert "on a task that can't be found while the plan is in conflict: Build the parser." in text
    by_hand(repo, markers, f"- [ ] {ours}")
    assert place(repo) == ("task 2", False)
