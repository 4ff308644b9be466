"""Single commands as they would run, and facts that follow from their words."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

SYSTEM_DIRECTORIES = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/", "/sbin/", "/usr/sbin/")
"""Directories with programs of the system."""
_LOCAL_TOOL_DIRECTORIES = (".venv/bin/", "venv/bin/", "node_modules/.bin/", "vendor/bin/")
"""Directories where package managers install the tools of a repository."""
_VERSIONED_PROGRAMS = frozenset(
    "python pip ruby perl php lua gcc g++ clang clang++ clang-format clang-tidy node".split()
)
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "0.0.0.0", "[::1]")  # noqa: S104 - names of this machine, nothing is bound to them

_NETWORK_SCHEMES = ("http", "https", "ws", "wss", "postgres", "postgresql", "redis", "mysql", "mongodb", "amqp")


class SimpleCommand(NamedTuple):
    """A single command of a command line, at any nesting level."""

    argv: tuple[str, ...]
    """Words without quotes; text that a shell would expand is kept as written."""
    assignments: tuple[tuple[str, str], ...] = ()
    """Variables that are set for the command, by `NAME=value` or by `env`."""
    writes: tuple[str, ...] = ()
    """Files that the redirections of the command write."""
    via: tuple[str, ...] = ()
    """Constructs that contain the command, outermost first: `sudo`, `sh -c`, `find -exec`, `$(…)`, `|` for a pipe."""
    piped_from: tuple[str, ...] = ()
    """Programs whose output the command reads, from pipes and substitutions; `<<` for a text, `<` for a file."""
    reads: tuple[str, ...] = ()
    """Files that the redirections of the command read."""


def normalize_program_name(path: str) -> str:
    """Return the program name in the first word of a command, without directory, version and `.exe`."""
    name = path.rpartition("/")[2].removesuffix(".exe")
    unversioned = name.rstrip("0123456789.-")
    return unversioned if unversioned in _VERSIONED_PROGRAMS else name


def is_system_program(path: str) -> bool:
    """Return whether a program is found through PATH or in a system directory."""
    return "/" not in path or path.rpartition("/")[0] + "/" in SYSTEM_DIRECTORIES


def is_local_tool(path: str) -> bool:
    """Return whether a program was installed into the repository by a package manager."""
    folder = path.rpartition("/")[0] + "/"
    return folder.endswith(_LOCAL_TOOL_DIRECTORIES) and not is_outside_path(path)


def is_outside_path(word: str) -> bool:
    """Return whether a word is a path that leads out of the directory, or into a user's home; `a/../b` does not."""
    if word.startswith(("/", "~", "$")):
        return True
    parts = word.split("/")
    if ".." not in parts:
        return False
    depth = 0
    for part in parts:
        if part == "..":
            depth -= 1
        elif part not in ("", "."):
            depth += 1
        if depth < 0:
            return True
    return bool(set(word) & set("$`*?["))  # what a shell inserts may contain `..` itself


def is_remote_address(word: str) -> bool:
    """Return whether a word is an address on another machine, or one of an unknown kind."""
    head, separator, address = word.partition("://")
    scheme = head.rpartition("=")[2]
    if separator and scheme.replace("+", "").replace("-", "").isalnum():
        return scheme not in _NETWORK_SCHEMES or not is_local_address(address)
    head, colon, _ = word.partition(":")
    return word.startswith("git+") or (bool(colon) and "@" in head and not set(word) & set(" \"'{}"))


def is_local_address(address: str) -> bool:
    """Return whether `host:port/path` is on this machine."""
    if "\\" in address:
        return False  # some programs treat it as a slash, others as part of a name
    for stop in "/?#":
        address = address.partition(stop)[0]
    host = address.rpartition("@")[2]
    if not host.endswith("]"):
        head, colon, port = host.rpartition(":")
        host = head if colon and port.isdigit() else host
    return host in _LOCAL_HOSTS


def parse_assignment(word: str) -> tuple[str, str] | None:
    """Return the name and value of `NAME=value`, or None for any other word."""
    name, equals, value = word.partition("=")
    return (name, value) if equals and name.isidentifier() and name.isascii() else None


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
        if name not in value_flags:
            return None
        return _ParsedFlag(frozenset(), ((name, value if equals else None),))
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
