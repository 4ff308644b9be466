"""The `execplan search` command."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.option_rules import excludes, option_rules
from execplan.cli.shared_options import PROJECT_OPTIONS, projects_option, select_projects
from execplan.core.errors import CHECK_FAILED, OK, usage_error
from execplan.core.plan_store import plan_selection
from execplan.core.project import project_discovery

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.context.search.index_update import Tick
    from execplan.context.search.plan_search import SearchResults

_DEFAULT_LIMIT = 10
_DEFAULT_MATCHES = 3
_MAX_NUMBER = 10_000
_SIMPLE_QUERY = "\"'*:-"
"""Characters that a query must not have for a suggestion to add an asterisk to its words."""


@define_command(
    reads=(
        "the plans, including archived ones and those of nested projects; the names of their artifacts; "
        "the index in the state directory."
    ),
    writes=(
        "the index, which is rebuilt whenever it is missing or outdated, and for other projects is in ~/.cache/execplan; "
        "nothing else."
    ),
    examples=(
        "execplan search parser",
        "execplan search 'pars* in:decisions author:ann'",
        "execplan search '\"read lines\" task:open -tests'",
        "execplan search 'task:done after:2026-01' --json",
        "execplan search tests -p parser",
        "execplan search parser --project . --project ../other",
    ),
    takes_excluded_words=True,
    finishes_moves=False,  # a command that writes finishes an interrupted move
    may_page=True,
)
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@click.option("-p", "--plan", metavar="PLAN", help="Search only this plan. Default: all plans.")
@click.option(
    "--limit",
    type=click.IntRange(1, _MAX_NUMBER),
    default=_DEFAULT_LIMIT,
    help=f"Show at most this many plans (default: {_DEFAULT_LIMIT}).",
)
@click.option(
    "--matches",
    type=click.IntRange(1, _MAX_NUMBER),
    default=_DEFAULT_MATCHES,
    help=f"Show at most this many matches of each plan (default: {_DEFAULT_MATCHES}).",
)
@projects_option
@option_rules(excludes("-p", *PROJECT_OPTIONS, hint="use the filter plan: in the query"))
def search(
    call: Call,
    query: tuple[str, ...],
    *,
    plan: str | None,
    limit: int,
    matches: int,
    project_paths: tuple[str, ...],
    all_projects: bool,
) -> Answer:
    """Search plans: titles, sections, tasks, decisions and artifacts.

    Finds what contains all words of the query: a title, a task, an entry, a part of a section, or the name of an
    artifact. Use "quotes" for a phrase, word* for a prefix, and -word to exclude a word. Case and accents don't matter.
    Filters narrow the search: in:decisions, task:open, author:ann, before:2026-10-01, after:2026-10, state:active,
    plan:parser. Put the query in single quotes, so that the shell leaves it unchanged: execplan explain search.
    """
    from execplan.cli.output.progress_bar import ProgressBar
    from execplan.cli.output.search_output import format_results, results_json
    from execplan.context.search import plan_search
    from execplan.context.search.plan_search import search_projects
    from execplan.context.search.search_query import unknown_filters

    text = " ".join(query)
    if not text.strip():
        raise usage_error("the query is empty", "search for a word: execplan search parser")
    selected = select_projects(project_paths, all_projects=all_projects)
    path = _find_path(plan) if plan is not None else None
    options = _selection_arguments(plan, project_paths, all_projects=all_projects)
    problems: tuple[str, ...] = ()

    def find(words: str, plans: int, plan_matches: int, tick: Tick | None = None) -> SearchResults:
        if selected is None:
            project = project_discovery.require(os.getcwd())
            return plan_search.search(project, words, limit=plans, matches_per_plan=plan_matches, tick=tick, path=path)
        return search_projects(selected.projects, words, limit=plans, matches_per_plan=plan_matches, tick=tick)

    with ProgressBar("indexing", is_enabled=not call.quiet) as progress:
        results = find(text, limit, matches, progress.tick)
    if selected is not None:
        problems = (*selected.problems, *results.failures)
    unknown = () if results.plans else unknown_filters(text)
    notices = selected.notices if selected is not None else ()
    return Answer(
        {"query": text, **results_json(results)},
        format_results(results) if results.plans else "no matches",
        CHECK_FAILED if problems else OK,
        warnings=(*problems, *notices, *results.problems, *unknown),
        next_commands=_next_commands(find, text, results, limit, matches, options),
    )


def _find_path(plan: str) -> str:
    """Return the path of a plan from the repository root."""
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    return project.display_path(ref.path)


def _selection_arguments(plan: str | None, project_paths: tuple[str, ...], *, all_projects: bool) -> str:
    """Return the options that name the plan or projects, for a command line."""
    options = [f" -p {quote(plan)}"] if plan is not None else []
    options += [f" --project {quote(path)}" for path in project_paths]
    return "".join([*options, " --all-projects" if all_projects else ""])


def _next_commands(
    find: Callable[[str, int, int], SearchResults],
    query: str,
    results: SearchResults,
    limit: int,
    matches: int,
    options: str,
) -> tuple[str, ...]:
    """Suggest the rest of the results, or a search for prefixes if there are none."""
    if results.plans:
        match_counts = [plan.match_count for plan in results.plans]
        required = max(limit, results.plan_count), max(matches, results.max_matches, *match_counts)
        return () if required == (limit, matches) else (_search_command(query, *required, options),)
    if any([char in query for char in _SIMPLE_QUERY]):
        return ()
    prefixes = " ".join([f"{word}*" for word in query.split()])
    return (f"execplan search {quote(prefixes)}{options}",) if find(prefixes, 1, 1).plans else ()


def _search_command(query: str, limit: int, matches: int, options: str) -> str:
    """Return the command for a search with these limits and options."""
    options += f" --limit {min(limit, _MAX_NUMBER)}" if limit != _DEFAULT_LIMIT else ""
    options += f" --matches {min(matches, _MAX_NUMBER)}" if matches != _DEFAULT_MATCHES else ""
    if query[0] == "-":
        return f"execplan search{options} -- {quote(query)}"
    return f"execplan search {quote(query)}{options}"
