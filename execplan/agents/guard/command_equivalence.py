"""Equivalent forms of a command: with `timeout`, `time`, `env`, `git -C`, or harmless variables."""

from __future__ import annotations

import os

from execplan.agents.guard.path_resolution import is_unambiguous, linkless_path
from execplan.execution.shell.simple_command import parse_assignment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

    from execplan.agents.guard.typed_command import TypedCommand


PATHSPEC_COMMANDS: Final = frozenset((("git", "add"), ("git", "rm"), ("git", "mv")))
"""Subcommands of git whose arguments are all paths or patterns of paths."""
_MAGIC: Final = frozenset("*?[\\:")
_NEUTRAL_RM_FLAGS: Final = frozenset("fv")
"""Flags of `rm` that do not change the files it removes: they only suppress questions or list the removed files."""
_KNOWN_RM_FLAGS: Final = frozenset("frRdv")


def normalize_argv(call_argv: Sequence[str], planned_argv: Sequence[str]) -> tuple[str, ...]:
    """Rewrite a command's arguments as the step writes them, if the differences have no effect."""
    if call_argv[0] == planned_argv[0] == "rm":
        call_flags, planned_flags = _parse_rm_flags(call_argv), _parse_rm_flags(planned_argv)
        if (
            call_flags is not None
            and planned_flags is not None
            and call_flags[0] - _NEUTRAL_RM_FLAGS == planned_flags[0] - _NEUTRAL_RM_FLAGS
        ):
            return (*planned_argv[: planned_flags[1]], *call_argv[call_flags[1] :])
    if (
        tuple(call_argv[:2]) in PATHSPEC_COMMANDS
        and list(call_argv[2:3]) == ["--"]
        and list(planned_argv[2:3]) != ["--"]
    ):
        if not any([arg.startswith("-") for arg in call_argv[3:]]):
            return (*call_argv[:2], *call_argv[3:])
    return tuple(call_argv)


def _parse_rm_flags(argv: Sequence[str]) -> tuple[frozenset[str], int] | None:
    """Return the flags of `rm` as letters, and the index of its first operand; None for unknown flags."""
    flags: set[str] = set()
    for index, arg in enumerate(argv[1:], 1):
        if arg == "--" or not arg.startswith("-"):
            begin = index + (arg == "--")
            return (frozenset(flags), begin) if not any([operand.startswith("-") for operand in argv[begin:]]) else None
        letters = "f" if arg == "--force" else arg[1:]
        if arg == "-" or not set(letters) <= _KNOWN_RM_FLAGS:
            return None
        flags |= set(letters.replace("R", "r"))
    return None


def is_same_pathspec(call_arg: str, planned_arg: str, folder: str, step_directory: str, root: str) -> bool:
    """Check whether two arguments of git name the same path and are not patterns."""
    if any([arg.startswith("-") or not _MAGIC.isdisjoint(arg) for arg in (call_arg, planned_arg)]):
        return False
    path = linkless_path(planned_arg, step_directory, root)
    if not path or linkless_path(call_arg, folder, root) != path:
        return False
    return os.path.lexists(os.path.join(folder, call_arg)) == os.path.lexists(os.path.join(root, path))


_MAX_WRAPPERS: Final = 4
_ON: Final = ("1", "true")
_OFF: Final = ("0", "false")
_HARMLESS_VARIABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "CI": _ON,
    "NO_COLOR": _ON,
    "FORCE_COLOR": (*_ON, *_OFF),
    "CLICOLOR": (*_ON, *_OFF),
    "CARGO_TERM_COLOR": ("never", "always"),
    "TERM": ("dumb", "xterm", "xterm-256color"),
    "PAGER": ("cat",),
    "PYTHONUNBUFFERED": _ON,
    "PYTHONDONTWRITEBYTECODE": _ON,
    "PYTHONFAULTHANDLER": _ON,
    "PIP_DISABLE_PIP_VERSION_CHECK": _ON,
    "PIP_NO_INPUT": _ON,
    "NPM_CONFIG_COLOR": _OFF,
    "RUST_BACKTRACE": ("0", "1", "full"),
    "DEBIAN_FRONTEND": ("noninteractive",),
}
"""Variables that only control output and prompts, with the values that do nothing else.

They exclude all variables that name a program, a file, a directory or an option: `PATH`, `LD_*`, `GIT_*`, `PYTHONPATH`,
`NODE_OPTIONS`, `MAKEFLAGS`, `BASH_ENV`.
"""
_SIZE_VARIABLES: Final = frozenset(("COLUMNS", "LINES"))
_PYTHON_NAMES: Final = ("python", "python3")


