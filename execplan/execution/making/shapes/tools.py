"""What a tool and its arguments come to as a step of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from execplan.execution.documents.rules_parts import FIELDS_BY_TYPE
from execplan.execution.documents.violation import json_pointer

if TYPE_CHECKING:
    from execplan.execution.making.shapes.form import ImportReport

_TYPES_BY_TOOL: Final = {step_fields.tool: kind for kind, step_fields in FIELDS_BY_TYPE.items() if step_fields.tool}
_COMMON_FIELDS: Final = ("inputs", "outputs", "timeout_s")
_ALIASES: Final = {"path": "target"}
USE_TOOL: Final = "use_tool"


def tool_step_type(tool: str) -> str:
    """The type of step that a tool is ours for; `use_tool` for one of an agent."""
    return _TYPES_BY_TOOL.get(tool, USE_TOOL)


def tool_step_fields(tool: str, arguments: dict[str, Any], location: str, step_pointer: str, report: ImportReport) -> dict[str, Any]:
    """The fields of the step that calls a tool with arguments, which stand at `location` and are `step_pointer` in our document."""
    kind = tool_step_type(tool)
    if kind == USE_TOOL:
        report.origins[f"{step_pointer}/parameters"] = location
        return {"type": kind, "tool": tool, "parameters": arguments or None}
    allowed, fields = FIELDS_BY_TYPE[kind], {"type": kind, "tool": tool}
    for name, value in arguments.items():
        field = _ALIASES.get(name, name)
        argument_pointer = location + json_pointer((name,))
        if field not in (*allowed.required, *allowed.optional, *_COMMON_FIELDS):
            report.add_violation(argument_pointer, f"{tool} takes {', '.join((*allowed.required, *allowed.optional, *_COMMON_FIELDS))}")
        elif field in fields:
            report.add_violation(argument_pointer, f"{field} is given twice")
        else:
            fields[field] = value
            report.origins[f"{step_pointer}/{field}"] = argument_pointer
    for name in allowed.required:
        report.origins.setdefault(f"{step_pointer}/{name}", location + json_pointer((name,)))
    return fields
