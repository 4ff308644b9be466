"""Formatting of files and commands in the output of runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from execplan.cli.error_handler import printable_line
from execplan.core.text.message_parts import join_first
from execplan.execution.engine.journal.journal_entries import StateChange, change_kind

_MAX_PATHS = 3
_MAX_LINES = 20
"""Maximum number of lines in a list of files; `_MAX_PATHS` is the maximum number of paths in a line."""


def format_changes(changes: Sequence[StateChange], folders: Sequence[str] = ()) -> str:
    """Format changed files and the created directories without files by kind of change; an empty string for none."""
    kinds = ("created", "modified", "deleted")
    by_kind = {kind: [change.path for change in changes if change_kind(change) == kind] for kind in kinds}
    nonempty_folders = {path.rpartition("/")[0] for path in [*by_kind["created"], *folders]}
    by_kind["created"] += [folder for folder in folders if folder not in nonempty_folders]
    return ", ".join([f"{kind} {format_paths(paths)}" for kind, paths in by_kind.items() if paths])


def format_paths(paths: Sequence[str]) -> str:
    """Format the first of some paths, and the number of the others."""
    return printable_line(join_first(paths, _MAX_PATHS))


def format_irreversible(lead: str, effects: Sequence[str]) -> list[str]:
    """Format what a rollback can't revert, as in `build: its effects outside`, with the steps or paths of one reason together."""
    names_by_reason: dict[str, list[str]] = {}
    for effect in effects:
        name, _, reason = effect.partition(": ")
        names_by_reason.setdefault(reason, []).append(name)
    return [f"  {lead}: {format_paths(names)}: {reason}" for reason, names in names_by_reason.items()]


_ROLLBACK_CAUSES = {
    "failure": "a step failed",
    "validation": "a result differs from what was expected",
    "timeout": "a time limit was exceeded",
    "limit": "a limit was exceeded",
    "cancellation": "the run was stopped",
}


def format_rollback_cause(cause: str) -> str:
    """Format the cause of an automatic rollback as a clause."""
    return _ROLLBACK_CAUSES.get(cause, cause)


def truncate_lines(lines: Sequence[str]) -> list[str]:
    """Return the first lines of a list, and one with the number of the others."""
    remaining = len(lines) - _MAX_LINES
    return [*lines[:_MAX_LINES], f"  and {remaining} more: see the run's journal"] if remaining > 0 else list(lines)


def format_run_command(command_name: str, run: str, plan: str, *arguments: str) -> str:
    """Format a command about a run for a shell; `plan` is already quoted."""
    return " ".join(["execplan", command_name, run, "-p", plan, *map(shlex.quote, arguments)])
