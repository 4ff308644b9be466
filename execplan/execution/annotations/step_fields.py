"""Fields of the JSON step from a draft, as plain data; invalid values are left out and reported elsewhere."""

from __future__ import annotations

from execplan.execution.annotations.annotated_steps import last_step_ids
from execplan.execution.annotations.attribute_values import AttributeValueError, parse_step_attribute
from execplan.execution.attributes import (
    ALTERNATIVE,
    ATTRIBUTES_BY_NAME,
    COMMAND_TYPES,
    EXECUTE,
    IDEMPOTENT,
    MANUAL,
    REPLACE,
    STEP_OUTCOMES,
    TOOL,
    TRANSFERS,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from execplan.execution.parsed_steps import StepDraft


def build_all_step_fields(drafts: Sequence[StepDraft]) -> list[dict[str, Any]]:
    """Return the fields of each draft; the ID of a code block with several commands refers to its last step."""
    last_steps = last_step_ids(drafts)
    return [build_step_fields(draft, last_steps) for draft in drafts]


def build_step_fields(draft: StepDraft, last_steps: Mapping[str, str]) -> dict[str, Any]:
    """Return the JSON fields of one draft."""
    kind = draft.attributes.get("type", EXECUTE)
    step: dict[str, Any] = {"id": draft.id, "type": kind}
    for name, text in draft.attributes.items():
        if name in ATTRIBUTES_BY_NAME and name not in ("id", "needs"):
            try:
                _set_field(step, ATTRIBUTES_BY_NAME[name].field, parse_step_attribute(name, text))
            except AttributeValueError:
                continue
    if "service" in step:
        step.setdefault("effect", IDEMPOTENT)
    step |= {"depends_on": list(draft.needs), "cwd": draft.cwd}
    for field, field_value in _body_fields(draft, kind).items():
        _set_field(step, field, field_value)
    if step.get("when", {}).get("kind") in STEP_OUTCOMES:
        step["when"]["of"] = last_steps.get(step["when"]["of"], step["when"]["of"])
    strategy = step.get("on_failure", {}).get("strategy", "")
    if strategy.startswith(ALTERNATIVE):
        name = strategy.removeprefix(ALTERNATIVE)
        step["on_failure"]["strategy"] = ALTERNATIVE + last_steps.get(name, name)
    return step


def _set_field(step: dict[str, Any], field: str, field_value: Any) -> None:
    """Set a field of a step, or a nested field given by its dotted name."""
    outer, dot, inner = field.partition(".")
    if dot:
        step.setdefault(outer, {})[inner] = field_value
    else:
        step[outer] = field_value


def _body_fields(draft: StepDraft, kind: str) -> dict[str, Any]:
    """Return the body of the code block under the field for its step type; lines end in LF, whatever the plan uses."""
    if kind in COMMAND_TYPES:
        return {"command": draft.command, "expect": draft.expect}
    if kind == TOOL:
        return {"parameters": parse_tool_parameters(draft.body) or None, "expect": draft.expect}
    if kind == REPLACE:
        find, new = parse_replacement(draft.body)
        return {"replacement.find": find, "replacement.with": new}
    text = "".join([f"{line}\n" for line in draft.body])
    if kind == "refactor_code" or (kind == "modify_file" and "lines" not in draft.attributes):
        return {"patch": text}
    return {} if kind in ("delete_file", MANUAL, *TRANSFERS) else {"content": text}


def parse_replacement(body: Sequence[str]) -> tuple[str, str]:
    """Return the text to find and its replacement: the lines that begin with `-` and with `+`, without these marks."""
    texts = ["\n".join([line[1:] for line in body if line[:1] == mark]) for mark in "-+"]
    return texts[0], texts[1]


def parse_tool_parameters(body: Sequence[str]) -> dict[str, Any] | None:
    """Return the parameters in the body of a tool call, or None if it is not a JSON object."""
    import json

    text = "\n".join(body).strip()
    try:
        tool_parameters = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return None
    return tool_parameters if isinstance(tool_parameters, dict) else None
