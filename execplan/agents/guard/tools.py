"""The tools of agents' programs: which are harmless, and which read, with the fields that name what they read.

What is not here is no such tool: it runs commands, changes files, reaches other machines, or nobody knows what it does.
"""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Looks(NamedTuple):
    """How a tool that reads names what it reads."""

    paths: tuple[str, ...] = ()
    """Fields that hold a path, or nothing for the folder that it is called in."""
    patterns: tuple[str, ...] = ()
    """Fields that hold a pattern of paths, from the path before or from that folder."""


CLAUDE_READS: Mapping[str, Looks] = {
    "Read": Looks(("file_path",)),
    "NotebookRead": Looks(("notebook_path",)),
    "LS": Looks(("path",)),
    "Glob": Looks(("path",), ("pattern",)),
    "Grep": Looks(("path",), ("glob",)),
    "LSP": Looks(("filePath",)),
}
CLAUDE_HARMLESS = frozenset(
    (
        "Agent Task TodoWrite TodoRead TaskCreate TaskGet TaskList TaskUpdate TaskOutput TaskStop BashOutput KillShell KillBash "
        "AskUserQuestion EnterPlanMode ExitPlanMode ToolSearch CronList CronDelete ListMcpResourcesTool"
    ).split()
)
"""What is done with lists of things to do, with the user, with what runs already, and with agents that are guarded too."""
UNLESS: Mapping[str, tuple[str, ...]] = {"Agent": ("isolation",), "Task": ("isolation",)}
"""Fields with which a harmless tool is none: an agent in a working tree of its own makes one."""
CODEX_READS: Mapping[str, Looks] = {
    "view_image": Looks(("path",)),
    "read_file": Looks(("file_path",)),
    "list_dir": Looks(("dir_path",)),
    "grep_files": Looks(("path",), ("include",)),
}
CODEX_HARMLESS = frozenset(
    "update_plan request_user_input spawn_agent send_input wait wait_agent close_agent get_goal list_mcp_resources".split()
)


def is_harmless(tool: str, given: Mapping[str, object], names: frozenset[str]) -> bool:
    """Whether a tool, given this, changes nothing outside of its program."""
    return tool in names and not any([given.get(field) for field in UNLESS.get(tool, ())])


def read_by(given: Mapping[str, object], looks: Looks) -> tuple[str, ...] | None:
    """The paths that a reading tool is given; none where it names none, None where a field is no text."""
    found: list[str] = []
    base = ""
    for field in looks.paths:
        value = given.get(field) or ""
        if not isinstance(value, str):
            return None
        base = value
        found += [value] if value else []
    for field in looks.patterns:
        value = given.get(field) or ""
        if not isinstance(value, str):
            return None
        found += _of_pattern(value, base) if value else []
    return tuple(found)


def _of_pattern(pattern: str, base: str) -> list[str]:
    """The folders that a pattern of paths may lead to: what stands in front of the first sign, and all ways up."""
    found = []
    for each in _braces(pattern.removeprefix("!")):
        parts = each.split("/")
        fixed = next((at for at, part in enumerate(parts) if set(part) & set("*?[{")), len(parts))
        above = "../" * parts[fixed:].count("..")
        head = "/".join(parts[:fixed]) or ("/" if each.startswith("/") else ".")
        path = head if head.startswith(("/", "~")) or not base else f"{base.rstrip('/')}/{head}"
        found.append(f"{path}/{above}" if above else path)
    return found


def _braces(pattern: str) -> list[str]:
    """A pattern as all that its braces stand for, where each choice may be a path of its own."""
    start, end = pattern.find("{"), pattern.find("}")
    if start < 0 or end < start:
        return [pattern]
    choices = pattern[start + 1 : end].split(",")[:50]
    return [f"{pattern[:start]}{choice}{pattern[end + 1 :]}" for choice in choices]
