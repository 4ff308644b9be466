"""The fields of the JSON step that a draft fills, as plain data; what can't be read is left out, for others to tell."""

from __future__ import annotations

from execplan.execution.annotations.annotated_steps import last_step_ids
from execplan.execution.annotations.attribute_values import AttributeValueError, parse_step_attribute
from execplan.execution.attributes import ALTERNATIVE, ATTRIBUTES_BY_NAME, COMMAND_TYPES, EXECUTE, STEP_OUTCOMES, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from execplan.execution.step_drafts import StepDraft


def build_all_step_fields(drafts: Sequence[StepDraft]) -> list[dict[str, Any]]:
    """Those of each draft; an id that a fence of several commands has is the last of its steps."""
    last_steps = last_step_ids(drafts)
    return [build_step_fields(draft, last_steps) for draft in drafts]


def build_step_fields(draft: StepDraft, last_steps: Mapping[str, str]) -> dict[str, Any]:
    """Those of one draft."""
    kind = draft.attributes.get("type", EXECUTE)
    step: dict[str, Any] = {"id": draft.id, "type": kind}
    for name, text in draft.attributes.items():
        if name in ATTRIBUTES_BY_NAME and name not in ("id", "needs"):
            try:
                _set_field(step, ATTRIBUTES_BY_NAME[name].field, parse_step_attribute(name, text))
            except AttributeValueError:
                continue
    step |= {"depends_on": list(draft.needs), "cwd": draft.cwd, **_body_fields(draft, kind)}
    if step.get("when", {}).get("kind") in STEP_OUTCOMES:
        step["when"]["of"] = last_steps.get(step["when"]["of"], step["when"]["of"])
    strategy = step.get("on_failure", {}).get("strategy", "")
    if strategy.startswith(ALTERNATIVE):
        name = strategy.removeprefix(ALTERNATIVE)
        step["on_failure"]["strategy"] = ALTERNATIVE + last_steps.get(name, name)
    return step


def _set_field(step: dict[str, Any], field: str, field_value: Any) -> None:
    """Fill a field, or one within a field."""
    outer, dot, inner = field.partition(".")
    if dot:
        step.setdefault(outer, {})[inner] = field_value
    else:
        step[outer] = field_value


def _body_fields(draft: StepDraft, kind: str) -> dict[str, Any]:
    """What the fence holds, in the field that the type has for it; lines end in LF, whatever those of the plan end in."""
    if kind in COMMAND_TYPES:
        return {"command": draft.command, "expect": draft.expect}
    if kind == TOOL:
        return {"parameters": parse_tool_parameters(draft.body) or None, "expect": draft.expect}
    text = "".join([f"{line}\n" for line in draft.body])
    if kind == "refactor_code" or (kind == "modify_file" and "lines" not in draft.attributes):
        return {"patch": text}
    return {} if kind == "delete_file" else {"content": text}


def parse_tool_parameters(body: Sequence[str]) -> dict[str, Any] | None:
    """What the body of a call gives to its tool; None where that is no JSON object."""
    import json

    text = "\n".join(body).strip()
    try:
        tool_parameters = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return None
    return tool_parameters if isinstance(tool_parameters, dict) else None
