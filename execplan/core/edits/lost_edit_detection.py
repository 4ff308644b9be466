"""Detection of plan edits that another program has overwritten, from the journal, the plan and Git."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.edits import edit_journal
from execplan.core.edits.edit_entries import EDIT, read_texts
from execplan.core.edits.journal_retention import count_entries_in_git
from execplan.core.edits.lost_edits import JournaledEdit, select_lost_edits
from execplan.core.edits.undo_stack import build_stack
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import plan_store

if TYPE_CHECKING:
    from execplan.core.edits.edit_entries import JournalEntry
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

_MAX_ATTEMPTS = 10
"""Maximum number of reads of a plan that others keep writing to; after that, nothing is reported."""


class LostEditReport(NamedTuple):
    """The result of comparing a plan with its journal."""

    lost: tuple[JournaledEdit, ...]
    """Edits that another program has overwritten, and that git doesn't have either."""
    damaged: tuple[str, ...]
    """Descriptions of the edits whose journal entry can't be read."""
    current: bytes
    """The plan's current content."""


def detect_lost_edits(project: Project, ref: PlanRef) -> LostEditReport:
    """Find the edits that another program has overwritten.

    Whoever restores, resets, stashes, rebases or switches has decided, so what git has is not lost, and a text that git
    has was not written by another program. Raises ExecplanError if the plan or its journal can't be read.
    """
    edits = edit_journal.read_entries(project, ref.path)
    if not edits:
        return LostEditReport((), (), b"")
    for _ in range(_MAX_ATTEMPTS):
        current = plan_store.read_bytes(project, ref.path)
        previous_edits, edits = edits, edit_journal.read_entries(project, ref.path)
        if previous_edits == edits:  # no edit began or finished while the plan was read
            steps, damaged = _written_edits(edits, current)
            lost = select_lost_edits(steps, current)
            if lost:  # only now is git needed, whose history can be long
                texts = [*[text for step in steps for text in (step.old, step.new)], current]
                known_count = count_entries_in_git(project, ref.path, texts, lasting=False)
                lost = select_lost_edits(steps[known_count:], current)
            return LostEditReport(tuple(lost), tuple(damaged), current)
    return LostEditReport((), (), b"")


def _written_edits(edits: list[JournalEntry], current: bytes) -> tuple[list[JournaledEdit], list[str]]:
    """Return the edits that are on disk, and descriptions of those whose entry can't be read."""
    texts_by_number = read_texts(edits)
    unread = [entry for entry in edits if entry.is_written and entry.number not in texts_by_number]
    damaged = [f"{entry.summary} ({entry.timestamp.replace('T', ' ')})" for entry in unread]
    stack = build_stack(edits)
    expected = {step.latest.number: step.operation for step in stack.undoable if step.operation.kind == EDIT}
    steps: list[JournaledEdit] = []
    previous_number = 0
    for index, edit in enumerate(edits):
        if edit.number not in texts_by_number:
            continue
        old, new = texts_by_number[edit.number]
        follows, previous_number = edit.number == previous_number + 1, edit.number
        next_text = texts_by_number.get(edits[index + 1].number, (b"",))[0] if index + 1 < len(edits) else current
        if edit.is_written or next_text == new:  # the next text shows whether an interrupted edit was written
            operation = expected.get(edit.number, edit)
            steps.append(
                JournaledEdit(
                    edit.number, operation.summary, operation.timestamp, old, new, edit.number in expected, follows
                )
            )
    return steps, damaged
