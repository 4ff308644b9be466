"""Undo and redo of the last operation, with a reversal for each kind of operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.edits.edit_entries import CREATE, MOVE, REDO, REMOVE, UNDO
from execplan.edits.plan_preconditions import ensure_not_archived
from execplan.edits.plan_writer import remove_leftovers
from execplan.edits.undo_stack import read_stack
from execplan.errors import CHECK_FAILED, CONFLICT, ExecplanError
from execplan.named_tuple import NamedTuple
from execplan.undo.operation_reversal import SupersededError, reverse_attachment, reverse_edit, reverse_move
from execplan.undo.operation_selection import (
    SelectedOperation,
    choose_operation,
    describe_operation,
    find_plan,
    steps_for,
)
from execplan.undo.plan_removal import recreate_plan, remove_created

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.archive.plan_move import MoveResult
    from execplan.edits.plan_writer import EditResult, WriteOptions
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

    Check = Callable[[Project, PlanRef], object]

_MAX_ATTEMPTS = 20
"""Maximum number of attempts to select an operation while others change the plan."""
_RUN_COMMANDS = {"run": "rollback {id}", "rollback": "run {id}"}
"""Commands whose edits belong to a run, with the command to use instead of `undo`."""


def _allow_any_plan(project: Project, ref: PlanRef) -> None:
    """Allow any plan to move; the default for `may_move`."""


class ReversalResult(NamedTuple):
    """The result of an undo or redo."""

    selected: SelectedOperation
    result: EditResult | MoveResult
    message: str


def undo(
    start: str,
    plan: str | None,
    options: WriteOptions,
    *,
    other_authors: bool = False,
    may_move: Check = _allow_any_plan,
) -> ReversalResult:
    """Undo the last operation on the named plan, or on any plan; raises ExecplanError.

    `may_move` raises ExecplanError for a plan that must not be moved.
    """
    return _reverse(start, plan, options, UNDO, may_move, other_authors=other_authors)


def redo(
    start: str,
    plan: str | None,
    options: WriteOptions,
    *,
    other_authors: bool = False,
    may_move: Check = _allow_any_plan,
) -> ReversalResult:
    """Redo the operation that was undone last, unless a new one followed; raises ExecplanError."""
    return _reverse(start, plan, options, REDO, may_move, other_authors=other_authors)


def _reverse(
    start: str, plan: str | None, options: WriteOptions, command: str, may_move: Check, *, other_authors: bool
) -> ReversalResult:
    for _ in range(_MAX_ATTEMPTS):
        try:
            selected = choose_operation(start, plan, command, other_authors=other_authors)
        except ExecplanError as error:
            if plan is not None and error.code.startswith("nothing-to-") and not options.dry_run:
                remove_leftovers(
                    *find_plan(start, plan), command=command
                )  # the same command may have been killed before it finished
            raise
        ensure_reversible(selected)
        if selected.step.latest.kind in (MOVE, CREATE):
            may_move(selected.project, selected.ref)
        try:
            result = _reverse_operation(selected, options, command)
        except SupersededError:
            continue
        except ExecplanError as error:
            if error.code in ("plan-gone", "no-such-file") and _is_superseded(selected, command):
                continue
            raise
        outcome = "undone" if command == UNDO else "redone"
        return ReversalResult(selected, result, f"{outcome}: {describe_operation(selected)}")
    raise ExecplanError(
        "changed-underneath", "others kept changing the plan", exit=CONFLICT, hint=f"try again: execplan {command}"
    )


def _reverse_operation(selected: SelectedOperation, options: WriteOptions, command: str) -> EditResult | MoveResult:
    latest = selected.step.latest
    if latest.kind == MOVE:
        return reverse_move(selected, options, command)
    if latest.kind == CREATE:
        return remove_created(selected, options, command)
    if latest.kind == REMOVE:
        return recreate_plan(selected, options, command)
    ensure_not_archived(selected.project, selected.ref)
    if latest.details != "-":
        return reverse_attachment(selected, options, command)
    return reverse_edit(selected, options, command)


def _is_superseded(selected: SelectedOperation, command: str) -> bool:
    """Return whether another operation on the plan has followed meanwhile."""
    steps = steps_for(read_stack(selected.project, selected.ref.path), command)
    return not steps or steps[-1].latest.id != selected.step.latest.id


def ensure_reversible(selected: SelectedOperation) -> None:
    """Raise ExecplanError for an operation that another command must undo."""
    operation = selected.step.operation
    if operation.is_old_move:
        remedies = {
            "archive": f"execplan restore {selected.ref.shell_name}",
            "restore": f"execplan archive {selected.ref.shell_name}",
            "rename": f"execplan rename {selected.ref.shell_name} 'Its old title'",
        }
        reason, remedy = "an older version of execplan did this", remedies[operation.command]
    elif operation.command in _RUN_COMMANDS:
        reason, remedy = (
            "this belongs to a run",
            f"execplan {_RUN_COMMANDS[operation.command].format(id=selected.ref.shell_name)}",
        )
    else:
        return
    raise ExecplanError(
        "undone-otherwise",
        f"{reason}: {describe_operation(selected)}",
        exit=CHECK_FAILED,
        hint=f"undo it with: {remedy}",
    )
