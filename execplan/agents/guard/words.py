"""The words behind a program, where every flag among them is known."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class ParsedArgs(NamedTuple):
    """Words taken apart."""

    operands: tuple[str, ...]
    """What is neither a flag nor the value of one."""
    flags: frozenset[str]
    values: tuple[tuple[str, str], ...]
    """Flags with a value, and the value."""


def parse_args(
    argv: Sequence[str], flags: Collection[str], value_flags: Collection[str], *, allows_numbers: bool = False
) -> ParsedArgs | None:
    """The words behind a program; None where a flag is not among those that are known, or is used otherwise.

    A flag of `flags` that ends in `?` may have a value behind its `=`. Where a word or a value looks like a flag, programs
    differ in what it is, and so it is none that is known.
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
    """What a word with hyphens says."""

    flags: frozenset[str]
    values: tuple[tuple[str, str | None], ...] = ()
    """None for a value that is the next word."""


def _parse_flag(arg: str, flags: Collection[str], value_flags: Collection[str], *, allows_numbers: bool) -> _ParsedFlag | None:
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
