"""Programs that run other programs, and the commands that they finally run."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.execution.shell.command_table import (
    EXEC_FLAGS,
    RATED_WRAPPERS,
    SCRIPT_ARGUMENT_PROGRAMS,
    SHELLS,
    WRAPPERS,
)
from execplan.execution.shell.simple_command import (
    SimpleCommand,
    is_local_tool,
    is_outside_path,
    is_remote_address,
    is_system_program,
    normalize_program_name,
    parse_assignment,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    ReadCommands = Callable[[str, tuple[str, ...], int], list[SimpleCommand]]

_MAX_DEPTH = 8


class _Wrapper(NamedTuple):
    """The syntax of a program that runs a command given in its arguments."""

    value_flags: str
    """Flags with a value, which is not the command."""
    bare_flags: str
    """Flags without a value. With any other flag, the start of the command is uncertain."""
    leading_arguments: int
    """Number of arguments before the command."""
    takes_assignments: bool
    """Whether `NAME=value` may precede the command."""


class _WrappedCommand(NamedTuple):
    """The command in the arguments of a wrapper."""

    argv: tuple[str, ...]
    assignments: tuple[tuple[str, str], ...]
    is_understood: bool
    """Whether everything before the command is understood."""


_WRAPPER_PROGRAMS = {name.partition(" ")[0] for name in WRAPPERS}
_RATED_PROGRAMS = {*[name.partition(" ")[0] for name in RATED_WRAPPERS], "git"}
"""Programs that do more than run other commands, so that they are rated, too."""
_PYTHON_FLAGS = frozenset("bBdEiIOPqRsSuvx")
"""Flags of Python that can stand before `m` in one word, as in `-um`."""
_REBASE_EXEC = "git rebase --exec"
_SPLIT_FLAGS = ("--split-string", "-S")


def unwrap(command: SimpleCommand, read: ReadCommands, depth: int) -> Iterator[SimpleCommand]:
    """Yield the commands that a command finally runs; the command itself if it runs no other or does more."""
    if not command.argv or depth > _MAX_DEPTH:
        yield command
        return
    name = normalize_program_name(command.argv[0])
    nested = list(_nested_commands(name, command, read, depth))
    is_trusted = is_system_program(command.argv[0]) or is_local_tool(command.argv[0])
    if (
        not nested
        or not is_trusted
        or name in _RATED_PROGRAMS
        or name in SCRIPT_ARGUMENT_PROGRAMS
        or name in EXEC_FLAGS
    ):
        yield command
    yield from nested


def _nested_commands(name: str, command: SimpleCommand, read: ReadCommands, depth: int) -> Iterator[SimpleCommand]:
    """Yield the commands that a command runs."""
    for via, text in _script_texts(name, command.argv):
        for nested in read(text, (*command.via, via), depth + 1):
            yield nested._replace(
                assignments=command.assignments + nested.assignments,
                writes=command.writes + nested.writes,
                reads=command.reads + nested.reads,
                piped_from=command.piped_from + nested.piped_from,
            )
    if name in EXEC_FLAGS:
        for at, word in enumerate(command.argv):
            if word in EXEC_FLAGS[name] or (name != "find" and _combines_exec_flag(word)):
                stops = [stop for stop in range(at, len(command.argv)) if command.argv[stop] in (";", "+")]
                exec_argv = command.argv[at + 1 : stops[0] if stops else len(command.argv)]
                yield from unwrap(_derive_command(command, exec_argv, f"{name} -exec"), read, depth + 1)
    if name in _WRAPPER_PROGRAMS:
        yield from _unwrap_wrapper(name, command, read, depth)


def _combines_exec_flag(word: str) -> bool:
    """Return whether a word combines `-x` or `-X` of `fd` with other flags, as in `-Hx`."""
    return word.startswith("-") and word[1:].isalpha() and word.endswith(("x", "X"))


def _script_texts(name: str, argv: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the texts that a command passes to a shell, each with the name of the construct."""
    if name in SHELLS or name == "su":
        text = _find_c_argument(argv)
        if text is not None:
            yield f"{'su' if name == 'su' else 'sh'} -c", text
    elif name == "eval":
        yield "eval", " ".join(argv[1:])
    elif name == "env":
        for at, word in enumerate(argv):
            if word.startswith(_SPLIT_FLAGS):
                first_word = word.removeprefix(_SPLIT_FLAGS[0]).removeprefix(_SPLIT_FLAGS[1]).removeprefix("=")
                yield "env -S", " ".join([first_word, *argv[at + 1 :]])
                return
    elif name == "git" and "rebase" in argv:
        yield from [(_REBASE_EXEC, text) for text in _flag_values(argv, ("--exec", "-x"))]
    elif name in SCRIPT_ARGUMENT_PROGRAMS:
        yield from [(name, word) for word in argv[1:] if " " in word]


