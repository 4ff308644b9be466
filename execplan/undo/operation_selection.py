"""Selection of the operation that `undo` or `redo` reverses."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.edits import operation_log
from execplan.edits.edit_entries import REDO, UNDO
from execplan.edits.undo_stack import UndoStack, build_stack, load_entries, read_stack
from execplan.errors import CHECK_FAILED, ExecplanError
from execplan.named_tuple import NamedTuple
from execplan.plan_store import plan_selection, plan_store
from execplan.plan_store.author import actor
from execplan.project import project_discovery

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.edits.edit_entries import JournalEntry
    from execplan.edits.undo_stack import UndoableOperation
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project


class SelectedOperation(NamedTuple):
    """An operation to undo or redo, with its plan."""

    project: Project
    ref: PlanRef
    step: UndoableOperation
    is_next: bool = True
    """Whether the operation is the next one to reverse on its plan."""


def steps_for(undo_stack: UndoStack, command: str) -> tuple[UndoableOperation, ...]:
    """Return the operations that the command can reverse, the next one last."""
    return undo_stack.undoable if command == UNDO else undo_stack.redoable


def acting_author(step: UndoableOperation, command: str) -> str:
    """Return the author of the action to reverse: the operation for `undo`, its undo for `redo`."""
    return (step.operation if command == UNDO else step.latest).author


def is_by_other_author(project: Project, step: UndoableOperation, command: str) -> bool:
    """Return whether another author acted; journals of older versions record no author."""
    author = acting_author(step, command)
    return bool(author) and author != actor(project)


def choose_operation(start: str, query: str | None, command: str, *, other_authors: bool) -> SelectedOperation:
    """Return the last operation on the named plan, or the author's last one on any plan; raises ExecplanError."""
    query = query if query is not None else os.environ.get("EXECPLAN_PLAN") or None
    if query is not None:
        return last_operation(*find_plan(start, query), command, other_authors=other_authors)
    project = project_discovery.require(start)
    other_operation: SelectedOperation | None = None
    for selected in iter_next_operations(project, command):
        if other_authors or not is_by_other_author(selected.project, selected.step, command):
            return selected
        other_operation = other_operation or selected
    if other_operation is not None:
        raise other_author_error(other_operation, command)
    plans = [
        (member, ref) for member in project_discovery.with_nested_projects(project) for ref in plan_store.refs(member)
    ]
    if len(plans) == 1 and command == UNDO:  # the journal may be from an older version, which did not record the order
        return last_operation(*plans[0], command, other_authors=other_authors)
    raise nothing_to_reverse_error(project, None, command)


def find_plan(start: str, query: str) -> tuple[Project, PlanRef]:
    """Find the named plan; one removed by an operation is found by path or ID. Raises ExecplanError."""
    try:
        return plan_selection.select_plan(start, query)
    except ExecplanError as error:
        if error.code not in ("no-such-plan", "no-plan"):
            raise
        for project in project_discovery.with_nested_projects(project_discovery.require(start)):
            for name in {query, os.path.basename(query)}:
                path = project.plan_file(project.plans, name.removesuffix(".md"))
                if not os.path.lexists(path) and any(read_stack(project, path)):
                    return project, plan_store.ref_for_path(project, path)
        raise


def last_operation(project: Project, ref: PlanRef, command: str, *, other_authors: bool) -> SelectedOperation:
    """Return the last operation on a plan; raises ExecplanError if there is none or if it is another author's."""
    steps = steps_for(read_stack(project, ref.path), command)
    if not steps:
        raise nothing_to_reverse_error(project, ref, command)
    selected = SelectedOperation(project, ref, steps[-1])
    if not other_authors and is_by_other_author(project, selected.step, command):
        raise other_author_error(selected, command)
    return selected


def iter_next_operations(project: Project, command: str) -> Iterator[SelectedOperation]:
    """Yield the next operation to reverse on each plan of a project, newest first; raises ExecplanError."""
    return (selected for selected in iter_operations(project, command) if selected.is_next)


def iter_operations(project: Project, command: str) -> Iterator[SelectedOperation]:
    """Yield all operations on a project's plans that the command can reverse, newest first; raises ExecplanError.

    For `redo`, operations undone before the author's latest new operation on any plan are left out. They can be redone
    only if their plan is named.
    """
    projects = project_discovery.with_nested_projects(project)
    journals: dict[str, tuple[dict[str, JournalEntry], tuple[UndoableOperation, ...]]] = {}
    for checkout in {member.state: member for member in projects}.values():
        for operation, path in operation_log.newest_first(checkout):
            owner = next((member for member in projects if _holds_plan(member, path)), None)
            if owner is None:
                continue
            if path not in journals:
                journal_entries = load_entries(owner, path)
                journals[path] = (
                    {entry.id: entry for entry in journal_entries},
                    steps_for(build_stack(journal_entries), command),
                )
            entries_by_id, steps = journals[path]
            step = next((step for step in steps if step.latest.id == operation), None)
            if step is not None:
                yield SelectedOperation(owner, plan_store.ref_for_path(owner, path), step, step == steps[-1])
            elif command == REDO and _is_new_operation(owner, entries_by_id.get(operation)):
                break


def _is_new_operation(project: Project, entry: JournalEntry | None) -> bool:
    """Return whether an entry is a new operation by the current author, not an undo or redo."""
    return (
        entry is not None
        and entry.is_written
        and entry.command not in (UNDO, REDO)
        and (not entry.author or entry.author == actor(project))
    )


def _holds_plan(project: Project, path: str) -> bool:
    return any([path.startswith(f"{folder}/") for folder in (project.plans, *project.archives)])


def other_author_error(selected: SelectedOperation, command: str) -> ExecplanError:
    """Build the error for a last operation by another author."""
    step = selected.step
    author, description = acting_author(step, command), describe_operation(selected)
    return ExecplanError(
        "another-author",
        f"{author} did this, not you ({actor(selected.project)}): {'' if command == UNDO else 'undo of '}{description}",
        exit=CHECK_FAILED,
        hint=f"{command} it anyway: execplan {command} -p {selected.ref.shell_name} --any",
    )


def describe_operation(selected: SelectedOperation) -> str:
    """Describe an operation: its action, time and plan."""
    operation = selected.step.operation
    return f"{operation.summary} ({selected.ref.id}, {operation.timestamp.replace('T', ' ')})"


def nothing_to_reverse_error(project: Project, ref: PlanRef | None, command: str) -> ExecplanError:
    """Build the error if there is nothing to undo or redo."""
    scope = f"on {project.display_path(ref.path)}" if ref is not None else "in this project"
    if command == UNDO:
        return ExecplanError(
            "nothing-to-undo",
            f"nothing to undo: the journal has no operation {scope}",
            exit=CHECK_FAILED,
            hint="only what execplan did in this checkout can be undone; for the rest: git log -p",
        )
    return ExecplanError(
        "nothing-to-redo",
        f"nothing to redo: the last operation {scope} is not an undo",
        exit=CHECK_FAILED,
        hint="see what can be undone and redone: execplan undo --list",
    )
