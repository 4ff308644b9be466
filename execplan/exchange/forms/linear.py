"""Issues that Linear exports as CSV."""

from __future__ import annotations

from execplan.exchange.exchange_plan import (
    BEGUN,
    DONE,
    DROPPED,
    ExchangePlan,
    ExchangeTask,
    ensure_unique_ids,
    nest_tasks,
)
from execplan.exchange.field_values import (
    clean_id,
    clean_link,
    clean_text,
    one_line,
    parse_date,
    read_error,
    split_names,
)
from execplan.exchange.quoted_notes import quote_notes
from execplan.exchange.source_file import CsvRow, SourceFile
from execplan.exchange.status_mapping import StatusReader

_COLUMNS = ("ID", "Team", "Title", "Status")
_NO_PRIORITY = "no priority"


def recognizes(source: SourceFile) -> bool:
    """Return whether the header is that of Linear."""
    return source.has_columns(_COLUMNS)


def read(source: SourceFile) -> ExchangePlan:
    """Return the issues as tasks, sub-issues below their parent; raises ExecplanError."""
    statuses = StatusReader()
    tasks, places, parents, projects = [], [], {}, []
    for place, row in source.rows(_COLUMNS):
        name = clean_id(row.get("ID"))
        if not name:
            raise read_error(source.name, place, "the row has no ID", "check the quotes of the row before it")
        if parent := row.get("Parent issue", "Parent"):
            parents[name] = clean_id(parent)
        projects.append(row.get("Project"))
        tasks.append(_read_row(row, name, statuses))
        places.append(place)
    ensure_unique_ids(source.name, tasks, places)
    nested, circular = nest_tasks(tasks, parents)
    title = clean_text(projects[0]) if len(set(projects)) == 1 and projects[0] else "Linear"
    notes = tuple([f"{name} is part of itself, and stands alone" for name in circular])
    return ExchangePlan(title, tuple(nested), notes=statuses.notes() + notes)


def _read_row(row: CsvRow, name: str, statuses: StatusReader) -> ExchangeTask:
    """Return a row as a task: its dates tell its state, because each team names its statuses."""
    completed, canceled = row.get("Completed"), row.get("Canceled")
    if completed or canceled:
        state = DONE if completed else DROPPED
    else:
        state = BEGUN if row.get("Started") else statuses.read(row.get("Status"))
    priority = row.get("Priority")
    return ExchangeTask(
        clean_text(row.get("Title")),
        state,
        id=name,
        link=clean_link(row.get("URL")),
        done_at=parse_date(completed),
        assignee=one_line(row.get("Assignee")),
        priority=one_line(priority) if priority and priority.casefold() != _NO_PRIORITY else "",
        due=parse_date(row.get("Due Date")),
        labels=tuple([one_line(label) for label in split_names(row.get("Labels"))]),
        needs=tuple([clean_id(need) for need in split_names(row.get("Blocked by"))]),
        notes=quote_notes(row.get("Description")),
    )
