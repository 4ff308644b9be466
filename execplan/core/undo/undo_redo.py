"""Undo and redo of the last operation, with a reversal for each kind of operation."""

from __future__ import annotations

import os
from collections.abc import Callable

from execplan.core.archive.plan_move import MoveResult
from execplan.core.edits.bulk_operation import BulkOperation
from execplan.core.edits.edit_entries import CREATE, MOVE, REDO, REMOVE, UNDO, JournalEntry
from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.edits.plan_writer import EditResult, WriteOptions, remove_leftovers
from execplan.core.edits.undo_stack import load_entries, read_stack
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import missing_plans, plan_selection, plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_count
from execplan.core.undo.operation_reversal import SupersededError, reverse_attachment, reverse_edit, reverse_move
from execplan.core.undo.operation_selection import (
    RUN_COMMANDS,
    SelectedOperation,
    SelectedSteps,
    choose_operation,
    describe_operation,
    describe_steps,
    find_plan,
    first_step,
    is_still_next,
    last_is_run,
    other_author_error,
    steps_for,
)
from execplan.core.undo.plan_removal import recreate_plan, remove_created

Check = Callable[[Project, PlanRef], object]

_MAX_ATTEMPTS = 20
"""Maximum number of attempts to select an operation while others change the plan."""


def _allow_any_plan(project: Project, ref: PlanRef) -> None:
    """Allow any plan to move; the default for `may_move`."""


class ReversedStep(NamedTuple):
    """A step of an operation that was undone or redone."""

    selected: SelectedOperation
    result: EditResult | MoveResult


class ReversalResult(NamedTuple):
    """The result of an undo or redo."""

    selected: SelectedOperation
    result: EditResult | MoveResult
    message: str
    steps: tuple[ReversedStep, ...] = ()
    """All steps of an operation on several plans, in the order of their reversal; the first one is that above."""
    left: tuple[tuple[SelectedOperation, ExecplanError], ...] = ()
    """The steps that can't be reversed, with the reason; they can be reversed later."""
    warnings: tuple[str, ...] = ()


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
            chosen = choose_operation(start, plan, command, other_authors=other_authors)
        except ExecplanError as error:
            if plan is not None and error.code.startswith("nothing-to-") and not options.dry_run:
                remove_leftovers(
                    *find_plan(start, plan), command=command
                )  # the same command may have been killed before it finished
            raise
        try:
            return _reverse_steps(chosen, options, command, may_move)
        except SupersededError:
            continue
    raise ExecplanError("changed-underneath", "others kept changing the plan", hint=f"try again: execplan {command}")


def _reverse_steps(chosen: SelectedSteps, options: WriteOptions, command: str, may_move: Check) -> ReversalResult:
    """Reverse the steps of an operation; a step that can't be reversed keeps none of the others from it.

    Raises SupersededError if other processes have reversed them meanwhile, and ExecplanError if no step can be
    reversed.
    """
    is_bulk = len(chosen.steps) + len(chosen.blocked) > 1
    bulk = BulkOperation() if is_bulk else None
    done: list[ReversedStep] = []
    left = [(step, _blocked_error(step, command)) for step in chosen.blocked]
    new_paths: dict[str, str] = {}
    for step in chosen.steps:
        path = new_paths.get(step.ref.path, step.ref.path)
        selected = step._replace(ref=plan_store.ref_for_path(step.project, path)) if path != step.ref.path else step
        if options.dry_run and path in [earlier.selected.ref.path for earlier in done]:
            if selected.step.latest.kind != CREATE:
                continue  # the preview of a plan's earlier steps would need the text before its last one
            done = [earlier for earlier in done if earlier.selected.ref.path != path]
        try:
            result = _reverse_step(selected, options._replace(bulk=bulk), command, may_move)
        except SupersededError as error:
            if is_bulk and _is_reversible(selected, command):
                left.append((selected, error))
            continue
        except ExecplanError as error:
            left.append((selected, error))
            continue
        new_paths[path] = os.path.join(selected.project.root, result.path)
        done.append(ReversedStep(selected, result))
    if not done:
        raise _nothing_reversed_error(left, command) if left else SupersededError
    warnings: tuple[str, ...] = ()
    if bulk is not None:
        summary = f"{command}, {first_step([step.selected for step in done]).step.operation.command}"
        warnings = bulk.commit(command, summary)
        done = [step._replace(result=bulk.with_commit(step.selected.project, step.result)) for step in done]
    outcome = "undone" if command == UNDO else "redone"
    message = f"{outcome}: {describe_steps([step.selected for step in done])}"
    if len(done) == 1 and not done[0].result.changed:
        message = done[0].result.messages[0]
    warnings += _reversal_warnings(chosen, done, command)
    return ReversalResult(*done[0], message, tuple(done), tuple(left), warnings)


def _reversal_warnings(chosen: SelectedSteps, done: list[ReversedStep], command: str) -> tuple[str, ...]:
    """Return warnings about what a reversal has left: the operation on other plans, and runs after it."""
    warnings: tuple[str, ...] = ()
    if chosen.other_plans:
        outcome = "undone" if command == UNDO else "redone"
        plans = format_count(chosen.other_plans, "other plan")
        warnings = (f"{outcome} only on {done[0].selected.ref.id}: the operation was also on {plans}",)
    commands = [rollback for step in done if (rollback := _rollback_command(step.selected))] if command == UNDO else []
    return (*warnings, *[f"what a run did after that stays; to undo the run: {rollback}" for rollback in commands])


