"""Matching of risk table rows against commands, files and variables."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.secrets.secret_files import is_secret_file
from execplan.core.text.pure_paths import matches_glob
from execplan.execution.risk.argument_predicates import ARGUMENT_PREDICATES, is_safe_task
from execplan.execution.risk.risk_table import CRITICAL, HIGH, SECRETS, matches_any
from execplan.execution.shell.command_table import PACKAGE_SOURCES, SINGLE_DASH_PROGRAMS
from execplan.execution.shell.simple_command import (
    is_local_tool,
    is_outside_path,
    is_remote_address,
    is_system_program,
    normalize_program_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.execution.risk.risk_table import RiskRow, RiskTable
    from execplan.execution.shell.simple_command import SimpleCommand

_MAX_FLAG_CLUSTER = 7
"""Maximum length of a flag that may combine several, as `-rfvdx`, in characters."""
_MODULE = "python -m"
_TOOLCHAIN_PROGRAMS = frozenset(("cargo", "rustc", "rustfmt", "rustdoc"))
"""Programs whose first argument may select their version: `+nightly`."""
_NEUTRAL_WRAPPERS = frozenset(("cross-env",))
_HELP_FLAGS = frozenset(("--version", "-V", "-version", "--help"))


class AnalyzedCommand(NamedTuple):
    """A command split into parts, as far as its program is known."""

    program: str
    """Name of the program; as written if it comes from outside the system directories and package managers."""
    args: tuple[str, ...]
    """Arguments except flags and the values of known flags."""
    loose_args: tuple[str, ...]
    """Everything that is no flag, and the values after the `=` of flags."""
    flags: tuple[str, ...]
    is_unambiguous: bool
    """Whether it is certain which argument is the first."""
    sources: tuple[str, ...]
    """Sources from which the program is taken by name, if it is not a system program."""
    is_trusted: bool
    """Whether a row with the level LOW or MEDIUM may match."""
    is_help_request: bool
    """Whether the command only asks for its version or help."""


def analyze_command(simple: SimpleCommand, table: RiskTable) -> AnalyzedCommand:
    """Split a command into its parts."""
    name_arg = simple.argv[0] if simple.argv else ""
    runners = [index for index, via in enumerate(simple.via) if via in PACKAGE_SOURCES]
    name, version = normalize_program_name(name_arg), ""
    if runners and "@" in name_arg[1:]:
        name, _, version = name_arg.rpartition("@")
    elif name_arg.startswith("@"):
        name = name_arg
    last = len(simple.via) - 1
    sources = PACKAGE_SOURCES[simple.via[runners[-1]]] if runners else ()
    if not runners and is_local_tool(name_arg):
        sources = ("npm", "pypi", "local")
    known_by_path = [row for row in table.rows if name_arg in row.program]
    is_trusted = (
        (
            is_system_program(name_arg)
            or is_local_tool(name_arg)
            or bool(known_by_path)
            or (bool(runners) and name_arg.startswith("@"))
        )
        and all(
            [
                index == last or simple.via[index + 1] in PACKAGE_SOURCES or simple.via[index + 1] in _NEUTRAL_WRAPPERS
                for index in runners
            ]
        )
        and version.replace(".", "").replace("-", "").replace("^", "").replace("~", "").isalnum() is bool(version)
    )
    program_name = name_arg if known_by_path and "/" in name_arg else name
    args, loose_args, flags, is_unambiguous = _split_arguments(simple.argv[1:], program_name.rpartition("/")[2], table)
    is_help_request = len(simple.argv) == 2 and simple.argv[1] in _HELP_FLAGS
    return AnalyzedCommand(program_name, args, loose_args, flags, is_unambiguous, sources, is_trusted, is_help_request)


def _split_arguments(
    argv: Sequence[str], name: str, table: RiskTable
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], bool]:
    """Return arguments, loose arguments and flags, and whether it is certain which argument is the first."""
    values = table.values.get(name, frozenset())
    bare = table.bare["all"] | table.bare.get(name, frozenset())
    args: list[str] = []
    loose_args: list[str] = []
    flags: list[str] = []
    is_unambiguous, flags_ended, index = True, False, 0
    if name in _TOOLCHAIN_PROGRAMS and argv and argv[0].startswith("+"):
        index = 1
    while index < len(argv):
        arg = argv[index]
        index += 1
        if name == "dotnet" and arg.startswith("/") and "/" not in arg[1:]:
            arg = f"-{arg[1:]}"
        if arg.startswith("-") and len(arg) > 1:
            flags.append(arg)
        if arg == "--":
            flags_ended = True
        elif flags_ended or not arg.startswith("-") or arg == "-":
            args.append(arg)
            loose_args.append(arg)
        else:
            flag, equals, value = arg.partition("=")
            if equals:
                loose_args.append(value)
            elif flag in values and index < len(argv):
                loose_args.append(argv[index])
                index += 1
            elif not args and flag not in bare and flag[:2] not in values and flag[:2] not in ("-D", "-P", "-j"):
                is_unambiguous = False
    return tuple(args), tuple(loose_args), tuple(flags), is_unambiguous


def row_matches(row: RiskRow, command: AnalyzedCommand, table: RiskTable, *, anywhere: bool) -> bool:
    """Return whether a row matches a command; with `anywhere`, its words may match at any position."""
    patterns = [pattern for pattern in row.program if "*" in pattern]
    names = {command.program}
    if row.level in (HIGH, CRITICAL):
        names.add(command.program.rpartition("/")[2])
    if not any([name in row.program or any([_matches_glob(name, pattern) for pattern in patterns]) for name in names]):
        return False
    if row.flags and not any([_has_flag(command, flag) for flag in row.flags]):
        return False
    if any([_has_flag(command, flag) for flag in row.without]):
        return False
    if row.path and not any(
        [row_matches_path(path, row) for arg in command.loose_args for path in candidate_paths(arg)]
    ):
        return False
    expected = list(row.words)
    if row.alone and len(command.args) != len(expected):
        return False
    if not expected:
        return True
    if anywhere:
        spaced = [
            spaced_arg for expected_arg in expected if expected_arg != "..." for spaced_arg in ("...", expected_arg)
        ]
        return _args_match(spaced, command.loose_args, table) or _args_match(expected, command.args, table)
    if not command.is_unambiguous and expected[0] not in ARGUMENT_PREDICATES:
        return False
    return _args_match(expected, command.args, table) or (
        expected[0] == "..." and _args_match(expected, command.loose_args, table)
    )


def is_from_source(row: RiskRow, command: AnalyzedCommand) -> bool:
    """Return whether the program that a row knows comes from the same source as the command's."""
    return row.package in command.sources if command.sources else row.package != "stdlib"


