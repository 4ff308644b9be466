"""Limits of agent programs: what makes each ignore a file of hooks, and what the guard can't guarantee by version."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from execplan.agents.integrations.hook_file import PROGRAMS

Check = Callable[[Any], bool]

Version = tuple[int, ...]

_SECONDS = 10
"""Seconds that a program may take to print its version."""
_VERSION = re.compile(r"\b(\d+)\.(\d+)\.(\d+)\b")
_CLAUDE_TYPES = frozenset("agent command http mcp_tool prompt".split())
_CLAUDE_EVENTS = frozenset(
    "Notification PermissionRequest PostToolUse PreCompact PreToolUse SessionEnd SessionStart Stop SubagentStart "
    "SubagentStop UserPromptSubmit".split()
)
"""Events that every supported version knows. Versions before 2.1 ignore a file with another one."""
_CODEX_EVENTS = frozenset(
    "PermissionRequest PostCompact PostToolUse PreCompact PreToolUse SessionEnd SessionStart Stop SubagentStart "
    "SubagentStop UserPromptSubmit".split()
)
_U64 = 1 << 64


class VersionLimit(NamedTuple):
    """Something that the guard can't guarantee, or denies for that reason, with some versions of a program."""

    program: str
    before: Version | None
    """First version without the limit; None if all have it."""
    text: str


NAMES = {**{name: program.name for name, program in PROGRAMS.items()}, "opencode": "opencode"}
"""Names of the programs for people."""
GUARANTEE = "asks the guard before each call, and blocks what it denies"
LIMITS = (
    VersionLimit("claude", (2, 1, 295), "a guard that takes longer than 30 seconds lets the call through"),
    VersionLimit("claude", (2, 1, 85), "it may ignore a question, so calls that need one are denied"),
    VersionLimit("claude", (2, 1, 0), "an unknown event in its settings disables all hooks in the file"),
    VersionLimit("claude", None, "a session below the root of the repository runs no hooks"),
    VersionLimit("claude", None, "with -w, hooks in uncommitted settings don't run"),
    VersionLimit("codex", None, "a guard that takes longer than 30 seconds lets the call through"),
    VersionLimit("codex", (0, 166, 0), "commands of scripts are denied, and so is a relative workdir"),
    VersionLimit("codex", None, "it can't ask, so the run is paused when a step asks"),
    VersionLimit("codex", None, "hooks that aren't trusted are ignored without a message"),
    VersionLimit("gemini", None, "a guard that takes longer than 30 seconds lets the call through"),
    VersionLimit("gemini", None, "it can't report an answer, so the run is paused when a step asks"),
    VersionLimit("gemini", None, "a session below the root of the repository runs no hooks"),
    VersionLimit("opencode", None, "it can't ask, so the run is paused when a step asks"),
    VersionLimit("opencode", None, "with --pure it loads no plugins, so it doesn't ask the guard"),
)
"""Limits, measured with the real programs."""


def describe_version(name: str, version: Version) -> str:
    """Describe in one line what the guard guarantees with a version of a program, and what it doesn't."""
    limits = [limit.text for limit in LIMITS if limit.program == name and (not limit.before or version < limit.before)]
    return f"{NAMES[name]} {'.'.join(map(str, version))} {GUARANTEE}, but: {'; '.join(limits)}"


def describe_installed(names: Sequence[str]) -> Iterator[str]:
    """Describe the programs on PATH, among those with these names."""
    for name in names:
        version = find_version(name)
        if version is not None:
            yield describe_version(name, version)


