"""A review on a terminal: each change in turn, comments on the way, and what is recorded at the end."""

from __future__ import annotations

import sys

import pytest

from tests.cli.terminal import Terminal
from tests.conftest import ENVIRONMENT, Folder
from tests.plans import CLEAN

QUESTION = "[q] quit: "


@pytest.fixture
def reviewed(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """A repository with a plan that Ann has reviewed, and that has changed since."""
    for name in ("EXECPLAN_PLAN", "EXECPLAN_AGENT", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**ENVIRONMENT, **repo.env}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.path)
    repo.plan(CLEAN)
    repo.ok("review", "--mark")
    repo.ok("reword", "2", "Build the whole parser.")
    repo.ok("set", "Plan of Work", "First the reader.")
    repo.ok("comment", "Which line endings?", "--on", "3", "--as", "Bob")
    return repo


def begin(patch: pytest.MonkeyPatch, *arguments: str, columns: int = 80) -> Terminal:
    from execplan.cli.main import main

    patch.setattr(sys, "argv", ["execplan", "review", *arguments])
    return Terminal(main, columns=columns, env={"NO_COLOR": "1"})


def test_each_change_is_shown_and_can_be_commented_on(reviewed: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = begin(monkeypatch)
    terminal.until("1 of 2")
    terminal.until(QUESTION)
    terminal.type("c\n")
    terminal.until("Comment on the task Build the whole parser.: ")
    terminal.type("Is all of it needed?\n")
    terminal.until("commented: c")
    terminal.type("\n")
    terminal.until("2 of 2")
    terminal.until("+First the reader.")
    terminal.type("\n")
    terminal.until("Which line endings?")
    terminal.type("\n")
    result = terminal.end()
    assert result.exit == 0
    assert "recorded: Ann has reviewed 2026-01-01_parser" in result.raw
    assert "    -Write the scanner, then the reader." in result.lines
    comments = reviewed.ok("show")["comments"]
    assert [(comment["text"], comment["label"]) for comment in comments] == [
        ("Which line endings?", "task 3"),
        ("Is all of it needed?", "task 2"),
    ]
    review = reviewed.ok("review")
    assert (review["events"], review["comments"]) == ([], [])


@pytest.mark.parametrize("keys", ["q\n", "\x04"])
def test_a_review_that_stops_records_nothing(reviewed: Folder, monkeypatch: pytest.MonkeyPatch, keys: str) -> None:
    terminal = begin(monkeypatch, columns=30)
    terminal.until(QUESTION)
    terminal.type(keys)
    result = terminal.end()
    assert result.exit == 0
    assert "nothing was recorded" in " ".join(result.lines)
    assert len(reviewed.ok("review")["events"]) == 2


def test_an_interrupt_records_nothing(reviewed: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = begin(monkeypatch)
    terminal.until(QUESTION)
    terminal.type("\x03")
    assert terminal.end().exit == 130
    assert len(reviewed.ok("review")["events"]) == 2
