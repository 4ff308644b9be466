"""The journal of a plan that moves: it moves with the plan and records former paths and updated plans."""

from __future__ import annotations

import os
from collections.abc import Sequence

from execplan.core.edits import edit_journal
from execplan.core.edits.edit_journal import read_entries, read_entries_from
from execplan.core.errors import ExecplanError
from execplan.core.files.append_log import append_lines, read_lines
from execplan.core.plan_store import implied_plan
from execplan.core.project import project_state
from execplan.core.project.plan_journal import JOURNAL_DIR, former_paths, journal_path
from execplan.core.project.project import Project
from execplan.core.text import text_codec
from execplan.core.trace import log

_FOLLOWER, _DOCUMENT = "with", "document"
"""Kinds of lines about files that changed because of a move."""


def move_journal(project: Project, old: str, new: str, old_paths: Sequence[str], operation: str = "") -> None:
    """Move a plan's journal to its new path, and record the former paths and the completed move.

    The journal of an earlier plan at the new path is stashed, and restored when this plan moves away.
    """
    path = journal_path(project, new)
    project_state.move_plan_state(project, old, new)
    try:
        implied_plan.follow_move(project, old, new)
        project_state.make_state_dir(project, JOURNAL_DIR)
        source = journal_path(project, old)
        if source != path and not os.path.islink(new):  # the journal of a symlink stays with the target file
            _move_file(source, path, operation)
        entries = read_entries_from(path)
        number = entries[-1].number if entries else 1
        known_paths = former_paths(project, new)
        append_lines(
            path,
            "".join(
                [
                    f"left {number} {text_codec.quote(old_path)}\n"
                    for old_path in old_paths
                    if old_path not in known_paths
                ]
            ),
        )
        move_entry = next((entry for entry in entries if entry.id == operation), None) if operation else None
        if move_entry is not None:
            if not move_entry.is_written:
                append_lines(path, f"made {move_entry.number}\n")
            edit_journal.add(project, operation, old, new)
    except (OSError, ExecplanError) as failed:  # the plan is already at its new path
        log(f"couldn't move the journal {path}: {failed}")


def move_journal_back(project: Project, old: str, new: str, operation: str) -> None:
    """Move a plan's journal back after its move is undone. Raises ExecplanError if the journal can't be read."""
    path, goal = journal_path(project, old), journal_path(project, new)
    project_state.move_plan_state(project, new, old)
    implied_plan.follow_move(project, new, old)
    if operation and path != goal and any([entry.id == operation for entry in read_entries_from(goal)]):
        _move_file(goal, path, "")


def _move_file(source: str, path: str, operation: str) -> None:
    has_operation = any([entry.id == operation for entry in read_entries_from(path)]) if operation else False
    if not has_operation and os.path.lexists(source):
        _stash(path)
        os.replace(source, path)
    if not os.path.lexists(source):
        _unstash(source)


def _stash(path: str) -> None:
    if os.path.lexists(path):
        number = 1
        while os.path.lexists(f"{path}.{number}"):
            number += 1
        os.replace(path, f"{path}.{number}")


def _unstash(path: str) -> None:
    number = 0
    while os.path.lexists(f"{path}.{number + 1}"):
        number += 1
    if number:
        os.replace(f"{path}.{number}", path)


def add_follower(project: Project, path: str, operation: str, follower: str) -> None:
    """Record that another plan was updated after the move of the plan at the path."""
    _add_file(project, path, operation, _FOLLOWER, follower)


def followers(project: Project, path: str, operation: str) -> list[str]:
    """Return the plans that were updated after a move of the plan at the path."""
    return _list_files(project, path, operation, _FOLLOWER)


def add_document(project: Project, path: str, operation: str, document: str) -> None:
    """Record that a document was rewritten later than the move that it is about; its undo rewrites it back."""
    _add_file(project, path, operation, _DOCUMENT, document)


def documents(project: Project, path: str, operation: str) -> list[str]:
    """Return the documents that were rewritten later than a move of the plan at the path."""
    return _list_files(project, path, operation, _DOCUMENT)


def _add_file(project: Project, path: str, operation: str, kind: str, file: str) -> None:
    entry = next((candidate for candidate in read_entries(project, path) if candidate.id == operation), None)
    if entry is not None:
        append_lines(journal_path(project, path), f"{kind} {entry.number} {text_codec.quote(file)}\n")


def _list_files(project: Project, path: str, operation: str, kind: str) -> list[str]:
    entry = next((candidate for candidate in read_entries(project, path) if candidate.id == operation), None)
    lines = [line.split(" ") for line in read_lines(journal_path(project, path)) if line.startswith(f"{kind} ")]
    paths = [
        text_codec.unquote(fields[2])
        for fields in lines
        if len(fields) == 3 and entry and fields[1] == str(entry.number)
    ]
    return list(dict.fromkeys(paths))
