"""A project: the directory with the settings, and the plans in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.plan_store import plan_store
from execplan.core.project import project_discovery
from execplan.library.plan_api import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from execplan.context.search.plan_search import SearchResults
    from execplan.core.project.project import Project as ProjectRecord
    from execplan.core.project.project_settings import Settings
    from execplan.team.history.history_event import HistoryEvent

_DEFAULT = WriteOptions()


class Project:
    """A directory with plans: found from any directory inside it, or set up."""

    def __init__(self, record: ProjectRecord) -> None:
        self.record = record
        """The directories and settings, as the rest of the package takes them."""

    @classmethod
    def find(cls, directory: str | os.PathLike[str] = ".") -> Self:
        """Find the project that contains a directory: the nearest one with settings or plans.

        Raises ExecplanError (code `no-home`) if there is none up to the root of the git repository.
        """
        return cls(project_discovery.require(os.fspath(directory)))

    @classmethod
    def init(
        cls,
        directory: str | os.PathLike[str] = ".",
        *,
        plans: str | None = None,
        options: WriteOptions = _DEFAULT,
    ) -> Self:
        """Set up plans as `execplan init` does, and return the project; existing files stay as they are.

        `plans` is the directory for plans; without it, one that has plans, or `.agent/execplans`.
        """
        from execplan.core.scaffold.project_setup import set_up_project
        from execplan.core.scaffold.project_survey import survey_project

        survey = survey_project(project_discovery.find(os.fspath(directory)), plans)
        set_up_project(survey, options)
        return cls(project_discovery.find(os.fspath(directory)))

    def __repr__(self) -> str:
        """Show the project with its root."""
        return f"Project({self.root!r})"

    @property
    def root(self) -> str:
        """The absolute path of the directory with the settings and the plans."""
        return self.record.base

    @property
    def settings(self) -> Settings:
        """The settings, with defaults for those that are not set."""
        return self.record.settings

    def plans(self, *, archived: bool = False) -> list[Plan]:
        """Return the plans outside of the archive by name, or the archived ones."""
        return [Plan(self.record, ref) for ref in plan_store.refs(self.record, archive=archived)]

    def plan(self, name: str | None = None) -> Plan:
        """Find a plan by its ID, a unique part of its ID or title, or its path; without a name, the sticky or only open plan."""
        return Plan.find(name, self.root)

    def history(self) -> list[HistoryEvent]:
        """Return what happened to all plans, newest first, as `execplan log` shows it; changes not committed come first.

        Archived and deleted plans are included. Raises ExecplanError without a git repository.
        """
        from execplan.team.history.plan_history import load_history

        return load_history(self.record)

    def search(self, query: str, *, limit: int = 10, matches_per_plan: int = 3) -> SearchResults:
        """Search all plans as `execplan search` does, and return the best ones with their best matches.

        Secrets in the lines are redacted. Raises ExecplanError for an invalid query.
        """
        from execplan.context.search.plan_search import search

        return search(self.record, query, limit=limit, matches_per_plan=matches_per_plan)

    def new(
        self,
        title: str,
        *,
        purpose: str = "",
        tasks: Sequence[str] = (),
        template: str | None = None,
        commit: bool | None = None,
    ) -> Plan:
        """Write a new plan from a template, under an ID that is free, and return it.

        `commit` defaults to the setting of that name.
        """
        from execplan.core.scaffold.plan_creation import create_plan

        created = create_plan(self.record, title, purpose, tasks, WriteOptions(commit=commit), template)
        return Plan(self.record, plan_store.ref_for_path(self.record, os.path.join(self.record.root, created.path)))
