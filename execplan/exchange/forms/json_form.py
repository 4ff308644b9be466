"""A plan as JSON, with everything that its tasks and sections say; also the record of an import."""

from __future__ import annotations

import json
from typing import Any, Final

from execplan.core.plan.model import ParsedPlan
from execplan.exchange.exchange_plan import MARKS, ExchangePlan, ExchangeSection, ExchangeTask, ExportedFiles
from execplan.exchange.field_values import clean_id, clean_link, clean_text, one_line, parse_date, read_error
from execplan.exchange.source_file import SourceFile

SCHEMA: Final = "execplan-exchange/1"
_HINT = "write it again: execplan export PLAN --to json"


def recognizes(source: SourceFile) -> bool:
    """Return whether the file is an export of a plan as JSON."""
    return isinstance(source.value, dict) and source.value.get("schema") == SCHEMA


def write(parsed: ParsedPlan, plan: ExchangePlan) -> ExportedFiles:
    """Return the plan as JSON, which loses nothing but placeholder text."""
    return ExportedFiles({"": dump(plan)})


def dump(plan: ExchangePlan) -> bytes:
    """Return a plan as the bytes of a JSON document."""
    document = {
        "schema": SCHEMA,
        "id": plan.id,
        "title": plan.title,
        "owner": plan.owner,
        "created": plan.created,
        "tags": list(plan.tags),
        "link": plan.link,
        "purpose": plan.purpose,
        "sections": [section._asdict() for section in plan.sections],
        "tasks": [_task_json(task) for task in plan.tasks],
    }
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def _task_json(task: ExchangeTask) -> dict[str, Any]:
    """Return a task without what it says nothing about."""
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in task._asdict().items()}
    return {"text": task.text, "state": task.state} | {name: value for name, value in values.items() if value}


def read(source: SourceFile) -> ExchangePlan:
    """Return the plan in an export; raises ExecplanError."""
    value = source.require_value()
    if not recognizes(source):
        raise read_error(source.name, "", f"the schema is not {SCHEMA}", _HINT)
    sections = [section for section in _list(value, "sections", source) if isinstance(section, dict)]
    return ExchangePlan(
        _line(value.get("title")),
        tuple([_read_task(source, number, task) for number, task in enumerate(_list(value, "tasks", source), 1)]),
        tuple([ExchangeSection(clean_title(section), _text(section.get("text"))) for section in sections]),
        _text(value.get("purpose")),
        str(value.get("id") or ""),
        str(value.get("owner") or ""),
        str(value.get("created") or ""),
        tuple([one_line(tag) for tag in _list(value, "tags", source) if isinstance(tag, str)]),
        clean_link(value.get("link")),
    )


def clean_title(section: dict[str, Any]) -> str:
    """Return the title of a section; empty for the introduction."""
    title = section.get("title")
    return clean_text(title) if isinstance(title, str) and title.strip() else ""


def _list(value: dict[str, Any], name: str, source: SourceFile) -> list[Any]:
    items = value.get(name, [])
    if not isinstance(items, list):
        raise read_error(source.name, name, "not a list", _HINT)
    return items


def _read_task(source: SourceFile, number: int, value: Any) -> ExchangeTask:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str) or value.get("state") not in MARKS:
        problem = f"a task needs a text, and a state: {', '.join(MARKS)}"
        raise read_error(source.name, f"task {number}", problem, _HINT)
    depth = value.get("depth")
    return ExchangeTask(
        clean_text(value["text"]),
        value["state"],
        depth if isinstance(depth, int) else 0,
        clean_id(value.get("id")),
        clean_link(value.get("link")),
        parse_date(value.get("done_at")),
        _line(value.get("assignee")),
        _line(value.get("priority")),
        _line(value.get("due")),
        _lines(value.get("labels")),
        _lines(value.get("needs")),
        _line(value.get("group")),
        _text(value.get("notes")),
    )


def _lines(value: object) -> tuple[str, ...]:
    return tuple([one_line(item) for item in value if isinstance(item, str)]) if isinstance(value, list) else ()


def _line(value: object) -> str:
    return one_line(value) if isinstance(value, str) and value.strip() else ""


def _text(value: object) -> str:
    """Return lines of markdown without control characters."""
    text = value.replace("\r\n", "\n").replace("\r", "\n") if isinstance(value, str) else ""
    return "".join([char if char.isprintable() or char in "\n\t\u200c\u200d" else " " for char in text])
