"""The steps of an execution plan, as JSON and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer, typed
from execplan.cli.door import shown
from execplan.cli.shape import plan_json
from execplan.cli.standing import APPROVED, NONE, STALE, said, standing_json
from execplan.cli.table import table
from execplan.errors import ExecplanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.draft import Left
    from execplan.execution.model import ExecutionPlan, Step
    from execplan.repo.shelf import Shelved

_MOST = 10
"""Lines that were not taken, that are shown to a person."""
_LONG = 60


def steps_of(shelved: Shelved, warnings: tuple[str, ...]) -> Answer:
    """The steps that a plan compiles to now; raises ExecplanError where it can't be compiled."""
    from execplan.repo.execution.current import current

    home, ref = shelved.home, shelved.ref
    told = plan_json(shelved)
    steps: list[dict[str, Any]] = []
    try:
        found = current(home, ref)
        steps, left = steps_json(found.document), left_json(found.left)
    except ExecplanError as error:
        if error.code != "no-steps":
            raise
        left = _left_of(error)
    standing = standing_json(home, ref)
    data = {**told, "steps": steps, "left": left, "execution": standing}
    name = typed(ref.id, told["path"])
    count = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
    lines = [told["title"] or "(no title)", f"{shown(told['path'])}: {count}, {said(standing)}"]
    if steps:
        lines += ["", steps_table(steps)]
    else:
        lines[1] = f"{shown(told['path'])}: it gives no step that could be compiled"
    if left:
        lines += ["", *left_lines(left)]
    return Answer(data, "\n".join(lines), warnings=warnings, next=_follow(standing["state"], name) if steps else ())


def _follow(state: str, name: str) -> tuple[str, ...]:
    """What makes sense for a plan with steps."""
    if state == APPROVED:
        return ()
    return (f"execplan {'compile' if state in (NONE, STALE) else 'evaluate'} {name}",)


def steps_json(document: ExecutionPlan) -> list[dict[str, Any]]:
    """The steps in short; `evaluate` tells more of each, and the document all."""
    return [_step_json(each) for each in document.steps]


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "number": step.number,
        "id": step.id,
        "type": step.type.value,
        "tool": step.tool,
        "what": step.description,
        "risk": {"level": step.risk.level.value, "reasons": list(step.risk.reasons)},
        "depends_on": list(step.depends_on),
        "phase": step.phase,
        "inferred": step.inferred,
        "line_start": step.source.line_start if step.source else None,
        "line_end": step.source.line_end if step.source else None,
    }


def left_json(left: Sequence[Left]) -> list[dict[str, Any]]:
    """What looks like a step and was not taken."""
    return [{"line": each.line + 1, "text": each.text, "why": each.why} for each in left]


def steps_table(steps: Sequence[dict[str, Any]]) -> str:
    """The steps for a person, a line each."""
    rows = [(str(each["number"]), each["id"], _lines(each), each["risk"]["level"], _what(each)) for each in steps]
    return table(("#", "id", "lines", "risk", "what"), rows)


def _lines(step: dict[str, Any]) -> str:
    if step["line_start"] is None:
        return "-"
    return f"{step['line_start']}-{step['line_end']}"


def _what(step: dict[str, Any]) -> str:
    what = step["what"] + (" (inferred)" if step["inferred"] else "")
    return f"{what}, after {', '.join(step['depends_on'])}" if step["depends_on"] else what


def left_lines(left: Sequence[dict[str, Any]]) -> list[str]:
    """What was not taken, for a person."""
    lines = [f"line {each['line']} is no step: {each['why']}: {_short(each['text'])}" for each in left[:_MOST]]
    return lines + ([f"and {len(left) - _MOST} more lines: see them with --json"] if len(left) > _MOST else [])


def _short(text: str) -> str:
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"
