"""Search in the plans of one or several projects: ranked plans with their matching lines, read from the files again."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from execplan.context.search import index_update
from execplan.context.search.index_records import indexed_items
from execplan.context.search.match_lines import Match, make_match
from execplan.context.search.search_index import SearchIndex
from execplan.context.search.search_query import parse_query
from execplan.core import trace
from execplan.core.errors import BUSY, CONFLICT, ENVIRONMENT, ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_facts import index_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.context.search.index_records import Hit
    from execplan.context.search.index_update import IndexedPlan, PlanFile, Tick
    from execplan.context.search.search_query import SearchQuery
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.core.project.project_list import ListedProject, ProjectOrigin


@contextmanager
def open_search_index(project: Project) -> Iterator[SearchIndex]:
    """Open the index of a project, with the tables of the search. Raises what `open_index` raises."""
    with index_file.open_index(project) as database:
        index = SearchIndex(database)
        if not index.is_created():
            with index_file.index_lock(project), index.transaction():
                if not index.is_created():
                    index.create()
        yield index


@contextmanager
def open_memory_index() -> Iterator[SearchIndex]:
    """Open an empty index in memory. Raises ExecplanError if Python's SQLite does not support full-text search."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        index = SearchIndex(database)
        index.create()
        yield index


_FATAL_CODES = frozenset({"no-full-text-search", "worker-died"})
"""Codes of errors of the environment after which a search without the file of the index would fail, too."""
_NO_DIRECTORY = "no-such-file"
"""Code of the error if the directory of the index can't exist, because a file is in its place."""


class PlanResult(NamedTuple):
    """A plan that matches a query, with its best matches."""

    project: Project
    ref: PlanRef
    title: str | None
    state: str
    matches: tuple[Match, ...]
    """The best matches, best first."""
    match_count: int
    """Number of all matches in the plan."""
    score: float = 0.0
    """Rank of the best match; higher is better."""
    from_project: ProjectOrigin | None = None
    """The project of the plan; None if only one project was searched."""

    @property
    def display_path(self) -> str:
        """Path of the plan from the repository root, or an absolute path in another project."""
        return self.project.shown_path(self.ref.path)


class SearchResults(NamedTuple):
    """The result of a search."""

    plans: tuple[PlanResult, ...]
    """The best plans, best first."""
    plan_count: int
    """Number of all plans that match."""
    match_count: int
    """Number of all matches in all plans."""
    problems: tuple[str, ...]
    """Plans that can't be read, each with the reason."""
    failures: tuple[str, ...] = ()
    """Why some of several projects can't be searched."""
    max_matches: int = 0
    """Number of matches in the plan that has most of them, according to the index."""


def search(
    project: Project,
    query: str,
    *,
    limit: int,
    matches_per_plan: int,
    tick: Tick | None = None,
    path: str | None = None,
) -> SearchResults:
    """Search the live and archived plans of a project and its nested projects; secrets in the lines are redacted.

    With `path`, only the plan with this path from the repository root is searched. At most `limit` plans are returned.
    `tick` is called with the number of plans that were read for the index, and the total. Raises ExecplanError for an
    invalid query, for invalid settings, and if Python's SQLite has no full-text search.
    """
    parsed_query = parse_query(query)
    plan_files = index_update.list_plan_files(project)
    hits, problems = _find_hits(project, plan_files, parsed_query, tick)
    if path is not None:
        hits = [hit for hit in hits if hit.path == os.fsencode(path)]
    hits_by_path: dict[bytes, list[Hit]] = {}
    for hit in hits:
        hits_by_path.setdefault(hit.path, []).append(hit)
    files_by_path = {plan_file.path: plan_file for plan_file in plan_files}
    results: list[PlanResult] = []
    for hit_path, plan_hits in hits_by_path.items():
        if len(results) == limit:
            break
        result = _read_result(files_by_path[hit_path], plan_hits, parsed_query, matches_per_plan)
        if result is not None:
            results.append(result)
    max_matches = max(map(len, hits_by_path.values()), default=0)
    return SearchResults(tuple(results), len(hits_by_path), len(hits), problems, max_matches=max_matches)


def _find_hits(
    project: Project, plan_files: Sequence[PlanFile], query: SearchQuery, tick: Tick | None
) -> tuple[list[Hit], tuple[str, ...]]:
    """Return the matching items according to the index, best first, and the plans that can't be read."""
    for _ in range(2):  # a damaged index is removed, and created again
        try:
            with open_search_index(project) as index:
                index_update.update(index, plan_files, partial(index_file.index_lock, project), tick)
                return _query_index(index, plan_files, query)
        except sqlite3.Error as error:
            trace.log(f"can't use {index_file.index_path(project)}: {error}")
            try:
                if not index_file.remove_damaged(project, error):
                    break
            except (OSError, ExecplanError):
                break
        except OSError as error:
            trace.log(f"can't use {index_file.index_path(project)}: {error}")
            break
        except ExecplanError as error:
            is_unusable = error.exit in (BUSY, CONFLICT, ENVIRONMENT) or error.code == _NO_DIRECTORY
            if error.code in _FATAL_CODES or not is_unusable:
                raise
            trace.log(f"can't use {index_file.index_path(project)}: {error.message}")
            break
    with open_memory_index() as index:
        index_update.update(index, plan_files, tick=tick)
        return _query_index(index, plan_files, query)


def _query_index(
    index: SearchIndex, plan_files: Sequence[PlanFile], query: SearchQuery
) -> tuple[list[Hit], tuple[str, ...]]:
    paths = {plan_file.path for plan_file in plan_files}
    hits = [hit for hit in index.find(query) if hit.path in paths]
    problems = [
        f"{os.fsdecode(record.path)} can't be searched: {record.problem}"
        for record in index.records().values()
        if record.problem and record.path in paths
    ]
    return hits, tuple(sorted(problems))


def _read_result(
    plan_file: PlanFile, hits: Sequence[Hit], query: SearchQuery, matches_per_plan: int
) -> PlanResult | None:
    """Read the plan again, and return its best matches, or None if it no longer has any."""
    content = index_update.read_content(plan_file)
    if content.record.problem:
        return None
    positions = [hit.position for hit in hits]
    spans = _mark_items(content, positions[:matches_per_plan], query)
    if spans is None:  # the plan is not as it was indexed
        spans = _mark_items(content, range(len(content.items)), query)
        assert spans is not None
        positions = [position for position in positions if position in spans] + sorted(spans.keys() - positions)
    if not spans:
        return None
    matches = [
        make_match(plan_file, content.items[position], spans[position]) for position in positions[:matches_per_plan]
    ]
    record = content.record
    return PlanResult(
        plan_file.project,
        plan_file.ref,
        record.title or None,
        record.state,
        tuple(matches),
        len(positions),
        max([hit.score for hit in hits]),
    )


def _mark_items(
    content: IndexedPlan, positions: Sequence[int], query: SearchQuery
) -> dict[int, list[tuple[int, int]]] | None:
    """Return the spans of matching words in items, by position; None if there is no such item, or one does not match.

    When all items are given, those that don't match are left out.
    """
    if max(positions, default=0) >= len(content.items):
        return None
    with open_memory_index() as index:
        items = indexed_items(content.record, [(position, content.items[position]) for position in positions])
        index.add(content.record, items)
        spans = index.mark_matches(query)
    return spans if len(spans) == len(positions) or len(positions) == len(content.items) else None


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
