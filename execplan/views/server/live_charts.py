"""Charts of live pages, drawn when a page needs them, at addresses that change with their content.

A browser shows an image that it has loaded once again without asking, as long as the address stays the same.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_store
from execplan.core.text.text_lines import digest
from execplan.team.history.plan_history import load_history
from execplan.views.charts.chart_sources import read_plan_sources
from execplan.views.site.page_charts import draw_plan_chart, draw_project_charts
from execplan.views.site.page_context import CHARTS_DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
    from execplan.core.project.project import Project
    from execplan.team.history.history_event import HistoryEvent
    from execplan.views.site.page_charts import ChartImage

_MAX_IMAGES = 500
"""Number of images to keep for the pages that show them, 20 KB each."""


class LiveCharts:
    """The charts that pages show now."""

    def __init__(self) -> None:
        self._images: dict[str, str] = {}
        self._lock = threading.Lock()  # several pages may be rendered at once

    def draw_plan(
        self, stored_plan: StoredPlan, events: Sequence[HistoryEvent] | None, page: str
    ) -> tuple[ChartImage, ...]:
        """Draw the progress of the plan of a page; nothing if there is nothing to draw."""
        if stored_plan.plan is None:
            return ()
        with self._lock:
            image = draw_plan_chart(read_plan_sources(stored_plan), events, page)
            return (self._keep(image),) if image is not None else ()

    def draw_project(self, projects: Sequence[Project], plans: Sequence[tuple[Project, PlanRef]]) -> list[ChartImage]:
        """Draw the charts of all plans of projects; without Git, or if it fails, those that need no history."""
        try:
            events = [event for project in projects if project.git for event in load_history(project)]
        except ExecplanError:
            events = []
        events.sort(key=lambda event: event.time, reverse=True)
        sources = [read_plan_sources(plan_store.load(project, ref)) for project, ref in plans]
        with self._lock:
            images = draw_project_charts(sources, events if any([project.git for project in projects]) else None)
            return [self._keep(image) for image in images]

    def read(self, path: str) -> bytes | None:
        """Return the image at a path of the site; None if no page has shown it lately."""
        image = self._images.get(path)
        return image.encode() if image is not None else None

    def _keep(self, image: ChartImage) -> ChartImage:
        """Keep an image and return it with its address."""
        name = image.target.removeprefix(f"{CHARTS_DIRECTORY}/")
        target = f"{CHARTS_DIRECTORY}/{digest(image.svg.encode())[:16]}/{name}"
        self._images.pop(target, None)
        self._images[target] = image.svg
        while len(self._images) > _MAX_IMAGES:
            del self._images[next(iter(self._images))]
        return image._replace(target=target)
