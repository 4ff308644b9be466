"""Import format of an agent system's typed plan.

Its fields are `plan_id`, `request`, `selected_tools` and `steps` of `step_number`, `tool_name`.
"""

from __future__ import annotations

from typing import Any, Final

from execplan.execution.importers.object_reader import USE_TOOL, ObjectReader, tool_step_fields

NAME: Final = "typed"
_IS_RESULT: Final = "is a result; only plans that have not started can be imported"


def fits(value: dict[str, Any]) -> bool:
    """Return whether a document has this format."""
    steps = value.get("steps")
    first_step = steps[0] if isinstance(steps, list) and steps else None
    keys = {"step_number", "tool_name", "stepNumber", "toolName"}
    return (
        "selected_tools" in value
        or "selectedTools" in value
        or (isinstance(first_step, dict) and bool(keys & first_step.keys()))
    )


def read(reader: ObjectReader) -> dict[str, Any]:
    """Return the execution plan as plain data without risks."""
    report = reader.report
    report.origins |= {"/intent/summary": reader.pointer_to("request"), "/description": reader.pointer_to("request")}
    preserved: dict[str, Any] = {"shape": NAME, "plan_id": reader.get("plan_id", str, required=True)}
    request = reader.get("request", str)
    reasoning = reader.get("reasoning", str)
    preserved |= {"reasoning": reasoning, "metadata": reader.get("metadata", dict)}
    preserved |= {"created_at": reader.get_time("created_at"), "updated_at": reader.get_time("updated_at")}
    reader.require_pending()
    step_readers = reader.get_objects("steps", required=True)
    numbers = [step_reader.get("step_number", int, required=True) for step_reader in step_readers]
    order = sorted(range(len(step_readers)), key=lambda index: numbers[index] if None not in numbers else index)
    ids = {numbers[index]: f"step-{numbers[index]}" for index in order}
    steps = [_read_step(step_readers[index], position, numbers[index], ids) for position, index in enumerate(order)]
    preserved["selected_tools"] = reader.get_strings("selected_tools")
    for position, tool in enumerate(preserved["selected_tools"]):
        if tool not in [step["tool"] for step in steps]:
            report.add_violation(f"{reader.pointer_to('selected_tools')}/{position}", f"no step calls {tool}")
    for section in (reader, *step_readers):
        section.reject_unknown_keys()
    summary = reasoning if request is None else request
    return {
        "description": summary,
        "mode": "agent" if any([step["type"] == USE_TOOL for step in steps]) else "engine",
        "intent": {"summary": summary, "category": "mixed"},
        "steps": steps,
        "kept": preserved,
    }


def _read_step(reader: ObjectReader, index: int, number: int | None, ids: dict[int, str]) -> dict[str, Any]:
    step_pointer = f"/steps/{index}"
    reader.report.origins |= {step_pointer: reader.location, f"{step_pointer}/number": reader.pointer_to("step_number")}
    reader.report.origins |= {
        f"{step_pointer}/id": reader.pointer_to("step_number"),
        f"{step_pointer}/tool": reader.pointer_to("tool_name"),
    }
    tool = reader.get("tool_name", str, "", required=True)
    parameters = reader.get("parameters", dict, {})
    reader.require_pending()
    reader.reject_values("result", "error", why=_IS_RESULT)
    needs = []
    for position, dependency in enumerate(reader.get("depends_on", list, [])):
        if isinstance(dependency, int) and not isinstance(dependency, bool):
            needs.append(ids.get(dependency, f"step-{dependency}"))
        else:
            reader.report.add_violation(
                f"{reader.pointer_to('depends_on')}/{position}", "should be the number of a step"
            )
    return {
        "number": number,
        "id": ids.get(number, "") if number is not None else "",
        **tool_step_fields(tool, parameters, reader.pointer_to("parameters"), step_pointer, reader.report),
        "description": reader.get("description", str, required=True),
        "depends_on": needs,
    }
