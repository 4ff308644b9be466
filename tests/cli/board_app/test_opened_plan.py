"""A plan as the board shows it: its open comments come after its text, and can't be taken for it."""

from __future__ import annotations

import pytest

from execplan.cli.board_app.plan_screen import load_opened_plan
from tests.conftest import Folder
from tests.plans import CLEAN


def test_open_comments_follow_the_text(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(repo.plan())
    monkeypatch.chdir(repo.path)
    assert load_opened_plan(path).markdown == CLEAN.rstrip("\n")
    repo.ok("comment", "```\n# Not a heading\x1b[31m", "--on", "2", "--as", "Bob")
    resolved = repo.ok("comment", "Settled?")["id"]
    repo.ok("resolve", resolved)
    text, _, comments = load_opened_plan(path).markdown.partition("\n\n---\n\n1 open comment:\n\n")
    assert text == CLEAN.rstrip("\n")
    lines = comments.split("\n")
    assert all(line.startswith("    ") for line in lines)
    assert [line[4:] for line in lines[1:]] == ["  Bob, 2026-01-01: ```", "    # Not a heading\\x1b[31m"]
    assert lines[0].endswith("  on task 2")
