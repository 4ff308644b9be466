"""A question of a run, asked on the terminal."""

from __future__ import annotations

import sys
import termios
from typing import TYPE_CHECKING

from execplan.cli.door import shown
from execplan.engine import entries

if TYPE_CHECKING:
    from execplan.engine.course import Question

LATER = "later"
"""What nobody has to think about: the run is paused, and can be resumed."""
_WORDS = {
    entries.GO: "go on",
    entries.AGAIN: "run the step again",
    entries.SKIP: "go on without the step",
    entries.STOP: "end the run here, as failed",
    LATER: "leave the run as it is; execplan resume asks again",
}
_OF_UNKNOWN = "the step has done its work: go on"
"""What `go` is about a step of which nobody knows whether it has."""


def can_ask() -> bool:
    """Whether somebody sits there."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask(question: Question, answers: tuple[str, ...]) -> str | None:
    """The answer, one of these; None for later, and when the terminal goes away."""
    try:
        return _asked(question, answers)
    except OSError:
        return None


def _asked(question: Question, answers: tuple[str, ...]) -> str | None:
    choices = (*answers, LATER)
    print(f"\n{shown(question.words)}")
    for each in choices:
        words = _OF_UNKNOWN if (question.why, each) == (entries.UNKNOWN, entries.GO) else _WORDS[each]
        print(f"  {each:5}  {words}")
    termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before the question is no answer to it
    while True:
        print(f"{'/'.join(answers)}? [{LATER}] ", end="", flush=True)
        line = _line()
        typed = line.strip().lower()
        fits = [each for each in choices if typed and each.startswith(typed)]
        if not typed or fits == [LATER]:
            return None
        if len(fits) == 1:
            return fits[0]


def _line() -> str:
    """What is typed; behind what ends it in another way there is a line end too."""
    line = ""
    try:
        line = sys.stdin.readline()
    finally:
        if not line.endswith("\n"):
            print(flush=True)
    return line
