"""Text from standard input: a person at a terminal is told how to end it, a program is not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tests.cli.terminal import Terminal
from tests.plans import CLEAN

if TYPE_CHECKING:
    import pytest

    from tests.conftest import Folder

NOTICE = "execplan: type the text; end it with Ctrl-D on a line of its own"


def test_a_person_learns_how_to_end_the_text(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    from execplan.cli.main import main

    path = repo.plan(CLEAN)
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.path)
    monkeypatch.setattr(sys, "argv", ["execplan", "set", "Plan of Work", "-"])
    terminal = Terminal(main)
    terminal.answer(NOTICE, "Write the scanner first.\n\x04")
    assert terminal.end().exit == 0
    assert "Write the scanner first." in path.read_text()


def test_a_program_gets_no_notice(repo: Folder) -> None:
    repo.plan(CLEAN)
    result = repo.run("set", "Plan of Work", "-", stdin=b"Write the scanner first.\n")
    assert (result.exit, NOTICE in result.out + result.err) == (0, False)
