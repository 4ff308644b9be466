"""Rules between the fields of an execution plan, checked on plain data, even if some fields are invalid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.text.violation import Violation, json_pointer
from execplan.execution.attributes import LEVELS
from execplan.execution.documents.order_rules import (
    check_conditions,
    check_dependencies,
    check_identity,
    check_recoveries,
)
from execplan.execution.documents.step_rules import check_shared_paths, check_step_fields, is_own_tool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_MAX_STEPS = 1000
_MAX_DEPTH = 64
_MAX_DIGITS = 19


def plan_violations(plan: Mapping[str, Any]) -> list[Violation]:
    """Return all rule violations of an execution plan; missing fields and wrong types are left to field validation."""
    violations = [*json_violations(plan), *_check_plan_id(plan), *_check_history(plan)]
    steps = plan.get("steps")
    if not isinstance(steps, list | tuple) or len(steps) > _MAX_STEPS:
        return violations
    step_dicts = [step if isinstance(step, dict) else {} for step in steps]
    for rule in (
        check_identity,
        check_dependencies,
        check_conditions,
        check_recoveries,
        check_step_fields,
        check_shared_paths,
    ):
        violations += rule(step_dicts)
    return [*violations, *_check_constraints(plan, step_dicts)]


def json_violations(plan: object) -> Iterator[Violation]:
    """Yield violations for values that Python accepts and the strict JSON reader rejects."""
    if _is_valid_json(plan, _MAX_DEPTH):
        return
    stack: list[tuple[Any, str, int]] = [(plan, "", 0)]
    while stack:
        value, location, depth = stack.pop()
        if isinstance(value, dict | list | tuple):
            if depth == _MAX_DEPTH and value:
                yield Violation(location, f"nested more than {_MAX_DEPTH} levels deep")
                continue
            names = list(value.items() if isinstance(value, dict) else enumerate(value))
            stack += [(child, location + json_pointer((str(name),)), depth + 1) for name, child in names]
            stack += [(name, location, depth) for name, _ in names if isinstance(name, str)]
        elif isinstance(value, str) and not value.isascii() and any(["\ud800" <= char <= "\udfff" for char in value]):
            yield Violation(location, "half of a surrogate pair, which is not a character")
        elif isinstance(value, float) and value - value != 0:
            yield Violation(location, f"{value} is not a JSON number")
        elif isinstance(value, int) and abs(value) >= 10**_MAX_DIGITS:
            yield Violation(location, f"an integer of more than {_MAX_DIGITS} digits")
        elif value is not None and not isinstance(value, str | int | float):
            yield Violation(location, f"a Python {type(value).__name__}, which JSON doesn't have")


def _is_valid_json(value: Any, depth: int) -> bool:
    """Return whether a value certainly has no violation, which takes a fifth of the time to locate one."""
    kind = value.__class__
    if kind is str:
        return bool(value.isascii())
    if kind is dict:
        return depth > 0 and all(
            [_is_valid_json(name, 0) and _is_valid_json(child, depth - 1) for name, child in value.items()]
        )
    if kind is list or kind is tuple:
        return depth > 0 and all([_is_valid_json(child, depth - 1) for child in value])
    if kind is int:
        return bool(abs(value) < 10**_MAX_DIGITS)
    return value is None or kind is bool or (kind is float and value - value == 0)


def _check_plan_id(plan: Mapping[str, Any]) -> Iterator[Violation]:
    if plan.get("plan_id") in (".", ".."):
        yield Violation("/plan_id", "is not a valid directory name")


def _check_history(plan: Mapping[str, Any]) -> Iterator[Violation]:
    """Check that revisions count from 1 and that the history has all but the current one."""
    metadata, revision = plan.get("metadata") or {}, plan.get("revision", 1)
    history = metadata.get("history", ()) if isinstance(metadata, dict) else ()
    if not isinstance(history, list | tuple) or not _is_number(revision) or revision < 1:
        return
    if len(history) != revision - 1:
        yield Violation("/metadata/history", f"contains {len(history)} of the {revision - 1} previous revisions")
    for index, entry in enumerate(history):
        if not isinstance(entry, dict):
            continue
        if _is_number(entry.get("revision")) and entry["revision"] != index + 1:
            yield Violation(f"/metadata/history/{index}/revision", f"is {entry['revision']}, not {index + 1}")
        yield from check_disjoint(entry, f"/metadata/history/{index}")


def check_disjoint(entry: Mapping[str, Any], location: str) -> Iterator[Violation]:
    """Check that no step is both completed and failed."""
    failed = _number_list(entry.get("failed_steps"))
    conflicting = [number for number in _number_list(entry.get("completed_steps")) if number in failed]
    if conflicting:
        yield Violation(f"{location}/failed_steps", f"step {conflicting[0]} is also among the completed steps")


def _number_list(value: object) -> list[int]:
    """Return the integers in a list; other entries are left to the field validation."""
    return [number for number in value if _is_number(number)] if isinstance(value, list | tuple) else []


def _check_constraints(plan: Mapping[str, Any], steps: list[dict[str, Any]]) -> Iterator[Violation]:
    """Check the steps against the fields of the plan that apply to all of them."""
    constraints = plan.get("constraints") or {}
    constraints = constraints if isinstance(constraints, dict) else {}
    max_steps = constraints.get("max_steps", 100)
    if _is_number(max_steps) and len(steps) > max_steps:
        yield Violation("/steps", f"{len(steps)} steps; constraints.max_steps is {max_steps}")
    is_sequential = constraints.get("require_sequential") is True
    is_engine, has_no_source = plan.get("mode", "engine") == "engine", plan.get("source") is None
    for index, step in enumerate(steps):
        if is_sequential and step.get("parallel") is True:
            yield Violation(f"/steps/{index}/parallel", "constraints.require_sequential forbids it")
        tool = step.get("tool")
        if is_engine and step.get("type") == "use_tool" and isinstance(tool, str) and is_own_tool(tool):
            message = f"{tool} is in one of execplan's own domains and not an installed tool; give the step the type of its action"
            yield Violation(f"/steps/{index}/tool", message)
        if has_no_source and step.get("source") is not None:
            yield Violation(f"/steps/{index}/source", "refers to lines of a plan, but the document has no source")
    yield from _check_risk_level(plan, steps)


def _check_risk_level(plan: Mapping[str, Any], steps: list[dict[str, Any]]) -> Iterator[Violation]:
    levels = [step["risk"].get("level") for step in steps if isinstance(step.get("risk"), dict)]
    intent = plan.get("intent")
    stated_level = intent.get("risk_level") if isinstance(intent, dict) else None
    if (
        stated_level not in LEVELS
        or len(levels) < len(steps)
        or not levels
        or any([level not in LEVELS for level in levels])
    ):
        return
    highest = max(levels, key=LEVELS.index)
    if stated_level != highest:
        yield Violation("/intent/risk_level", f"is {stated_level}; the highest level of the steps is {highest}")


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
