"""What must hold between the fields of an execution plan, on plain data, so that it can be told though some fields are wrong."""

from __future__ import annotations

from execplan.execution.attributes import LEVELS
from execplan.execution.documents.rules_order import conditions, dependencies, identity, recoveries
from execplan.execution.documents.rules_parts import is_own, parts, shared_paths
from execplan.execution.documents.violation import Violation, pointer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_MOST_STEPS = 1000
_DEPTH = 64
_DIGITS = 19


def broken(plan: Mapping[str, Any]) -> list[Violation]:
    """All rules that an execution plan breaks; what is missing or of a wrong type is left to the check of its fields."""
    found = [*plain(plan), *_identity(plan), *_history(plan)]
    steps = plan.get("steps")
    if not isinstance(steps, list | tuple) or len(steps) > _MOST_STEPS:
        return found
    known = [step if isinstance(step, dict) else {} for step in steps]
    for rule in (identity, dependencies, conditions, recoveries, parts, shared_paths):
        found += rule(known)
    return [*found, *_whole(plan, known)]


def plain(plan: object) -> Iterator[Violation]:
    """What Python takes and the strict reader would not: what is written must be readable."""
    stack: list[tuple[Any, str, int]] = [(plan, "", 0)]
    while stack:
        value, where, depth = stack.pop()
        if isinstance(value, dict | list | tuple):
            if depth == _DEPTH and value:
                yield Violation(where, f"nested deeper than {_DEPTH}")
                continue
            names = list(value.items() if isinstance(value, dict) else enumerate(value))
            stack += [(each, where + pointer((str(name),)), depth + 1) for name, each in names]
            stack += [(name, where, depth) for name, _ in names if isinstance(name, str)]
        elif isinstance(value, str) and not value.isascii() and any(["\ud800" <= char <= "\udfff" for char in value]):
            yield Violation(where, "half of a surrogate pair, which is no character")
        elif isinstance(value, float) and value - value != 0:
            yield Violation(where, f"{value} is no number of JSON")
        elif isinstance(value, int) and abs(value) >= 10**_DIGITS:
            yield Violation(where, f"an integer of more than {_DIGITS} digits")
        elif value is not None and not isinstance(value, str | int | float):
            yield Violation(where, f"a {type(value).__name__} of Python, which JSON does not have")


def _identity(plan: Mapping[str, Any]) -> Iterator[Violation]:
    if plan.get("plan_id") in (".", ".."):
        yield Violation("/plan_id", "no name of a folder")


def _history(plan: Mapping[str, Any]) -> Iterator[Violation]:
    """Revisions are counted from 1, and each but the last stands in the history."""
    metadata, revision = plan.get("metadata") or {}, plan.get("revision", 1)
    history = metadata.get("history", ()) if isinstance(metadata, dict) else ()
    if not isinstance(history, list | tuple) or not _is_number(revision) or revision < 1:
        return
    if len(history) != revision - 1:
        yield Violation("/metadata/history", f"holds {len(history)} of the {revision - 1} revisions before this one")
    for at, each in enumerate(history):
        if not isinstance(each, dict):
            continue
        if _is_number(each.get("revision")) and each["revision"] != at + 1:
            yield Violation(f"/metadata/history/{at}/revision", f"is {each['revision']} and not {at + 1}")
        yield from disjoint(each, f"/metadata/history/{at}")


def disjoint(part: Mapping[str, Any], where: str) -> Iterator[Violation]:
    """No step is both completed and failed."""
    failed = _numbers(part.get("failed_steps"))
    both = [number for number in _numbers(part.get("completed_steps")) if number in failed]
    if both:
        yield Violation(f"{where}/failed_steps", f"step {both[0]} is among the completed ones too")


def _numbers(value: object) -> list[int]:
    """The numbers of a list; what is none is left to the check of its fields."""
    return [each for each in value if _is_number(each)] if isinstance(value, list | tuple) else []


def _whole(plan: Mapping[str, Any], steps: list[dict[str, Any]]) -> Iterator[Violation]:
    """What the plan says of all its steps."""
    constraints = plan.get("constraints") or {}
    constraints = constraints if isinstance(constraints, dict) else {}
    most = constraints.get("max_steps", 100)
    if _is_number(most) and len(steps) > most:
        yield Violation("/steps", f"{len(steps)} steps; constraints.max_steps is {most}")
    sequential = constraints.get("require_sequential") is True
    engine, sourceless = plan.get("mode", "engine") == "engine", plan.get("source") is None
    for at, step in enumerate(steps):
        if sequential and step.get("parallel") is True:
            yield Violation(f"/steps/{at}/parallel", "constraints.require_sequential forbids it")
        tool = step.get("tool")
        if engine and step.get("type") == "use_tool" and isinstance(tool, str) and is_own(tool):
            message = f"{tool} is in a domain of execplan's own, and no installed tool; give the step the type of what it does"
            yield Violation(f"/steps/{at}/tool", message)
        if sourceless and step.get("source") is not None:
            yield Violation(f"/steps/{at}/source", "lines of no plan: the document has no source")
    yield from _risk(plan, steps)


def _risk(plan: Mapping[str, Any], steps: list[dict[str, Any]]) -> Iterator[Violation]:
    levels = [step["risk"].get("level") for step in steps if isinstance(step.get("risk"), dict)]
    intent = plan.get("intent")
    said = intent.get("risk_level") if isinstance(intent, dict) else None
    if said not in LEVELS or len(levels) < len(steps) or not levels or any([each not in LEVELS for each in levels]):
        return
    highest = max(levels, key=LEVELS.index)
    if said != highest:
        yield Violation("/intent/risk_level", f"is {said}; the highest of the steps is {highest}")


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