def _flag_values(argv: tuple[str, ...], flags: tuple[str, ...]) -> Iterator[str]:
    """Yield the values of some flags, which follow them or a `=`."""
    for at, word in enumerate(argv):
        flag, equals, value = word.partition("=")
        if flag in flags:
            yield value if equals else "".join(argv[at + 1 : at + 2])


def _unwrap_wrapper(name: str, command: SimpleCommand, read: ReadCommands, depth: int) -> Iterator[SimpleCommand]:
    """Yield the command of a wrapper, and the wrapper itself if one of its flags is unknown."""
    for wrapper_name, fields in WRAPPERS.items():
        first_word, *subcommand = wrapper_name.split(" ")
        argv = _split_module_flag(command.argv) if subcommand == ["-m"] else command.argv
        wrapped = _parse_wrapper(argv, _Wrapper(*fields), subcommand) if first_word == name else None
        if wrapped is None or (name == "env" and [word for word in command.argv if word.startswith(_SPLIT_FLAGS)]):
            continue
        inner = _derive_command(command, wrapped.argv, "python -m" if wrapper_name.endswith(" -m") else wrapper_name)
        yield from unwrap(inner._replace(assignments=command.assignments + wrapped.assignments), read, depth + 1)
        if not wrapped.is_understood:
            yield command
        return


def _split_module_flag(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return the arguments of Python with `-m` and its module as words of their own, also for `-mpkg` and `-um pkg`."""
    for at, word in enumerate(argv[1:], 1):
        flags, has_module, module = word[1:].partition("m")
        if word.startswith("-") and has_module and _PYTHON_FLAGS.issuperset(flags):
            return (*argv[:at], *([f"-{flags}"] if flags else []), "-m", *([module] if module else []), *argv[at + 1 :])
        if not word.startswith("-"):
            break
    return argv


def _parse_wrapper(argv: tuple[str, ...], wrapper: _Wrapper, subcommand: list[str]) -> _WrappedCommand | None:
    """Return the command in a wrapper's arguments; None if there is none or the wrapper serves another purpose."""
    assignments: list[tuple[str, str]] = []
    is_understood, skip, at = True, wrapper.leading_arguments, 1
    while at < len(argv):
        word = argv[at]
        variable = parse_assignment(word) if wrapper.takes_assignments else None
        if subcommand and word == subcommand[0]:
            subcommand = subcommand[1:]
            if not subcommand and word.startswith("-"):
                at += 1
                break
        elif word == "--" and not subcommand:
            at += 1
            break
        elif word.startswith("-") and len(word) > 1:
            value_count, is_known = _parse_flag(argv, at, wrapper)
            at += value_count
            is_understood = is_understood and is_known
        elif subcommand:
            return None
        elif variable:
            assignments.append(variable)
        elif skip:
            skip -= 1
        else:
            break
        at += 1
    return None if subcommand or at >= len(argv) else _WrappedCommand(argv[at:], tuple(assignments), is_understood)


def _parse_flag(argv: tuple[str, ...], at: int, wrapper: _Wrapper) -> tuple[int, bool]:
    """Return how many words a flag takes as its value, and whether it is known and harmless."""
    word = argv[at]
    flag, equals, value = word.partition("=")
    values = wrapper.value_flags.split()
    if flag in values:
        value = value if equals else "".join(argv[at + 1 : at + 2])
        return 0 if equals else 1, not is_outside_path(value) and not is_remote_address(value)
    return 0, word[:2] in values or word in wrapper.bare_flags.split() or word[1:].isdigit()


def _find_c_argument(argv: tuple[str, ...]) -> str | None:
    """Return the argument of a shell's `-c` flag, or None."""
    has_c_flag = False
    at = 1
    while at < len(argv):
        word = argv[at]
        if word.startswith("--command"):
            return word.partition("=")[2] or "".join(argv[at + 1 : at + 2])
        if word.startswith(("-", "+")) and not word.startswith("--"):
            has_c_flag = has_c_flag or "c" in word
            at += any(["o" in word, "O" in word])
        elif has_c_flag:
            return word
        at += 1
    return None


def _derive_command(command: SimpleCommand, argv: tuple[str, ...], via: str) -> SimpleCommand:
    return command._replace(argv=argv, via=(*command.via, via))
