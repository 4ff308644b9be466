"""The directory and the branch of a plan's worktree, by the settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.git.linked_worktrees import main_directory
from execplan.core.project import plan_names
from execplan.core.project.template_fields import fill

if TYPE_CHECKING:
    from execplan.core.project.project import Project

_MAX_PART_LENGTH = 100
"""Maximum characters of a part of a branch name, which git stores as a file name."""


def worktrees_directory(project: Project) -> str:
    """Return the directory that contains the worktrees of plans; the setting is relative to the main worktree."""
    main = main_directory(project)
    name = os.path.basename(main).removesuffix(".git").lstrip(".") or "repository"
    return os.path.normpath(os.path.join(main, fill(project.settings.worktrees, {"repository": name})))


def worktree_directory(project: Project, plan_id: str) -> str:
    """Return the directory of the worktree of the plan with an ID."""
    return os.path.join(worktrees_directory(project), plan_id)


def branch_name(project: Project, plan_id: str) -> str:
    """Return the branch of the worktree of the plan with an ID."""
    slugs = plan_names.extract_slugs(project.settings.name, plan_id)
    fields = {"slug": _branch_part(min(slugs, key=len, default=plan_id)), "id": _branch_part(plan_id)}
    return fill(project.settings.worktree_branch, fields)


def _branch_part(text: str) -> str:
    """Convert a text to a part of a branch name: letters, digits and `-_.`."""
    chars = [char if char.isalnum() or char in "-_." else "-" for char in text[:_MAX_PART_LENGTH]]
    part = "".join(chars)
    while ".." in part or "--" in part:
        part = part.replace("..", ".").replace("--", "-")
    return part.strip("-.").removesuffix(".lock").strip("-.") or "plan"
