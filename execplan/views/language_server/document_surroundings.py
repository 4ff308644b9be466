"""What the rules need to know about the place of a document, which stays the same while someone types."""

from __future__ import annotations

import os
import time
from functools import cached_property
from typing import TYPE_CHECKING, Final, Self

from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_store
from execplan.core.project import project_discovery
from execplan.linter.checking.check_targets import TargetGroup
from execplan.linter.checking.modified_plans import load_committed_plans
from execplan.linter.checking.plan_check import CheckOptions
from execplan.linter.checking.plan_histories import add_histories
from execplan.linter.checking.repository_trees import RepositoryTrees

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

_MAX_AGE: Final = 10.0
"""Seconds after which files of the repository are looked up again."""


class Surroundings:
    """The project of a file, and the rules' data about the repository around it."""

    def __init__(self, project: Project, ref: PlanRef) -> None:
        self.project = project
        self.ref = ref
        self._time = time.monotonic()

    @classmethod
    def find(cls, path: str) -> Self:
        """Find the project of a file. Raises ExecplanError, for example if its settings are invalid."""
        project = project_discovery.find_for_file(path)
        return cls(project, plan_store.ref_for_path(project, path))

    @property
    def is_outdated(self) -> bool:
        """Whether the repository may have changed meanwhile."""
        return time.monotonic() - self._time > _MAX_AGE

    @cached_property
    def is_in_plans_directory(self) -> bool:
        """Whether the file is among the plans of a project, archived or not."""
        if not self.project.exists:
            return False
        path = self.ref.path
        names = plan_store.plan_files(self.project, archive=self.ref.archived)
        directory, name = os.path.split(path)
        return any([folder == directory and name in files for folder, files in names]) or self._is_new_plan(directory)

    @cached_property
    def check_options(self) -> CheckOptions:
        """The committed version of the file, its history if a rule needs that, and the files of the repository."""
        options = CheckOptions(trees=RepositoryTrees())
        directory, name = os.path.split(self.ref.path)
        group = TargetGroup(self.project, directory, "", self.ref.archived, [name])
        try:
            if self.project.settings.lint:
                options = add_histories([group], options)
            if options.histories is None and self.project.git is not None and not self.ref.archived:
                options = options._replace(committed=load_committed_plans(group))
        except ExecplanError:
            return options  # git can't be asked, so the rules that compare with it don't run
        return options

    def _is_new_plan(self, directory: str) -> bool:
        """Return whether the file would be a plan once it is saved."""
        is_missing = not os.path.lexists(self.ref.path)
        return is_missing and directory == self.project.plans and self.project.is_flat and self.ref.path.endswith(".md")
