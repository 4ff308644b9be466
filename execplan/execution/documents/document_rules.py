"""Rules between the fields of execution plans and of run records, checked on plain data, even if fields are invalid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from execplan.core.documents.json_values import find_date_violations
from execplan.core.text.violation import Violation
from execplan.execution.attributes import LEVELS
from execplan.execution.documents.order_rules import (
    check_conditions,
    check_dependencies,
    check_identity,
    check_recoveries,
)
from execplan.execution.documents.step_rules import check_shared_paths, check_step_fields, is_own_tool
from execplan.execution.states import COMPLETED, ENDED_RUN_STATES, FAILED, PENDING, SUCCESS_STATES

_MAX_STEPS = 1000
CLOCK_SKEW_SECONDS: Final = 60
"""Maximum number of seconds by which the writer's clock may be ahead."""


def plan_violations(plan: Mapping[str, Any]) -> list[Violation]:
    """Return all rule violations of an execution plan; missing fields and wrong types are left to field validation."""
    violations = [*_check_plan_id(plan), *_check_history(plan)]
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


def record_violations(record: Mapping[str, Any], now: float) -> list[Violation]:
    """Return all rule violations of a record at the time `now`, in seconds since 1970."""
    steps = record.get("steps")
    step_dicts = []
    if isinstance(steps, list | tuple):
        step_dicts = [step if isinstance(step, dict) else {} for step in steps]
    violations = [*_check_times(record, "", now)]
    for index, step in enumerate(step_dicts):
        violations += [*_check_times(step, f"/steps/{index}", now), *_check_step(step, index)]
    history = record.get("history")
    for index, revision in enumerate(history if isinstance(history, list | tuple) else ()):
        if isinstance(revision, dict):
            violations += [
                *_check_times(revision, f"/history/{index}", now),
                *check_disjoint(revision, f"/history/{index}"),
            ]
    return [*violations, *_check_step_lists(record, step_dicts), *_check_run_end(record, step_dicts)]


def is_in_future(timestamp: object, now: float) -> bool:
    """Return whether a document's time is ahead by more than the allowed skew; an invalid time is not."""
    from datetime import datetime

    try:
        return isinstance(timestamp, str) and datetime.fromisoformat(timestamp).timestamp() > now + CLOCK_SKEW_SECONDS
    except ValueError:
        return False


def _check_times(entry: Mapping[str, Any], location: str, now: float) -> Iterator[Violation]:
    names = ("started", "ended", "at")
    yield from find_date_violations(entry, names, location)
    for name in names:
        if is_in_future(entry.get(name), now):
            yield Violation(f"{location}/{name}", f"{entry[name]} is in the future")


def _check_step(step: dict[str, Any], index: int) -> Iterator[Violation]:
    attempts, max_attempts = step.get("attempts", 0), step.get("max_attempts", 1)
    if not isinstance(attempts, int) or not isinstance(max_attempts, int):
        return
    if attempts > max_attempts:
        yield Violation(f"/steps/{index}/attempts", f"is {attempts}; max_attempts is {max_attempts}")
    if step.get("status") == COMPLETED and not attempts:
        yield Violation(f"/steps/{index}/attempts", "is 0 for a completed step")
    if isinstance(step.get("number"), int) and step["number"] != index + 1:
        yield Violation(f"/steps/{index}/number", f"is {step['number']}, not {index + 1}")


def _check_step_lists(record: Mapping[str, Any], steps: list[dict[str, Any]]) -> Iterator[Violation]:
    """Check that the lists of completed and failed steps match the states of the steps."""
    yield from check_disjoint(record, "")
    for name, status in (("completed_steps", COMPLETED), ("failed_steps", FAILED)):
        listed = list(record.get(name) or ()) if isinstance(record.get(name, ()), list | tuple) else []
        expected = [step.get("number") for step in steps if step.get("status") == status]
        if listed != expected:
            yield Violation(f"/{name}", f"is {listed}; according to the states of the steps, it is {expected}")


def _check_run_end(record: Mapping[str, Any], steps: list[dict[str, Any]]) -> Iterator[Violation]:
    """Check that only an ended run has an end time, and that all steps of a completed run succeeded."""
    status = record.get("status", PENDING)
    if status in ENDED_RUN_STATES and record.get("ended") is None:
        yield Violation("/ended", f"is missing for a run that is {status}")
    elif status not in ENDED_RUN_STATES and record.get("ended") is not None:
        yield Violation("/ended", f"is set for a run that is {status}")
    if status == COMPLETED:
        for index, step in enumerate(steps):
            if step.get("status", PENDING) not in SUCCESS_STATES:
                yield Violation("/status", f"is completed, but step {index + 1} is {step.get('status', PENDING)}")
