"""Patterns of calls for `allow` and `deny` of a step and for what a document forbids, with the same rules everywhere.

A command is compared word by word: `*`, `?` and `[…]` match text within one word, and `...` as the last word matches
any further words. `write:GLOB`, `edit:GLOB` and `delete:GLOB` match paths from the root, where `*` also matches `/` and
a directory matches everything in it; `tool:NAME` matches the tools of an agent.
"""

from __future__ import annotations

from execplan.core.text.pure_paths import WILDCARDS, is_inside, matches_glob

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


def split_pattern(pattern: str) -> tuple[str, str]:
    """Return the kind of call that a pattern applies to, and the rest of the pattern."""
    kind, colon, subject = pattern.strip().partition(":")
    return (kind, subject.strip()) if colon and kind in _KINDS else (COMMAND, pattern.strip())


def pattern_problem(pattern: str) -> str:
    """Return why a pattern is invalid, or an empty string."""
    kind, subject = split_pattern(pattern)
    tokens = subject.split()
    if not tokens or tokens == [_ANY_ARGUMENTS]:
        return "it is empty or matches every command"
    if kind != COMMAND:
        is_outside = subject.startswith(("/", "~")) or ".." in subject.split("/")
        if is_outside and kind != TOOL:
            return "its path must be relative to the root of the repository, without `..`"
        return ""
    if _ANY_ARGUMENTS in tokens[:-1]:
        return "`...` matches any further words, so it must come last"
    head, colon, _ = tokens[0].partition(":")
    if colon and head.isalpha():
        return f"`{head}:` is not a kind of call: use {', '.join([f'{known_kind}:' for known_kind in _KINDS])}, or nothing before a command"
    return ""


def is_command_pattern(value: object) -> bool:
    """Return whether a value is a valid pattern of commands."""
    return isinstance(value, str) and not pattern_problem(value) and split_pattern(value)[0] == COMMAND


def matches_command(argv: Sequence[str], pattern: str) -> bool:
    """Return whether a pattern matches all words of a command."""
    tokens = pattern.split()
    if tokens[-1:] == [_ANY_ARGUMENTS]:
        return len(argv) >= len(tokens) - 1 and _all_match(argv, tokens[:-1])
    return len(argv) == len(tokens) and _all_match(argv, tokens)


def matches_command_prefix(argv: Sequence[str], pattern: str) -> bool:
    """Return whether a command starts with the words of a pattern.

    The program is compared by its name, unless the pattern has a path.
    """
    tokens = pattern.split()
    tokens = tokens[:-1] if tokens[-1:] == [_ANY_ARGUMENTS] else tokens
    if not argv or not tokens:
        return False
    program = argv[0].rpartition("/")[2] if "/" not in tokens[0] else argv[0]
    return len(argv) >= len(tokens) and _all_match([program, *argv[1:]], tokens)


def matches_path(path: str, pattern: str) -> bool:
    """Return whether a normalized path from the root matches a pattern, or is in a directory that the pattern names."""
    folder = "/".join([part for part in pattern.split("/") if part not in ("", ".")])
    return not folder or is_inside(path, folder) or matches_glob(path, folder)


def matches_path_ignoring_case(path: str, pattern: str) -> bool:
    """Return whether a path matches, ignoring case: for forbidden paths, as a file system may ignore case."""
    return matches_path(path.casefold(), pattern.casefold())


def has_wildcard(token: str) -> bool:
    """Return whether a word of a pattern has a wildcard."""
    return not WILDCARDS.isdisjoint(token)


def _all_match(argv: Sequence[str], tokens: Sequence[str]) -> bool:
    return all([matches_glob(*pair) for pair in zip(argv, tokens, strict=False)])


def matches_tool(name: str, pattern: str) -> bool:
    """Return whether a pattern matches an agent's tool, by its name in the agent program or in a document."""
    return any([matches_glob(candidate, pattern) for candidate in dict.fromkeys((name, dotted_tool_name(name)))])


def dotted_tool_name(name: str) -> str:
    """Return a document's name for a server tool `mcp__server__tool`: `server.tool`; empty if that is ambiguous."""
    server, separator, tool = name.removeprefix("mcp__").partition("__")
    return f"{server}.{tool}" if separator and name.startswith("mcp__") and "__" not in tool else ""
