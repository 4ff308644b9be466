"""Selection of the texts of an execution plan that may be sent: only those named in the user's `share` setting.

The structure is always sent: IDs, numbers, switches, and values that the format lists.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Final

from execplan.execution.attributes import STEP_TYPES

FIELDS: Final = {
    "description": "the plan's description",
    "intent": "the summary and category of the plan's intent",
    "constraints": "forbidden paths and commands",
    "steps.tool": "the name of an agent's tool",
    "steps.description": "a step's description",
    "steps.task": "the task that the step belongs to",
    "steps.action": "the action of a refactoring",
    "steps.target": "the path that the step writes",
    "steps.from": "the path that the step copies or moves",
    "steps.replacement": "the text that the step replaces, and the files in which it does",
    "steps.command": "the command, as a line and as arguments",
    "steps.content": "the content that the step writes",
    "steps.patch": "the changes that the step makes to files",
    "steps.parameters": "the parameters of an agent's tool",
    "steps.when": "the path in the step's condition",
    "steps.cwd": "the working directory",
    "steps.env": "the environment variables",
    "steps.inputs": "the paths that the step reads",
    "steps.outputs": "the paths that the step writes in addition to its target",
    "steps.expect": "the expected output",
    "steps.service": "what shows that a service is ready",
    "steps.validation": "the test after the step",
    "steps.risk": "the reasons for the step's risk",
    "steps.allow": "the additional calls that the step allows",
    "steps.deny": "the calls that the step denies",
}
"""Fields that can be shared, each with a description."""
_TEXT_FIELDS: Final = ("description", "task", "action", "target", "content", "patch", "expect", "service")
_LIST_FIELDS: Final = ("inputs", "outputs", "allow", "deny")
_MIN_QUOTE_LENGTH: Final = 4
"""Minimum length, in characters, of a withheld text that is also withheld in shared texts of its step."""


def withhold_fields(
    plan: dict[str, Any], share: Collection[str], make_placeholder: Callable[[str], str]
) -> dict[str, Any]:
    """Replace each text that is not shared with a placeholder, in a plan as plain data; the shape stays the same."""
    masked_plan = dict(plan)
    if "description" not in share:
        masked_plan["description"] = _withhold_text(plan["description"], make_placeholder)
    if "intent" not in share:
        intent = plan["intent"]
        masked_plan["intent"] = {
            **intent,
            "summary": _withhold_text(intent["summary"], make_placeholder),
            "category": _withhold_text(intent["category"], make_placeholder),
        }
    if "constraints" not in share:
        constraints = plan["constraints"]
        masked_plan["constraints"] = {
            **constraints,
            "forbidden_paths": _withhold_texts(constraints["forbidden_paths"], make_placeholder),
            "forbidden_commands": _withhold_texts(constraints["forbidden_commands"], make_placeholder),
        }
    masked_plan["steps"] = [_withhold_step(step, share, make_placeholder) for step in plan["steps"]]
    return masked_plan


def _withhold_step(
    step: dict[str, Any], share: Collection[str], make_placeholder: Callable[[str], str]
) -> dict[str, Any]:
    """Replace each text of a step that is not shared with a placeholder."""
    withheld_names = [name for name in _WITHHOLDERS if f"steps.{name}" not in share]
    masked_step = dict(step)
    for name in withheld_names:
        masked_step |= _WITHHOLDERS[name](step, make_placeholder)
    hidden_texts = [text.strip() for name in withheld_names for text in _quotable_texts(step, name)]
    return _withhold_quotes(step, masked_step, sorted(set(hidden_texts), key=len, reverse=True), make_placeholder)


def _withhold_command(step: dict[str, Any], make_placeholder: Callable[[str], str]) -> dict[str, Any]:
    return {
        "command": _withhold_text(step["command"], make_placeholder),
        "argv": _withhold_texts(step["argv"], make_placeholder),
    }


def _withhold_tool(step: dict[str, Any], make_placeholder: Callable[[str], str]) -> dict[str, Any]:
    """Replace the name of the tool, unless a step type always uses it: such a name is not user text."""
    if step["tool"] in [step_type.tool for step_type in STEP_TYPES.values()]:
        return {}
    return {"tool": _withhold_text(step["tool"], make_placeholder)}


def _withhold_cwd(step: dict[str, Any], make_placeholder: Callable[[str], str]) -> dict[str, Any]:
    return {"cwd": _withhold_text(step["cwd"], make_placeholder)} if step["cwd"] != "." else {}


def _withhold_env(step: dict[str, Any], make_placeholder: Callable[[str], str]) -> dict[str, Any]:
    return {
        "env": {make_placeholder(name): _withhold_text(value, make_placeholder) for name, value in step["env"].items()}
    }


def _withhold_parameters(step: dict[str, Any], make_placeholder: Callable[[str], str]) -> dict[str, Any]:
    parameters = step["parameters"]
    if parameters is None:
        return {}
    return {
        "parameters": {
            make_placeholder(name): _withhold_value(value, make_placeholder) for name, value in parameters.items()
        }
    }


def _withhold_condition(step: dict[str, Any], make_placeholder: Callable[[str], str]) -> dict[str, Any]:
    """Replace the path of a condition; the ID of a step stays."""
    when = step["when"]
    is_path = when is not None and when["kind"] in ("exists", "missing")
    return {"when": {**when, "of": _withhold_text(when["of"], make_placeholder)}} if is_path else {}


def _withhold_validation(step: dict[str, Any], make_placeholder: Callable[[str], str]) -> dict[str, Any]:
    return {
        "validation": {
            **step["validation"],
            "test_after": _withhold_texts(step["validation"]["test_after"], make_placeholder),
        }
    }


def _withhold_origin(step: dict[str, Any], make_placeholder: Callable[[str], str]) -> dict[str, Any]:
    origin = step.get("from")
    return {"from": _withhold_text(origin, make_placeholder)} if origin is not None else {}


def _withhold_replacement(step: dict[str, Any], make_placeholder: Callable[[str], str]) -> dict[str, Any]:
    replacement = step.get("replacement")
    if replacement is None:
        return {}
    texts = {name: _withhold_text(replacement[name], make_placeholder) for name in ("find", "with")}
    return {"replacement": {**replacement, **texts, "paths": _withhold_texts(replacement["paths"], make_placeholder)}}


def _withhold_risk(step: dict[str, Any], make_placeholder: Callable[[str], str]) -> dict[str, Any]:
    return {"risk": {**step["risk"], "reasons": _withhold_texts(step["risk"]["reasons"], make_placeholder)}}


def _withhold_text_field(name: str, step: dict[str, Any], make_placeholder: Callable[[str], str]) -> dict[str, Any]:
    return {name: _withhold_text(step[name], make_placeholder)}


def _withhold_list_field(name: str, step: dict[str, Any], make_placeholder: Callable[[str], str]) -> dict[str, Any]:
    return {name: _withhold_texts(step[name], make_placeholder)}


_WITHHOLDERS: Final[dict[str, Callable[[dict[str, Any], Callable[[str], str]], dict[str, Any]]]] = {
    "command": _withhold_command,
    "tool": _withhold_tool,
    "cwd": _withhold_cwd,
    "env": _withhold_env,
    "parameters": _withhold_parameters,
    "when": _withhold_condition,
    "validation": _withhold_validation,
    "risk": _withhold_risk,
    "from": _withhold_origin,
    "replacement": _withhold_replacement,
    **{name: partial(_withhold_text_field, name) for name in _TEXT_FIELDS},
    **{name: partial(_withhold_list_field, name) for name in _LIST_FIELDS},
}
"""Functions that withhold a field of a step, by the name of the field."""


def _quotable_texts(step: dict[str, Any], name: str) -> list[str]:
    """Return the texts of a field that descriptions of the step may quote."""
    if name == "command":
        return [step["command"] or "", " ".join(step["argv"] or ())]
    if name in _LIST_FIELDS:
        return list(step[name])
    if name == "env":
        return list(step["env"].values())
    if name == "replacement" and step.get(name):
        return [step[name]["find"], step[name]["with"], *step[name]["paths"]]
    if name == "from":
        return [step.get(name) or ""]
    return [step[name] or ""] if name in ("target", "content", "patch", "expect") else []


def _withhold_quotes(
    step: dict[str, Any], masked_step: dict[str, Any], hidden_texts: list[str], make_placeholder: Callable[[str], str]
) -> dict[str, Any]:
    """Replace withheld texts that are quoted in the step's shared descriptions.

    A description is often derived from a command.
    """
    for name in ("description", "task", "action"):
        text = masked_step[name]
        if text is not None and text == step[name]:
            for hidden_text in hidden_texts:
                if len(hidden_text) >= _MIN_QUOTE_LENGTH and hidden_text in text:
                    text = text.replace(hidden_text, make_placeholder(hidden_text))
            masked_step[name] = text
    return masked_step


def _withhold_text(text: str | None, make_placeholder: Callable[[str], str]) -> str | None:
    return make_placeholder(text) if text else text


def _withhold_texts(texts: list[str] | None, make_placeholder: Callable[[str], str]) -> list[str] | None:
    if texts is None:
        return None
    return [make_placeholder(text) if text else text for text in texts]


def _withhold_value(value: Any, make_placeholder: Callable[[str], str]) -> Any:
    import json

    return value if value in (None, "", [], {}) else make_placeholder(json.dumps(value, sort_keys=True))
