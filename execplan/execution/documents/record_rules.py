"""Rules between the fields of a run record, checked on plain data, and the rule that times are not in the future."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.text.violation import Violation
from execplan.execution.documents.plan_rules import check_disjoint, json_violations
from execplan.execution.states import COMPLETED, ENDED_RUN_STATES, FAILED, PENDING, SUCCESS_STATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Final

CLOCK_SKEW_SECONDS: Final = 60
"""Maximum number of seconds by which the writer's clock may be ahead."""


def record_violations(record: Mapping[str, Any], now: float) -> list[Violation]:
    """Return all rule violations of a record at the time `now`, in seconds since 1970."""
    steps = record.get("steps")
    step_dicts = [step if isinstance(step, dict) else {} for step in steps] if isinstance(steps, list | tuple) else []
    violations = [*json_violations(record), *_check_times(record, "", now)]
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
    for name in ("started", "ended", "at"):
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
