"""Parsed command lines: their arguments, whether they need a shell, and all commands nested in them."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.execution.shell.shell_parser import ShellParser
from execplan.execution.shell.simple_command import SimpleCommand

__all__ = ["CommandLine", "SimpleCommand", "parse_command"]


class CommandLine(NamedTuple):
    """What a line of a plan, or a whole script, would run."""

    argv: tuple[str, ...] | None
    """Arguments exactly as the program gets them; None if a shell is needed or the line can't be parsed."""
    assignments: tuple[tuple[str, str], ...]
    """Variables set in front of the command, which need no shell."""
    shell_reason: str
    """Why a shell is needed, or an empty string."""
    simple_commands: tuple[SimpleCommand, ...]
    """All commands in the line, including nested ones."""
    problem: str
    """Why the line can't be parsed, or an empty string."""
    has_expansion: bool
    """Whether a shell would insert a value that the text does not show, such as `$NAME` or `$(…)`."""


_parsed: dict[str, CommandLine] = {}
"""Lines that were parsed last; the checks of a step parse its command eight times."""
_MAX_PARSED = 200


def parse_command(line: str) -> CommandLine:
    """Parse a command line, or a script of several lines; never raises."""
    if line not in _parsed:
        if len(_parsed) == _MAX_PARSED:
            _parsed.clear()
        _parsed[line] = _parse(line)
    return _parsed[line]


def _parse(line: str) -> CommandLine:
    parser = ShellParser(line.strip(" \t\n"))
    commands = parser.parse_commands()
    problem = _describe_hidden_character(line) or parser.problem or ("" if commands else "it contains no command")
    if problem or parser.shell_reason or len(parser.raw_commands) != 1:
        return CommandLine(None, (), parser.shell_reason, tuple(commands), problem, parser.has_expansion)
    argv, assignments = parser.raw_commands[0]
    return CommandLine(argv, assignments, "", tuple(commands), "", parser.has_expansion)


def _describe_hidden_character(text: str) -> str:
    """Return a description of the first invisible or direction-changing character, or an empty string."""
    if text.isascii() and text.isprintable():
        return ""
    from execplan.core.text.invisible_characters import describe_characters, find_hidden

    for line in text.split("\n"):
        for start, end in find_hidden(line):
            return f"a character that is invisible, {describe_characters(line[start:end])}"
    return ""
