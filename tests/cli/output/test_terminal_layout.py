"""Output on a terminal: wrapped, in color, grouped, and in a pager; piped output is none of these."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from execplan.cli.main import main
from execplan.cli.output import terminal_layout
from execplan.cli.output.terminal_text import printable_text
from tests.cli.terminal import NO_VARIABLES, Terminal, TerminalResult
from tests.in_process_repository import NAME, STEPS, InProcessRepository
from tests.needs import need
from tests.plans import CLEAN

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LONG_TASK = "- [ ] " + " ".join([f"word{at}" for at in range(30)]) + "\n"
PLAN = (
    STEPS.replace(
        "## Progress", "## Purpose / Big Picture\n\nPlans can be read and\nedited without loss.\n\n## Progress"
    )
    .replace("- [ ] Build", "- [x] (2025-12-30 09:15Z) Read lines.\n- [ ] Build")
    .replace("parser.\n\n## Concrete", f"parser.\n{LONG_TASK}\n## Concrete")
)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository whose plan has three steps: build, api, drop."""
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    for name in ("LESS", "PAGER"):
        monkeypatch.delenv(name, raising=False)
    desk.plan(PLAN)
    return desk


def start(
    desk: InProcessRepository,
    *arguments: str,
    columns: int = 80,
    rows: int = 200,
    env: Mapping[str, str] = NO_VARIABLES,
) -> Terminal:
    """Run execplan on a terminal that is long enough for all output, unless it is told otherwise."""
    desk.patch.setattr(sys, "argv", ["execplan", *arguments])
    return Terminal(main, columns=columns, rows=rows, env=env)


def run(
    desk: InProcessRepository,
    *arguments: str,
    columns: int = 80,
    rows: int = 200,
    env: Mapping[str, str] = NO_VARIABLES,
) -> TerminalResult:
    return start(desk, *arguments, columns=columns, rows=rows, env=env).end()


def test_show_has_purpose_progress_and_last_activity(desk: InProcessRepository) -> None:
    screen = run(desk, "show")
    assert screen.lines[0] == "Build the parser"
    assert "Plans can be read and edited without loss." in screen.lines
    assert "progress       " + "━" * 8 + "─" * 16 + " 1 of 3 tasks done" in screen.lines
    assert "last activity  2025-12-30, 2 days ago" in screen.lines
    assert "state          active" in screen.lines
    assert "\x1b[32mactive" in screen.raw


def test_show_has_the_state_of_the_last_run(desk: InProcessRepository) -> None:
    from tests.cli.journaled_run import OK, JournaledRun

    desk.plan(STEPS)
    journaled_run = JournaledRun(desk)
    for step in ("build", "api", "drop"):
        journaled_run.step(step, OK)
    journaled_run.write("ended", status="completed", cause="", reason="", seconds=62.4)
    assert "run            1 completed" in run(desk, "show").lines
    steps = run(desk, "show", "--run")
    assert steps.raw.count("\x1b[32mcompleted") == 4


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_wrapped_output_fits_the_terminal(desk: InProcessRepository, columns: int) -> None:
    for command in (("show",), ("evaluate",), ("show", "--steps")):
        lines = run(desk, *command, columns=columns).lines
        prose = [line for line in lines if not line.startswith(("next: ", "risk ")) and ".md" not in line]
        assert [line for line in prose if len(line) > columns] == []
    lines = run(desk, "show", columns=columns).lines
    task = next(at for at, line in enumerate(lines) if "word0" in line)
    assert lines[task + 1].startswith(" " * 9 + "word")


def test_evaluate_shows_risk_in_color_and_wraps_no_command(desk: InProcessRepository) -> None:
    words = " ".join([f"target{at}" for at in range(30)])
    desk.plan(STEPS.replace("make parser", f"make {words}"))
    screen = run(desk, "evaluate", columns=60)
    assert "\x1b[31mHIGH" in screen.raw
    assert f"   runs: make {words}" in screen.lines
    assert screen.lines == run(desk, "evaluate", columns=60, env={"NO_COLOR": "1"}).lines


def test_approve_shows_risk_in_color_before_it_asks(desk: InProcessRepository) -> None:
    desk.stub("make")
    terminal = start(desk, "approve", columns=60)
    terminal.answer("[y/N] ", "n\n")
    screen = terminal.end()
    assert screen.exit == 1
    assert "\x1b[31mHIGH" in screen.raw


@pytest.mark.parametrize("command", ["show", "status", "evaluate", "lint", "list"])
def test_no_color_and_dumb_terminals_have_no_colors(desk: InProcessRepository, command: str) -> None:
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", run(desk, command, env=env).raw)


@pytest.mark.parametrize("command", ["show", "evaluate", "lint"])
def test_a_dumb_terminal_shows_what_a_pipe_shows(desk: InProcessRepository, command: str) -> None:
    piped = [line.rstrip() for line in desk.run(command).out.splitlines() if line]
    dumb = run(desk, command, columns=400, env={"TERM": "dumb"}).lines
    prose = [line for line in piped if "  " not in line.strip() and not line.startswith("next: ")]
    assert [line for line in prose if line not in dumb] == []


def test_json_on_a_terminal_is_one_line(desk: InProcessRepository) -> None:
    for command in ("show", "status", "evaluate"):
        assert run(desk, command, "--json", rows=5).raw.count("\n") == 1


