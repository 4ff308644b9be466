"""Shared output of `undo` and `redo`: the reversed operation, and other operations that can be reversed."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any

from execplan.archive.plan_move import MoveResult
from execplan.cli.answer import Answer
from execplan.cli.output.move_output import move_answer
from execplan.cli.output.text_table import format_table
from execplan.cli.plan_editing import edit_answer
from execplan.edits.edit_entries import REDO, UNDO
from execplan.edits.undo_stack import read_stack
from execplan.engine.run_records.run_statuses import ensure_no_open_runs
from execplan.plan_store.plan_store import quote_plan_name
from execplan.project import project_discovery
from execplan.undo.operation_selection import (
    SelectedOperation,
    find_plan,
    is_by_other_author,
    iter_operations,
    steps_for,
)

if TYPE_CHECKING:
    from execplan.edits.plan_writer import WriteOptions
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project
    from execplan.undo.undo_redo import ReversalResult

_MAX_SHOWN = 20
"""Maximum number of operations shown to people; JSON has all of them."""


def undo_answer(undo_result: ReversalResult, options: WriteOptions) -> Answer:
    """Build the answer of `undo` or `redo`."""
    chosen, result = undo_result.selected, undo_result.result
    operation = operation_json(chosen)
    if isinstance(result, MoveResult):
        result = result._replace(
            messages=(undo_result.message, *[line for line in result.messages if line != undo_result.message])
        )
        answer = move_answer(chosen.project, result, options, undo_result.message)
        data = {**answer.data, "said": [undo_result.message], "operation": operation}
        return answer._replace(data=data)
    path = os.path.join(chosen.project.root, result.path)
    is_there = os.path.lexists(path)
    show = f"execplan show {quote_plan_name(chosen.ref.id, result.path)}" if is_there else "execplan list"
    answer = edit_answer(result, options, show)
    return answer._replace(data={**answer.data, "operation": operation})


def require_movable(project: Project, ref: PlanRef) -> None:
    """Raise ExecplanError if an undo or redo would move a plan with an unfinished run."""
    ensure_no_open_runs(project, ref, "moved")


def operation_json(chosen: SelectedOperation) -> dict[str, Any]:
    """Return the JSON form of an operation."""
    operation = chosen.step.operation
    return {
        "command": operation.command,
        "summary": operation.summary,
        "plan": chosen.ref.id,
        "path": chosen.project.display_path(chosen.ref.path),
        "by": operation.author or None,
        "at": operation.timestamp.replace("T", " "),
    }


def history_answer(start: str, query: str | None) -> Answer:
    """Build the list of operations that can be undone or redone, newest first; only those of a plan if it is named."""
    query = query if query is not None else os.environ.get("EXECPLAN_PLAN") or None
    if query is not None:
        project, ref = find_plan(start, query)
        edit_stack = read_stack(project, ref.path)
        candidates = {
            command: [
                SelectedOperation(project, ref, step, step == steps_for(edit_stack, command)[-1])
                for step in reversed(steps_for(edit_stack, command))
            ]
            for command in (UNDO, REDO)
        }
    else:
        project = project_discovery.require(start)
        candidates = {command: list(iter_operations(project, command)) for command in (UNDO, REDO)}
    data = {
        name: [
            {
                **operation_json(candidate),
                "next": candidate.is_next,
                "yours": not is_by_other_author(candidate.project, candidate.step, command),
            }
            for candidate in candidates[command]
        ]
        for name, command in (("undo", UNDO), ("redo", REDO))
    }
    lines = [
        line
        for name, rows in data.items()
        if rows
        for line in (f"can be {_PAST_TENSE[name]}:", _operations_table(rows))
    ]
    return Answer(data, "\n".join(lines) if lines else "nothing can be undone or redone")


_PAST_TENSE = {"undo": "undone", "redo": "redone"}


def _operations_table(rows: list[dict[str, Any]]) -> str:
    cells = [
        (row["at"], row["by"] or "", row["plan"], f"{row['summary']}{'' if row['yours'] else ' (needs --any)'}")
        for row in islice(rows, _MAX_SHOWN)
    ]
    remainder = f"\nand {len(rows) - _MAX_SHOWN} more; see all with --json" if len(rows) > _MAX_SHOWN else ""
    return format_table(("when", "by", "plan", "operation"), cells) + remainder
