"""What a check is, what it finds, and the table in which every check stands."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from execplan.errors import ExecplanError
from execplan.linter.rule import ERROR, WARNING
from execplan.plan_store import plan_store
from execplan.project import project_discovery, project_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from execplan.edits.plan_writer import WriteOptions

    CheckFunction = Callable[["DoctorContext"], Iterator["Finding | str"]]
    from collections.abc import Callable

    from execplan.plan_store.plan_store import StoredPlan
    from execplan.project.project import Project


_FATAL_CODES = ("no-home", "bare-repository")
"""Refusals where there is nothing to look at."""


class AccessProblem(NamedTuple):
    """Why a home, or a folder of it, can't be looked at."""

    path: str
    error: ExecplanError


class DoctorContext:
    """A home and those that its settings name."""

    def __init__(self, start: str, script: Callable[[str], str]) -> None:
        self.start = start
        self.script = script
        """The completion script of a shell."""
        self.projects: list[Project] = []
        """Those whose settings can be read, the nearest first."""
        self.unreadable_folders: list[AccessProblem] = []
        """The folders of plans that can't be read, once `plans` was asked for."""
        self.settings_problems: list[AccessProblem] = []
        try:
            project = project_discovery.require(start)
        except ExecplanError as error:
            if error.code in _FATAL_CODES:
                raise
            self.settings_problems.append(
                AccessProblem(_relative_to_root(_settings_file_of(error, os.path.realpath(start))), error)
            )
            return
        self.projects.append(project)
        for name in project.settings.homes:
            limited = project._replace(settings=project.settings._replace(homes=(name,)))
            try:
                self.projects.append(project_discovery.with_nested_projects(limited)[1])
            except ExecplanError as error:
                path = _settings_file_of(error, os.path.join(project.base, name))
                self.settings_problems.append(AccessProblem(_relative_to_root(path), error))

    @property
    def project(self) -> Project:
        """The nearest home."""
        return self.projects[0]

    @cached_property
    def plans(self) -> list[StoredPlan]:
        """The plans of all homes; a folder of them that can't be read goes to `closed`."""
        return [
            stored_plan
            for project in self.projects
            for archived in (False, True)
            for stored_plan in self._load_plans(project, archived)
        ]

    def _load_plans(self, project: Project, archived: bool) -> list[StoredPlan]:
        try:
            return plan_store.load_all(project, plan_store.refs(project, archive=archived))
        except ExecplanError as error:
            self.unreadable_folders.append(
                AccessProblem(project.display_path(project.archives[0] if archived else project.plans), error)
            )
            return []

    @cached_property
    def state_projects(self) -> list[Project]:
        """A home for each folder of what is not committed."""
        return list({project.state: project for project in reversed(self.projects)}.values())


def _settings_file_of(error: ExecplanError, folder: str) -> str:
    """The file of settings that a refusal speaks of, in a folder or above it; or nothing."""
    while True:
        for name in (project_settings.SETTINGS_FILE, project_settings.PYPROJECT_FILE):
            path = os.path.join(folder, name)
            if name in error.message and os.path.exists(path):
                return path
        if folder == os.path.dirname(folder):
            return ""
        folder = os.path.dirname(folder)


def _relative_to_root(path: str) -> str:
    """A path from the root of its repository; as it is where there is none."""
    root = os.path.dirname(path)
    while root != os.path.dirname(root):
        if os.path.lexists(os.path.join(root, ".git")):
            return os.path.relpath(path, root)
        root = os.path.dirname(root)
    return path


__all__ = ["CHECKS", "ERROR", "WARNING", "Check", "Finding", "Fix", "check"]


class Fix(NamedTuple):
    """What `--fix` does."""

    description: str
    """What it is about to do, in words."""
    apply: Callable[[WriteOptions], list[str]]
    """Does it and says what it did; raises ExecplanError."""
    diff: str = ""
    """How it changes a plan."""


class Finding(NamedTuple):
    """One thing that is wrong."""

    level: str
    """`error`: a plan, an edit or the tool itself is in danger or out of reach; `warning`: something was left lying."""
    path: str
    """From the root of the repository, or empty."""
    message: str
    remedy: str
    """A command or an edit."""
    line: int = 0
    fix: Fix | None = None


class Check(NamedTuple):
    """A check as it is registered."""

    name: str
    find_problems: CheckFunction
    """Yields findings, and words that say more about what was looked at."""
    works_without_settings: bool
    """Whether it can be made where the settings can't be read."""

    @property
    def sentence(self) -> str:
        """What holds when it finds nothing."""
        return (self.find_problems.__doc__ or "").split("\n", 1)[0].rstrip(".")


CHECKS: dict[str, Check] = {}
"""Every check by its name."""


def check(name: str, *, works_without_settings: bool = False) -> Callable[[CheckFunction], CheckFunction]:
    """Register a function as a check; the first sentence of its docstring is what it says when nothing is wrong."""

    def register(find_problems: CheckFunction) -> CheckFunction:
        CHECKS[name] = Check(name, find_problems, works_without_settings)
        return find_problems

    return register