def is_unknown_module(simple: SimpleCommand, command: AnalyzedCommand, table: RiskTable) -> bool:
    """Return whether a command runs a Python module with `-m` that no row knows as a Python tool."""
    if simple.via[-1:] != (_MODULE,):
        return False
    return not any([command.program in row.program and row.package in command.sources for row in table.rows])


def _args_match(expected: Sequence[str], args: Sequence[str], table: RiskTable) -> bool:
    """Return whether arguments begin with the expected ones."""
    if not expected:
        return True
    head, rest = expected[0], expected[1:]
    if head == "...":
        if not rest or rest[0] in ARGUMENT_PREDICATES:
            return _args_match(rest, args, table)
        indexes = [index for index in range(len(args)) if _args_match(rest[:1], args[index : index + 1], table)]
        if rest[1:2] in ([], ["..."]):
            indexes = indexes[:1]
        return any([_args_match(rest[1:], args[index + 1 :], table) for index in indexes])
    if head in ARGUMENT_PREDICATES:
        return ARGUMENT_PREDICATES[head](args, table.tasks)
    if not args:
        return False
    if head == "@task":
        is_match = is_safe_task(args[0], table.tasks)
    else:
        is_match = any([_matches_glob(args[0], pattern) for pattern in head.split("|")])
    return is_match and _args_match(rest, args[1:], table)


def _has_flag(command: AnalyzedCommand, flag: str) -> bool:
    """Return whether a command has a flag: alone, with a value, abbreviated, or combined with other short flags."""
    for argument in command.flags:
        name = argument.partition("=")[0]
        if name == flag or ("*" in flag and _matches_glob(argument, flag)):
            return True
        if flag.startswith("--"):
            if name.startswith("--") and len(name) > 3 and flag.startswith(name):
                return True
        elif command.program in SINGLE_DASH_PROGRAMS:
            if name == "-" + flag:
                return True
        elif len(flag) == 2 and not argument.startswith("--"):
            if argument.startswith(flag) or (
                len(argument) <= _MAX_FLAG_CLUSTER and argument[1:].isalpha() and flag[1] in argument
            ):
                return True
    return False


def candidate_paths(argument: str) -> Iterator[str]:
    """Yield the paths that an argument may contain: itself, the value after `=`, and text joined to a short flag."""
    for path in (
        argument,
        argument.partition("=")[2],
        argument[2:] if argument.startswith("-") and not argument.startswith("--") else "",
    ):
        if path and path not in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"):
            yield path


def find_outside_arg(command: AnalyzedCommand, argv: Sequence[str]) -> str:
    """Return the argument of a command that leads out of the directory or to another machine."""
    for arg in argv[1:]:
        is_label = arg.startswith("//") and command.program.rpartition("/")[2] in (
            "bazel",
            "bazelisk",
            "buck2",
            "buck",
            "pants",
        )
        is_switch = command.program == "dotnet" and "/" not in arg[1:]
        for path in candidate_paths(arg):
            if is_remote_address(path) or (is_outside_path(path) and not is_label and not is_switch):
                return arg
    return ""


def row_matches_path(path: str, row: RiskRow) -> bool:
    """Return whether a row matches a path, in any spelling and ignoring case."""
    return matches_path(path, row.path) and not matches_path(path, row.unless)


def matches_path(path: str, patterns: tuple[str, ...]) -> bool:
    """Return whether one of the patterns matches a path, in any spelling and ignoring case."""
    joined = "/".join([segment for segment in path.replace("\\", "/").split("/") if segment not in ("", ".")])
    normalized = ("/" if path.startswith("/") else "") + joined
    return matches_any(normalized, patterns) or (SECRETS in patterns and is_secret_file(normalized))


def _matches_glob(text: str, pattern: str) -> bool:
    return text == pattern or matches_glob(text, pattern)
