"""The journal of a plan that moves: it goes along, and knows the paths that the plan left and who followed."""

from __future__ import annotations

import os

from execplan.edits import operation_log, text_codec
from execplan.edits.append_log import append_lines, read_lines
from execplan.edits.edit_journal import JOURNAL_DIR, journal_path, read_entries, read_entries_from
from execplan.errors import ExecplanError
from execplan.project import project_state
from execplan.trace import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.project.project import Project


def move_journal(project: Project, old: str, new: str, old_paths: Sequence[str], operation: str = "") -> None:
    """Let the journal of a plan follow it to another path, remember the paths that it left, and that the move was made.

    The journal of an earlier plan at the new path is kept below it, and comes back when this one leaves.
    """
    path = journal_path(project, new)
    project_state.move_plan_state(project, old, new)
    try:
        project_state.make_state_dir(project, JOURNAL_DIR)
        source = journal_path(project, old)
        if source != path and not os.path.islink(new):  # a link's journal stays with the file that it leads to
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
            operation_log.add(project, operation, old, new)
    except (OSError, ExecplanError) as failed:  # the plan is where it should be
        log(f"the journal {path} could not follow: {failed}")


def move_journal_back(project: Project, old: str, new: str, operation: str) -> None:
    """Let the journal of a plan go back with it, when its move is taken back; raises ExecplanError."""
    path, goal = journal_path(project, old), journal_path(project, new)
    project_state.move_plan_state(project, new, old)
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


def former_paths(project: Project, path: str) -> list[str]:
    """The paths, of itself and of its artifacts, that the plan at the path was moved away from."""
    lines = [line.split(" ") for line in read_lines(journal_path(project, path)) if line.startswith("left ")]
    return [text_codec.unquote(fields[2]) for fields in lines if len(fields) == 3]


def add_follower(project: Project, path: str, operation: str, follower: str) -> None:
    """Remember that another plan follows the move of the plan at the path."""
    entry = next((candidate for candidate in read_entries(project, path) if candidate.id == operation), None)
    if entry is not None:
        append_lines(journal_path(project, path), f"with {entry.number} {text_codec.quote(follower)}\n")


def followers(project: Project, path: str, operation: str) -> list[str]:
    """The plans that followed a move of the plan at the path."""
    entry = next((candidate for candidate in read_entries(project, path) if candidate.id == operation), None)
    lines = [line.split(" ") for line in read_lines(journal_path(project, path)) if line.startswith("with ")]
    paths = [
        text_codec.unquote(fields[2])
        for fields in lines
        if len(fields) == 3 and entry and fields[1] == str(entry.number)
    ]
    return list(dict.fromkeys(paths))
