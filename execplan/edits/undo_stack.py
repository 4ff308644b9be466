"""Which operations on a plan can be undone, and which redone."""

from __future__ import annotations

import os

from execplan.edits import edit_journal
from execplan.edits.edit_entries import FOLLOW, MOVE, REDO, UNDO, JournalEntry
from execplan.errors import ExecplanError
from execplan.files import file_access
from execplan.named_tuple import NamedTuple
from execplan.plan.reader import MAX_BYTES
from execplan.text.text_lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.project.project import Project


class UndoableOperation(NamedTuple):
    """An operation that can be undone or redone."""

    operation: JournalEntry
    """As it was first done."""
    latest: JournalEntry
    """What last did it, or undid it: this is what is reversed."""


class UndoStack(NamedTuple):
    """The operations on a plan, the newest last."""

    undoable: tuple[UndoableOperation, ...]
    redoable: tuple[UndoableOperation, ...]
    """Those that can be redone: nothing new was done since."""


def read_stack(project: Project, path: str) -> UndoStack:
    """The operations on the plan at the path; raises ExecplanError."""
    return build_stack(load_entries(project, path))


def load_entries(project: Project, path: str) -> list[JournalEntry]:
    """The entries of the plan's journal; of a process that was killed, the plan says whether it has done the last one.

    Raises ExecplanError.
    """
    journal_entries = edit_journal.read_entries(project, path)
    if (
        journal_entries
        and not journal_entries[-1].is_written
        and journal_entries[-1].kind != MOVE
        and journal_entries[-1].old_digest != journal_entries[-1].new_digest
    ):
        try:
            current_digest = digest(file_access.read(path, MAX_BYTES)[0]) if os.path.lexists(path) else digest(b"")
        except ExecplanError:
            return journal_entries
        journal_entries[-1] = journal_entries[-1]._replace(is_written=current_digest == journal_entries[-1].new_digest)
    return journal_entries


def build_stack(entries: Sequence[JournalEntry]) -> UndoStack:
    """The operations of a journal's entries."""
    undoable: dict[str, UndoableOperation] = {}
    redoable: dict[str, UndoableOperation] = {}
    for entry in entries:
        if not entry.is_written or entry.kind == FOLLOW:
            continue
        if entry.command == UNDO:
            step = undoable.pop(entry.undoes, None)
            if step is not None and not entry.is_undone:
                redoable[entry.undoes] = step._replace(latest=entry)
        elif entry.command == REDO:
            step = redoable.pop(entry.undoes, None)
            if step is not None:
                undoable[entry.undoes] = step._replace(latest=entry)
        else:
            redoable.clear()
            if not entry.is_undone:
                undoable[entry.id] = UndoableOperation(entry, entry)
    dismissed = {entry.id for entry in entries if entry.is_undone}
    return UndoStack(
        tuple([step for operation_id, step in undoable.items() if operation_id not in dismissed]),
        tuple([step for operation_id, step in redoable.items() if operation_id not in dismissed]),
    )
