"""Selection of the operation that `undo` or `redo` reverses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from execplan.core import features
from execplan.core.edits import edit_journal
from execplan.core.edits.edit_entries import EDIT, REDO, REMOVE, UNDO, JournalEntry
from execplan.core.edits.undo_stack import UndoableOperation, UndoStack, build_stack, load_entries, read_stack
from execplan.core.errors import ExecplanError
from execplan.core.git.git_directory import head_commit
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.plan_store.author import actor
from execplan.core.plan_store.hint_reader import is_agent
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_count

RUN_COMMANDS: Final = ("run", "rollback")
"""Commands whose edits belong to a run: neither `undo` nor `redo` reverses them, `rollback` does."""


class SelectedOperation(NamedTuple):
    """An operation to undo or redo, with its plan."""

    project: Project
    ref: PlanRef
    step: UndoableOperation
    later: tuple[UndoableOperation, ...] = ()
    """Operations on the plan that must be reversed first, the last one last; edits by other authors need not."""

    @property
    def is_next(self) -> bool:
        """Whether the operation is the next one to reverse on its plan."""
        return not self.later

    @property
    def group(self) -> str:
        """ID of the operation on several plans that this is a step of, or else the operation's own ID."""
        return edit_journal.group_id(self.step.operation.id)

    @property
    def is_reversible(self) -> bool:
        """Whether only steps of the same operation must be reversed first on its plan."""
        return all([edit_journal.group_id(step.operation.id) == self.group for step in self.later])

    @property
    def is_elsewhere(self) -> bool:
        """Whether the plan's file is missing although no operation has removed it: it may be on another branch."""
        is_removed = REMOVE in [step.latest.kind for step in (self.step, *self.later)]
        return not (is_removed or os.path.lexists(self.ref.path))


class SelectedSteps(NamedTuple):
    """The steps of the operation to undo or redo, in the order in which they are reversed."""

    steps: tuple[SelectedOperation, ...]
    blocked: tuple[SelectedOperation, ...] = ()
    """Steps on plans where another operation must be reversed first, or that another author has done."""
    other_plans: int = 0
    """Number of plans that the operation has changed and that are left as they are, because one plan was named."""


def steps_for(undo_stack: UndoStack, command: str) -> tuple[UndoableOperation, ...]:
    """Return the operations that the command can reverse, the next one last."""
    steps = undo_stack.undoable if command == UNDO else undo_stack.redoable
    return tuple([step for step in steps if step.operation.command not in RUN_COMMANDS])


def last_is_run(project: Project, ref: PlanRef, entries: Iterable[JournalEntry]) -> bool:
    """Return whether entries of a plan's journal contain those of a run that was not rolled back.

    A rollback edits only a plan in which tasks are still checked off, so the run's record says more than the journal.
    """
    commands = [entry.command for entry in entries if entry.command in RUN_COMMANDS and entry.is_written]
    if commands[-1:] != ["run"]:
        return False
    last_run = features.load(features.LAST_RUN)(project.plan_artifacts_dir(ref.path, archived=ref.archived))
    return last_run is None or last_run["status"] != "rolled_back"


def acting_author(step: UndoableOperation, command: str) -> str:
    """Return the author of the action to reverse: the operation for `undo`, its undo for `redo`."""
    return (step.operation if command == UNDO else step.latest).author


def is_by_other_author(project: Project, step: UndoableOperation, command: str) -> bool:
    """Return whether another author acted; journals of older versions record no author."""
    author = acting_author(step, command)
    return bool(author) and author != actor(project)


def choose_operation(start: str, query: str | None, command: str, *, other_authors: bool) -> SelectedSteps:
    """Return the author's last operation on the named plan, or else on any plan; raises ExecplanError."""
    query = query if query is not None else os.environ.get("EXECPLAN_PLAN") or None
    if query is not None:
        return _last_on_plan(*find_plan(start, query), command, other_authors=other_authors)
    project = project_discovery.require(start)
    if command == UNDO:
        _ensure_not_of_run(project)
    last = _own_last(iter_operations(project, command), command, other_authors=other_authors)
    if last is not None:
        return _with_other_plans(project, last, command, other_authors=other_authors)
    plans = [
        (member, ref) for member in project_discovery.with_nested_projects(project) for ref in plan_store.refs(member)
    ]
    if len(plans) == 1 and command == UNDO:  # the journal may be from an older version, which did not record the order
        return _last_on_plan(*plans[0], command, other_authors=other_authors)
    raise nothing_to_reverse_error(project, None, command)


