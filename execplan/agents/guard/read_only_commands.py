"""Commands that only read, and the paths that they read; any other command, flag or operand may do more."""

from __future__ import annotations

from execplan.agents.guard.typed_command import parse_args
from execplan.execution.shell.command_table import FIND_EXPRESSIONS, READS_ONLY, VERSION_PROGRAMS
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

NO_PATHS: Final = 99
"""Number that stands for all operands: none of them is a path."""


class ReadOnlyCommand(NamedTuple):
    """Flags and operands with which a program only reads."""

    flags: str
    """Flags without a value; one-letter flags can be combined. A flag that ends in `?` may have a value after `=`."""
    value_flags: str
    """Flags with a value that is not a path."""
    leading_texts: int
    """Number of operands before the paths, such as a pattern or a program text."""
    replacing_flags: str
    """Flags that replace these operands."""
    max_operands: int
    """Maximum number of operands."""
    min_operands: int
    forbidden_texts: tuple[str, ...]
    """Texts that no operand may contain."""
    allows_numbers: bool
    """Whether a number may be a flag: `-20`."""


_GLOB_FLAGS = ("--include", "-g", "--glob")
"""Flags that select the files that a search reads."""
_TEST_FLAGS = frozenset("-d -e -f -h -L -r -s -w -x".split())

READ_ONLY_PROGRAMS = {name: ReadOnlyCommand(*fields) for name, fields in READS_ONLY.items() if " " not in name}
"""Programs that only read, with their flags and operands."""
GIT_SUBCOMMANDS = {
    name.removeprefix("git "): ReadOnlyCommand(*fields) for name, fields in READS_ONLY.items() if " " in name
}
"""Subcommands of git that only read, with their flags and operands, after `git` or `git --no-pager`."""


def program_path_args(argv: Sequence[str]) -> list[str] | None:
    """Return the paths that a command reads, as it names them; None if it may do more or is one of git."""
    name, args = argv[0], argv[1:]
    if name == "echo":  # flags of `echo` are printed, or only change how it prints
        return []
    if name in VERSION_PROGRAMS and list(args) == ["--version"]:
        return []
    if name == "find":
        return _find_path_args(args)
    if name == "sed":
        return _sed_path_args(args)
    if name in ("test", "["):
        return _test_path_args(args if name == "test" else args[:-1] if args[-1:] == ("]",) else ())
    if name == "command":
        return [] if len(args) == 2 and args[0] == "-v" and not args[1].startswith("-") else None
    if name == "date":
        args = [arg for arg in args if not arg.startswith("+")]
    return operand_paths(args, READ_ONLY_PROGRAMS[name]) if name in READ_ONLY_PROGRAMS else None


def _test_path_args(argv: Sequence[str]) -> list[str] | None:
    """Return the path that `test` checks for existence; None for any other expression."""
    operands = argv[1:] if argv[:1] == ("!",) else argv
    if len(operands) != 2 or operands[0] not in _TEST_FLAGS or operands[1].startswith("-"):
        return None
    return [operands[1]]


def operand_paths(argv: Sequence[str], command: ReadOnlyCommand) -> list[str] | None:
    """Return the paths among the operands of a program; None for an unknown flag or a wrong number of operands."""
    parsed_args = parse_args(
        argv, command.flags.split(), command.value_flags.split(), allows_numbers=command.allows_numbers
    )
    if parsed_args is None:
        return None
    leading_texts = 0 if parsed_args.flags & set(command.replacing_flags.split()) else command.leading_texts
    operands = parsed_args.operands
    if not command.min_operands <= len(operands) <= command.max_operands:
        return None
    if any([text in operand for operand in operands for text in command.forbidden_texts]):
        return None
    globs = [value for flag, value in parsed_args.values if flag in _GLOB_FLAGS and not value.startswith("!")]
    return [] if leading_texts == NO_PATHS else [*operands[leading_texts:], *globs]


def _find_path_args(argv: Sequence[str]) -> list[str] | None:
    """Return the directories that `find` searches, if it only prints its matches."""
    start = next((index for index, arg in enumerate(argv) if arg.startswith("-") or arg in ("(", "!", ",")), len(argv))
    index = start
    while index < len(argv):
        operands = argv[index + 1 : index + 1 + FIND_EXPRESSIONS.get(argv[index], 0)]
        if argv[index] not in FIND_EXPRESSIONS or any(
            [arg.startswith("-") and not _is_number(arg[1:]) for arg in operands]
        ):
            return None
        index += 1 + len(operands) if len(operands) == FIND_EXPRESSIONS[argv[index]] else len(argv) + 1
    return list(argv[:start]) or ["."] if index == len(argv) else None


def _sed_path_args(argv: Sequence[str]) -> list[str] | None:
    """Return the files of which `sed -n` prints lines by their numbers."""
    argv = ["-n", *argv[1:]] if argv[:1] and argv[0] in ("-ne", "-nE") else argv
    if len(argv) < 2 or argv[0] != "-n" or any([arg.startswith("-") for arg in argv[1:]]):
        return None
    for expression in argv[1].split(";"):
        ends = expression.removesuffix("p").split(",")
        if not expression.endswith("p") or len(ends) > 2 or not all([end == "$" or _is_number(end) for end in ends]):
            return None
    return list(argv[2:])


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
