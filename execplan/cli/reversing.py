"""What `undo` and `redo` share: what was reversed, and what else can be."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer, quote_plan_name
from execplan.cli.moving import move_answer as move_answer
from execplan.cli.table import format_table
from execplan.cli.writing import edit_answer as edit_answer
from execplan.engine.open_runs import ensure_no_open_runs
from execplan.repo import homes
from execplan.repo.edits.entries import REDO, UNDO
from execplan.repo.edits.stack import stack
from execplan.repo.moving.move import Moved
from execplan.repo.operations.choose import Chosen, every, find_plan, is_others, steps_of

if TYPE_CHECKING:
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.operations.undo import Undone
    from execplan.repo.shelf import Ref

_MAX_SHOWN = 20
"""Operations that the list shows a person; JSON has all."""


def undo_answer(undo_result: Undone, options: Options) -> Answer:
    """The answer of `undo` and `redo`."""
    chosen, result = undo_result.chosen, undo_result.result
    operation = operation_json(chosen)
    if isinstance(result, Moved):
        result = result._replace(said=(undo_result.said, *[line for line in result.said if line != undo_result.said]))
        answer = move_answer(chosen.home, result, options, undo_result.said)
        data = {**answer.data, "said": [undo_result.said], "operation": operation}
        return answer._replace(data=data)
    path = os.path.join(chosen.home.root, result.path)
    is_there = os.path.lexists(path)
    show = f"execplan show {quote_plan_name(chosen.ref.id, result.path)}" if is_there else "execplan list"
    answer = edit_answer(result, options, show)
    return answer._replace(data={**answer.data, "operation": operation})


def require_movable(home: Home, ref: Ref) -> None:
    """Stop an undo or redo that would move a plan with an unfinished run; raises ExecplanError."""
    ensure_no_open_runs(home, ref, "moved")


def operation_json(chosen: Chosen) -> dict[str, Any]:
    """An operation."""
    operation = chosen.step.operation
    return {
        "command": operation.verb,
        "summary": operation.summary,
        "plan": chosen.ref.id,
        "path": chosen.home.shown(chosen.ref.path),
        "by": operation.by or None,
        "at": operation.moment.replace("T", " "),
    }


def history_answer(start: str, query: str | None) -> Answer:
    """What can be undone and redone, the newest first; on one plan, if it is named."""
    query = query if query is not None else os.environ.get("EXECPLAN_PLAN") or None
    if query is not None:
        home, ref = find_plan(start, query)
        edit_stack = stack(home, ref.path)
        candidates = {
            command: [
                Chosen(home, ref, step, step == steps_of(edit_stack, command)[-1])
                for step in reversed(steps_of(edit_stack, command))
            ]
            for command in (UNDO, REDO)
        }
    else:
        home = homes.require(start)
        candidates = {command: list(every(home, command)) for command in (UNDO, REDO)}
    data = {
        name: [
            {**operation_json(candidate), "next": candidate.is_next, "yours": not is_others(candidate.home, candidate.step, command)}
            for candidate in candidates[command]
        ]
        for name, command in (("undo", UNDO), ("redo", REDO))
    }
    lines = [line for name, rows in data.items() if rows for line in (f"can be {_PAST_TENSE[name]}:", _operations_table(rows))]
    return Answer(data, "\n".join(lines) if lines else "nothing can be undone or redone")


_PAST_TENSE = {"undo": "undone", "redo": "redone"}


def _operations_table(rows: list[dict[str, Any]]) -> str:
    cells = [
        (row["at"], row["by"] or "", row["plan"], f"{row['summary']}{'' if row['yours'] else ' (needs --any)'}")
        for row in islice(rows, _MAX_SHOWN)
    ]
    remainder = f"\nand {len(rows) - _MAX_SHOWN} more: --json has all" if len(rows) > _MAX_SHOWN else ""
    return format_table(("when", "by", "plan", "operation"), cells) + remainder
