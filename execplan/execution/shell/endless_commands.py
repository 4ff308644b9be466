"""Detection of commands that certainly never end, such as servers: as a step of their own they can only time out."""

from __future__ import annotations

from execplan.execution.shell.command_line import parse_command
from execplan.execution.shell.command_table import NEVER_ENDS, TOOL_RUNNERS
from execplan.execution.shell.simple_command import normalize_program_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.shell.simple_command import SimpleCommand

_QUICK_FLAGS = frozenset(("--help", "--version", "-h", "-V"))
_TRANSPARENT_WRAPPERS = frozenset((*TOOL_RUNNERS, "sudo", "env", "nice", "python", "sh"))
"""Programs that run a command and end with it."""
_SHELL_CONTROL = ("&", "|", "timeout", "kill", "trap", "$(", "`")
"""What lets a script go on although one of its commands does not end."""


def find_endless_command(text: str) -> str:
    """Return the command of a line or script that certainly never ends, or an empty string."""
    if any([sign in text.replace("&&", ";") for sign in _SHELL_CONTROL]):
        return ""
    for command in parse_command(text).simple_commands:
        if never_ends(command):
            return " ".join(text.split()) if "\n" not in text.strip() else " ".join(command.argv)
    return ""


def never_ends(command: SimpleCommand) -> bool:
    """Return whether a command certainly never ends."""
    if not {via.split()[0] for via in command.via} <= _TRANSPARENT_WRAPPERS or not _QUICK_FLAGS.isdisjoint(
        command.argv
    ):
        return False
    if not command.argv:  # it only assigns variables, or redirects
        return False
    program, *arguments = command.argv
    names = (program, normalize_program_name(program))
    return any(
        [
            words[0] in names and _matches(arguments, words[1:], flags, unless, has_no_operand=has_no_operand)
            for words, flags, unless, has_no_operand in NEVER_ENDS
        ]
    )


def _matches(
    arguments: Sequence[str], words: Sequence[str], flags: Sequence[str], unless: Sequence[str], *, has_no_operand: bool
) -> bool:
    if any([_is_given(flag, arguments) for flag in unless]):
        return False
    if flags and not any([_is_given(flag, arguments) for flag in flags]):
        return False
    remaining, after_flag = list(words), False
    for argument in arguments:
        if not remaining and not has_no_operand:
            break
        is_flag = argument.startswith("-")
        if not is_flag and remaining and argument == remaining[0]:
            del remaining[0]
        elif not is_flag and not after_flag:
            return False
        after_flag = is_flag and "=" not in argument
    return not remaining


def _is_given(flag: str, arguments: Sequence[str]) -> bool:
    """Return whether a flag is present, also combined with others as in `-nf`, or with a value."""
    if flag.startswith("--"):
        return any([argument.partition("=")[0] == flag for argument in arguments])
    return any([argument[:1] == "-" and argument[1:2] != "-" and flag[1] in argument for argument in arguments])


def describe_endless(command: str) -> str:
    """Return the message about a step whose command never ends."""
    return f"`{command}` never ends: make it a service for the steps after it, such as service=port:8000"
