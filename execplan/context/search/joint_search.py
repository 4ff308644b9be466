"""Search in the plans of several projects: each has an index of its own, and the results are ranked together."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.context.search.plan_search import SearchResults, search
from execplan.context.search.search_query import parse_query
from execplan.core.errors import ExecplanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.context.search.index_update import Tick
    from execplan.context.search.plan_search import PlanResult
    from execplan.core.project.project_list import ListedProject


def search_projects(
    projects: Sequence[ListedProject], query: str, *, limit: int, matches_per_plan: int, tick: Tick | None = None
) -> SearchResults:
    """Search the plans of several projects; the options are those of `search`.

    Scores of different indexes are compared as they are: a word that is rare in one project weighs more there. A project
    that can't be searched is a failure, and doesn't hide the others. Raises ExecplanError for an invalid query.
    """
    parse_query(query)
    plans: list[PlanResult] = []
    problems: list[str] = []
    failures: list[str] = []
    query_errors: list[ExecplanError] = []
    plan_count = match_count = max_matches = 0
    for listed in projects:
        try:
            results = search(listed.project, query, limit=limit, matches_per_plan=matches_per_plan, tick=tick)
        except ExecplanError as error:
            if error.code == "unknown-filter-value":  # it names a section that no plan of this project has
                query_errors.append(error)
            else:
                failures.append(f"{listed.origin.name}: {error.message}")
            continue
        plans += [_with_origin(plan, listed) for plan in results.plans]
        problems += [f"{listed.origin.name}: {problem}" for problem in results.problems]
        plan_count += results.plan_count
        match_count += results.match_count
        max_matches = max(max_matches, results.max_matches)
    if query_errors and len(query_errors) == len(projects):
        raise query_errors[0]
    plans.sort(key=lambda plan: -plan.score)
    return SearchResults(tuple(plans[:limit]), plan_count, match_count, tuple(problems), tuple(failures), max_matches)


def _with_origin(plan: PlanResult, listed: ListedProject) -> PlanResult:
    """Return a result with its project; paths in another project are absolute."""
    matches = plan.matches
    if listed.project.is_read_only:
        root = listed.project.root
        matches = tuple([match._replace(path=os.path.join(root, match.path)) for match in matches])
    return plan._replace(matches=matches, from_project=listed.origin)
