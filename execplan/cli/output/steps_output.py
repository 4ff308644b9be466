"""Steps of an execution plan, as JSON and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from execplan.cli.answer import Answer, json_fields
from execplan.cli.error_handler import printable_line
from execplan.cli.output.terminal_layout import fit_lines
from execplan.cli.output.text_table import format_table
from execplan.core.errors import ExecplanError
from execplan.core.plan_store.plan_store import StoredPlan, quote_plan_name
from execplan.core.text.message_parts import shorten
from execplan.execution.evaluation.evaluation_text import skipped_json
from execplan.execution.execution_plan import ExecutionPlan, Step
from execplan.team.advice.execution_status import NOT_COMPILED, execution_status_json, start_commands, status_text
from execplan.team.advice.plan_json import plan_json

_MAX_SKIPPED_SHOWN = 10
"""Maximum number of skipped lines shown to people."""
_MAX_TEXT_LENGTH = 60


def steps_answer(stored_plan: StoredPlan, warnings: tuple[str, ...]) -> Answer:
    """Build the answer with the steps that a plan now compiles to; raises ExecplanError if it can't be compiled."""
    project, ref = stored_plan.project, stored_plan.ref
    plan_fields = plan_json(stored_plan)
    steps, skipped_lines = _find_steps(stored_plan)
    status = execution_status_json(project, ref)
    data = {**plan_fields, "steps": steps, "left": skipped_lines, "execution": status}
    if len(steps) == 1:
        count = "1 step"
    elif steps:
        count = f"{len(steps)} steps"
    else:
        count = "no runnable steps"
    lines = fit_lines(
        printable_line(plan_fields["title"] or "(no title)"),
        f"{printable_line(plan_fields['path'])}: {count}" + (f", {status_text(status)}" if steps else ""),
    )
    lines += ["", steps_table(steps)] if steps else []
    lines += ["", *fit_lines(*skipped_line_texts(skipped_lines))] if skipped_lines else []
    state = status["state"]
    name = quote_plan_name(ref.id, plan_fields["path"])
    command_name = "compile" if state == NOT_COMPILED else "evaluate"
    next_commands = start_commands(status, name) or (f"execplan {command_name} {name}",)
    return Answer(
        data, "\n".join(lines), warnings=warnings, next_commands=next_commands if steps else ("execplan explain steps",)
    )


def _find_steps(stored_plan: StoredPlan) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the steps and the skipped lines that look like steps; raises ExecplanError."""
    from execplan.execution.approvals.current_plan import load_current_plan
    from execplan.execution.compile import find_plan_steps

    try:
        current_plan = load_current_plan(stored_plan.project, stored_plan.ref)
    except ExecplanError as error:
        if error.code != "no-steps" or stored_plan.plan is None:
            raise
        return [], skipped_json(find_plan_steps(stored_plan.plan).skipped)
    return steps_json(current_plan.document), skipped_json(current_plan.skipped_lines)


def steps_json(document: ExecutionPlan) -> list[dict[str, Any]]:
    """Return the short JSON form of the steps; `evaluate` and the document have more details."""
    return [_step_json(step) for step in document.steps]


def _step_json(step: Step) -> dict[str, Any]:
    return {
        **json_fields(step, "number id"),
        "type": step.type.value,
        **json_fields(step, "tool description argv cwd"),
        "risk": {"level": step.risk.level.value, "reasons": list(step.risk.reasons)},
        **json_fields(step, "depends_on phase inferred"),
        "line_start": step.source.line_start if step.source else None,
        "line_end": step.source.line_end if step.source else None,
    }


def steps_table(steps: Sequence[dict[str, Any]]) -> str:
    """Format the steps as a table with one line per step."""
    rows = [
        (str(step["number"]), step["id"], _line_range(step), step["risk"]["level"], _description(step))
        for step in steps
    ]
    return format_table(("#", "id", "lines", "risk", "what"), rows, spare=("lines",), wraps=True)


def _line_range(step: dict[str, Any]) -> str:
    start, end = step["line_start"], step["line_end"]
    if start is None:
        return "-"
    return f"{start}" if start == end else f"{start}-{end}"


def _description(step: dict[str, Any]) -> str:
    description: str = step["description"] + (" (inferred)" if step["inferred"] else "")
    if not step["depends_on"]:
        return description
    return f"{description.removesuffix('.')}, after {', '.join(step['depends_on'])}"


def skipped_line_texts(skipped_lines: Sequence[dict[str, Any]]) -> list[str]:
    """Format the skipped lines for people."""
    lines = [
        f"line {skipped_line['line']} is not a step: it {skipped_line['why']}: {printable_line(shorten(skipped_line['text'], _MAX_TEXT_LENGTH))}"
        for skipped_line in skipped_lines[:_MAX_SKIPPED_SHOWN]
    ]
    return lines + (
        [f"and {len(skipped_lines) - _MAX_SKIPPED_SHOWN} more lines; see all with --json"]
        if len(skipped_lines) > _MAX_SKIPPED_SHOWN
        else []
    )
