"""`execplan board`: the table in a pipe and on a terminal, the interactive board, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

import pytest

from execplan.cli.main import main
from tests.cli.terminal import NO_VARIABLES, Terminal, TerminalResult
from tests.in_process_repository import NAME, InProcessRepository
from tests.plans import CLEAN

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.conftest import Folder

COLORS = re.compile(r"\x1b\[[0-9;]*m")
COMPLETE = "# Complete\n\n## Progress\n\n- [x] (2025-07-01 09:00Z) A.\n"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with an active, a complete and an archived plan."""
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    for name, content in ((NAME, CLEAN), ("complete", COMPLETE), ("shelved", COMPLETE)):
        desk.plan(content, name)
    desk.data("archive", "shelved", "--force", "--reason", "Test")
    return desk


def start(
    desk: InProcessRepository, *arguments: str, columns: int = 120, env: Mapping[str, str] = NO_VARIABLES
) -> Terminal:
    """Run `board` on a terminal."""
    desk.patch.setattr(sys, "argv", ["execplan", "board", *arguments])
    return Terminal(main, columns=columns, rows=30, env=env)


def on_terminal(
    desk: InProcessRepository, *arguments: str, columns: int = 120, env: Mapping[str, str] = NO_VARIABLES
) -> TerminalResult:
    """Run `board` on a terminal to its end."""
    return start(desk, *arguments, columns=columns, env=env).end()


def test_archived_plans_are_counted_or_listed(desk: InProcessRepository) -> None:
    text = desk.type("board").out
    assert text.startswith("1 active, 1 complete, 1 archived\n")
    assert "shelved" not in text
    assert "execplan board --all" in text
    everything = desk.type("board", "--all").out
    assert "archived (1)" in everything
    assert "shelved" in everything


def test_json_has_all_columns(desk: InProcessRepository) -> None:
    columns = desk.data("board")["columns"]
    assert [(column["name"], column["total"], len(column["plans"])) for column in columns] == [
        ("broken", 0, 0),
        ("draft", 0, 0),
        ("active", 1, 1),
        ("stalled", 0, 0),
        ("complete", 1, 1),
        ("archived", 1, 0),
    ]


def test_a_broken_plan_is_exit_1(desk: InProcessRepository) -> None:
    desk.plan(b"Broken \xff\n", "broken")
    result = desk.type("board")
    assert result.exit == 1
    assert "byte 0xff" in result.out
    assert "next: execplan lint .agent/execplans/broken.md" in result.out


def test_a_damaged_file_of_claims_is_an_error(desk: InProcessRepository) -> None:
    desk.write(".git/execplan/claims.json", "[")
    result = desk.type("board")
    assert result.exit == 3
    assert "claims.json can't be read" in result.err


def test_hostile_texts_are_escaped(desk: InProcessRepository) -> None:
    desk.plan("# A\x1b[31m\n\n## Progress\n\n- [ ] B \x1b]0;title\x07 \u202e.\n", "hostile")
    for output in (desk.type("board").out, COLORS.sub("", on_terminal(desk, "--plain").raw)):
        assert not {"\x1b", "\x07", "\u202e"} & set(output)


def test_the_table_on_a_terminal_is_that_of_a_pipe_with_colors_and_bars(desk: InProcessRepository) -> None:
    result = on_terminal(desk, "--plain")
    assert "\x1b[" in result.raw
    row = next(line for line in result.lines if NAME in line)
    assert row.split()[:3] == ["━━──────", "1/3", "2025-12-30"]
    piped_row = next(line for line in desk.type("board", "--plain").out.splitlines() if NAME in line)
    assert row.split()[1:] == piped_row.split()
    assert "━" not in piped_row


def test_no_color(desk: InProcessRepository) -> None:
    assert "\x1b[3" not in on_terminal(desk, "--plain", env={"NO_COLOR": "1"}).raw


