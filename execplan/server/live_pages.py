"""The pages as they are now, rendered from the current files, and the plans that they belong to."""

from __future__ import annotations

import os
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from execplan.plan.plan_lookup import task_ids
from execplan.plan_store import plan_store
from execplan.project import project_discovery
from execplan.server.file_watch import take_snapshot
from execplan.text.text_lines import digest

if TYPE_CHECKING:
    from collections.abc import Hashable

    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project


class LivePlan(NamedTuple):
    """A plan that has a page."""

    project: Project
    ref: PlanRef


class LivePages:
    """The pages of the project that contains a directory."""

    def __init__(self, directory: str, token: str) -> None:
        self._directory = directory
        self._token = token

    def find_plan(self, page: str) -> LivePlan | None:
        """Return the plan of a page such as `plans/parser.html`; None if there is none."""
        return self._plans().get(page)

    def version(self, page: str) -> Hashable:
        """Return a value that differs whenever the page may differ."""
        plan = self.find_plan(page)
        return repr(take_snapshot(self._directory)), digest(plan_store.load(*plan).data) if plan else None

    def render(self, page: str) -> str | None:
        """Return the HTML of a page; None if there is none."""
        if page == "index.html":
            return self._document("".join(f'<a href="/{escape(name)}">{escape(name)}</a>' for name in self._plans()))
        plan = self.find_plan(page)
        if plan is None:
            return None
        stored_plan = plan_store.load(*plan)
        parsed = stored_plan.require_plan()
        forms = [
            f'<form method="post"><input type="hidden" name="token" value="{self._token}">'
            f'<input type="hidden" name="digest" value="{digest(stored_plan.data)}">'
            f'<input type="hidden" name="task" value="{escape(task_id)}">{escape(task.state)} {escape(task.text)}'
            f'<button name="action" value="{"done" if task.state == "open" else "reopen"}">Toggle</button></form>'
            for task, task_id in zip(parsed.tasks, task_ids(parsed.tasks), strict=True)
        ]
        return self._document(f"<h1>{escape(parsed.title or '')}</h1>" + "".join(forms))

    def _plans(self) -> dict[str, LivePlan]:
        project = project_discovery.require(os.fspath(self._directory))
        return {
            f"plans/{ref.id}.html": LivePlan(member, ref)
            for member in project_discovery.with_nested_projects(project)
            for ref in plan_store.all_refs(member)
        }

    def _document(self, content: str) -> str:
        return f'<!doctype html><html lang="en"><title>Plans</title><main>{content}</main></html>'
