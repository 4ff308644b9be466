"""The issue that a plan should have on GitHub: title, labels, state, and the managed part of its body."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from execplan.core.plan import outline
from execplan.core.plan.model import ARCHIVED, BROKEN, DOCUMENT, DONE, STATES, ParsedPlan, Task
from execplan.core.plan.plan_metadata import read_metadata
from execplan.core.plan_store.plan_store import StoredPlan, normalize_id
from execplan.core.project.project import Project
from execplan.core.text.markdown_blocks import ITEM, PARAGRAPH
from execplan.core.text.markdown_escape import escape_markdown
from execplan.core.text.message_parts import format_count, format_excess, shorten

Redact = Callable[[str], str]

PLAN_LABEL: Final = "execplan"
"""Label of every issue of a plan, by which they are found."""
STATE_LABELS: Final = tuple([f"plan:{state}" for state in STATES if state != DOCUMENT])
"""Labels for the state of a plan; an issue has one of them."""
OPEN, CLOSED = "open", "closed"
_COMPLETED, _NOT_PLANNED = "completed", "not_planned"
_MAX_TITLE: Final = 256
"""Maximum length of an issue's title, in characters."""
_MAX_LINKS: Final = 5
_ISSUE_NUMBER: Final = re.compile(r"#?([1-9][0-9]{0,9})")
_MAX_TASKS: Final = 200
_MAX_TEXT: Final = 500
"""Maximum length of a task or paragraph, in characters."""
_MAX_PARAGRAPHS: Final = 10
"""Maximum number of paragraphs and list items of the purpose."""
_MAX_CONTENT: Final = 60_000
"""Maximum length of the managed part; GitHub allows 65,536 characters for the whole body."""


class PlanIssue(NamedTuple):
    """The issue that a plan should have."""

    key: str
    """Names the plan in the repository (see `plan_key`)."""
    plan_id: str
    path: str
    """Path of the plan from the repository root."""
    title: str
    content: str
    """The managed part of the body, without its comments; empty for a plan that can't be read."""
    labels: tuple[str, ...]
    state: str
    """`OPEN`, or `CLOSED` for an archived plan."""
    state_reason: str
    """Reason for closing the issue; empty for an open one."""
    progress: str
    """Number of done tasks and of all, as in `3/7`; empty without tasks."""
    plan_state: str
    is_broken: bool
    linked_numbers: tuple[int, ...]
    """Numbers of issues in the same repository that the plan's metadata names."""

    def to_json(self) -> dict[str, Any]:
        """Return the issue as a document shows it."""
        return {
            "plan": self.plan_id,
            "path": self.path,
            "title": self.title,
            "labels": list(self.labels),
            "state": self.state,
            "body": self.content,
        }


def plan_key(project: Project, plan_id: str) -> str:
    """Return what names a plan in the hidden comment: its ID, after the directory of a nested project."""
    directory = os.path.relpath(project.base, project.root)
    return normalize_id(plan_id) if directory == "." else f"{directory}:{normalize_id(plan_id)}"


def make_plan_issue(stored_plan: StoredPlan, file_url: str, redact: Redact) -> PlanIssue:
    """Return the issue for a plan. `file_url` is the address of the repository's files; secrets are redacted."""
    project, ref, plan = stored_plan.project, stored_plan.ref, stored_plan.plan
    path = project.display_path(ref.path)
    state = stored_plan.state
    is_closed = state == ARCHIVED
    reason = _NOT_PLANNED if plan is not None and plan.is_archived_unfinished else _COMPLETED
    counts = plan.counts() if plan is not None else {"total": 0}
    title = " ".join((plan.title if plan is not None and plan.title else ref.id).split())
    return PlanIssue(
        key=plan_key(project, ref.id),
        plan_id=ref.id,
        path=path,
        title=shorten(redact(title), _MAX_TITLE),
        content="" if plan is None else _format_content(plan, path, file_url, redact),
        labels=(PLAN_LABEL, f"plan:{state}"),
        state=CLOSED if is_closed else OPEN,
        state_reason=reason if is_closed else "",
        progress=f"{counts['done']}/{counts['total']}" if counts["total"] else "",
        plan_state=state,
        is_broken=state == BROKEN,
        linked_numbers=() if plan is None else _linked_numbers(plan, file_url.partition("/blob/")[0]),
    )


def _linked_numbers(plan: ParsedPlan, repository_url: str) -> tuple[int, ...]:
    """Return the numbers of the issues in `links.issue` that are in a repository: `12`, `#12` or an address."""
    numbers = [
        _ISSUE_NUMBER.fullmatch(link.strip().removeprefix(f"{repository_url}/issues/"))
        for link in read_metadata(plan).links.issue
    ]
    return tuple([int(number[1]) for number in numbers if number is not None])[:_MAX_LINKS]


def _format_content(plan: ParsedPlan, path: str, file_url: str, redact: Redact) -> str:
    """Return the managed part: purpose, progress, and a link to the plan."""
    link = f"[{escape_markdown(path)}]({file_url}/{quote(path, errors='surrogateescape')})"
    footer = f"*The plan is {link}. Edit it there: the next `execplan sync github` overwrites this part of the issue.*"
    paragraphs = list(_purpose_lines(plan, redact))
    tasks = list(_task_lines(plan, redact))
    counts = plan.counts()
    heading = [f"**Progress:** {counts['done']} of {format_count(counts['total'], 'task')} done"] if tasks else []
    blocks = [*paragraphs, *heading]
    length = sum([len(block) + 2 for block in (*blocks, footer)]) + 2
    shown_tasks: list[str] = []
    for line in tasks[:_MAX_TASKS]:
        length += len(line) + 1
        if length > _MAX_CONTENT:
            break
        shown_tasks.append(line)
    if len(tasks) > len(shown_tasks):
        shown_tasks.append(f"-{format_excess(len(tasks), len(shown_tasks))}")
    if shown_tasks:
        blocks.append("\n".join(shown_tasks))
    return "\n\n".join([*blocks, footer])


def _purpose_lines(plan: ParsedPlan, redact: Redact) -> Iterator[str]:
    """Yield the first paragraphs and list items of the purpose, without lines of the template."""
    section = plan.section(outline.PURPOSE)
    if section is None:
        return
    placeholder_lines = {*plan.placeholder_lines}
    blocks = [
        block
        for block in plan.blocks[section.first_block : section.block_end]
        if not block.depth and block.kind in (PARAGRAPH, ITEM) and block.start not in placeholder_lines
    ]
    for block in blocks[:_MAX_PARAGRAPHS]:
        text = " ".join([plan.text.lines[number] for number in range(block.start, block.end)]).strip()
        is_item = block.kind == ITEM
        yield ("- " if is_item else "") + _quote(text[len(block.mark) :] if is_item else text, redact)


def _task_lines(plan: ParsedPlan, redact: Redact) -> Iterator[str]:
    """Yield the tasks as a task list; a task marked otherwise is open, and its mark is shown."""
    for task in plan.tasks:
        mark = "x" if task.state == DONE else " "
        yield f"{'  ' * min(task.depth, 8)}- [{mark}] {_task_text(task, redact)}"


def _task_text(task: Task, redact: Redact) -> str:
    text = _quote(task.text, redact)
    return text if task.mark in " xX" else f"({escape_markdown(task.mark)}) {text}"


def _quote(text: str, redact: Redact) -> str:
    return escape_markdown(shorten(redact(" ".join(text.split())), _MAX_TEXT))
