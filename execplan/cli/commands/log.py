"""The `execplan log` command."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.plan_arguments import plan_argument
from execplan.cli.time_options import MOMENT_FORMS, parse_entry_date, require_moment
from execplan.core.errors import usage_error
from execplan.core.plan_store import plan_selection
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.text.accents import remove_accents
from execplan.team.history.history_event import HistoryEvent

Tick = Callable[[int, int], None]


@define_command(
    reads="the git history of all plans, including archived and deleted plans and nested projects, or of the named one; changes that are not committed.",
    writes="nothing.",
    examples=(
        "execplan log",
        "execplan log parser --since 7d",
        "execplan log --decisions --since 2026-10-01 --until 2026-10-31",
        "execplan log --author Ann --limit 20 --json",
    ),
    may_page=True,
)
@plan_argument(default="all plans")
@click.option("--since", metavar="WHEN", help=f"Show what happened since then: {MOMENT_FORMS}.")
@click.option("--until", metavar="WHEN", help="Show what happened until then; a date includes its day.")
@click.option("--author", metavar="TEXT", help="Show changes by authors whose name contains TEXT.")
@click.option("--decisions", is_flag=True, help="Show only decisions, with their rationale.")
@click.option(
    "-n", "--limit", metavar="N", type=click.IntRange(min=1), help="Show at most N events; a new plan counts as one."
)
def log(
    call: Call,
    plan: str | None,
    *,
    since: str | None,
    until: str | None,
    author: str | None,
    decisions: bool,
    limit: int | None,
) -> Answer:
    """Show what happened to plans, newest first.

    Tasks that were added, checked off, reopened, reworded or removed; decisions and other entries; plans that were
    created, renamed, archived or restored: when, by whom, in which commit. The history comes from git and follows
    renames. Changes that are not committed come first. The time of a commit is when its author wrote it (git's author
    date), also if it was rebased or amended later.

    With --decisions, the date and the author in the Decision Log count; those of the commit, where an entry has none.
    """
    from execplan.cli.output.history_output import format_events
    from execplan.cli.output.progress_bar import ProgressBar
    from execplan.team.history.plan_history import incomplete_history_warnings

    earliest = require_moment(since, "--since") if since is not None else None
    latest = require_moment(until, "--until", is_end=True) if until is not None else None
    if earliest is not None and latest is not None and earliest > latest:
        message = f"--since {since} is after --until {until}"
        raise usage_error(message, "give the earlier time to --since")
    sources = _find_sources(plan)
    with ProgressBar("history", is_enabled=not call.quiet and not call.as_json) as bar:
        events = _read_events(sources, bar.tick, is_limited=limit is not None and not decisions)
        if decisions:
            events = _decisions(events)
        events = (
            event
            for event in events
            if (earliest is None or event.time >= earliest)
            and (latest is None or event.time < latest)
            and (author is None or _fold(author) in _fold(event.author))
        )
        shown_events = list(_take(events, limit))
    names_plan = len(sources) > 1 or sources[0][1] is None
    text = format_events(shown_events, names_plan=names_plan, shows_details=decisions)
    is_filtered = decisions or bool(since or until or author)
    return Answer(
        {"events": [event.to_json() for event in shown_events]},
        text or ("no events match" if is_filtered else "no history yet"),
        warnings=tuple(
            dict.fromkeys([text for project, _ in sources for text in incomplete_history_warnings(project)])
        ),
    )


def _fold(name: str) -> str:
    """Return a name in the form used for comparison, without case and accents."""
    return remove_accents(name.casefold())


def _find_sources(plan: str | None) -> list[tuple[Project, PlanRef | None]]:
    """Return the projects whose history to read, or the named plan with its project."""
    if plan is not None or plan_selection.plan_from_environment() is not None:
        from execplan.team.history.plan_history import select_past_plan

        return [select_past_plan(os.getcwd(), plan)]
    project = project_discovery.require(os.getcwd())
    return [(member, None) for member in project_discovery.with_nested_projects(project)]


def _read_events(
    sources: list[tuple[Project, PlanRef | None]], tick: Tick, *, is_limited: bool
) -> Iterator[HistoryEvent]:
    """Yield the events, newest first; those of several projects by time, what is not committed first.

    With `is_limited`, they are read one after another, because most of them may not be taken.
    """
    from execplan.team.history.plan_history import iter_history, load_history

    if len(sources) == 1 and is_limited:
        return iter_history(*sources[0], tick=tick)
    events = [event for project, ref in sources for event in load_history(project, ref, tick=tick)]
    if len(sources) == 1:
        return iter(events)
    return iter(sorted(events, key=lambda event: (bool(event.commit), -event.time)))


def _take(events: Iterable[HistoryEvent], limit: int | None) -> Iterator[HistoryEvent]:
    """Yield events up to a limit; a new plan counts as one event with all its content, which is shown in one line."""
    from execplan.team.history.history_event import CREATED

    count = 0
    created: HistoryEvent | None = None
    for event in events:
        if created is None or (event.commit, event.path) != (created.commit, created.path):
            created = event if event.kind == CREATED else None
            if count == limit:
                return
            count += 1
        yield event


def _decisions(events: Iterator[HistoryEvent]) -> Iterator[HistoryEvent]:
    """Yield the decisions with the time and author written in them, newest first."""
    from execplan.team.history.history_event import DECISION_EVENTS

    dated_events = []
    for event in events:
        if event.kind in DECISION_EVENTS:
            entry_moment = parse_entry_date(event.entry_date)
            time = event.time if entry_moment is None else entry_moment[0]
            dated_events.append(event._replace(time=time, author=event.entry_author or event.author))
    return iter(sorted(dated_events, key=lambda event: -event.time))
