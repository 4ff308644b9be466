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
_ANY_ARGUMENTS: Final = "..."
_WILDCARDS = frozenset("*?[")


def split_pattern(pattern: str) -> tuple[str, str]:
    """What kind of call a pattern is about, and what it says of it."""
    kind, colon, subject = pattern.strip().partition(":")
    return (kind, subject.strip()) if colon and kind in _KINDS else (COMMAND, pattern.strip())


def pattern_problem(pattern: str) -> str:
    """Why a pattern can't mean anything, or nothing."""
    kind, subject = split_pattern(pattern)
    tokens = subject.split()
    if not tokens or tokens == [_ANY_ARGUMENTS]:
        return "it names nothing"
    if kind != COMMAND:
        is_outside = subject.startswith(("/", "~")) or ".." in subject.split("/")
        return "its path is not one from the root of the repository" if is_outside and kind != TOOL else ""
    if _ANY_ARGUMENTS in tokens[:-1]:
        return "`...` stands for any further words, and so behind all others"
    head, colon, _ = tokens[0].partition(":")
    if colon and head.isalpha():
        return f"`{head}:` is no kind of call: {', '.join([f'{known_kind}:' for known_kind in _KINDS])}, or nothing before a command"
    return ""


def matches_command(argv: Sequence[str], pattern: str) -> bool:
    """Whether a pattern gives all the words of a command."""
    tokens = pattern.split()
    if tokens[-1:] == [_ANY_ARGUMENTS]:
        return len(argv) >= len(tokens) - 1 and _all_match(argv, tokens[:-1])
    return len(argv) == len(tokens) and _all_match(argv, tokens)


def matches_command_prefix(argv: Sequence[str], pattern: str) -> bool:
    """Whether a command begins with the words of a pattern; its program counts by its name, unless the pattern has a path."""
    tokens = pattern.split()
    tokens = tokens[:-1] if tokens[-1:] == [_ANY_ARGUMENTS] else tokens
    if not argv or not tokens:
        return False
    program = argv[0].rpartition("/")[2] if "/" not in tokens[0] else argv[0]
    return len(argv) >= len(tokens) and _all_match([program, *argv[1:]], tokens)


def matches_path(path: str, pattern: str) -> bool:
    """Whether a path from the root, in its plain form, is what a pattern names, or lies in it."""
    folder = "/".join([part for part in pattern.split("/") if part not in ("", ".")])
    return not folder or f"{path}/".startswith(f"{folder}/") or _matches_glob(path, folder)


def matches_path_ignoring_case(path: str, pattern: str) -> bool:
    """The same whatever the case, for what must not be touched: a file system may not tell one from the other."""
    return matches_path(path.casefold(), pattern.casefold())


def has_wildcard(token: str) -> bool:
    """Whether a word of a pattern stands for more than itself."""
    return not _WILDCARDS.isdisjoint(token)


def _all_match(argv: Sequence[str], tokens: Sequence[str]) -> bool:
    return all([_matches_glob(*pair) for pair in zip(argv, tokens, strict=False)])


def _matches_glob(text: str, pattern: str) -> bool:
    if not has_wildcard(pattern):
        return text == pattern
    from fnmatch import fnmatchcase

    return fnmatchcase(text, pattern)


def matches_tool(name: str, pattern: str) -> bool:
    """Whether a tool of an agent's program, as the program or a document calls it, is the one of a pattern."""
    return any([_matches_glob(candidate, pattern) for candidate in dict.fromkeys((name, dotted_tool_name(name)))])


def dotted_tool_name(name: str) -> str:
    """What a document calls a tool of a server, `mcp__server__tool`: `server.tool`; nothing where that could be two tools."""
    server, separator, tool = name.removeprefix("mcp__").partition("__")
    return f"{server}.{tool}" if separator and name.startswith("mcp__") and "__" not in tool else ""