def is_harmless_variable(name: str, value: str) -> bool:
    """Check whether a variable set for a command has no effect on its result."""
    if name in _SIZE_VARIABLES:
        return value.isascii() and value.isdigit() and len(value) < 5
    return value in _HARMLESS_VARIABLES.get(name, ())


def unwrap_command(typed_command: TypedCommand, root: str) -> TypedCommand:
    """Remove `timeout`, `time`, `env` and `git -C ROOT` from a command; return it unchanged if there are none."""
    argv, assigned = strip_wrappers(typed_command.argv, typed_command.assigned)
    folder = typed_command.folder
    while argv[:2] in (("git", "-C"), ("git", "--no-pager")):
        if argv[1] == "-C":
            if len(argv) < 4 or not is_repository_root(argv[2], folder, root):
                break
            folder = root
        argv = ("git", *argv[2 + (argv[1] == "-C") :])
    if (argv, assigned, folder) == (typed_command.argv, typed_command.assigned, typed_command.folder):
        return typed_command
    return typed_command._replace(text="", argv=argv, assigned=assigned, folder=folder)


def is_repository_root(arg: str, folder: str, root: str) -> bool:
    """Check whether an argument names the repository root, and does so for every process."""
    path = os.path.join(folder, arg)
    return bool(arg) and "\0" not in arg and is_unambiguous(path) and os.path.realpath(path) == root


def strip_wrappers(argv: tuple[str, ...], assigned: Mapping[str, str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the arguments and variables of a command without `timeout`, `time` and `env`.

    They stay unchanged if the result would be ambiguous.
    """
    variables = dict(assigned)
    for _ in range(_MAX_WRAPPERS):
        index, wrapper_variables = _wrapper_length(argv)
        if not index or index >= len(argv) or argv[index].startswith("-") or set(wrapper_variables) & set(variables):
            break
        if argv[0] != "env" and parse_assignment(argv[index]):
            break
        argv, variables = argv[index:], {**variables, **wrapper_variables}
    return argv, variables


def _wrapper_length(argv: Sequence[str]) -> tuple[int, dict[str, str]]:
    """Return the number of arguments before the wrapped command, and the variables among them.

    The number is 0 if the arguments are not known.
    """
    if argv[:1] == ("time",):
        return (2 if argv[1:2] == ("-p",) else 1), {}
    if argv[:1] == ("env",):
        variables: dict[str, str] = {}
        for index, arg in enumerate(argv[1:], 1):
            pair = parse_assignment(arg)
            if pair is None or pair[0] in variables:
                return (index if pair is None else 0), variables
            variables[pair[0]] = pair[1]
        return 0, {}
    if argv[:1] not in (("timeout",), ("gtimeout",)):
        return 0, {}
    index = 1
    while index < len(argv) and argv[index].startswith("-"):
        arg = argv[index]
        if arg == "-k" and _is_duration("".join(argv[index + 1 : index + 2])):
            index += 2
        elif arg in ("--preserve-status", "--foreground") or _is_duration(arg.removeprefix("--kill-after=")):
            index += 1
        else:
            return 0, {}
    return (index + 1 if index < len(argv) and _is_duration(argv[index]) else 0), {}


def _is_duration(text: str) -> bool:
    """Check whether a text is a duration in seconds, minutes, hours or days."""
    number = text[:-1] if text[-1:] in ("s", "m", "h", "d") else text
    integer_part, _, fraction = number.partition(".")
    return (
        integer_part.isascii()
        and integer_part.isdigit()
        and (fraction or "0").isascii()
        and (fraction or "0").isdigit()
    )


def is_same_python(call_program: str, planned_program: str, folder: str, step_directory: str) -> bool:
    """Check whether `python` and `python3` are the same file, under both names in the same directory.

    A virtual environment finds its packages by the directory of the name.
    """
    if {call_program.rpartition("/")[2], planned_program.rpartition("/")[2]} != set(_PYTHON_NAMES) or (
        "/" in call_program
    ) != ("/" in planned_program):
        return False
    call_path, planned_path = _find_program(call_program, folder), _find_program(planned_program, step_directory)
    if not call_path or not planned_path or os.path.dirname(call_path) != os.path.dirname(planned_path):
        return False
    return os.path.realpath(call_path) == os.path.realpath(planned_path) and os.access(call_path, os.X_OK)


def _find_program(program: str, folder: str) -> str:
    """Find a program as a shell does, and resolve its directory.

    Returns an empty string if the result depends on the working directory.
    """
    if "/" in program:
        parent, _, name = os.path.join(folder, program).rpartition("/")
        return os.path.join(os.path.realpath(parent), name)
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        if not os.path.isabs(directory):
            return ""
        path = os.path.join(os.path.realpath(directory), program)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""
