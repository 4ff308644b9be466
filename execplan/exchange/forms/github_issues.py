"""Issues of GitHub: a plan as one issue with a task list, and issues in saved JSON with the tasks in their bodies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from execplan.core.plan import reader
from execplan.core.plan.model import ParsedPlan
from execplan.core.text.text_lines import Text
from execplan.exchange.exchange_plan import (
    BEGUN,
    DONE,
    DROPPED,
    OPEN,
    ExchangePlan,
    ExchangeTask,
    ExportedFiles,
    ensure_unique_ids,
    from_box,
    list_lines,
    to_box,
    without_boxes,
)
from execplan.exchange.field_values import clean_link, clean_text, one_line, parse_date, read_error
from execplan.exchange.plan_reading import find_losses, read_plan
from execplan.exchange.quoted_notes import quote_notes
from execplan.exchange.source_file import SourceFile

_MAX_BODY: Final = 65_536
"""Maximum length of an issue's body on GitHub, in characters."""
_TASKS = "## Tasks"
_STATES = {"not_planned": DROPPED, "duplicate": DROPPED}


def recognizes(source: SourceFile) -> bool:
    """Return whether the file has issues of GitHub, of its API or of `gh issue list --json`."""
    issues = _issues(source.value)
    return bool(issues) and all([isinstance(issue, dict) and _is_issue(issue) for issue in issues[:1]])


def _is_issue(issue: Mapping[str, Any]) -> bool:
    has_address = any([key in issue for key in ("html_url", "url", "number", "labels")])
    return {"title", "body"} <= issue.keys() and has_address


def _issues(value: object) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return [value]
    return []


def write(parsed: ParsedPlan, plan: ExchangePlan) -> ExportedFiles:
    """Return the plan as the body of a request that creates an issue."""
    tasks = [to_box(task) for task in plan.tasks]
    sections = [section for section in plan.sections if section.text != plan.purpose]
    parts = [plan.purpose] if plan.purpose else []
    parts += ["\n".join([_TASKS, "", *list_lines(tasks)])] if tasks else []
    parts += [
        (f"## {section.title}\n\n" if section.title else "") + without_boxes(section.text) for section in sections
    ]
    body = "\n\n".join(parts)
    losses = list(find_losses(plan, (BEGUN,)))
    if len(body) > _MAX_BODY:
        body = body[: _MAX_BODY - 1].rpartition("\n")[0]
        losses.append(f"the body is cut at {_MAX_BODY:,} characters, the most that GitHub takes")
    issue = {"title": plan.title, "body": body, "labels": list(plan.tags)}
    return ExportedFiles({"": (json.dumps(issue, ensure_ascii=False, indent=2) + "\n").encode()}, tuple(losses))


def read(source: SourceFile) -> ExchangePlan:
    """Return issues as tasks with their task lists; one issue that isn't in a list is a plan. Raises ExecplanError."""
    value = source.require_value()
    issues = _issues(value)
    for number, issue in enumerate(issues, 1):
        if not isinstance(issue, dict) or not isinstance(issue.get("title"), str):
            problem = "an issue needs a title"
            hint = "save issues with: gh issue list --state all --json number,title,body,state,url,labels,assignees"
            raise read_error(source.name, f"issue {number}", problem, hint)
    if isinstance(value, dict):
        return _read_single(value)
    tasks: list[ExchangeTask] = []
    places = []
    for number, issue in enumerate(issues, 1):
        if "pull_request" in issue:
            continue
        inner_tasks = _body_plan(issue).tasks
        tasks += [_read_issue(issue), *[task._replace(depth=task.depth + 1, group="") for task in inner_tasks]]
        places += [f"issue {number}"] * (1 + len(inner_tasks))
    ensure_unique_ids(source.name, [task for task in tasks if not task.depth], _top_places(tasks, places))
    return ExchangePlan(_repository(issues) or "GitHub issues", tuple(tasks))


def _top_places(tasks: list[ExchangeTask], places: list[str]) -> list[str]:
    return [place for task, place in zip(tasks, places, strict=True) if not task.depth]


def _read_single(issue: dict[str, Any]) -> ExchangePlan:
    plan = _body_plan(issue)
    sections = tuple([section for section in plan.sections if section.title])
    return ExchangePlan(
        clean_text(issue["title"]),
        plan.tasks,
        tuple([section for section in sections if f"## {section.title}" != _TASKS]),
        plan.purpose,
        link=_link(issue),
        tags=_labels(issue),
    )


def _body_plan(issue: dict[str, Any]) -> ExchangePlan:
    """Return the body of an issue, whose tasks are read as those of a plan."""
    body = issue.get("body")
    text = body.replace("\r\n", "\n").replace("\0", " ") if isinstance(body, str) else ""
    parsed = reader.read_text(Text.from_str(f"# Issue\n\n{text}\n"))
    plan = read_plan(parsed, "", "")
    own_group = _TASKS.removeprefix("## ")
    tasks = tuple([task._replace(group="") if task.group == own_group else task for task in map(from_box, plan.tasks)])
    return plan._replace(tasks=tasks) if parsed.tasks and parsed.tasks[0].status is None else plan._replace(tasks=())


def _read_issue(issue: dict[str, Any]) -> ExchangeTask:
    reason = str(issue.get("state_reason") or issue.get("stateReason") or "").casefold()
    is_closed = str(issue.get("state") or "").casefold() == "closed"
    number = issue.get("number")
    logins = [person.get("login") for person in issue.get("assignees") or [] if isinstance(person, dict)]
    return ExchangeTask(
        clean_text(issue["title"]),
        _STATES.get(reason, DONE) if is_closed else OPEN,
        id=f"#{number}" if isinstance(number, int) else "",
        link=_link(issue),
        done_at=parse_date(issue.get("closed_at") or issue.get("closedAt")) if is_closed else "",
        assignee=", ".join([one_line(login) for login in logins if isinstance(login, str)]),
        labels=_labels(issue),
        notes=quote_notes("\n\n".join([section.text for section in _body_plan(issue).sections if section.text])),
    )


def _labels(issue: dict[str, Any]) -> tuple[str, ...]:
    labels = issue.get("labels")
    names = [
        label.get("name") if isinstance(label, dict) else label
        for label in (labels if isinstance(labels, list) else [])
    ]
    return tuple([one_line(name) for name in names if isinstance(name, str)])


def _link(issue: dict[str, Any]) -> str:
    return clean_link(issue.get("html_url")) or clean_link(issue.get("url"))


def _repository(issues: list[Any]) -> str:
    """Return the repository that all issues are of, as `owner/name`; empty if it isn't known."""
    names = {"/".join(_link(issue).split("/")[3:5]) for issue in issues}
    name = names.pop() if len(names) == 1 else ""
    return f"Issues of {name}" if "/" in name else ""
