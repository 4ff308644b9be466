"""The steps of an execution plan, as JSON and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer, typed
from execplan.cli.door import shown
from execplan.cli.shape import plan_json
from execplan.cli.standing import NONE, STALE, said, standing_json, start
from execplan.cli.table import table
from execplan.errors import ExecplanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.draft import SkippedLine
    from execplan.execution.model import ExecutionPlan, Step
    from execplan.repo.shelf import Shelved

_MOST = 10
"""Lines that were not taken, that are shown to a person."""
_LONG = 60


def steps_of(shelved: Shelved, warnings: tuple[str, ...]) -> Answer:
    """The steps that a plan compiles to now; raises ExecplanError where it can't be compiled."""
    home, ref = shelved.home, shelved.ref
    told = plan_json(shelved)
    steps, left = _found(shelved)
    standing = standing_json(home, ref)
    data = {**told, "steps": steps, "left": left, "execution": standing}
    count = "1 step" if len(steps) == 1 else f"{len(steps)} steps" if steps else "no step can be made of it"
    lines = [
        told["title"] or "(no title)",
        f"{shown(told['path'])}: {count}" + (f", {said(standing)}" if steps else ""),
    ]
    lines += ["", steps_table(steps)] if steps else []
    lines += ["", *left_lines(left)] if left else []
    state = standing["state"]
    name = typed(ref.id, told["path"])
    verb = "compile" if state in (NONE, STALE) else "evaluate"
    follow = start(standing, name) or (f"execplan {verb} {name}",)
    return Answer(data, "\n".join(lines), warnings=warnings, next=follow if steps else ("execplan explain steps",))


def _found(shelved: Shelved) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The steps, and what looks like one and was not taken; raises ExecplanError."""
    from execplan.execution.compile import find_plan_steps
    from execplan.repo.execution.current import current

    try:
        found = current(shelved.home, shelved.ref)
    except ExecplanError as error:
        if error.code != "no-steps" or shelved.plan is None:
            raise
        return [], left_json(find_plan_steps(shelved.plan).skipped)
    return steps_json(found.document), left_json(found.left)


def steps_json(document: ExecutionPlan) -> list[dict[str, Any]]:
    """The steps in short; `evaluate` tells more of each, and the document all."""
    return [_step_json(each) for each in document.steps]


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "number": step.number,
        "id": step.id,
        "type": step.type.value,
        "tool": step.tool,
        "description": step.description,
        "argv": list(step.argv) if step.argv is not None else None,
        "cwd": step.cwd,
        "risk": {"level": step.risk.level.value, "reasons": list(step.risk.reasons)},
        "depends_on": list(step.depends_on),
        "phase": step.phase,
        "inferred": step.inferred,
        "line_start": step.source.line_start if step.source else None,
        "line_end": step.source.line_end if step.source else None,
    }


def left_json(left: Sequence[SkippedLine]) -> list[dict[str, Any]]:
    """What looks like a step and was not taken."""
    return [{"line": each.line + 1, "text": each.text, "why": each.why} for each in left]


def steps_table(steps: Sequence[dict[str, Any]]) -> str:
    """The steps for a person, a line each."""
    rows = [(str(each["number"]), each["id"], _lines(each), each["risk"]["level"], _what(each)) for each in steps]
    return table(("#", "id", "lines", "risk", "what"), rows, spare=("lines",))


def _lines(step: dict[str, Any]) -> str:
    start, end = step["line_start"], step["line_end"]
    if start is None:
        return "-"
    return f"{start}" if start == end else f"{start}-{end}"


def _what(step: dict[str, Any]) -> str:
    what = step["description"] + (" (inferred)" if step["inferred"] else "")
    return f"{what}, after {', '.join(step['depends_on'])}" if step["depends_on"] else what


def left_lines(left: Sequence[dict[str, Any]]) -> list[str]:
    """What was not taken, for a person."""
    lines = [
        f"line {each['line']} is no step: it {each['why']}: {shown(_short(each['text']))}" for each in left[:_MOST]
    ]
    return lines + ([f"and {len(left) - _MOST} more lines: see them with --json"] if len(left) > _MOST else [])


def _short(text: str) -> str:
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"
