"""Lenses above a plan and its unfinished tasks: progress, the next task, the evaluation, check off and claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from execplan.core.plan.model import DONE
from execplan.execution.annotations.annotated_fences import find_annotated_fences
from execplan.views.language_server.task_commands import EVALUATE_COMMAND, NEXT_COMMAND, find_claim_names, task_commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.views.language_server.plan_document import PlanDocument


def list_lenses(document: PlanDocument) -> list[lsp.CodeLens]:
    """Return the lenses of a document; none for an archived plan."""
    if document.plan is None or document.ref.archived or not document.project.exists:
        return []
    return [*_plan_lenses(document), *_task_lenses(document)]


def _plan_lenses(document: PlanDocument) -> Iterator[lsp.CodeLens]:
    assert document.plan is not None
    plan, arguments = document.plan, [document.uri]
    line = max(plan.title_line, 0)
    place = document.lines_range(line, line + 1)
    if plan.unfinished_tasks:
        counts = plan.counts()
        title = f"{counts['done']} of {counts['total']} tasks done, go to the next"
        yield lsp.CodeLens(place, lsp.Command(title, NEXT_COMMAND, arguments=arguments))
    if find_annotated_fences(plan).steps:
        yield lsp.CodeLens(place, lsp.Command("Evaluate the steps", EVALUATE_COMMAND, arguments=arguments))


def _task_lenses(document: PlanDocument) -> Iterator[lsp.CodeLens]:
    claim_names = find_claim_names(document)
    for task_id, task in document.tasks_by_id.items():
        if task.state == DONE:
            continue  # a plan has many of these; the actions of a task reopen it
        place = document.lines_range(task.box_line, task.box_line + 1)
        for command in task_commands(document, task_id, task, claim_names):
            yield lsp.CodeLens(place, command)
