"""Issues that Jira exports as CSV, with all fields or with the current ones."""

from __future__ import annotations

from execplan.exchange.exchange_plan import DONE, DROPPED, ExchangePlan, ExchangeTask, ensure_unique_ids, nest_tasks
from execplan.exchange.field_values import clean_id, clean_link, clean_text, one_line, parse_date, read_error
from execplan.exchange.quoted_notes import quote_notes
from execplan.exchange.source_file import CsvRow, SourceFile
from execplan.exchange.status_mapping import StatusReader, state_of

_COLUMNS = ("Issue key", "Summary")
_BLOCKS = "Inward issue link (Blocks)"


def recognizes(source: SourceFile) -> bool:
    """Return whether the header is that of Jira."""
    return source.has_columns(_COLUMNS)


def read(source: SourceFile) -> ExchangePlan:
    """Return the issues as tasks, those with a parent below it; raises ExecplanError."""
    statuses = StatusReader()
    tasks, places, parents, numbers, projects = [], [], {}, {}, []
    for place, row in source.rows(_COLUMNS):
        key = clean_id(row.get("Issue key"))
        if not key:
            raise read_error(source.name, place, "the row has no issue key", "check the quotes of the row before it")
        numbers[row.get("Issue id")] = key
        if parent := row.get("Parent key", "Parent", "Parent id", "Custom field (Epic Link)"):
            parents[key] = parent
        projects += row.all("Project name")
        tasks.append(_read_row(row, key, statuses))
        places.append(place)
    ensure_unique_ids(source.name, tasks, places)
    nested, circular = nest_tasks(tasks, {key: clean_id(numbers.get(name, name)) for key, name in parents.items()})
    title = clean_text(projects[0]) if len(set(projects)) == 1 else "Jira"
    notes = tuple([f"{name} is part of itself, and stands alone" for name in circular])
    return ExchangePlan(title, tuple(nested), notes=statuses.notes() + notes)


def _read_row(row: CsvRow, key: str, statuses: StatusReader) -> ExchangeTask:
    resolution = row.get("Resolution")
    is_done = row.get("Status Category").casefold() == "done" or bool(row.get("Resolved"))
    state = statuses.read(row.get("Status"), is_done=is_done)
    if state == DONE and resolution and state_of(resolution) == DROPPED:
        state = DROPPED
    return ExchangeTask(
        clean_text(row.get("Summary")),
        state,
        id=key,
        link=clean_link(row.get("Issue URL", "URL")),
        done_at=parse_date(row.get("Resolved", "Resolution date")),
        assignee=one_line(row.get("Assignee")),
        priority=one_line(row.get("Priority")),
        due=parse_date(row.get("Due date", "Due Date")),
        labels=tuple([one_line(label) for label in row.all("Labels")]),
        needs=tuple([clean_id(name) for name in row.starting_with(_BLOCKS)]),
        notes=quote_notes(row.get("Description")),
    )
