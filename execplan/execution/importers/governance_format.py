"""Import format of a governance engine's plan.

Its fields are `planId`, `intent`, `operations`, `constraints`, `recoveryPaths` and `conditionals`.
"""

from __future__ import annotations

from typing import Any, Final

from execplan.execution.importers.object_reader import USE_TOOL, ObjectReader, tool_step_fields, tool_step_type
from execplan.execution.shell.call_patterns import COMMAND, split_pattern

NAME: Final = "governance"
MODES: Final = {"engine": "engine", "governance_driven": "engine", "agent": "agent", "agent_guided": "agent"}
_LEVELS: Final = {"info": "LOW", "low": "LOW", "medium": "MEDIUM", "high": "HIGH", "critical": "CRITICAL"}
_STRATEGIES: Final = ("retry", "skip", "fail_fast", "replan", "ask")
_DEFAULT_RETRIES: Final = 3
"""Number of retries in that system if its document does not set one."""
_RESULTS: Final = {
    "success": "succeeded",
    "succeeded": "succeeded",
    "failure": "failed",
    "failed": "failed",
    "skipped": "skipped",
}
_OPPOSITE: Final = {"succeeded": "failed", "failed": "succeeded", "exists": "missing", "missing": "exists"}
_DEFAULT_TIMEOUT: Final = 300
"""Timeout of a step in seconds if the step does not set one."""


_CALL_KINDS: Final = {
    "create_file": "write",
    "modify_file": "write",
    "refactor_code": "write",
    "delete_file": "delete",
}
"""Step types that concern files, and the kind of call of each."""


def fits(value: dict[str, Any]) -> bool:
    """Return whether a document has this format."""
    return "operations" in value or "planId" in value


def read(reader: ObjectReader) -> dict[str, Any]:
    """Return the execution plan as plain data without risks."""
    report = reader.report
    report.origins |= {
        "/steps": reader.pointer_to("operations"),
        "/intent/summary": f"{reader.pointer_to('intent')}/userMessage",
    }
    intent, constraints = reader.get_object("intent", required=True), reader.get_object("constraints")
    preserved: dict[str, Any] = {"shape": NAME, "plan_id": reader.get("plan_id", str, required=True)}
    preserved |= {"version": reader.get("version", str), "session_id": reader.get("session_id", str)}
    preserved |= {"created_at": reader.get_time("created_at"), "metadata": reader.get("metadata", dict)}
    summary = intent.get("user_message", str) or intent.get("summary", str) or reader.get("description", str)
    level = intent.get("risk_level", str, "")
    if level and level.lower() not in _LEVELS:
        intent.add_violation("risk_level", f"should be one of {', '.join(_LEVELS)}")
    operations = reader.get_objects("operations", required=True)
    mode = _execution_mode(reader, constraints, operations)
    steps = [_read_step(operation, index) for index, operation in enumerate(operations)]
    for step in steps:
        if level.lower() in _LEVELS:
            risk_level = _LEVELS[level.lower()]
            step["risk"] = {
                "level": risk_level,
                "reasons": [f"the imported document rates the whole plan {risk_level}"],
            }
    _apply_recovery_paths(reader, steps)
    _apply_conditionals(reader, steps)
    limits = _read_limits(constraints)
    max_duration = limits.get("max_duration_s")
    if max_duration is not None and 0 < max_duration < _DEFAULT_TIMEOUT:
        for step in steps:
            step.setdefault("timeout_s", max_duration)  # no step may take longer than the whole plan
    plan_fields = {
        "description": reader.get("description", str, summary),
        "mode": mode,
        "intent": {"summary": summary, "category": intent.get("category", str, "mixed")},
        "steps": steps,
        "constraints": limits,
    }
    if level:
        preserved["risk_level"] = level
    reader.reject_values("expires_at", why="can't be imported: here the approval expires, not the plan")
    for section in (reader, intent, constraints, *operations):
        section.reject_unknown_keys()
    return {**plan_fields, "kept": preserved}