def _rollback_command(selected: SelectedOperation) -> str:
    """Return the command that undoes a run that has changed the plan after an operation; empty without one."""
    is_run = last_is_run(selected.project, selected.ref, _runs_since(selected))
    return f"execplan rollback {selected.ref.shell_name}" if is_run else ""


def _runs_since(selected: SelectedOperation) -> list[JournalEntry]:
    """Return the entries of runs and rollbacks that have changed the plan after an operation."""
    entries = load_entries(selected.project, selected.ref.path)
    later = [entry for entry in entries if entry.number > selected.step.operation.number]
    return [entry for entry in later if entry.command in RUN_COMMANDS and entry.is_written]


def _reverse_step(
    selected: SelectedOperation, options: WriteOptions, command: str, may_move: Check
) -> EditResult | MoveResult:
    """Reverse a step; raises ExecplanError, and SupersededError if it is no longer the last one on its plan."""
    ensure_reversible(selected)
    plan_selection.note_path_name(selected.project, selected.ref)
    if selected.step.latest.kind in (MOVE, CREATE):
        may_move(selected.project, selected.ref)
    if (selected.step.operation.command, command) == ("restore", UNDO) and _runs_since(selected):
        raise ExecplanError(
            "changed-since",
            f"a run has changed the plan since it was restored: {describe_operation(selected)}",
            hint=f"archive it: execplan archive {selected.ref.shell_name}",
        )
    try:
        return _reverse_operation(selected, options, command)
    except ExecplanError as error:
        if error.code in ("plan-gone", "no-such-file"):
            raise (_missing_plan_error(selected) if is_still_next(selected, command) else SupersededError()) from None
        if error.code == "changed-since" and (rollback := _rollback_command(selected)):
            error.hint = f"a run has changed the plan since; to undo the run first: {rollback}"
        raise


def _missing_plan_error(selected: SelectedOperation) -> ExecplanError:
    """Build the error for an operation on a plan whose file is missing, for example because it is on another branch."""
    project, missing_ref = selected.project, selected.ref
    place = "is not in this checkout"
    remedy = "switch to the branch that has it, or restore it with git"
    archived = [ref for ref in plan_store.all_refs(project) if ref.archived and ref.id == missing_ref.id]
    if archived:
        archived_path = project.display_path(archived[0].path)
        place = f"was archived in another worktree, or without execplan, as {archived_path}; the last operation here"
        remedy = f"open it again: execplan restore {archived[0].shell_name}"
    former_name = plan_store.normalize_id(missing_ref.id)
    renamed = [ref for ref, names in missing_plans.read_former_names(project) if former_name in names]
    if not archived and len(renamed) == 1:
        place = f"is now {project.display_path(renamed[0].path)}"
        remedy = f"undo it there by hand: execplan edit {renamed[0].shell_name}"
    return ExecplanError(
        "plan-gone",
        f"{project.display_path(missing_ref.path)} {place}: {describe_operation(selected)}",
        hint=f"{remedy}; to see other operations: execplan undo --list",
    )


def _blocked_error(selected: SelectedOperation, command: str) -> ExecplanError:
    """Build the error for a step on a plan where another operation must be reversed first."""
    if selected.is_reversible:
        return other_author_error(selected, command)
    last = selected._replace(step=selected.later[-1])
    return ExecplanError(
        "changed-since",
        f"another operation followed: {describe_operation(last)}",
        hint=f"{command} that one first: execplan {command} -p {selected.ref.shell_name}",
    )


def _nothing_reversed_error(left: list[tuple[SelectedOperation, ExecplanError]], command: str) -> ExecplanError:
    """Return the error if no step can be reversed: that of the only step, or one with all reasons."""
    if len(left) == 1:
        return left[0][1]
    error = left[0][1]
    error.candidates = tuple([f"{selected.ref.id}: {reason.message}" for selected, reason in left])
    error.message = f"none of {format_count(len(left), 'plan')} could be {'undone' if command == UNDO else 'redone'}"
    error.hint = f"for one plan: execplan {command} -p PLAN"
    return error


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


def _is_reversible(selected: SelectedOperation, command: str) -> bool:
    """Return whether a step is still among those that can be reversed, perhaps after others."""
    steps = steps_for(read_stack(selected.project, selected.ref.path), command)
    return any([step.latest.id == selected.step.latest.id for step in steps])


def ensure_reversible(selected: SelectedOperation) -> None:
    """Raise ExecplanError for an operation that another command must undo."""
    operation = selected.step.operation
    if operation.is_old_move:
        remedies = {
            "archive": f"execplan restore {selected.ref.shell_name}",
            "restore": f"execplan archive {selected.ref.shell_name}",
            "rename": f"execplan rename {selected.ref.shell_name} 'Its old title'",
        }
        raise ExecplanError(
            "undone-otherwise",
            f"an older version of execplan did this: {describe_operation(selected)}",
            hint=f"undo it with: {remedies[operation.command]}",
        )
