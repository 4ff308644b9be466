"""The directories that a step leaves empty when it moves its files, and that it therefore removes."""

from __future__ import annotations

from execplan.core.text.pure_paths import is_inside
from execplan.execution.engine.steps.step_paths import parent_folders
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.engine.workspace.workspace_walk import WorkspaceWalker
from execplan.execution.execution_plan import Step, Type
from execplan.execution.world import FOLDER, State, normalize_path


def find_emptied_folders(step: Step, workspace: WorkspaceFiles) -> dict[str, State]:
    """Return the directories, with their states, that are empty after a step has moved its files out of them."""
    origin = normalize_path(step.from_ or "..")
    if step.type is not Type.MOVE or origin is None or workspace.state(origin).kind != FOLDER:
        return {}
    walker = WorkspaceWalker(workspace.project, workspace)
    walker.collect_path(origin)
    folders = {folder for folder in parent_folders(list(step.files)) if is_inside(folder, origin)}
    kept_paths = [path for path in walker.statuses if path not in step.files and path not in folders]
    kept_folders = set(parent_folders(kept_paths))
    return {folder: workspace.state(folder) for folder in sorted(folders - kept_folders)}
