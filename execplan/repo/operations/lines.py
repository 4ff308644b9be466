"""An edit reversed: the lines that it changed become again what they were, and others stay."""

from __future__ import annotations

from execplan.errors import CONFLICT, INPUT, ExecplanError
from execplan.plan.change import PlanChange, plan_content
from execplan.plan.whole import rebase_text
from execplan.repo.amend import amend
from execplan.repo.edits import journal
from execplan.repo.edits.entries import EDIT, UNDO
from execplan.repo.edits.journal import Operation
from execplan.repo.edits.stack import read_stack
from execplan.repo.operations.choose import describe_operation, steps_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.change import ChangeBuilder
    from execplan.plan.model import Plan
    from execplan.repo.amend import EditResult, WriteOptions
    from execplan.repo.operations.choose import SelectedOperation


class SupersededError(ExecplanError):
    """The operation is no longer the last one: somebody did something meanwhile."""

    def __init__(self) -> None:
        super().__init__("changed-underneath", "the plan has changed meanwhile", exit=CONFLICT, hint="try again")


def reverse_edit(selected: SelectedOperation, options: WriteOptions, command: str) -> EditResult:
    """Undo or redo an edit; raises ExecplanError, and SupersededError."""
    project, ref, step, _ = selected
    change = reversal_change(selected, command)

    def checked(plan: Plan) -> PlanChange:
        ensure_still_last(selected, command)
        plan_change = change(plan)
        if not plan_change.edits and not options.dry_run:
            journal.mark_undone(project, ref.path, step.operation.number)
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

    def change(plan: Plan) -> PlanChange:
        plan_change = rebase_text(plan, new, old, summary, f"{outcome}: {description}", hint)
        if plan_change.edits or old == new:
            return plan_change
        return PlanChange((), plan_content(plan), summary, (f"no longer there, so nothing to {command}: {description}",))

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
