"""Definition of doctor checks, their findings and fixes, and the registry of all checks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.plan_facts.facts_loader import load_facts
from execplan.core.plan_facts.listed_plan import ListedPlan
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_discovery, project_settings
from execplan.core.project.project import Project
from execplan.linter.rule import ERROR, NOTICE, WARNING

CheckFunction = Callable[["DoctorContext"], Iterator["DoctorFinding | str"]]


_FATAL_CODES = ("no-home", "bare-repository")
"""Codes of errors that leave nothing to check."""


class AccessProblem(NamedTuple):
    """An error that prevents a check of a project or of one of its directories."""

    path: str
    error: ExecplanError


class DoctorContext:
    """The projects to check: the nearest project and those that its settings name."""

    def __init__(self, start: str, script: Callable[[str], str]) -> None:
        self.start = start
        self.script = script
        """Function that returns a shell's completion script."""
        self.projects: list[Project] = []
        """Projects with readable settings, the nearest first."""
        self.unreadable_folders: list[AccessProblem] = []
        """Unreadable plan directories, filled when `plans` is first read."""
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
        self.projects += project_discovery.with_directories(project)
        for name in project.settings.homes:
            limited = project._replace(settings=project.settings._replace(directories={}, homes=(name,)))
            try:
                self.projects += project_discovery.with_nested_projects(limited)[1:]
            except ExecplanError as error:
                path = _settings_file_of(error, os.path.join(project.base, name))
                self.settings_problems.append(AccessProblem(_relative_to_root(path), error))

    @property
    def project(self) -> Project:
        """The project nearest to the start directory."""
        return self.projects[0]

    @cached_property
    def plans(self) -> list[ListedPlan]:
        """Plans of all projects with their facts; unreadable plan directories are added to `unreadable_folders`."""
        plans = [
            (project, ref)
            for project in self.projects
            for archived in (False, True)
            for ref in self._find_plans(project, archived)
        ]
        return load_facts(self.project, plans) if plans else []

    def _find_plans(self, project: Project, archived: bool) -> list[PlanRef]:
        try:
            return plan_store.refs(project, archive=archived)
        except ExecplanError as error:
            self.unreadable_folders.append(
                AccessProblem(project.display_path(project.archives[0] if archived else project.plans), error)
            )
            return []

    @cached_property
    def state_projects(self) -> list[Project]:
        """One project for each state directory, because projects of a repository share it."""
        return list({project.state: project for project in reversed(self.projects)}.values())


def _settings_file_of(error: ExecplanError, folder: str) -> str:
    """Return the settings file that an error names, in a directory or its parents, or an empty string."""
    while True:
        for name in (project_settings.SETTINGS_FILE, project_settings.PYPROJECT_FILE):
            path = os.path.join(folder, name)
            if name in error.message and os.path.exists(path):
                return path
        if folder == os.path.dirname(folder):
            return ""
        folder = os.path.dirname(folder)


def _relative_to_root(path: str) -> str:
    """Return a path relative to its repository's root, or unchanged outside a repository."""
    root = os.path.dirname(path)
    while root != os.path.dirname(root):
        if os.path.lexists(os.path.join(root, ".git")):
            return os.path.relpath(path, root)
        root = os.path.dirname(root)
    return path


__all__ = [
    "CHECKS",
    "ERROR",
    "NOTICE",
    "NOT_ARCHIVED",
    "WARNING",
    "DoctorCheck",
    "DoctorFinding",
    "DoctorFix",
    "JointFinding",
    "check",
]


class DoctorFix(NamedTuple):
    """A fix for a finding, which `--fix` applies."""

    description: str
    """Description of the fix, for a preview."""
    apply: Callable[[WriteOptions], list[str]]
    """Function that applies the fix and returns messages about it; raises ExecplanError."""
    diff: str = ""
    """Diff of the change to a plan."""


class JointFinding(NamedTuple):
    """How several equal findings are reported to people: with their number, and one remedy for all of them."""

    subject: str
    """Noun and predicate that follow the number."""
    remedy: str


NOT_ARCHIVED = JointFinding("plans are complete and not archived", "execplan archive --complete")


class DoctorFinding(NamedTuple):
    """A problem found by a doctor check."""

    level: str
    """`error` if a plan or the tool itself is at risk or inaccessible; `warning` for leftovers; `notice` for what is no problem."""
    path: str
    """Path from the repository root, or an empty string."""
    message: str
    remedy: str
    """Command or edit that solves the problem."""
    line: int = 0
    fix: DoctorFix | None = None
    joint: JointFinding | None = None


class DoctorCheck(NamedTuple):
    """A registered doctor check."""

    name: str
    find_problems: CheckFunction
    """Check function that yields findings, and notes about what it checked."""
    works_without_settings: bool
    """Whether the check can run if the settings can't be read."""
    is_about_staleness: bool = False
    """Whether the check runs only if stale plans are searched."""

    @property
    def sentence(self) -> str:
        """Sentence that is true if the check finds nothing."""
        return (self.find_problems.__doc__ or "").split("\n", 1)[0].rstrip(".")


CHECKS: dict[str, DoctorCheck] = {}
"""All registered checks by name."""


def check(
    name: str, *, works_without_settings: bool = False, is_about_staleness: bool = False
) -> Callable[[CheckFunction], CheckFunction]:
    """Register a function as a check; the first line of its docstring is printed if it finds nothing."""

    def register(find_problems: CheckFunction) -> CheckFunction:
        CHECKS[name] = DoctorCheck(name, find_problems, works_without_settings, is_about_staleness)
        return find_problems

    return register
