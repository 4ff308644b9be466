"""Names that other tools use for commands, and the commands that they mean here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from execplan.cli.commands import COMMANDS
from execplan.core.text.message_parts import align_descriptions
from execplan.core.text.suggestions import closest_names, similarity

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMAND_SYNONYMS: Final[dict[str, str]] = {
    "abandon": "archive --as abandoned",
    "abort": "resume --answer stop, rollback, archive --as abandoned",
    "append": "add",
    "apply": "run",
    "approvals": "approve --list",
    "archived": "list --all",
    "assign": "next --claim",
    "begin": "next --claim, run",
    "branch": "worktree",
    "build": "compile",
    "cancel": "resume --answer stop, rollback, archive --as abandoned",
    "cat": "show",
    "check": "lint, done",
    "check-off": "done",
    "claim": "next --claim",
    "clean": "doctor --fix",
    "close": "done, archive",
    "codes": "explain --codes",
    "complete": "done, archive --complete",
    "completion": "install completion",
    "config": "explain settings",
    "continue": "resume",
    "create": "new, add",
    "decision": "decide",
    "del": "drop, archive --as abandoned",
    "delegate": "handoff",
    "delete": "drop, archive --as abandoned",
    "describe": "show",
    "destroy": "rollback, drop",
    "discard": "drop",
    "discovery": "discover",
    "docs": "explain",
    "evidence": "attach, discover",
    "exec": "run",
    "execute": "run",
    "find": "search",
    "finding": "discover",
    "finish": "done, archive",
    "fix": "lint --fix, doctor --fix",
    "fmt": "lint --fix",
    "format": "lint --fix",
    "gc": "doctor --fix",
    "generate": "new",
    "get": "show",
    "grep": "search",
    "guide": "explain format",
    "history": "log, audit, undo --list",
    "hooks": "install git-hooks",
    "import": "new --from, compile --from",
    "info": "show",
    "insert": "add",
    "inspect": "show, evaluate",
    "issue": "new, add",
    "jobs": "runs",
    "journal": "undo --list",
    "learn": "discover",
    "learning": "discover, outcome",
    "logs": "log, audit, runs",
    "ls": "list",
    "make": "new",
    "man": "explain",
    "mark": "done",
    "metrics": "stats",
    "move": "rename",
    "mv": "rename",
    "open": "show, edit",
    "overview": "status, prime",
    "patch": "set",
    "pick": "next --claim",
    "plan": "new, evaluate",
    "plans": "list",
    "preferences": "explain settings",
    "preview": "evaluate, run --dry-run",
    "print": "show",
    "progress": "status, show",
    "prune": "doctor --fix",
    "ps": "runs",
    "push": "commit",
    "ready": "next",
    "release": "next --release",
    "remove": "drop, archive --as abandoned",
    "repair": "doctor --fix",
    "replay": "run --replay",
    "reset": "undo, rollback",
    "retro": "outcome",
    "retrospective": "outcome",
    "revert": "undo, rollback",
    "revoke": "approve --revoke",
    "rm": "drop, archive --as abandoned",
    "rules": "explain --codes",
    "save": "commit",
    "section": "show --section",
    "settings": "explain settings",
    "setup": "init, install",
    "sign": "approve",
    "start": "next --claim, run",
    "stat": "status",
    "statistics": "stats",
    "steps": "show --steps",
    "stop": "resume --answer stop",
    "summary": "summarize",
    "surprise": "discover",
    "take": "next --claim",
    "task": "add",
    "tasks": "show",
    "template": "new --list-templates",
    "templates": "new --list-templates",
    "test": "evaluate, run --dry-run",
    "tick": "done",
    "title": "rename",
    "todo": "next, add",
    "toggle": "done, reopen",
    "topics": "explain",
    "trash": "drop",
    "unarchive": "restore",
    "unassign": "next --release",
    "uncheck": "reopen",
    "unclaim": "next --release",
    "undelete": "undo, restore",
    "undone": "reopen",
    "untick": "reopen",
    "update": "set, edit",
    "upgrade": "init --upgrade",
    "validate": "lint, evaluate",
    "verify": "lint, audit --verify",
    "version": "--version",
    "view": "show",
    "work": "next",
    "write": "set, edit",
}
"""For each name, the commands to suggest, separated by commas, the most likely one first."""


_SUMMARIES_WITH_OPTIONS = {
    "--version": "Show the version.",
    "approve --list": "List the approvals of a plan.",
    "approve --revoke": "Revoke an approval.",
    "archive --as abandoned": "Archive a plan that will not be finished.",
    "archive --complete": "Archive all completed plans.",
    "audit --verify": "Verify that the audit log is intact.",
    "compile --from": "Import an execution plan from a file.",
    "doctor --fix": "Fix what can be fixed safely.",
    "explain --codes": "List the lint rules and the error codes.",
    "explain format": "Explain the sections of a plan.",
    "explain settings": "Explain the settings.",
    "init --upgrade": "Merge the newest guide into yours.",
    "install completion": "Install shell completion.",
    "install git-hooks": "Install a git hook that checks plans.",
    "lint --fix": "Apply fixes that keep the plan's meaning.",
    "list --all": "List all plans, including archived plans.",
    "new --from": "Import a plan from a file.",
    "new --list-templates": "List the templates.",
    "next --claim": "Claim the next open task.",
    "next --release": "Release your claims.",
    "resume --answer stop": "Stop a paused run.",
    "run --dry-run": "Show what a run would do.",
    "run --replay": "Repeat a run on the same inputs.",
    "show --section": "Print one section of a plan.",
    "show --steps": "Show the compiled steps and their status.",
    "undo --list": "List the operations that you can undo and redo.",
}
"""Summaries of the suggestions that are more than the name of a command."""
_MIN_SYNONYM_LENGTH = 4
"""Shortest synonym that a misspelled name can mean; a typo in a shorter one is similar to too many names."""


def suggest_commands(name: str) -> list[str]:
    """Return the commands to suggest for an unknown name: by meaning, otherwise by spelling; empty if there are none."""
    name = name.casefold()
    if name in COMMANDS:
        return [name]
    if name in COMMAND_SYNONYMS:
        return suggestions_for(name)
    close_commands = closest_names(name, COMMANDS)
    long_synonyms = [synonym for synonym in COMMAND_SYNONYMS if len(synonym) >= _MIN_SYNONYM_LENGTH]
    for synonym in closest_names(name, long_synonyms, limit=1):
        if not close_commands or similarity(name, synonym) > similarity(name, close_commands[0]):
            return suggestions_for(synonym)
    return sorted(close_commands, key=lambda command: command[0] != name[0])


def suggestions_for(synonym: str) -> list[str]:
    """Return the commands that a synonym means."""
    return COMMAND_SYNONYMS[synonym].split(", ")


def describe_commands(command_lines: Sequence[str]) -> list[str]:
    """Return a line for each suggestion: the command with its options, and its summary."""
    return align_descriptions(
        [
            (f"execplan {command_line}", _SUMMARIES_WITH_OPTIONS.get(command_line) or COMMANDS[command_line])
            for command_line in command_lines
        ]
    )
