"""An edit reversed: the lines that it changed become again what they were, and others stay."""

from __future__ import annotations

import os

from execplan.archive.attachments import digest_file
from execplan.archive.move_execution import read_evidence
from execplan.archive.move_record import MoveDetails, unpack_details
from execplan.archive.plan_move import MoveResult, MoveTarget, Reversal, move_plan
from execplan.edits import edit_journal
from execplan.edits.edit_entries import EDIT, UNDO
from execplan.edits.edit_journal import Operation
from execplan.edits.plan_writer import amend
from execplan.edits.undo_stack import read_stack
from execplan.errors import CONFLICT, INPUT, ExecplanError
from execplan.files import atomic_files
from execplan.plan.plan_change import PlanChange, plan_content
from execplan.plan.text_rebase import rebase_text
from execplan.undo.operation_selection import describe_operation, steps_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.edits.plan_writer import EditResult, WriteOptions
    from execplan.plan.model import ParsedPlan
    from execplan.plan.plan_change import ChangeBuilder
    from execplan.undo.operation_selection import SelectedOperation


class SupersededError(ExecplanError):
    """The operation is no longer the last one: somebody did something meanwhile."""

    def __init__(self) -> None:
        super().__init__("changed-underneath", "the plan has changed meanwhile", exit=CONFLICT, hint="try again")


def reverse_edit(selected: SelectedOperation, options: WriteOptions, command: str) -> EditResult:
    """Undo or redo an edit; raises ExecplanError, and SupersededError."""
    project, ref, step, _ = selected
    change = reversal_change(selected, command)

    def checked(plan: ParsedPlan) -> PlanChange:
        ensure_still_last(selected, command)
        plan_change = change(plan)
        if not plan_change.edits and not options.dry_run:
            edit_journal.mark_undone(project, ref.path, step.operation.number)
        return plan_change

    operation = Operation(kind=EDIT, undoes=step.operation.id)
    return amend(project, ref, checked, options, command=command, make_operation=lambda: operation)


def ensure_still_last(selected: SelectedOperation, command: str) -> None:
    """Raise SupersededError when the operation is no longer the last one; the plan's lock is held."""
    steps = steps_for(read_stack(selected.project, selected.ref.path), command)
    if not steps or steps[-1].latest.id != selected.step.latest.id:
        raise SupersededError


def reversal_change(selected: SelectedOperation, command: str) -> ChangeBuilder:
    """The change that brings a plan's text back to what it was before the operation; raises ExecplanError."""
    old, new = unpack_texts(selected)
    description = describe_operation(selected)
    summary = f"{command}, {selected.step.operation.summary}"
    outcome = "undone" if command == UNDO else "redone"
    hint = f"{command} it by hand; what it changed is in git, if it was committed: git log -p"

    def change(plan: ParsedPlan) -> PlanChange:
        plan_change = rebase_text(plan, new, old, summary, f"{outcome}: {description}", hint)
        if plan_change.edits or old == new:
            return plan_change
        return PlanChange(
            (), plan_content(plan), summary, (f"no longer there, so nothing to {command}: {description}",)
        )

    return change


def unpack_texts(selected: SelectedOperation) -> tuple[bytes, bytes]:
    """The texts before and after what is reversed; raises ExecplanError where the journal is damaged."""
    try:
        return selected.step.latest.unpack()
    except ValueError as error:
        raise damaged_entry_error(selected, error) from None


def damaged_entry_error(selected: SelectedOperation, error: ValueError) -> ExecplanError:
    """The error where the journal can't be read."""
    return ExecplanError(
        "journal-damaged",
        f"the journal's entry can't be read of {describe_operation(selected)}: {error}",
        exit=INPUT,
        hint="undo it by hand; git has what was committed: git log -p",
    )


_UNDONE_DIR = "undone"
"""Where attached files are kept whose attachment was undone."""


def reverse_move(selected: SelectedOperation, options: WriteOptions, command: str) -> MoveResult:
    """Bring a plan and its artifacts back to where they were before a move; raises ExecplanError, SupersededError."""
    try:
        details = unpack_details(selected.project, selected.step.latest)
    except ValueError as error:
        raise damaged_entry_error(selected, error) from None
    pairs = tuple([(new, old) for old, new in details.files])
    goal = MoveTarget(details.ids[0], details.path, details.artifacts[0])
    if selected.ref.path != details.goal:
        raise ExecplanError(
            "changed-since",
            f"{selected.project.display_path(details.goal)} was moved since, to {selected.project.display_path(selected.ref.path)}",
            exit=CONFLICT,
            hint=f"move it back by hand, then try again: execplan {command}",
        )
    return _reverse_by_move(selected, goal, pairs, options, command, details)


def reverse_attachment(selected: SelectedOperation, options: WriteOptions, command: str) -> MoveResult:
    """Take the files out of the artifacts that an edit put there, and its lines out of the plan; raises ExecplanError."""
    project, ref, step, _ = selected
    try:
        details = unpack_details(project, step.latest)
    except ValueError as error:
        raise damaged_entry_error(selected, error) from None
    for _, path in details.files:
        _ensure_unchanged(selected, path, details.bystanders.get(path, ""))
    folder = os.path.join(project.state, _UNDONE_DIR, step.latest.id)
    pairs = tuple([(path, os.path.join(folder, os.path.basename(path))) for _, path in details.files])
    goal = MoveTarget(ref.id, ref.path, project.plan_artifacts_dir(ref.path, archived=ref.archived))
    return _reverse_by_move(selected, goal, pairs, options, command, details)


def _reverse_by_move(
    selected: SelectedOperation,
    goal: MoveTarget,
    pairs: tuple[tuple[str, str], ...],
    options: WriteOptions,
    command: str,
    details: MoveDetails,
) -> MoveResult:
    project, ref, step, _ = selected
    change = reversal_change(selected, command)
    old_evidence = details.was if goal.path != ref.path else read_evidence(goal.artifacts)

    def checked(plan: ParsedPlan) -> PlanChange:
        ensure_still_last(selected, command)
        return change(plan)

    make_evidence = None if old_evidence is None else lambda data: old_evidence
    reversal = Reversal(step.latest, step.operation.id, pairs)
    move_result = move_plan(
        project, ref, goal, checked, options, command=command, make_evidence=make_evidence, reversal=reversal
    )
    if not options.dry_run:
        for directory in sorted(details.made, key=len, reverse=True):
            atomic_files.remove_empty_directory(directory)
    return move_result


def _ensure_unchanged(selected: SelectedOperation, path: str, digest: str) -> None:
    """Refuse to take away a file that has changed since it was attached; raises ExecplanError."""
    display_path = selected.project.display_path(path)
    if not os.path.lexists(path):
        raise ExecplanError(
            "changed-since",
            f"{display_path} is gone since it was attached",
            exit=CONFLICT,
            hint="take its line out by hand",
        )
    if digest and digest_file(path)[0] != digest:
        raise ExecplanError(
            "changed-since",
            f"{display_path} has changed since it was attached",
            exit=CONFLICT,
            hint="move it away first, or take its line out of the plan by hand",
        )