def _ensure_not_of_run(project: Project) -> None:
    """Raise ExecplanError if the author's last operation on any plan is one of a run, which `rollback` undoes."""
    projects = project_discovery.with_nested_projects(project)
    for checkout in {member.state: member for member in projects}.values():
        for operation, path in edit_journal.newest_first(checkout):
            owner = _find_owner(projects, path)
            entries = load_entries(owner, path) if owner is not None else []
            entry = next((entry for entry in entries if entry.id == operation and entry.is_written), None)
            if owner is None or entry is None or entry.author not in ("", actor(owner)):
                continue
            ref = plan_store.ref_for_path(owner, path)
            if entry.command in RUN_COMMANDS and last_is_run(owner, ref, entries):
                hint = f"undo the run: execplan rollback {ref.shell_name}"
                if any([entry.is_written and entry.command not in (*RUN_COMMANDS, "new") for entry in entries]):
                    hint += f"; or what you did before it: execplan undo -p {ref.shell_name}"
                raise ExecplanError(
                    "undone-otherwise", f"the last operation belongs to a run: {entry.summary}", hint=hint
                )
            return


def _own_last(
    operations: Iterable[SelectedOperation], command: str, *, other_authors: bool
) -> SelectedOperation | None:
    """Return the author's last operation, or None without operations; `operations` begins with the newest.

    Raises ExecplanError if all are of others, or if another author's must be reversed first.
    """
    own_operation: SelectedOperation | None = None
    other_operation: SelectedOperation | None = None
    for selected in operations:
        if not other_authors and is_by_other_author(selected.project, selected.step, command):
            other_operation = other_operation or selected
            continue
        if own_operation is not None and selected.group != own_operation.group:
            break
        own_operation = own_operation or selected
        if selected.is_next:
            return selected
    if own_operation is not None:
        other_operation = own_operation._replace(step=own_operation.later[-1], later=())
    if other_operation is not None:
        raise other_author_error(other_operation, command)
    return None


def _with_other_plans(
    project: Project, selected: SelectedOperation, command: str, *, other_authors: bool
) -> SelectedSteps:
    """Return all steps of an operation, on any plan."""
    if edit_journal.STEP_SEPARATOR not in selected.step.operation.id:
        return SelectedSteps((selected,))
    steps = [step for step in iter_operations(project, command) if step.group == selected.group]
    allowed = [
        step
        for step in steps
        if step.is_reversible and (other_authors or not is_by_other_author(step.project, step.step, command))
    ]
    return SelectedSteps(tuple(allowed), tuple([step for step in steps if step not in allowed]))


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


def _last_on_plan(project: Project, ref: PlanRef, command: str, *, other_authors: bool) -> SelectedSteps:
    """Return the author's last operation on a plan; raises ExecplanError as `_own_last` does, or if there is none.

    If it has also changed other plans, only its steps on this one are returned.
    """
    operations = operations_on_plan(project, ref, command)
    last = _own_last(operations, command, other_authors=other_authors)
    if last is None:
        raise nothing_to_reverse_error(project, ref, command)
    steps = tuple([step for step in operations if step.group == last.group and step.is_reversible])
    other_plans = 0
    if edit_journal.STEP_SEPARATOR in last.step.operation.id:
        prefix = f"{last.group}{edit_journal.STEP_SEPARATOR}"
        paths = {path for operation, path in edit_journal.newest_first(project) if operation.startswith(prefix)}
        other_plans = len(paths - {ref.path})
    return SelectedSteps(steps, other_plans=other_plans)


def operations_on_plan(project: Project, ref: PlanRef, command: str) -> list[SelectedOperation]:
    """Return the operations on a plan that the command can reverse, the next one first."""
    steps = steps_for(read_stack(project, ref.path), command)
    return [SelectedOperation(project, ref, step, _find_later(steps, at, command)) for at, step in enumerate(steps)][
        ::-1
    ]


def _find_later(steps: tuple[UndoableOperation, ...], at: int, command: str) -> tuple[UndoableOperation, ...]:
    """Return the steps that must be reversed before the one at an index: later ones, except edits by other authors."""
    step = steps[at]
    author = acting_author(step, command)
    return tuple(
        [
            later
            for later in steps[at + 1 :]
            if acting_author(later, command) == author or not (_only_edits(step) and _only_edits(later))
        ]
    )


def _only_edits(step: UndoableOperation) -> bool:
    """Return whether a step has only changed lines of the plan, so that it can be reversed below later changes."""
    return step.latest.kind == EDIT and step.latest.details == "-" and step.operation.command != "merge"


