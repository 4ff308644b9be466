"""Patterns of calls: what `allow` and `deny` of a step say, and what a document forbids; the same wherever it is asked.

A command is compared word by word: `*`, `?` and `[…]` stand for text within one word, and `...` as the last word for any further
ones. `write:GLOB`, `edit:GLOB` and `delete:GLOB` are about paths from the root, where `*` goes over folders and a folder stands
for all in it; `tool:NAME` is about the tools of an agent.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

COMMAND: Final = "command"
WRITE: Final = "write"
EDIT: Final = "edit"
DELETE: Final = "delete"
TOOL: Final = "tool"
_KINDS = (WRITE, EDIT, DELETE, TOOL)
_REST: Final = "..."
_WILD = frozenset("*?[")


def split(pattern: str) -> tuple[str, str]:
    """What kind of call a pattern is about, and what it says of it."""
    kind, colon, rest = pattern.strip().partition(":")
    return (kind, rest.strip()) if colon and kind in _KINDS else (COMMAND, pattern.strip())


def problem(pattern: str) -> str:
    """Why a pattern can't mean anything, or nothing."""
    kind, rest = split(pattern)
    words = rest.split()
    if not words or words == [_REST]:
        return "it names nothing"
    if kind != COMMAND:
        out = rest.startswith(("/", "~")) or ".." in rest.split("/")
        return "its path is not one from the root of the repository" if out and kind != TOOL else ""
    if _REST in words[:-1]:
        return "`...` stands for any further words, and so behind all others"
    head, colon, _ = words[0].partition(":")
    if colon and head.isalpha():
        return (
            f"`{head}:` is no kind of call: {', '.join([f'{each}:' for each in _KINDS])}, or nothing before a command"
        )
    return ""


def fits(words: Sequence[str], pattern: str) -> bool:
    """Whether a pattern gives all the words of a command."""
    wanted = pattern.split()
    if wanted[-1:] == [_REST]:
        return len(words) >= len(wanted) - 1 and _each(words, wanted[:-1])
    return len(words) == len(wanted) and _each(words, wanted)


def begins(words: Sequence[str], pattern: str) -> bool:
    """Whether a command begins with the words of a pattern; its program counts by its name, unless the pattern has a path."""
    wanted = pattern.split()
    wanted = wanted[:-1] if wanted[-1:] == [_REST] else wanted
    if not words or not wanted:
        return False
    first = words[0].rpartition("/")[2] if "/" not in wanted[0] else words[0]
    return len(words) >= len(wanted) and _each([first, *words[1:]], wanted)


def covers(path: str, pattern: str) -> bool:
    """Whether a path from the root, in its plain form, is what a pattern names, or lies in it."""
    folder = "/".join([part for part in pattern.split("/") if part not in ("", ".")])
    return not folder or f"{path}/".startswith(f"{folder}/") or _like(path, folder)


def forbids(path: str, pattern: str) -> bool:
    """The same whatever the case, for what must not be touched: a file system may not tell one from the other."""
    return covers(path.casefold(), pattern.casefold())


def is_wild(word: str) -> bool:
    """Whether a word of a pattern stands for more than itself."""
    return not _WILD.isdisjoint(word)


def _each(words: Sequence[str], wanted: Sequence[str]) -> bool:
    return all([_like(*each) for each in zip(words, wanted, strict=False)])


def _like(text: str, pattern: str) -> bool:
    if not is_wild(pattern):
        return text == pattern
    from fnmatch import fnmatchcase

    return fnmatchcase(text, pattern)


def same_tool(name: str, pattern: str) -> bool:
    """Whether a tool of an agent's program, as the program or a document calls it, is the one of a pattern."""
    return any([_like(each, pattern) for each in dict.fromkeys((name, dotted(name)))])


def dotted(name: str) -> str:
    """What a document calls a tool of a server, `mcp__server__tool`: `server.tool`; nothing where that could be two tools."""
    server, mark, tool = name.removeprefix("mcp__").partition("__")
    return f"{server}.{tool}" if mark and name.startswith("mcp__") and "__" not in tool else ""
