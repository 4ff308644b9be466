"""What must hold between the fields of a run's record, on plain data; and times, which are never in the future."""

from __future__ import annotations

from execplan.execution.documents.rules import disjoint, plain
from execplan.execution.documents.violation import Violation
from execplan.execution.states import COMPLETED, ENDED, FAILED, GOOD, PENDING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Final

GRACE: Final = 60
"""Seconds by which the clock of whoever wrote it may be ahead."""


def broken(record: Mapping[str, Any], now: float) -> list[Violation]:
    """All rules that a record breaks at a moment, in seconds since 1970."""
    steps = record.get("steps")
    known = [step if isinstance(step, dict) else {} for step in steps] if isinstance(steps, list | tuple) else []
    found = [*plain(record), *_times(record, "", now)]
    for at, step in enumerate(known):
        found += [*_times(step, f"/steps/{at}", now), *_step(step, at)]
    history = record.get("history")
    for at, each in enumerate(history if isinstance(history, list | tuple) else ()):
        if isinstance(each, dict):
            found += [*_times(each, f"/history/{at}", now), *disjoint(each, f"/history/{at}")]
    return [*found, *_lists(record, known), *_whole(record, known)]


def in_the_future(said: object, now: float) -> bool:
    """Whether a time of a document lies ahead by more than the grace; what is no time does not."""
    from datetime import datetime

    try:
        return isinstance(said, str) and datetime.fromisoformat(said).timestamp() > now + GRACE
    except ValueError:
        return False


def _times(part: Mapping[str, Any], where: str, now: float) -> Iterator[Violation]:
    for name in ("started", "ended", "at"):
        if in_the_future(part.get(name), now):
            yield Violation(f"{where}/{name}", f"{part[name]} is in the future")


def _step(step: dict[str, Any], at: int) -> Iterator[Violation]:
    attempts, most = step.get("attempts", 0), step.get("max_attempts", 1)
    if not isinstance(attempts, int) or not isinstance(most, int):
        return
    if attempts > most:
        yield Violation(f"/steps/{at}/attempts", f"is {attempts}; max_attempts is {most}")
    if step.get("status") == COMPLETED and not attempts:
        yield Violation(f"/steps/{at}/attempts", "is 0 of a completed step")
    if isinstance(step.get("number"), int) and step["number"] != at + 1:
        yield Violation(f"/steps/{at}/number", f"is {step['number']} and not {at + 1}")


def _lists(record: Mapping[str, Any], steps: list[dict[str, Any]]) -> Iterator[Violation]:
    """Both lists say what the steps say."""
    yield from disjoint(record, "")
    for name, status in (("completed_steps", COMPLETED), ("failed_steps", FAILED)):
        said = list(record.get(name) or ()) if isinstance(record.get(name, ()), list | tuple) else []
        true = [step.get("number") for step in steps if step.get("status") == status]
        if said != true:
            yield Violation(f"/{name}", f"is {said}; by the states of the steps it is {true}")


def _whole(record: Mapping[str, Any], steps: list[dict[str, Any]]) -> Iterator[Violation]:
    """A run that is over has an end, and one whose steps are not all well is not completed."""
    status = record.get("status", PENDING)
    if status in ENDED and record.get("ended") is None:
        yield Violation("/ended", f"is missing of a run that is {status}")
    elif status not in ENDED and record.get("ended") is not None:
        yield Violation("/ended", f"is given of a run that is {status}")
    if status == COMPLETED:
        for at, step in enumerate(steps):
            if step.get("status", PENDING) not in GOOD:
                yield Violation("/status", f"is completed, and step {at + 1} is {step.get('status', PENDING)}")
