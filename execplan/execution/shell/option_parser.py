"""Parsing of a program's arguments into operands and options, all of which are known."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class ParsedArgs(NamedTuple):
    """Parsed command-line arguments: operands, flags and values."""

    operands: tuple[str, ...]
    """Arguments that are neither flags nor values of flags."""
    flags: frozenset[str]
    values: tuple[tuple[str, str], ...]
    """Flags with a value, each with its value."""


def parse_args(
    argv: Sequence[str], flags: Collection[str], value_flags: Collection[str], *, allows_numbers: bool = False
) -> ParsedArgs | None:
    """Parse the arguments of a program; return None if a flag is unknown or is used in an unknown way.

    A flag of `flags` that ends in `?` may have a value after `=`. If an argument or a value looks like a flag, programs
    differ in how they interpret it, so it counts as unknown.
    """
    operands: list[str] = []
    used_flags: set[str] = set()
    flag_values: list[tuple[str, str]] = []
    index = 0
    while index < len(argv):
        arg = argv[index]
        index += 1
        if arg == "--" and any([later_arg.startswith("-") for later_arg in argv[index:]]):
            return None
        if arg == "--":
            operands += argv[index:]
            break
        if arg == "-" or not arg.startswith("-"):
            operands.append(arg)
            continue
        parsed_flag = _parse_flag(arg, flags, value_flags, allows_numbers=allows_numbers)
        if parsed_flag is None:
            return None
        used_flags |= parsed_flag.flags
        for flag, value in parsed_flag.values:
            if value is None and (index == len(argv) or (argv[index].startswith("-") and argv[index] != "-")):
                return None
            flag_values.append((flag, argv[index] if value is None else value))
            index += value is None
            used_flags.add(flag)
    return ParsedArgs(tuple(operands), frozenset(used_flags), tuple(flag_values))


class _ParsedFlag(NamedTuple):
    """The flags in an argument with leading hyphens."""

    flags: frozenset[str]
    values: tuple[tuple[str, str | None], ...] = ()
    """Flags with a value; None if the value is the next argument."""


def _parse_flag(
    arg: str, flags: Collection[str], value_flags: Collection[str], *, allows_numbers: bool
) -> _ParsedFlag | None:
    name, equals, value = arg.partition("=")
    if arg in flags or (arg.startswith("--") and f"{name}?" in flags):
        return _ParsedFlag(frozenset((name,)))
    if arg.startswith("--"):
        return _ParsedFlag(frozenset(), ((name, value if equals else None),)) if name in value_flags else None
    if allows_numbers and arg[1:].isascii() and arg[1:].isdigit():
        return _ParsedFlag(frozenset())
    used_flags: set[str] = set()
    for index, letter in enumerate(arg[1:], 1):
        flag = f"-{letter}"
        if flag in value_flags:
            return _ParsedFlag(frozenset(used_flags), ((flag, arg[index + 1 :] or None),))
        if flag not in flags:
            return None
        used_flags.add(flag)
    return _ParsedFlag(frozenset(used_flags))
