"""Issues of beads: `.beads/issues.jsonl`, one JSON object in each line."""

from __future__ import annotations

from typing import Any

from execplan.exchange.exchange_plan import ExchangePlan, ExchangeTask, ensure_unique_ids, nest_tasks
from execplan.exchange.field_values import clean_id, clean_link, clean_text, one_line, parse_date, read_error
from execplan.exchange.quoted_notes import quote_notes
from execplan.exchange.source_file import SourceFile
from execplan.exchange.status_mapping import StatusReader

TITLE = "Beads"
_TEXTS = (("", "description"), ("Design", "design"), ("Acceptance", "acceptance_criteria"), ("Notes", "notes"))


def recognizes(source: SourceFile) -> bool:
    """Return whether the first line is an issue of beads."""
    return {"id", "title", "issue_type"} <= source.first_json_line().keys()


def read(source: SourceFile) -> ExchangePlan:
    """Return the issues as tasks, those of an epic below it; raises ExecplanError."""
    statuses = StatusReader()
    tasks, places, parents = [], [], {}
    for place, issue in source.json_lines():
        name = clean_id(issue.get("id"))
        if not name or not isinstance(issue.get("title"), str):
            raise read_error(source.name, place, "an issue needs an id and a title", "export it again: bd export")
        if issue.get("status") == "tombstone":
            continue
        links = [link for link in _list(issue.get("dependencies")) if isinstance(link, dict)]
        parent = next((clean_id(link.get("depends_on_id")) for link in links if link.get("type") == "parent-child"), "")
        if parent:
            parents[name] = parent
        tasks.append(_read_issue(issue, name, links, statuses))
        places.append(place)
    ensure_unique_ids(source.name, tasks, places)
    nested, circular = nest_tasks(tasks, parents)
    notes = tuple([f"{name} is part of itself, and stands alone" for name in circular])
    return ExchangePlan(TITLE, tuple(nested), notes=statuses.notes() + notes)


def _read_issue(issue: dict[str, Any], name: str, links: list[dict[str, Any]], statuses: StatusReader) -> ExchangeTask:
    texts = [
        (f"{label}: " if label else "") + text.strip()
        for label, key in _TEXTS
        if isinstance(text := issue.get(key), str) and text.strip()
    ]
    priority = issue.get("priority")
    return ExchangeTask(
        clean_text(issue["title"]),
        statuses.read(str(issue.get("status") or "open")),
        id=name,
        link=clean_link(issue.get("external_ref")),
        done_at=parse_date(issue.get("closed_at")),
        assignee=one_line(str(issue["assignee"])) if issue.get("assignee") else "",
        priority=f"P{priority}" if isinstance(priority, int) and not isinstance(priority, bool) else "",
        due=parse_date(issue.get("due_at")),
        labels=tuple([one_line(label) for label in _list(issue.get("labels")) if isinstance(label, str)]),
        needs=tuple([clean_id(link.get("depends_on_id")) for link in links if link.get("type") == "blocks"]),
        notes=quote_notes("\n\n".join(texts)),
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