def _execution_mode(reader: ObjectReader, constraints: ObjectReader, operations: list[ObjectReader]) -> str:
    """Return the mode, engine or agent; by default, the one in which all tools of the document can be called."""
    modes = {}
    for section in (reader, constraints):
        mode = section.get("execution_mode", str)
        if mode is not None and mode not in MODES:
            section.add_violation("execution_mode", f"should be one of {', '.join(MODES)}")
        elif mode is not None:
            modes[section.pointer_to("execution_mode")] = MODES[mode]
    if len(set(modes.values())) > 1:
        reader.add_violation("execution_mode", "differs from the one in the constraints")
    uses_agent_tools = any([tool_step_type(str(operation.value.get("tool"))) == USE_TOOL for operation in operations])
    return next(iter(modes.values()), "agent" if uses_agent_tools else "engine")


def _read_step(reader: ObjectReader, index: int) -> dict[str, Any]:
    report, step_pointer = reader.report, f"/steps/{index}"
    report.origins |= {step_pointer: reader.location, f"{step_pointer}/depends_on": reader.pointer_to("requires")}
    report.origins |= {
        f"{step_pointer}/max_invocations": reader.pointer_to("max_invocations"),
        f"{step_pointer}/type": reader.pointer_to("tool"),
    }
    tool = reader.get("tool", str, "", required=True)
    arguments = reader.get("arguments", dict, {})
    call_fields = tool_step_fields(tool, arguments, reader.pointer_to("arguments"), step_pointer, report)
    target = call_fields.get("target") or call_fields.get("command") or ""
    step = {
        "number": index + 1,
        "id": reader.get("id", str, "", required=True),
        **call_fields,
        "description": reader.get("description", str, f"Call {tool} {target}".rstrip()),
        "depends_on": reader.get_strings("requires"),
        "parallel": reader.get("parallel", bool, False),
        "max_invocations": reader.get("max_invocations", int, 1),
        "confirm": reader.get("requires_confirmation", bool, False),
        "allow": [_translate_pattern(pattern, call_fields) for pattern in reader.get_strings("allow")],
        "deny": [_translate_pattern(pattern, call_fields) for pattern in reader.get_strings("deny")],
    }
    timeout = _seconds(reader, "timeout")
    return step if timeout is None else {**step, "timeout_s": timeout}


def _translate_pattern(pattern: str, call_fields: dict[str, Any]) -> str:
    """Return a pattern in ExecPlan's form: for an operation on files it applies to their paths."""
    kind = _CALL_KINDS.get(call_fields["type"], "")
    return f"{kind}:{pattern}" if kind and split_pattern(pattern)[0] == COMMAND else pattern


def _read_limits(reader: ObjectReader) -> dict[str, Any]:
    origins = {"max_steps": "max_total_operations", "max_duration_s": "max_duration_ms"}
    for field, source_key in origins.items():
        reader.report.origins[f"/constraints/{field}"] = reader.pointer_to(source_key)
    limits = {
        "max_steps": reader.get("max_total_operations", int),
        "max_duration_s": _seconds(reader, "max_duration_ms"),
        "require_sequential": reader.get("require_sequential", bool),
        "allow_unplanned": reader.get("allow_unplanned", bool),
        "forbidden_paths": reader.get_strings("forbidden_paths"),
        "forbidden_commands": reader.get_strings("forbidden_commands"),
    }
    return {name: value for name, value in limits.items() if value is not None}


def _seconds(reader: ObjectReader, name: str) -> int | None:
    """Return a number of milliseconds in whole seconds."""
    value: int | None = reader.get(name, int)
    if value is None:
        return None
    if value > 0 and value % 1000:
        reader.add_violation(name, f"is {value} ms; limits here are in whole seconds")
    return value // 1000


def _apply_recovery_paths(reader: ObjectReader, steps: list[dict[str, Any]]) -> None:
    """Apply recovery paths, which refer to an operation by its index from 0."""
    for path in reader.get_objects("recovery_paths"):
        strategy = path.get("strategy", str, "", required=True)
        strategy = "fail_fast" if strategy == "fail-fast" else strategy
        retries = path.get("max_retries", int, _DEFAULT_RETRIES if strategy == "retry" else 0)
        recovery = {
            "strategy": strategy,
            "max_retries": retries,
            "backoff_ms": path.get("backoff_ms", int, 1000),
            "triggers": path.get_strings("trigger_errors"),
        }
        if strategy == "alternative":
            path.add_violation("strategy", "specifies no alternative operation; use alternative:ID")
        elif strategy and strategy not in _STRATEGIES and not strategy.startswith("alternative:"):
            path.add_violation("strategy", f"should be one of {', '.join(_STRATEGIES)}, alternative:ID")
        index = _check_operation_index(path, "trigger_step", path.get("trigger_step", int, required=True), steps)
        if index is not None and "on_failure" in steps[index]:
            path.add_violation("trigger_step", f"operation {index} already has a recovery path")
        elif index is not None:
            steps[index]["on_failure"] = recovery
            recovery_pointer = f"/steps/{index}/on_failure"
            path.report.origins |= {
                recovery_pointer: path.location,
                f"{recovery_pointer}/triggers": path.pointer_to("trigger_errors"),
            }
            path.report.origins |= {f"{recovery_pointer}/max_retries": path.pointer_to("max_retries")}
            path.report.origins |= {f"{recovery_pointer}/backoff_ms": path.pointer_to("backoff_ms")}
        path.reject_unknown_keys()


