"""Names that other tools use for commands, and the commands that they mean here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from execplan.cli.commands import COMMANDS
from execplan.core.text.message_parts import align_descriptions
from execplan.core.text.suggestions import closest_names, similarity

_SYNONYMS: Final = {
    "--version": "version",
    "add": "append insert task",
    "approve": "sign",
    "approve --list": "approvals",
    "approve --revoke": "revoke",
    "archive --as abandoned": "abandon",
    "attach, discover": "evidence",
    "commit": "push save",
    "compile": "build",
    "decide": "decision",
    "discover": "discovery finding learn surprise",
    "discover, outcome": "learning",
    "doctor --fix": "clean gc prune repair",
    "done": "check-off mark tick",
    "done, archive": "close finish",
    "done, archive --complete": "complete",
    "done, reopen": "toggle",
    "drop": "discard trash",
    "drop, archive --as abandoned": "del delete remove rm",
    "evaluate, run --dry-run": "preview test",
    "explain": "docs man topics",
    "explain --codes": "codes rules",
    "explain format": "guide",
    "explain settings": "config preferences settings",
    "handoff": "delegate",
    "init --upgrade": "upgrade",
    "init, install": "setup",
    "install completion": "completion",
    "install git-hooks": "hooks",
    "lint --fix": "fmt format",
    "lint --fix, doctor --fix": "fix",
    "lint, audit --verify": "verify",
    "lint, done": "check",
    "lint, evaluate": "validate",
    "list": "ls plans",
    "list --all": "archived",
    "log, audit, runs": "logs",
    "log, audit, undo --list": "history",
    "new": "generate make",
    "new --list-templates": "template templates",
    "new, add": "create issue",
    "new, evaluate": "plan",
    "next": "ready work",
    "next --claim": "assign claim pick take",
    "next --claim, run": "begin start",
    "next --release": "release unassign unclaim",
    "next, add": "todo",
    "outcome": "retro retrospective",
    "rename": "move mv title",
    "reopen": "uncheck undone untick",
    "restore": "unarchive",
    "resume": "continue",
    "resume --answer stop": "stop",
    "resume --answer stop, rollback, archive --as abandoned": "abort cancel",
    "rollback, drop": "destroy",
    "run": "apply exec execute",
    "run --replay": "replay",
    "runs": "jobs ps",
    "search": "find grep",
    "set": "patch",
    "set, edit": "update write",
    "show": "cat describe get info print tasks view",
    "show --section": "section",
    "show --steps": "steps",
    "show, edit": "open",
    "show, evaluate": "inspect",
    "stats": "metrics statistics",
    "status": "stat",
    "status, prime": "overview",
    "status, show": "progress",
    "summarize": "summary",
    "undo --list": "journal",
    "undo, restore": "undelete",
    "undo, rollback": "reset revert",
    "worktree": "branch",
}
"""For the commands to suggest, separated by commas, the most likely one first: the names that mean them elsewhere."""
COMMAND_SYNONYMS: Final = dict(
    sorted([(name, command_lines) for command_lines, names in _SYNONYMS.items() for name in names.split()])
)
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
        [(f"execplan {line}", _SUMMARIES_WITH_OPTIONS.get(line) or COMMANDS[line]) for line in command_lines]
    )
