"""One command as it would run, and the little that is told from its words."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

SYSTEM_DIRECTORIES = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/", "/sbin/", "/usr/sbin/")
"""Where programs of the machine are."""
_LOCAL_TOOL_DIRECTORIES = (".venv/bin/", "venv/bin/", "node_modules/.bin/", "vendor/bin/")
"""Where package managers put the tools of a repository."""
_VERSIONED_PROGRAMS = frozenset(
    "python pip ruby perl php lua gcc g++ clang clang++ clang-format clang-tidy node".split()
)
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "0.0.0.0", "[::1]")  # noqa: S104 - names of this machine, nothing is bound to them

_NETWORK_SCHEMES = ("http", "https", "ws", "wss", "postgres", "postgresql", "redis", "mysql", "mongodb", "amqp")


class SimpleCommand(NamedTuple):
    """One command of a command line, wherever it hides in it."""

    argv: tuple[str, ...]
    """Its words without their quotes; what a shell would expand is left as it was written."""
    assignments: tuple[tuple[str, str], ...] = ()
    """The variables that are set for it, by `NAME=value` or by `env`."""
    writes: tuple[str, ...] = ()
    """The files that its redirections write."""
    via: tuple[str, ...] = ()
    """What it was found in, outermost first: `sudo`, `sh -c`, `find -exec`, `$(…)`, `|` where it reads a pipe."""
    piped_from: tuple[str, ...] = ()
    """The programs whose output it takes in: left of its pipe, in `<(…)`, in what names the program; `<<` for a text."""


def normalize_program_name(path: str) -> str:
    """The program that the first word of a command names: no folder, no version, no `.exe`."""
    name = path.rpartition("/")[2].removesuffix(".exe")
    unversioned = name.rstrip("0123456789.-")
    return unversioned if unversioned in _VERSIONED_PROGRAMS else name


def is_system_program(path: str) -> bool:
    """Whether a program is looked up, or stands where those of the machine are."""
    return "/" not in path or path.rpartition("/")[0] + "/" in SYSTEM_DIRECTORIES


def is_local_tool(path: str) -> bool:
    """Whether a program is one that a package manager put into the repository."""
    folder = path.rpartition("/")[0] + "/"
    return folder.endswith(_LOCAL_TOOL_DIRECTORIES) and not is_outside_path(path)


def is_outside_path(word: str) -> bool:
    """Whether a word is a path that leads out of the folder, or into the home of a user."""
    return word.startswith(("/", "~", "$")) or ".." in word.split("/")


def is_remote_address(word: str) -> bool:
    """Whether a word is an address on another machine, or of a kind that isn't known."""
    head, separator, address = word.partition("://")
    scheme = head.rpartition("=")[2]
    if separator and scheme.replace("+", "").replace("-", "").isalnum():
        return scheme not in _NETWORK_SCHEMES or not is_local_address(address)
    head, colon, _ = word.partition(":")
    return word.startswith("git+") or (bool(colon) and "@" in head and not set(word) & set(" \"'{}"))


def is_local_address(address: str) -> bool:
    """Whether `host:port/path` is on this machine."""
    if "\\" in address:
        return False  # some programs take it for a slash, and some for a part of a name
    for stop in "/?#":
        address = address.partition(stop)[0]
    host = address.rpartition("@")[2]
    if not host.endswith("]"):
        head, colon, port = host.rpartition(":")
        host = head if colon and port.isdigit() else host
    return host in _LOCAL_HOSTS


def parse_assignment(word: str) -> tuple[str, str] | None:
    """The name and the value of `NAME=value`; None for another word."""
    name, equals, value = word.partition("=")
    return (name, value) if equals and name.isidentifier() and name.isascii() else None
