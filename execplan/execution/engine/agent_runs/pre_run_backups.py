"""Backups of the paths that the steps of an agent's run write, made when the run begins so that it can roll back."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.git import git_query
from execplan.execution.binding import sanitize_state
from execplan.execution.engine.journal.journal_entries import state_json
from execplan.execution.engine.steps.step_paths import list_declared_paths, parent_folders
from execplan.execution.engine.workspace.backup_store import BackupStore
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.world import ABSENT, FILE, State

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from execplan.core.project.project import Project
    from execplan.execution.approval_document import Approval
    from execplan.execution.execution_plan import Step


def save_states(
    project: Project,
    steps: Iterable[Step],
    approval: Approval,
    known_paths: Collection[str],
    reported_paths: Collection[str],
) -> dict[str, Any]:
    """Back up the declared paths and return the JSON form of their states: approved, outputs and directories.

    `known_paths`: paths of which the run already knows the expected state. `reported_paths`: paths written before
    execplan was asked; only their approved state is known, and Git may have their bytes. Raises ExecplanError.
    """
    workspace, approved = WorkspaceFiles(project), dict(approval.binding.states)
    states = {path: state for path, state in approved.items() if path not in known_paths}
    declared_paths = dict.fromkeys([path for step in steps for path in list_declared_paths(step)])
    with BackupStore(project).batch() as store:
        for path in declared_paths:
            if path in reported_paths:
                _save_from_git(project, store, path, approved.get(path))
            elif path not in known_paths:
                current_state = store.save_path(workspace, path)
                states.setdefault(path, sanitize_state(current_state))
    for folder in parent_folders(list(declared_paths)):
        if folder not in known_paths and workspace.state(folder).kind == ABSENT:
            states.setdefault(folder, State(ABSENT))
    return {path: state_json(state) for path, state in states.items()}


def _save_from_git(project: Project, store: BackupStore, path: str, state: State | None) -> None:
    """Back up the approved bytes of a path if the last commit has them."""
    if state is None or state.kind != FILE or not state.sha256 or store.has(state.sha256) or not project.git:
        return
    try:
        data = git_query.output(project, "cat-file", "blob", f"HEAD:{path}")
    except ExecplanError:
        return  # not committed: it cannot be restored, and a rollback reports that
    if sha256(data).hexdigest() == state.sha256:
        store.save(data)


def expected_states_json(expected: Mapping[str, State], paths: Iterable[str]) -> dict[str, Any]:
    """Return the JSON form of the expected states of some paths, as far as they are known."""
    return {path: state_json(expected[path]) for path in paths if path in expected}
