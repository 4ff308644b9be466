"""A command line, read: its words, whether it needs a shell, and every command that hides in it."""

from __future__ import annotations

from execplan.execution.command.reader import Reader
from execplan.execution.command.simple import Simple
from execplan.record import NamedTuple

__all__ = ["Command", "Simple", "parse"]


class Command(NamedTuple):
    """What a line of a plan, or a whole script, would run."""

    argv: tuple[str, ...] | None
    """The words, exactly as the program gets them; None where a shell is needed, or where the line can't be read."""
    assigned: tuple[tuple[str, str], ...]
    """The variables in front of it, which need no shell."""
    needs: str
    """Why a shell is needed, or nothing."""
    simple: tuple[Simple, ...]
    """Every command in it, wherever it hides."""
    problem: str
    """Why it can't be read, or nothing."""
    expands: bool
    """Whether a shell would put in a value that the text does not show, such as `$NAME` or `$(…)`."""


def parse(line: str) -> Command:
    """Read a command line, or a script of several lines; never raises."""
    reader = Reader(line.strip(" \t\n"))
    found = reader.commands()
    problem = _unseen(line) or reader.problem or ("" if found else "there is no command in it")
    if problem or reader.needs or len(reader.raw) != 1:
        return Command(None, (), reader.needs, tuple(found), problem, reader.expands)
    argv, assigned = reader.raw[0]
    return Command(argv, assigned, "", tuple(found), "", reader.expands)


def _unseen(text: str) -> str:
    """The first character that nobody sees, or that turns the text around."""
    if text.isascii() and text.isprintable():
        return ""
    from execplan.text.hidden import hidden_in, shown

    for line in text.split("\n"):
        for start, end in hidden_in(line):
            return f"a character that can't be seen, {shown(line[start:end])}"
    return ""
