"""Commands that only read, and the paths that they read; any other command, option or operand may do more.

This is the only definition of reading: the guard allows such a command without a step, a task's check may be one without
an approval, and the risk table rates one LOW.
"""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.execution.shell.command_table import FIND_EXPRESSIONS, READS_ONLY, VERSION_PROGRAMS
from execplan.execution.shell.simple_command import parse_args

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Final

NO_PATHS: Final = 99
"""Number that stands for all operands: none of them is a path."""
GIT: Final = "git"


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

READ_ONLY_COMMANDS = {name: ReadOnlyCommand(*fields) for name, fields in READS_ONLY.items()}
"""Programs and subcommands that only read, with their flags and operands; those of git also after `git --no-pager`."""


def find_command_reads(argv: Sequence[str]) -> tuple[str, ...] | None:
    """Return the paths that a command reads, and patterns of them, as written; None if it may do more.

    Of an argument of git that contains a path, as `HEAD:path`, the path is returned too.
    One of git only reads if the settings of its repository name no program: git runs such programs.
    """
    name, args = argv[0], argv[1:]
    if name == "echo":  # flags of `echo` are printed, or only change how it prints
        return ()
    if name in VERSION_PROGRAMS and list(args) == ["--version"]:
        return ()
    if name in _PARSERS:
        paths = _PARSERS[name](args)
        return None if paths is None else tuple(paths)
    if name == "date":
        args = [arg for arg in args if not arg.startswith("+")]
    if name in _AWK and not _awk_only_prints(args):
        return None
    words = [name, *(args[1:] if name == GIT and args[:1] and args[0] == "--no-pager" else args)]
    for count in (3, 2, 1):  # a subcommand before its program
        command = READ_ONLY_COMMANDS.get(" ".join(words[:count]))
        if command is not None:
            reads = _find_operands(words[count:], command)
            return _with_revision_paths(reads, words) if reads is not None and name == GIT else reads
    return None


def _with_revision_paths(reads: tuple[str, ...], words: Sequence[str]) -> tuple[str, ...]:
    """Add the paths that revisions, and line ranges of `-L`, contain."""
    line_args = [
        word[2:] or next_word for word, next_word in zip(words, [*words[1:], ""], strict=True) if word[:2] == "-L"
    ]
    return tuple([path for arg in (*reads, *line_args) for path in _revision_paths(arg)])


def _revision_paths(arg: str) -> Iterator[str]:
    """Yield an argument of git that may be a path, and paths in it, as in `HEAD:path`, `:0:path` or `:(top)path`.

    A pathspec that excludes paths reads none.
    """
    if arg.startswith((":!", ":^", ":/!", ":/^")) or (arg.startswith(":(") and "exclude" in arg.partition(")")[0]):
        return
    yield arg
    while ":" in arg:
        arg = arg.partition(":")[2]
        path = (arg.partition(")")[2] if arg.startswith("(") else arg).lstrip("!^/")
        if path:
            yield path


def _find_operands(argv: Sequence[str], command: ReadOnlyCommand) -> tuple[str, ...] | None:
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
    return () if leading_texts == NO_PATHS else (*operands[leading_texts:], *globs)


def _find_test_paths(argv: Sequence[str]) -> list[str] | None:
    """Return the path that `test` checks for existence; None for any other expression."""
    operands = argv[1:] if argv[:1] == ("!",) else argv
    if len(operands) != 2 or operands[0] not in _TEST_FLAGS or operands[1].startswith("-"):
        return None
    return [operands[1]]


def _find_bracket_paths(argv: Sequence[str]) -> list[str] | None:
    return _find_test_paths(argv[:-1] if argv[-1:] == ("]",) else ())


def _find_command_paths(argv: Sequence[str]) -> list[str] | None:
    """Return no path for `command -v NAME`, which prints where a program is."""
    return [] if len(argv) == 2 and argv[0] == "-v" and not argv[1].startswith("-") else None


def _find_searched_paths(argv: Sequence[str]) -> list[str] | None:
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


def _find_printed_paths(argv: Sequence[str]) -> list[str] | None:
    """Return the files of which `sed -n` prints lines by their numbers or by patterns."""
    argv = ["-n", *argv[1:]] if argv[:1] and argv[0] in ("-ne", "-nE") else argv
    if len(argv) < 2 or argv[0] != "-n" or any([arg.startswith("-") for arg in argv[1:]]):
        return None
    for expression in argv[1].split(";"):
        ends = expression.removesuffix("p").split(",")
        if not expression.endswith("p") or len(ends) > 2 or not all(map(_is_sed_address, ends)):
            return None
    return list(argv[2:])


def _is_sed_address(text: str) -> bool:
    """Return whether a text is a line number, `$`, or a pattern that contains no delimiter, and so ends where it seems."""
    pattern = text[1:-1]
    is_pattern = len(text) > 2 and text[0] == text[-1] == "/" and not {"/", "\n"} & set(pattern)
    return text == "$" or _is_number(text) or (is_pattern and not pattern.endswith("\\"))


_AWK = ("awk", "gawk", "mawk")
_BEFORE_ACTION = '{"/'


def _awk_only_prints(argv: Sequence[str]) -> bool:
    """Return whether a program of awk has no pipe, and no `>` where it could redirect the output.

    Only statements redirect, and these are in braces. A brace in a text or a pattern is not the first such character.
    """
    parsed_args = parse_args(argv, (), READ_ONLY_COMMANDS["awk"].value_flags.split())
    program = "".join(parsed_args.operands[:1]) if parsed_args is not None else ""
    action_start = next((index for index, char in enumerate(program) if char in _BEFORE_ACTION), len(program))
    return ">" not in program[action_start:] and "|" not in program.replace("||", "")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


_PARSERS = {
    "find": _find_searched_paths,
    "sed": _find_printed_paths,
    "test": _find_test_paths,
    "[": _find_bracket_paths,
    "command": _find_command_paths,
}
