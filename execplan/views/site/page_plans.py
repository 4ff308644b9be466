"""The plans that have pages, with the facts that their pages need: findings, artifacts, history."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.git.git_directory import head_commit
from execplan.core.plan_store import plan_store
from execplan.core.project.project_discovery import with_nested_projects
from execplan.core.text.text_lines import digest
from execplan.team.history.plan_history import incomplete_history_warnings, load_history
from execplan.views.site.artifact_copies import list_artifacts
from execplan.views.site.page_charts import plan_chart_target, select_charted_plans
from execplan.views.site.plan_view import PageFacts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.team.history.history_event import HistoryEvent
    from execplan.views.board.board_cards import Board, Card
    from execplan.views.site.page_cache import PageCache
    from execplan.views.site.page_context import PageNames
    from execplan.views.site.site_parts import SitePart

    PlanRefs = Mapping[str, tuple[SitePart, Project, PlanRef]]
    """The plans by their paths on the board."""


class PagePlan(NamedTuple):
    """A plan with the facts that its page needs."""

    part: SitePart
    project: Project
    """The project of the part, or one nested in it."""
    ref: PlanRef
    card: Card
    page: str
    """Path of the page in the site."""
    facts: PageFacts
    has_chart: bool

    @property
    def targets(self) -> list[str]:
        """Return the files that the plan may have in the site."""
        copies = [artifact.target for artifact in self.facts.artifacts if artifact.target]
        return [self.page, *copies, *([plan_chart_target(self.page)] if self.has_chart else [])]


def load_page_plans(
    parts: Sequence[SitePart], board: Board, names: PageNames, cache: PageCache | None, warnings: list[str]
) -> list[PagePlan]:
    """Load the plans of a board in its order; problems that leave out a part of the pages are added to `warnings`."""
    refs = {
        part.prefix + member.display_path(ref.path): (part, member, ref)
        for part in parts
        for member in with_nested_projects(part.project)
        for ref in plan_store.all_refs(member)
    }
    events = _load_events(parts, refs, cache, warnings)
    charted_paths = select_charted_plans(board)
    page_plans = []
    for card in board.cards:
        if card.path in refs:
            part, member, ref = refs[card.path]
            page = names.page(card.path)
            artifacts = tuple(list_artifacts(member, ref, page))
            facts = PageFacts(part.board.findings.get(card.path, ()), events.get(card.path, ()), artifacts)
            page_plans.append(PagePlan(part, member, ref, card, page, facts, card.path in charted_paths))
    return page_plans


def _load_events(
    parts: Sequence[SitePart], refs: PlanRefs, cache: PageCache | None, warnings: list[str]
) -> dict[str, list[HistoryEvent]]:
    """Return the events of each plan by its path; none without Git, or with a warning if Git fails."""
    git_parts = [part for part in parts if part.project.git is not None]
    if not git_parts:
        return {}

    def load() -> list[HistoryEvent]:
        return [
            event._replace(path=part.prefix + event.path)
            for part in git_parts
            for member in with_nested_projects(part.project)
            for event in load_history(member)
        ]

    events_by_path: dict[str, list[HistoryEvent]] = {}
    try:
        heads = [head_commit(part.project) for part in git_parts]
        key = digest(repr((heads, _file_states(refs))).encode("utf-8", "surrogatepass"))
        events = cache.events(key, load) if cache is not None else load()
    except ExecplanError as error:
        warnings.append(f"the pages have no history: {error.message}; {error.hint}")
        return {}
    for part in git_parts:
        warnings += incomplete_history_warnings(part.project)
    for event in events:
        events_by_path.setdefault(event.path, []).append(event)
    return events_by_path


def _file_states(refs: PlanRefs) -> list[tuple[str, int, int]]:
    """Return the size and the time of the last change of each plan's file, on which changes without a commit depend."""
    states = []
    for path, (_, _, ref) in refs.items():
        try:
            status = os.stat(ref.path)
        except OSError:
            continue
        states.append((path, status.st_size, status.st_mtime_ns))
    return states
