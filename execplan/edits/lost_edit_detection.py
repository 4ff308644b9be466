"""Detection of plan edits that another program has overwritten, from the journal, the plan and Git."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from execplan.edits import edit_journal
from execplan.edits.edit_entries import EDIT, read_texts
from execplan.edits.lost_edits import JournaledEdit, select_lost_edits
from execplan.edits.undo_stack import build_stack
from execplan.git import git_history
from execplan.named_tuple import NamedTuple
from execplan.plan_store import plan_store
from execplan.project.plan_journal import former_paths

if TYPE_CHECKING:
    from execplan.edits.edit_entries import JournalEntry
    from execplan.edits.lost_edits import GitCheck
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

_MAX_ATTEMPTS = 10
"""Maximum number of reads of a plan that others keep writing to; after that, nothing is reported."""


class LostEditReport(NamedTuple):
    """The result of comparing a plan with its journal."""

    lost: tuple[JournaledEdit, ...]
    """Edits that are no longer in the plan."""
    damaged: tuple[str, ...]
    """Descriptions of the edits whose journal entry can't be read."""
    current: bytes
    """The plan's current content."""


def detect_lost_edits(project: Project, ref: PlanRef) -> LostEditReport:
    """Find the edits that are no longer in a plan. Raises ExecplanError if the plan or its journal can't be read."""
    edits = edit_journal.read_entries(project, ref.path)
    if not edits:
        return LostEditReport((), (), b"")
    for _ in range(_MAX_ATTEMPTS):
        current = plan_store.read_bytes(project, ref.path)
        previous_edits, edits = edits, edit_journal.read_entries(project, ref.path)
        if previous_edits == edits:  # no edit began or finished while the plan was read
            steps, damaged = _written_edits(edits, current)
            return LostEditReport(
                tuple(select_lost_edits(steps, current, _make_git_check(project, ref))), tuple(damaged), current
            )
    return LostEditReport((), (), b"")


def _written_edits(edits: list[JournalEntry], current: bytes) -> tuple[list[JournaledEdit], list[str]]:
    """Return the edits that are on disk, and descriptions of those whose entry can't be read."""
    texts_by_number = read_texts(edits)
    unread = [entry for entry in edits if entry.is_written and entry.number not in texts_by_number]
    damaged = [f"{entry.summary} ({entry.timestamp.replace('T', ' ')})" for entry in unread]
    stack = build_stack(edits)
    counts = {step.operation.number for step in stack.undoable if step.operation.kind == EDIT}
    steps: list[JournaledEdit] = []
    previous_number = 0
    for index, edit in enumerate(edits):
        if edit.number not in texts_by_number:
            continue
        old, new = texts_by_number[edit.number]
        follows, previous_number = edit.number == previous_number + 1, edit.number
        next_text = texts_by_number.get(edits[index + 1].number, (b"",))[0] if index + 1 < len(edits) else current
        if edit.is_written or next_text == new:  # the next text shows whether an interrupted edit was written
            steps.append(
                JournaledEdit(edit.number, edit.summary, edit.timestamp, old, new, edit.number in counts, follows)
            )
    return steps, damaged


def _make_git_check(project: Project, ref: PlanRef) -> GitCheck:
    """Return a function that checks whether Git replaced one text with another.

    Git did if it knows both texts, or if the first is only on another branch. A text that was written over the
    checked-out version was not put there by Git, even if Git knows both.
    """
    if project.git is None:
        return lambda before, after: False
    path, *old_paths = [
        os.path.relpath(source, os.path.realpath(project.root))
        for source in (ref.real_path, *former_paths(project, ref.path))
    ]
    paths = [path, *[old_path for old_path in old_paths if not old_path.startswith("../")]]

    def is_git_change(old_text: bytes, new_text: bytes) -> bool:
        blob_id = git_history.hash_blob(project, path, old_text)
        if not git_history.has_blob(project, blob_id, paths) or git_history.head_blob(project, path) == blob_id:
            return False
        if git_history.has_blob(project, git_history.hash_blob(project, path, new_text), paths):
            return True
        return not git_history.has_blob(project, blob_id, paths, in_head=True)

    return cache(is_git_change)  # one external write often overwrites many edits
