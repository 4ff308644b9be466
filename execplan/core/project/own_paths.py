"""The paths of a project that belong to plans or to execplan itself."""

from __future__ import annotations

import os
from collections.abc import Callable

from execplan.core.project.project import Project
from execplan.core.text.pure_paths import is_inside


def make_own_path_check(project: Project) -> Callable[[str], bool]:
    """Return a function that tells whether a path from the root belongs to a plan or to execplan."""
    own_paths = [*project.plan_paths, project.state, os.path.join(project.base, ".agent")]
    return lambda path: any([is_inside(os.path.join(project.root, path), own) for own in own_paths])
