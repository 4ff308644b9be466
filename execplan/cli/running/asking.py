"""A question of a run, asked on the terminal."""

from __future__ import annotations

import sys
import termios
from typing import TYPE_CHECKING

from execplan.cli.door import printable_line
from execplan.engine import entries

if TYPE_CHECKING:
    from execplan.engine.course import Question

LATER = "later"
"""What nobody has to think about: the run is paused, and can be resumed."""
_ANSWER_TEXTS = {
    entries.GO: "go on",
    entries.AGAIN: "run the step again",
    entries.SKIP: "go on without the step",
    entries.STOP: "end the run here, as failed",
    LATER: "leave the run as it is; execplan resume asks again",
}
_UNKNOWN_GO_TEXT = "the step has done its work: go on"
"""What `go` is about a step of which nobody knows whether it has."""


def can_ask() -> bool:
    """Whether somebody sits there."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask_question(question: Question, answers: tuple[str, ...]) -> str | None:
    """The answer, one of these; None for later, and when the terminal goes away."""
    try:
        return _prompt_for_answer(question, answers)
    except OSError:
        return None


def _prompt_for_answer(question: Question, answers: tuple[str, ...]) -> str | None:
    choices = (*answers, LATER)
    print(f"\n{printable_line(question.words)}")
    for choice in choices:
        text = _UNKNOWN_GO_TEXT if (question.why, choice) == (entries.UNKNOWN, entries.GO) else _ANSWER_TEXTS[choice]
        print(f"  {choice:5}  {text}")
    termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before the question is no answer to it
    while True:
        print(f"{'/'.join(answers)}? [{LATER}] ", end="", flush=True)
        line = _read_line()
        typed_text = line.strip().lower()
        matches = [choice for choice in choices if typed_text and choice.startswith(typed_text)]
        if not typed_text or matches == [LATER]:
            return None
        if len(matches) == 1:
            return matches[0]


def _read_line() -> str:
    """What is typed; behind what ends it in another way there is a line end too."""
    line = ""
    try:
        line = sys.stdin.readline()
    finally:
        if not line.endswith("\n"):
            print(flush=True)
    return line
