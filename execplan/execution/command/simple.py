"""One command as it would run, and the little that is told from its words."""

from __future__ import annotations

from execplan.record import NamedTuple

SYSTEM = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/", "/sbin/", "/usr/sbin/")
"""Where programs of the machine are."""
_LOCAL = (".venv/bin/", "venv/bin/", "node_modules/.bin/", "vendor/bin/")
"""Where package managers put the tools of a repository."""
_VERSIONED = frozenset("python pip ruby perl php lua gcc g++ clang clang++ clang-format clang-tidy node".split())
_HERE = ("localhost", "127.0.0.1", "0.0.0.0", "[::1]")  # noqa: S104 - names of this machine, nothing is bound to them

_SCHEMES = ("http", "https", "ws", "wss", "postgres", "postgresql", "redis", "mysql", "mongodb", "amqp")


class Simple(NamedTuple):
    """One command of a command line, wherever it hides in it."""

    argv: tuple[str, ...]
    """Its words without their quotes; what a shell would expand is left as it was written."""
    assigned: tuple[tuple[str, str], ...] = ()
    """The variables that are set for it, by `NAME=value` or by `env`."""
    writes: tuple[str, ...] = ()
    """The files that its redirections write."""
    via: tuple[str, ...] = ()
    """What it was found in, outermost first: `sudo`, `sh -c`, `find -exec`, `$(…)`, `|` where it reads a pipe."""
    reads: tuple[str, ...] = ()
    """The programs whose output it takes in: left of its pipe, in `<(…)`, in what names the program; `<<` for a text."""


def program(word: str) -> str:
    """The program that the first word of a command names: no folder, no version, no `.exe`."""
    name = word.rpartition("/")[2].removesuffix(".exe")
    bare = name.rstrip("0123456789.-")
    return bare if bare in _VERSIONED else name


def is_system(word: str) -> bool:
    """Whether a program is looked up, or stands where those of the machine are."""
    return "/" not in word or word.rpartition("/")[0] + "/" in SYSTEM


def is_local(word: str) -> bool:
    """Whether a program is one that a package manager put into the repository."""
    folder = word.rpartition("/")[0] + "/"
    return folder.endswith(_LOCAL) and not leads_out(word)


def leads_out(word: str) -> bool:
    """Whether a word is a path that leads out of the folder, or into the home of a user."""
    return word.startswith(("/", "~", "$")) or ".." in word.split("/")


def is_remote(word: str) -> bool:
    """Whether a word is an address on another machine, or of a kind that isn't known."""
    head, mark, rest = word.partition("://")
    scheme = head.rpartition("=")[2]
    if mark and scheme.replace("+", "").replace("-", "").isalnum():
        return scheme not in _SCHEMES or not is_here(rest)
    head, colon, _ = word.partition(":")
    return word.startswith("git+") or (bool(colon) and "@" in head and not set(word) & set(" \"'{}"))


def is_here(address: str) -> bool:
    """Whether `host:port/path` is on this machine."""
    if "\\" in address:
        return False  # some programs take it for a slash, and some for a part of a name
    for stop in "/?#":
        address = address.partition(stop)[0]
    host = address.rpartition("@")[2]
    if not host.endswith("]"):
        head, colon, port = host.rpartition(":")
        host = head if colon and port.isdigit() else host
    return host in _HERE


def assignment(word: str) -> tuple[str, str] | None:
    """The name and the value of `NAME=value`; None for another word."""
    name, equals, value = word.partition("=")
    return (name, value) if equals and name.isidentifier() and name.isascii() else None
