"""What `undo` and `redo` share: what was reversed, and what else can be."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer, typed
from execplan.cli.moving import told as told_move
from execplan.cli.table import table
from execplan.cli.writing import told as told_edit
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

_SHOWN = 20
"""Operations that the list shows a person; JSON has all."""


def told(undone: Undone, options: Options) -> Answer:
    """The answer of `undo` and `redo`."""
    chosen, result = undone.chosen, undone.result
    operation = operation_json(chosen)
    if isinstance(result, Moved):
        result = result._replace(said=(undone.said, *[each for each in result.said if each != undone.said]))
        answer = told_move(chosen.home, result, options, undone.said)
        data = {**answer.data, "said": [undone.said], "operation": operation}
        return answer._replace(data=data)
    path = os.path.join(chosen.home.root, result.path)
    is_there = os.path.lexists(path)
    show = f"execplan show {typed(chosen.ref.id, result.path)}" if is_there else "execplan list"
    answer = told_edit(result, options, show)
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


def listed(start: str, query: str | None) -> Answer:
    """What can be undone and redone, the newest first; on one plan, if it is named."""
    query = query if query is not None else os.environ.get("EXECPLAN_PLAN") or None
    if query is not None:
        home, ref = find_plan(start, query)
        found = stack(home, ref.path)
        lists = {
            command: [
                Chosen(home, ref, step, step == steps_of(found, command)[-1])
                for step in reversed(steps_of(found, command))
            ]
            for command in (UNDO, REDO)
        }
    else:
        home = homes.require(start)
        lists = {command: list(every(home, command)) for command in (UNDO, REDO)}
    data = {
        name: [
            {**operation_json(each), "next": each.is_next, "yours": not is_others(each.home, each.step, command)}
            for each in lists[command]
        ]
        for name, command in (("undo", UNDO), ("redo", REDO))
    }
    lines = [line for name, rows in data.items() if rows for line in (f"can be {_PAST[name]}:", _rows(rows))]
    return Answer(data, "\n".join(lines) if lines else "nothing can be undone or redone")


_PAST = {"undo": "undone", "redo": "redone"}


def _rows(rows: list[dict[str, Any]]) -> str:
    cells = [
        (each["at"], each["by"] or "", each["plan"], f"{each['summary']}{'' if each['yours'] else ' (needs --any)'}")
        for each in islice(rows, _SHOWN)
    ]
    more = f"\nand {len(rows) - _SHOWN} more: --json has all" if len(rows) > _SHOWN else ""
    return table(("when", "by", "plan", "operation"), cells) + more
