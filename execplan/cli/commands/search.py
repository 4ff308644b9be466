"""The `execplan search` command."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call, json_fields
from execplan.cli.command_definition import define_command
from execplan.cli.error_handler import printable_line
from execplan.cli.option_rules import excludes, option_rules
from execplan.cli.output.terminal_layout import STATE_STYLES, is_terminal, paint, terminal_size
from execplan.cli.shared_options import PROJECT_OPTIONS, projects_option, select_projects
from execplan.context.search.search_items import SECTION
from execplan.core.errors import CHECK_FAILED, OK, usage_error
from execplan.core.plan_store import plan_selection
from execplan.core.project import project_discovery
from execplan.core.text.message_parts import format_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.context.search.index_update import Tick
    from execplan.context.search.match_lines import Match
    from execplan.context.search.plan_search import PlanResult, SearchResults

_MATCH_STYLE = "bold red"
_MAX_LINE_LENGTH = 200
"""Maximum characters of a line outside a terminal; plans with one line for each paragraph have longer ones."""
_MIN_LINE_LENGTH = 16
_LEAD_LENGTH = 20
"""Maximum characters before the first match in a shortened line."""


def format_results(results: SearchResults) -> str:
    """Return the results as text."""
    if not is_terminal():
        lines = [
            f"{_location(match)}: {_label(match)}: {_format_line(match, _MAX_LINE_LENGTH)}"
            for plan in results.plans
            for match in plan.matches
        ]
        shown_count = sum([len(plan.matches) for plan in results.plans])
        if shown_count < results.match_count:
            plans = format_count(results.plan_count, "plan")
            lines.append(f"{shown_count} of {results.match_count} matches in {plans} shown")
        return "\n".join(lines)
    blocks = [_format_plan(plan) for plan in results.plans]
    if results.plan_count > len(results.plans):
        blocks.append(f"{len(results.plans)} of {format_count(results.plan_count, 'plan')} shown")
    return "\n\n".join(blocks)


def _format_plan(plan: PlanResult) -> str:
    """Return a plan with its matches for a terminal."""
    if plan.match_count > len(plan.matches):
        count = f"{len(plan.matches)} of {plan.match_count} matches"
    else:
        count = f"{plan.match_count} match{'' if plan.match_count == 1 else 'es'}"
    state = paint(plan.state, STATE_STYLES.get(plan.state, ""))
    title = paint(printable_line(plan.title or "(no title)"), "bold")
    path = printable_line(plan.display_path)
    lines = [f"{title}  {state}, {count}", paint(path, "cyan")]
    width = max([len(str(match.line)) for match in plan.matches])
    label_width = max([len(_label(match)) for match in plan.matches])
    columns = terminal_size()[0]
    label_width = min(label_width, max(columns // 4, 10))
    for match in plan.matches:
        location = str(match.line) if match.line else "-"
        label = _label(match)
        label = label if len(label) <= label_width else label[: label_width - 1] + "…"
        prefix = f"  {location:>{width}}  {label:{label_width}}  "
        lines.append(prefix + _format_line(match, max(columns - len(prefix), _MIN_LINE_LENGTH)))
    return "\n".join(lines)


def _location(match: Match) -> str:
    path = printable_line(match.path)
    return f"{path}:{match.line}" if match.line else path


def _label(match: Match) -> str:
    """Return the kind of a match, for text of a section its headings."""
    return printable_line(match.heading) if match.kind == SECTION and match.heading else match.kind


def _format_line(match: Match, max_length: int) -> str:
    """Return the line with its matches marked, shortened around the first one."""
    start, end = _visible_part(match, max_length)
    pieces, position = ["…"] if start else [], start
    for span_start, span_end in match.spans:
        if span_end <= start or span_start >= end:
            continue
        marked_start, marked_end = max(span_start, start), min(span_end, end)
        pieces.append(printable_line(match.text[position:marked_start]))
        pieces.append(paint(printable_line(match.text[marked_start:marked_end]), _MATCH_STYLE))
        position = marked_end
    pieces.append(printable_line(match.text[position:end]))
    return "".join([*pieces, "…" if end < len(match.text) else ""])


def _visible_part(match: Match, max_length: int) -> tuple[int, int]:
    """Return the start and end of the part of a line that is shown; it begins and ends between words if possible."""
    text = match.text
    if len(text) <= max_length:
        return 0, len(text)
    first, first_end = match.spans[0] if match.spans else (0, 0)
    start = max(0, min(first - min(_LEAD_LENGTH, max_length // 3), len(text) - max_length + 1))
    if start:
        start = text.find(" ", start - 1, first) + 1 or start
    end = start + max_length - 1 - (start > 0)
    if end >= len(text):
        return start, len(text)
    space = text.rfind(" ", max(first_end, end - _LEAD_LENGTH), end + 1)
    return start, space if space > start else end


def results_json(results: SearchResults) -> dict[str, Any]:
    """Return the results as JSON data."""
    plans = [
        {
            "id": plan.ref.id,
            "path": plan.display_path,
            "from_project": plan.from_project.to_json() if plan.from_project is not None else None,
            **json_fields(plan, "title state match_count"),
            "matches": [_match_json(match) for match in plan.matches],
        }
        for plan in results.plans
    ]
    return {**json_fields(results, "plan_count match_count"), "plans": plans}


def _match_json(match: Match) -> dict[str, Any]:
    return {
        **json_fields(match, "kind path line? heading? text"),
        "marks": [{"column": start + 1, "end_column": end} for start, end in match.spans],
        "state": match.task_state or None,
        **json_fields(match, "author? date?"),
    }


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