def _check_operation_index(
    reader: ObjectReader, name: str, index: int | None, steps: list[dict[str, Any]]
) -> int | None:
    """Return the index of an operation if it exists, or None."""
    if index is not None and not 0 <= index < len(steps):
        reader.add_violation(name, f"unknown operation {index}; operations are counted from 0")
        return None
    return index


def _apply_conditionals(reader: ObjectReader, steps: list[dict[str, Any]]) -> None:
    """Apply conditionals: a condition, and the operations for the cases that it is true and false."""
    for branch in reader.get_objects("conditionals"):
        when = _parse_condition(branch, steps)
        for name in ("if_true", "if_false"):
            for position, index in enumerate(branch.get(name, list, [])):
                location = f"{branch.pointer_to(name)}/{position}"
                if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(steps):
                    branch.report.add_violation(location, f"unknown operation {index}; operations are counted from 0")
                elif when is not None:
                    _set_condition(
                        branch, location, steps, index, when if name == "if_true" else _opposite_condition(when, steps)
                    )
        branch.reject_unknown_keys()


def _parse_condition(branch: ObjectReader, steps: list[dict[str, Any]]) -> dict[str, str] | None:
    """Parse a condition: `step_0_success`, `ID.failed`, `exists:PATH`."""
    condition: str | None = branch.get("condition", str, required=True)
    if condition is None:
        return None
    kind, colon, path = condition.partition(":")
    if colon and kind in ("exists", "missing") and path:
        return {"kind": kind, "of": path}
    name, dot, state = condition.rpartition(".")
    if dot and state in ("succeeded", "failed", "skipped"):
        return {"kind": state, "of": name}
    parts = condition.split("_")
    if len(parts) == 3 and parts[0] == "step" and parts[1].isascii() and parts[1].isdigit() and parts[2] in _RESULTS:
        index = _check_operation_index(branch, "condition", int(parts[1][:9]), steps)
        return None if index is None else {"kind": _RESULTS[parts[2]], "of": steps[index]["id"]}
    allowed_forms = (
        "step_N_success, step_N_failed, step_N_skipped, ID.succeeded, ID.failed, ID.skipped, exists:PATH, missing:PATH"
    )
    branch.add_violation("condition", f"can't be imported: conditions are {allowed_forms}")
    return None


def _opposite_condition(when: dict[str, str], steps: list[dict[str, Any]]) -> dict[str, str] | None:
    """Return the opposite of a condition, or None if a single condition can't express it."""
    conditional = [step for step in steps if step["id"] == when["of"] and ("when" in step or _skips_on_failure(step))]
    kind = None if conditional else _OPPOSITE.get(when["kind"])
    return None if kind is None else {**when, "kind": kind}


def _skips_on_failure(step: dict[str, Any]) -> bool:
    return bool(step.get("on_failure", {}).get("strategy") == "skip")


def _set_condition(
    branch: ObjectReader, location: str, steps: list[dict[str, Any]], index: int, when: dict[str, str] | None
) -> None:
    if when is None:
        branch.report.add_violation(
            location, "the opposite of the condition can't be expressed, because the step may also be skipped"
        )
    elif "when" in steps[index]:
        branch.report.add_violation(location, f"operation {index} already has a condition")
    else:
        steps[index]["when"] = when
        branch.report.origins[f"/steps/{index}/when"] = branch.pointer_to("condition")
        branch.report.origins[f"/steps/{index}/when/of"] = branch.pointer_to("condition")
