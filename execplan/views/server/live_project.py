"""The plans of a project as they are now, loaded again when a file has changed."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.clock import current_minute
from execplan.core.plan_store import plan_store
from execplan.core.project import project_discovery
from execplan.core.text.text_lines import digest
from execplan.views.board.board_changes import PROJECT, take_snapshot
from execplan.views.board.board_loader import load_board
from execplan.views.server.change_feed import EVERYTHING
from execplan.views.site.page_context import PageNames
from execplan.views.site.redacted_records import redact_board

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.views.board.board_cards import Board
    from execplan.views.board.board_changes import Snapshot
    from execplan.views.site.redacted_records import RedactText


class LivePlan(NamedTuple):
    """A plan that has a page."""

    project: Project
    ref: PlanRef


class PageVersion(NamedTuple):
    """What a page is rendered from; equal versions are equal pages."""

    snapshot: Snapshot
    minute: int
    """Minutes since 1970: claims expire, and plans stall."""
    digest: str
    """SHA-256 of the plan's file: two edits can be too close for the time of a file to tell them apart."""


class ProjectState(NamedTuple):
    """The plans of a project at one time."""

    board: Board
    """The board with the archived plans; its texts are redacted."""
    pages: PageNames
    members: list[Project]
    """The project and its nested projects."""
    plans: dict[str, LivePlan]
    """Plans by their path from the repository root."""

    def find_plan(self, page: str) -> LivePlan | None:
        """Return the plan of a page such as `plans/parser.html`; None if there is none."""
        return self.plans.get(self.pages.path(page))


class LiveProject:
    """The project that contains a directory; several threads can use it."""

    def __init__(self, directory: str, redact_text: RedactText) -> None:
        self._directory = directory
        self._redact_text = redact_text
        self._state: tuple[Snapshot, int, ProjectState] | None = None
        self._lock = threading.Lock()

    def take_snapshot(self) -> Snapshot:
        """Return the states of the project's files. Raises ExecplanError if the project can't be read."""
        return take_snapshot(project_discovery.require(self._directory))

    def load(self) -> ProjectState:
        """Return the plans as they are now. Raises ExecplanError if the project can't be read."""
        return self._load(self.take_snapshot(), current_minute())

    @property
    def plan_count(self) -> int:
        """Return the number of plans when they were loaded last; 0 before that."""
        return len(self._state[2].plans) if self._state is not None else 0

    def prepare(self, tick: Callable[[int, int], None]) -> None:
        """Load the plans before other threads run, which would keep this from using several processes.

        `tick` is called with the number of plans checked and the total. Raises ExecplanError if the project can't be read.
        """
        with self._lock:
            self._state = self.take_snapshot(), current_minute(), self._load_state(tick)

    def version(self, page: str) -> PageVersion:
        """Return the current version of a page. Raises ExecplanError if the project can't be read."""
        snapshot, minute = self.take_snapshot(), current_minute()
        plan = self._load(snapshot, minute).find_plan(page)
        return PageVersion(snapshot, minute, digest(plan_store.load(*plan).data) if plan is not None else "")

    def find_plan(self, page: str) -> LivePlan | None:
        """Return the plan of a page; None if there is none. Raises ExecplanError if the project can't be read.

        A page that was rendered before is not looked for again: an edit compares the digest of the plan anyway.
        """
        known_plan = self._state[2].find_plan(page) if self._state is not None else None
        if known_plan is not None and os.path.exists(known_plan.ref.path):
            return known_plan
        return self.load().find_plan(page)

    def changed_pages(self, earlier: Snapshot, later: Snapshot) -> frozenset[str]:
        """Return the pages of the plans whose files differ; with EVERYTHING, any page may differ."""
        changed_plans = later.changed_plans(earlier)
        if self._state is None or PROJECT in changed_plans:
            return frozenset((EVERYTHING,) if changed_plans else ())
        _, _, state = self._state
        names = [state.members[0].display_path(path) for path in changed_plans]
        return frozenset([state.pages.page(name) or EVERYTHING for name in names])  # a new plan has no page yet

    def _load(self, snapshot: Snapshot, minute: int) -> ProjectState:
        """Return the plans as they are now; loaded again only if a file has changed or a minute has passed."""
        with self._lock:
            if self._state is None or self._state[:2] != (snapshot, minute):
                self._state = snapshot, minute, self._load_state()
            return self._state[2]

    def _load_state(self, tick: Callable[[int, int], None] | None = None) -> ProjectState:
        project = project_discovery.require(self._directory)
        members = project_discovery.with_nested_projects(project)
        board = redact_board(load_board(project, archived=True, tick=tick), self._redact_text)
        plans = {
            member.display_path(ref.path): LivePlan(member, ref)
            for member in members
            for ref in plan_store.all_refs(member)
        }
        return ProjectState(board, PageNames(board.cards), members, plans)
