"""The operations on a plan that can be undone or redone."""

from __future__ import annotations

from collections.abc import Sequence

from execplan.core.edits import edit_journal
from execplan.core.edits.edit_entries import FOLLOW, MOVE, REDO, UNDO, JournalEntry
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.reader import MAX_BYTES
from execplan.core.project.project import Project
from execplan.core.text.text_lines import digest


class UndoableOperation(NamedTuple):
    """An operation that can be undone or redone."""

    operation: JournalEntry
    """The operation as first journaled."""
    latest: JournalEntry
    """The last entry that ran or undid the operation, which is the one to reverse."""


class UndoStack(NamedTuple):
    """The operations on a plan that can be undone or redone, newest last."""

    undoable: tuple[UndoableOperation, ...]
    redoable: tuple[UndoableOperation, ...]
    """Operations that can be redone, because no new operation followed."""


def read_stack(project: Project, path: str) -> UndoStack:
    """Return the operations on the plan at the path. Raises ExecplanError if the journal can't be read."""
    return build_stack(load_entries(project, path))


def load_entries(project: Project, path: str) -> list[JournalEntry]:
    """Return the plan's journal entries.

    After a killed process, checks against the plan whether the last entry was written. Raises ExecplanError if the
    journal can't be read.
    """
    journal_entries = edit_journal.read_entries(project, path)
    if (
        journal_entries
        and not journal_entries[-1].is_written
        and journal_entries[-1].kind != MOVE
        and journal_entries[-1].old_digest != journal_entries[-1].new_digest
    ):
        try:
            current_digest = digest(file_access.read_if_exists(path, MAX_BYTES) or b"")
        except ExecplanError:
            return journal_entries
        journal_entries[-1] = journal_entries[-1]._replace(is_written=current_digest == journal_entries[-1].new_digest)
    return journal_entries


def build_stack(entries: Sequence[JournalEntry]) -> UndoStack:
    """Build the stack of operations from a journal's entries."""
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
