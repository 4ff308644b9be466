"""What a person on a terminal reads instead of what a program reads: the editor as the next command, lines that fit."""

from __future__ import annotations

import sys

import pytest

from execplan.cli.main import main
from tests.cli.terminal import Terminal
from tests.in_process_repository import InProcessRepository

NAME = "2026-01-01_build-the-parser"
OTHER = "2026-01-01_lines-are-lost"


def shown(desk: InProcessRepository, *arguments: str, agent: str = "") -> list[str]:
    """Lines that a command shows on a terminal of 80 columns."""
    desk.patch.setattr(sys, "argv", ["execplan", *arguments])
    return Terminal(main, env={"EXECPLAN_AGENT": agent} if agent else {}).end().lines


@pytest.mark.parametrize("agent", ["", "agent-1"])
def test_a_person_fills_in_sections_in_an_editor(desk: InProcessRepository, agent: str) -> None:
    desk.type("new", "Build the parser", "--task", "Read lines")
    lines = shown(desk, "next", NAME, agent=agent)
    commands = [
        f"next: fill in 8 sections: execplan edit {NAME}",
        f"next: fill in 8 sections, for example: execplan set 'Purpose / Big Picture' 'New text' -p {NAME}",
    ]
    assert [command in lines for command in commands] == [not agent, bool(agent)]


def test_descriptions_of_plans_fit_the_terminal(desk: InProcessRepository) -> None:
    desk.type("new", "Build the parser", "--task", "Read lines")
    desk.type("new", "Lines are lost", "--template", "bugfix")
    lines = shown(desk, "done", "1")
    assert lines[0] == "execplan: no plan specified; 3 are open"
    assert f"  {OTHER}  Lines are lost" in lines
    descriptions = [line for line in lines if not line.startswith("hint: ")]
    assert max(map(len, descriptions)) == 80
    assert [line.rpartition(": ")[2] for line in lines if line.endswith("…")] == ["Reproduce the…", "Build the…"]
    error_lines = desk.type("done", "1").err.splitlines()
    assert any(
        line.endswith(": Reproduce the bug with a test that fails for the reported reason") for line in error_lines
    )