def test_a_narrow_terminal_leaves_out_columns(desk: InProcessRepository) -> None:
    lines = on_terminal(desk, "--plain", columns=50).lines
    assert all([len(line) <= 50 for line in lines if "next:" not in line])
    row = next(line for line in lines if NAME[:10] in line)
    assert row.startswith("1/3")
    assert "2025-12-30" not in row


def test_a_long_name_is_complete_at_80_columns(desk: InProcessRepository) -> None:
    name = "2026-01-01_read-lines-and-words-of-every-language-without-a-limit"
    desk.plan(CLEAN, name)
    lines = on_terminal(desk, "--plain", columns=80).lines
    assert lines[1].split() == ["done", "id", "next"]
    row = next(line for line in lines if name in line)
    assert row.split()[0] == "1/3"
    assert len(row) <= 80


def test_a_task_of_several_paragraphs_is_cut_in_a_pipe(desk: InProcessRepository) -> None:
    desk.plan(f"# Long\n\n## Progress\n\n- [ ] {'Do it well. ' * 500}\n", "long")
    row = next(line for line in desk.type("board", "--plain").out.splitlines() if "long" in line)
    assert len(row) < 200
    assert row.endswith("…")


def test_agents_get_a_table_on_a_terminal(desk: InProcessRepository) -> None:
    assert "active (1)" in on_terminal(desk, env={"EXECPLAN_AGENT": "agent-1"}).lines


def test_without_the_extra_a_terminal_gets_a_table_and_a_hint(desk: InProcessRepository) -> None:
    code = "import sys; sys.modules['textual'] = None; from execplan.cli.main import run; sys.argv = ['execplan', 'board']; sys.exit(run())"

    def work() -> int:
        return subprocess.run([sys.executable, "-c", code], check=False).returncode

    result = Terminal(work, columns=100, rows=30, env=desk.env).end()
    assert result.exit == 0
    assert any("pip install -e '" in line for line in result.lines)  # the command for a checkout
    assert "active (1)" in result.lines


@pytest.mark.parametrize(
    ("keys", "number", "status"),
    [("q", 0, 0), ("\x03", 0, 130), ("", signal.SIGINT, 130), ("", signal.SIGTERM, 143), ("dq", 0, 0)],
)
def test_the_interactive_board_leaves_the_terminal_as_it_was(
    desk: InProcessRepository, keys: str, number: int, status: int
) -> None:
    def work() -> int:
        before = termios.tcgetattr(0)
        exit_status = main()
        print("\nsame" if termios.tcgetattr(0) == before else "\nchanged")
        return exit_status

    desk.patch.setattr(sys, "argv", ["execplan", "board"])
    terminal = Terminal(work, columns=120, rows=30)
    terminal.until("Build the parser")
    terminal.until("Quit")
    if keys:
        terminal.type(keys)
    else:
        os.kill(terminal.pid, number)
    result = terminal.end()
    assert result.exit == status
    assert "same" in result.lines
    for code in ("1049", "1000", "1003"):
        assert result.raw.rfind(f"\x1b[?{code}h") < result.raw.rfind(f"\x1b[?{code}l"), code
    assert result.raw.rfind("\x1b[?25l") < result.raw.rfind("\x1b[?25h"), "the cursor is visible again"
    assert "Traceback" not in result.raw


def test_a_failure_of_the_board_is_a_bug_report(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    from execplan.cli.board_app import card_list

    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(card_list, "card_lines", fail)
    result = on_terminal(desk)
    assert result.exit == 70
    assert any("internal error (a bug in execplan): RuntimeError: a bug" in line for line in result.lines)
    assert "locals" not in result.raw


def test_every_command_counts_the_same_archived_plans(repo: Folder) -> None:
    folder = ".agent/execplans"
    repo.git("rm", "-q", "-r", "--ignore-unmatch", folder)
    repo.write(f"{folder}/archive/parser.md", CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)"))
    repo.write(f"{folder}/archive/notes.md", "# Notes on SQL\n\n## Outcome\nGood.\n\n## Notes\nText.\n")
    for command in ("status", "board", "next", "list", "archive --complete"):
        assert "1 archived" in repo.run(*command.split()).out, command
