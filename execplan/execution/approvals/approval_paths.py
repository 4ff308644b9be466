"""Paths of the approval files of a plan, without reading them."""

from __future__ import annotations

import os

from execplan.core.plan_store import plan_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


def directory(project: Project, ref: PlanRef) -> str:
    """Return the directory with the approvals of a plan."""
    return os.path.join(project.plan_artifacts_dir(ref.path, archived=ref.archived), "approvals")


def file_path(project: Project, ref: PlanRef, name: str) -> str:
    """Return the path of an approval. A later approval of the same digest with the same key overwrites the file."""
    return os.path.join(directory(project, ref), name)


def list_paths(project: Project, ref: PlanRef) -> list[str]:
    """Return the paths of all approvals of a plan, valid or not. Raises ExecplanError."""
    folder = directory(project, ref)
    return [os.path.join(folder, name) for name in plan_store.list_entries(folder) if name.endswith(".json")]