def is_still_next(selected: SelectedOperation, command: str) -> bool:
    """Return whether an operation is still the next one to reverse, according to the journal now."""
    operations = operations_on_plan(selected.project, selected.ref, command)
    return any([now.is_next and now.step.latest.id == selected.step.latest.id for now in operations])


def iter_operations(project: Project, command: str) -> Iterator[SelectedOperation]:
    """Yield all operations on a project's plans that the command can reverse, newest first; raises ExecplanError.

    For `redo`, operations undone before the author's latest new operation on any plan are left out. They can be redone
    only if their plan is named.
    """
    projects = project_discovery.with_nested_projects(project)
    journals: dict[str, tuple[dict[str, JournalEntry], tuple[UndoableOperation, ...]]] = {}
    owners: dict[str, Project | None] = {}
    for checkout in {member.state: member for member in projects}.values():
        for operation, path in edit_journal.newest_first(checkout):
            if path not in owners:
                owners[path] = _find_owner(projects, path)
            owner = owners[path]
            if owner is None:
                continue
            if path not in journals:
                journal_entries = load_entries(owner, path)
                journals[path] = (
                    {entry.id: entry for entry in journal_entries},
                    steps_for(build_stack(journal_entries), command),
                )
            entries_by_id, steps = journals[path]
            at = next((at for at, step in enumerate(steps) if step.latest.id == operation), None)
            if at is not None:
                later = _find_later(steps, at, command)
                yield SelectedOperation(owner, plan_store.ref_for_path(owner, path), steps[at], later)
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


def _find_owner(projects: Sequence[Project], path: str) -> Project | None:
    """Return which of some projects a plan belongs to, also if it is outside the plans directories; None if to no one."""
    for project in projects:
        if any([f"{path}/".startswith(f"{folder}/") for folder in project.plan_paths]):
            return project
    nearest = project_discovery.find_for_file(path) if os.path.lexists(path) else None
    return next((project for project in projects if nearest is not None and project.plans == nearest.plans), None)


def other_author_error(selected: SelectedOperation, command: str) -> ExecplanError:
    """Build the error for a last operation by another author; an agent gets no command that reverses it."""
    step, name = selected.step, selected.ref.shell_name
    author, description = acting_author(step, command), describe_operation(selected)
    hint = f"{command} it anyway: execplan {command} -p {name} --any"
    if is_agent():
        hint = f"see whose operations can be undone and redone: execplan undo -p {name} --list"
    return ExecplanError(
        "another-author",
        f"{author} did this, not you ({actor(selected.project)}): {'' if command == UNDO else 'undo of '}{description}",
        hint=hint,
    )


def describe_operation(selected: SelectedOperation) -> str:
    """Describe an operation: its action, time and plan."""
    operation = selected.step.operation
    return f"{operation.summary} ({selected.ref.id}, {operation.timestamp.replace('T', ' ')})"


def first_step(steps: Sequence[SelectedOperation]) -> SelectedOperation:
    """Return the step that an operation began with on one of its plans, after which the operation is named."""
    on_plan = [step for step in steps if step.ref.path == steps[0].ref.path]
    return min(on_plan, key=lambda selected: selected.step.operation.number)


def describe_steps(steps: Sequence[SelectedOperation]) -> str:
    """Describe an operation by its steps: its command, time and number of plans, or its first step on its only plan."""
    plans = {step.ref.path for step in steps}
    if len(plans) == 1:
        return describe_operation(first_step(steps))
    operation = steps[-1].step.operation
    return f"{operation.command} ({format_count(len(plans), 'plan')}, {operation.timestamp.replace('T', ' ')})"


def nothing_to_reverse_error(project: Project, ref: PlanRef | None, command: str) -> ExecplanError:
    """Build the error if there is nothing to undo or redo."""
    scope = f"on {project.display_path(ref.path)}" if ref is not None else "in this project"
    undoable = operations_on_plan(project, ref, UNDO) if ref is not None else iter_operations(project, UNDO)
    if command == REDO and any(undoable):
        return ExecplanError(
            "nothing-to-redo",
            f"nothing to redo: the last operation {scope} is not an undo",
            hint="see what can be undone and redone: execplan undo --list",
        )
    hint = f"only what execplan did in this checkout can be {'undone' if command == UNDO else 'undone and redone'}"
    if command == UNDO and ref is not None and last_is_run(project, ref, load_entries(project, ref.path)):
        hint = f"undo what a run did: execplan rollback {ref.shell_name}"
    elif head_commit(project):
        hint += "; for the rest: git log -p"
    message = f"nothing to {command}: the journal has no operation {scope}"
    return ExecplanError("nothing-to-undo" if command == UNDO else "nothing-to-redo", message, hint=hint)
