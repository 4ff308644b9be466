"""Changes made by an agent to a step's declared paths: their current state compared with the expected one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple
from execplan.execution.binding import describe_difference, sanitize_state
from execplan.execution.engine.journal.journal_entries import StateChange
from execplan.execution.engine.steps.step_paths import list_declared_paths, parent_folders
from execplan.execution.engine.workspace import workspace_snapshot
from execplan.execution.engine.workspace.workspace_snapshot import WorkspaceWalker
from execplan.execution.world import ABSENT, FOLDER, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from execplan.execution.engine.run_state import RunState
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.execution_plan import Step

_MAX_FILES = 2000
"""Maximum number of files in a new directory that are rolled back one by one."""


class ObservedChanges(NamedTuple):
    """The changes found at a step's declared paths."""

    changes: tuple[StateChange, ...]
    folders: tuple[str, ...]
    """Created directories, outer ones first."""
    unknown_paths: tuple[str, ...]
    """Paths whose previous state is unknown."""


def observe(
    context: RunContext, step: Step, before: Mapping[str, State], run_state: RunState, *, keep: bool
) -> ObservedChanges:
    """Inspect the declared paths of a step. With `keep`, back up their current contents. Raises ExecplanError."""
    changes: list[StateChange] = []
    inner_folders: list[str] = []
    unknown_paths = []
    for path in list_declared_paths(step):
        previous_state = before.get(path, run_state.expected_states.get(path))
        current_state = context.store.save_path(context.workspace, path) if keep else context.workspace.state(path)
        if previous_state is None:
            unknown_paths += [path] if current_state.kind != ABSENT else []
        elif current_state.kind == FOLDER:
            files = dict(_iter_contents(context, path, keep=keep)) if previous_state.kind == ABSENT else {}
            inner_folders += [path] if previous_state.kind == ABSENT else []
            inner_folders += [name for name, state in files.items() if state.kind == FOLDER]
            unknown_paths += [path] if previous_state.kind != ABSENT or len(files) >= _MAX_FILES else []
            changes += [
                _change(context, name, State(ABSENT), state) for name, state in files.items() if state.kind != FOLDER
            ]
        elif describe_difference(sanitize_state(previous_state), sanitize_state(current_state)):
            changes.append(_change(context, path, previous_state, current_state))
    created_folders = [
        folder
        for folder in parent_folders(list_declared_paths(step))
        if _is_created(context, folder, before, run_state)
    ]
    folders = sorted(
        {*created_folders, *inner_folders} - run_state.created_folders(), key=lambda directory: directory.split("/")
    )
    return ObservedChanges(tuple(changes), tuple(folders), tuple(unknown_paths))


def _iter_contents(context: RunContext, path: str, *, keep: bool) -> Iterator[tuple[str, State]]:
    """Iterate over the contents of a new directory, up to the limit for rolling back file by file."""
    walker = WorkspaceWalker(context.project, context.workspace)
    walker.collect_path(path)
    for name in sorted(walker.statuses)[:_MAX_FILES]:
        if name.startswith(f"{path}/"):
            yield name, context.store.save_path(context.workspace, name) if keep else context.workspace.state(name)


def _change(context: RunContext, path: str, old: State, new: State) -> StateChange:
    return StateChange(
        path, old, new, *workspace_snapshot.count_line_changes(context.store, context.workspace, path, old, new)
    )


def _is_created(context: RunContext, folder: str, before: Mapping[str, State], run_state: RunState) -> bool:
    """Return whether a directory was missing before and exists now."""
    state_before = before.get(folder, run_state.expected_states.get(folder))
    return state_before is not None and state_before.kind == ABSENT and context.workspace.state(folder).kind == FOLDER
