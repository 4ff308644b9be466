"""Where the comments of a plan are; without other imports, because commands check for every plan whether it has some."""

from __future__ import annotations

import os
from typing import Final

from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project

COMMENTS_FILE: Final = "comments.jsonl"
ATTRIBUTES_FILE: Final = ".gitattributes"
"""File next to the comments that tells git how to merge them."""


def comments_path(project: Project, ref: PlanRef) -> str:
    """Return the path of the file with a plan's comments, existing or not."""
    return os.path.join(project.plan_artifacts_dir(ref.path, archived=ref.archived), COMMENTS_FILE)


def has_comments(project: Project, ref: PlanRef) -> bool:
    """Return whether a plan has a file of comments."""
    return os.path.lexists(comments_path(project, ref))