def test_lint_groups_findings_by_file(desk: InProcessRepository) -> None:
    desk.plan("# Read\n\n## Progress\n\n- [ ] Read.\n", "2026-01-02_reader")
    paths = [f".agent/execplans/{name}.md" for name in (NAME, "2026-01-02_reader")]
    quick, full = (run(desk, "lint", *options, *paths, columns=60) for options in ((), ("--format", "text")))
    assert quick.lines == full.lines
    for path in paths:
        assert quick.lines.count(path) == 1
        assert f"{path}:1:1 " not in quick.raw
        assert f"{path}:1:1 " in desk.run("lint", *paths).out
    assert any(re.match(r"  1:1 EP\d+ ", line) for line in quick.lines)
    assert [line for line in quick.lines if len(line) > 60 and not line.startswith("next: ")] == []
    assert quick.exit == desk.run("lint", *paths).exit


# The pager.


def test_long_output_goes_through_the_pager(desk: InProcessRepository) -> None:
    screen = run(desk, "show", rows=10, env={"PAGER": "sed s/^/|/"})
    assert "|Build the parser" in screen.lines
    assert any(line.startswith("next: do task 2") for line in screen.lines)


@pytest.mark.parametrize(
    ("rows", "env"),
    [
        (200, {"PAGER": "sed s/^/|/"}),
        (10, {"PAGER": ""}),
        (10, {"PAGER": "cat"}),
        (10, {"PAGER": "'"}),
        (10, {"PAGER": "no-such-program-here"}),
        (10, {"PAGER": "sed s/^/|/", "TERM": "dumb"}),
        (10, {"PAGER": "sed s/^/|/", "EXECPLAN_AGENT": "claude"}),
    ],
)
def test_without_the_pager(desk: InProcessRepository, rows: int, env: dict[str, str]) -> None:
    screen = run(desk, "show", rows=rows, env=env)
    assert screen.exit == 0
    assert "Build the parser" in screen.lines[0]
    assert "|" not in screen.raw
    assert "Traceback" not in screen.raw


@pytest.mark.parametrize("command", ["lint", "next"])
def test_other_commands_never_use_the_pager(desk: InProcessRepository, command: str) -> None:
    assert "paged" not in run(desk, command, rows=2, env={"PAGER": "sed s/^/paged/"}).raw


def test_a_pager_that_closes_early(desk: InProcessRepository) -> None:
    desk.plan(PLAN.replace(LONG_TASK, LONG_TASK * 1000))
    screen = run(desk, "show", rows=10, env={"PAGER": "head -n 1"})
    assert screen.exit == 0
    assert "Traceback" not in screen.raw
    assert "Build the parser" in screen.lines[0]


@pytest.mark.parametrize("tasks", [3, 3000])
def test_ctrl_c_and_q_leave_less_without_a_traceback(desk: InProcessRepository, tasks: int) -> None:
    need("less")
    desk.plan(PLAN.replace(LONG_TASK, LONG_TASK * tasks))
    terminal = start(desk, "show", rows=10, env={"PAGER": "less"})
    terminal.until("Build the parser")
    terminal.answer(":", "\x03")
    terminal.type("q")
    screen = terminal.end()
    assert screen.exit == 0
    assert "Traceback" not in screen.raw
    assert "KeyboardInterrupt" not in screen.raw


@pytest.mark.parametrize("env", [{}, {"LESS": "FRX"}, {"LESS": "-R"}, {"LESS": "-S", "PAGER": "less -R"}])
def test_less_shows_colors(desk: InProcessRepository, env: dict[str, str]) -> None:
    need("less")
    terminal = start(desk, "show", rows=10, env=env)
    terminal.until("active")
    terminal.type("q")
    assert "\x1b[32m" in terminal.end().raw


# Parts of the layout.


@pytest.mark.parametrize(
    ("line", "indent", "wrapped"),
    [
        ("short", None, ["short"]),
        ("one two three four five six", None, ["one two three four", "  five six"]),
        ("  one two three four five", None, ["  one two three four", "    five"]),
        ("one two three four five six", 0, ["one two three four", "five six"]),
        ("a " + "b" * 30 + " c", None, ["a", "  " + "b" * 30, "  c"]),
        ("日本 日本 日本 日本 日本", None, ["日本 日本 日本 日本", "  日本"]),
    ],
)
def test_wrapped_lines(monkeypatch: pytest.MonkeyPatch, line: str, indent: int | None, wrapped: list[str]) -> None:
    monkeypatch.setattr(terminal_layout, "is_terminal", lambda: True)
    monkeypatch.setattr(terminal_layout, "terminal_size", lambda: (20, 24))
    assert terminal_layout.fit_line(line, indent=indent) == wrapped


def test_nothing_is_wrapped_or_painted_in_a_pipe() -> None:
    line = "word " * 100
    assert terminal_layout.fit_line(line) == [line]
    assert terminal_layout.paint("HIGH", "red") == "HIGH"


def test_paint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_layout, "has_color", lambda: True)
    assert printable_text(terminal_layout.paint("HIGH", "red")) == "\x1b[31mHIGH\x1b[0m"
    assert terminal_layout.paint("", "red") == ""


@pytest.mark.parametrize(("done", "total", "full"), [(0, 0, 0), (0, 3, 0), (1, 3, 8), (3, 3, 24)])
def test_the_bar(done: int, total: int, full: int) -> None:
    first, second = terminal_layout.bar_parts(done, total)
    assert (len(first), len(first + second)) == (full, 24 if total else 0)


def test_a_plan_without_tasks_or_dates(desk: InProcessRepository) -> None:
    desk.plan("# Read\n")
    lines = run(desk, "show").lines
    assert "progress       no tasks yet" in lines
    assert not any(line.startswith("last activity") for line in lines)


def test_every_style_has_a_code() -> None:
    for styles in terminal_layout.COLUMN_STYLES.values():
        assert set(styles.values()) <= set(terminal_layout._CODES)


def test_a_clean_plan_shows_its_first_paragraph(desk: InProcessRepository) -> None:
    desk.plan(CLEAN)
    assert run(desk, "show").exit == 0