def find_version(name: str) -> Version | None:
    """Return the version of a program on PATH; None if it is not there or doesn't print one."""
    path = shutil.which(name)
    if path is None:
        return None
    try:
        completed = subprocess.run(  # noqa: S603 - the program that the user's PATH names
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(completed.stdout.decode("utf-8", "replace"))
    return tuple(map(int, match.groups())) if match else None


def find_claude_problem(settings: dict[str, Any]) -> str:
    """Return the first value for which some version of Claude Code ignores its settings; empty if there is none."""
    return next(_claude_problems(settings), "")


def find_unknown_claude_events(settings: dict[str, Any]) -> list[str]:
    """Return the events for which versions of Claude Code before 2.1 ignore its settings."""
    hooks = settings.get("hooks")
    return [f"hooks.{event}" for event in hooks if event not in _CLAUDE_EVENTS] if isinstance(hooks, dict) else []


def _claude_problems(settings: dict[str, Any]) -> Iterator[str]:
    permissions = settings.get("permissions", {})
    if not isinstance(permissions, dict):
        yield "permissions"
        return
    for name in ("allow", "ask", "deny", "additionalDirectories"):
        if not _is_text_list(permissions.get(name, [])):
            yield f"permissions.{name}"
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        yield "hooks"
        return
    for place, group in _groups(hooks):
        if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
            yield place
        elif not isinstance(group.get("matcher", ""), str):
            yield f"{place}.matcher"
        else:
            for number, handler in enumerate(group["hooks"]):
                problem = _claude_handler_problem(handler)
                if problem is not None:
                    yield f"{place}.hooks.{number}{problem}"


def _claude_handler_problem(handler: Any) -> str | None:
    """Return the field of a handler that is wrong, empty for the handler itself; None if none is."""
    if not isinstance(handler, dict):
        return ""
    if handler.get("type") not in _CLAUDE_TYPES:
        return ".type"
    if handler["type"] == "command" and not isinstance(handler.get("command"), str):
        return ".command"
    timeout = handler.get("timeout", 1)
    is_number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    return None if is_number and timeout > 0 else ".timeout"


def _is_text_list(value: Any) -> bool:
    return isinstance(value, list) and all([isinstance(item, str) for item in value])


def _groups(hooks: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the groups of hooks, each with its place; for an event without a list, None."""
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            yield f"hooks.{event}", None
        else:
            yield from [(f"hooks.{event}.{number}", group) for number, group in enumerate(groups)]


def find_codex_problem(text: str) -> str:
    """Return why Codex ignores a file of hooks; empty if it reads it."""
    try:
        document = json.loads(text, object_pairs_hook=_unique_fields, parse_constant=_reject)
    except (ValueError, RecursionError) as error:
        return f"it is not JSON: {error}"
    if not isinstance(document, dict):
        return ""
    for name in document:
        if name not in ("description", "hooks"):
            return f"the field {name} is unknown to Codex"
    hooks = document.get("hooks", {})
    if not _is_optional_text(document.get("description")) or not isinstance(hooks, dict):
        return "description or hooks is malformed"
    for place, group in _groups({event: groups for event, groups in hooks.items() if event in _CODEX_EVENTS}):
        if problem := _codex_group_problem(group):
            return f"{place}{problem} is malformed"
    return ""


def _codex_group_problem(group: Any) -> str:
    """Return the field of a group that is wrong, a space for the group itself; empty if none is."""
    if not isinstance(group, dict) or not isinstance(group.get("hooks", []), list):
        return " "
    if not _is_optional_text(group.get("matcher")):
        return ".matcher"
    for number, handler in enumerate(group.get("hooks", [])):
        if not isinstance(handler, dict) or handler.get("type") not in _CODEX_FIELDS:
            return f".hooks.{number}"
        for name, is_valid in _CODEX_FIELDS[handler["type"]].items():
            if not is_valid(handler.get(name)):
                return f".hooks.{number}.{name}"
    return ""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_optional_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_seconds(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _U64)


_CODEX_FIELDS: dict[str, dict[str, Check]] = {
    "command": {
        "command": _is_text,
        "commandWindows": _is_optional_text,
        "timeout": _is_seconds,
        "statusMessage": _is_optional_text,
        "async": lambda value: value is None or isinstance(value, bool),
    },
    "mcp_tool": {"server": _is_text, "tool": _is_text},
    "prompt": {},
    "agent": {},
}
"""Fields of each type of handler, with what Codex accepts; it ignores other fields."""


def _unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a field occurs twice")
    return fields


def _reject(name: str) -> None:
    raise ValueError(f"{name} is not a number")
