"""The live view and the questions, on a terminal."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from execplan.cli.answer import Call
from execplan.cli.run_output.observer_selection import observe_run
from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.run_state import Question
from tests.cli.journaled_run import CREATED_FILE, FAILED, OK, entry, intent, result
from tests.cli.terminal import Terminal, TerminalResult

LONG = "compiling a module whose name is longer than any terminal is wide, and then some more of it, and more"


def steps(*names: str) -> list[Any]:
    """Steps as far as a watch looks at them."""
    failing = SimpleNamespace(max_retries=2)
    return [SimpleNamespace(number=at, id=name, on_failure=failing) for at, name in enumerate(names, 1)]


def three_step_run() -> int:
    """A run of three steps, one of which is tried twice."""
    with observe_run(Call(), "run") as observer:
        observer.begin("0001-aaaaaaaa", steps("build", "see", "drop"))
        observer.entry(entry("intent", **intent("build")))
        observer.line("build", f"{LONG}\x1b[2J", error=False)
        time.sleep(0.2)  # the picture is drawn several times a second
        observer.entry(entry("result", **result("build", OK._replace(changes=(CREATED_FILE,)))))
        observer.entry(entry("intent", **intent("see")))
        observer.line("see", "E  is red", error=True)
        observer.entry(entry("result", **result("see", FAILED)))
        observer.entry(entry("intent", **intent("see", 2)))
        observer.entry(entry("result", **result("see", OK, 2)))
        observer.entry(entry("skipped", step="drop", reason="not chosen"))
    print("over")
    return 0


@pytest.fixture(scope="module")
def wide() -> TerminalResult:
    """What a usual terminal shows of it."""
    return Terminal(three_step_run).end()


@pytest.mark.parametrize("columns", [80, 40, 12])
def test_what_runs_is_shown_with_its_last_line_cut_to_the_width(wide: TerminalResult, columns: int) -> None:
    screen = wide if columns == 80 else Terminal(three_step_run, columns=columns).end()
    assert screen.exit == 0, screen.raw
    (drawn, *_) = [line for line in screen.lines if line.startswith("    comp")]
    assert drawn.endswith("…")
    assert len(drawn) == columns
    if columns > 20:
        assert any("0/3 steps, 0." in line for line in screen.lines)
    assert "\x1b[2J" not in screen.raw


def test_what_has_ended_stays(wide: TerminalResult) -> None:
    expected = [
        "ok 1 build (0.2 s): created src/made.py",
        "failed 2 see (1.5 s): exit 1, not 0",
        "    E  is red",
        "  transcript: runs/build.md",
        "retrying 2 see: attempt 2 of 3",
        "ok 2 see (0.2 s, attempt 2)",
        "skipped 3 drop: not chosen",
        "over",
    ]
    at = [wide.lines.index(line) for line in expected]
    assert at == sorted(at)
    assert wide.raw.endswith("over\r\n")
    assert wide.raw.rindex("\x1b[?25h") > wide.raw.rindex("\x1b[?25l")  # the cursor is there again


def test_a_terminal_without_unicode_gets_plain_signs() -> None:
    screen = Terminal(three_step_run, encoding="ascii").end()
    assert screen.exit == 0
    assert screen.raw.isascii()
    assert "\\u" not in screen.raw
    assert any(line.startswith("> 1 build (0.") for line in screen.lines)


def test_no_colour_and_no_movement_where_they_are_not_wanted(wide: TerminalResult) -> None:
    assert "\x1b[32m" in wide.raw
    assert "\x1b[32m" not in Terminal(three_step_run, env={"NO_COLOR": "1"}).end().raw
    dumb = Terminal(three_step_run, env={"TERM": "dumb"}).end()
    assert "\x1b" not in dumb.raw
    assert "ok 1 build (0.2 s): created src/made.py" in dumb.lines


def run_with_question(why: str) -> int:
    """A run that asks; the exit status says what was answered."""
    with observe_run(Call(), "run") as observer:
        observer.begin("0001-aaaaaaaa", steps("build"))
        answer = observer.ask(Question(why, "build", "build asks first: go on?"))
        observer.entry(entry("skipped", step="build", reason=f"it was said: {answer}"))
    return [*journal_entries.ANSWERS, None].index(answer)


@pytest.mark.parametrize(
    ("why", "typed", "answer"),
    [
        (journal_entries.CHECKPOINT, ["go\n"], journal_entries.GO),
        (journal_entries.CHECKPOINT, ["\n"], None),
        (journal_entries.CHECKPOINT, ["skip\n", "stop\n"], journal_entries.STOP),
        (journal_entries.CONFIRM, ["s\n", "sk\n"], journal_entries.SKIP),
        (journal_entries.ASK, ["AGAIN\n"], journal_entries.AGAIN),
        (journal_entries.UNKNOWN, ["later\n"], None),
        (journal_entries.UNKNOWN, ["\x04"], None),
    ],
)
def test_a_question(why: str, typed: list[str], answer: str | None) -> None:
    terminal = Terminal(lambda: run_with_question(why))
    for keys in typed:
        terminal.answer("? [later] ", keys)
    screen = terminal.end()
    assert screen.exit == [*journal_entries.ANSWERS, None].index(answer), screen.raw
    assert f"skipped 1 build: it was said: {answer}" in screen.lines


def test_what_was_typed_before_the_question_is_no_answer() -> None:
    def work() -> int:
        time.sleep(0.3)
        return run_with_question(journal_entries.CONFIRM)

    terminal = Terminal(work)
    terminal.type("go\n")
    terminal.answer("? [later] ", "skip\n")
    assert terminal.end().exit == journal_entries.ANSWERS.index(journal_entries.SKIP)


def test_a_new_revision_is_not_asked_for() -> None:
    screen = Terminal(lambda: run_with_question(journal_entries.APPROVE)).end()
    assert screen.exit == len(journal_entries.ANSWERS)
    assert "? [" not in screen.raw


def test_a_terminal_that_is_closed_answers_nothing() -> None:
    import signal

    def work() -> int:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        return run_with_question(journal_entries.CONFIRM)

    terminal = Terminal(work)
    terminal.until("? [later] ")
    terminal.close()
    assert terminal.end().exit == len(journal_entries.ANSWERS)
