"""A new revision of an execution plan, after what was found out while it was run; the old one stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from pydantic import JsonValue, model_validator

from execplan.clock import now
from execplan.document import Many
from execplan.errors import INPUT, ExecplanError
from execplan.execution.attributes import ALTERNATIVE, LEVELS
from execplan.execution.documents.document import check, refusal, to_bytes
from execplan.execution.documents.filling import describe, rate, read_command
from execplan.execution.documents.request import Request
from execplan.execution.documents.rules_parts import TYPES
from execplan.execution.making.progress import ExecutionState
from execplan.execution.making.shapes.form import Book
from execplan.execution.model import ExecutionPlan, Number, Words
from execplan.execution.states import COMPLETED, FAILED, GOOD, RECOVERED, REPLANNING, RUN
from execplan.text.lines import digest

if TYPE_CHECKING:
    from collections.abc import Iterator


class ReplanRequest(Request):
    """What is known when a plan is to be revised."""

    current_plan: ExecutionPlan
    execution_state: ExecutionState = ExecutionState.model_validate({"status": "in_progress"})
    reason: Words
    completed_steps: Many[Number] = ()
    failed_steps: Many[Number] = ()
    new_information: dict[str, JsonValue] | Words | None = None
    """Its `steps`, if it has any, take the place of all that is not done; the rest is kept in the history."""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        wrong = list(_contradictions(self))
        if wrong:
            raise ValueError("; ".join(wrong))
        return self


def _contradictions(request: ReplanRequest) -> Iterator[str]:
    """Where numbers, states and the plan say different things."""
    names = {step.number: step.id for step in request.current_plan.steps}
    state, completed, failed = request.execution_state, request.completed_steps, request.failed_steps
    unknown = [number for number in (*completed, *failed) if number not in names]
    yield from [f"there is no step {number}" for number in unknown]
    yield from [f"step {number} is both completed and failed" for number in sorted({*completed} & {*failed})]
    if state.current_step is not None and state.current_step not in names:
        yield f"execution_state.current_step: there is no step {state.current_step}"
    yield from [f"execution_state.steps: there is no step {name}" for name in state.steps if name not in names.values()]
    for said, numbers, fit in ((COMPLETED, completed, (COMPLETED, RECOVERED)), (FAILED, failed, (FAILED,))):
        for number in numbers:
            other = state.steps.get(names.get(number, ""), said)
            if other not in fit:
                yield f"step {number} is {said}, and by execution_state {other}"
    yield from _impossible(request, {names[number] for number in failed if number in names})
    if state.status != "pending" and REPLANNING not in (state.status, *RUN[state.status]):
        yield f"execution_state.status: what is {state.status} can't be replanned"


def _impossible(request: ReplanRequest, failed: set[str]) -> Iterator[str]:
    """Steps that are completed though one that they need has failed and was not recovered."""
    for step in request.current_plan.steps:
        if step.number in request.completed_steps:
            for name in [each for each in step.depends_on if each in failed]:
                yield f"step {step.number} is completed, and {name}, which it needs, has failed"


def replan(request: ReplanRequest) -> ExecutionPlan:
    """The next revision of a plan; the current one is not changed, and its digest is kept in the history.

    Steps that are completed, recovered or skipped stay as they are. With new steps these take the place of all others. Without, a failed step is taken out
    where it names an alternative, which takes its place for those that need it, and is else kept to be tried again.
    Raises ExecplanError with everything that is wrong at once, such as steps that need one that is gone.
    """
    plan = request.current_plan
    information = request.new_information
    information = {"note": information} if isinstance(information, str) else dict(information or {})
    old: list[dict[str, Any]] = plan.model_dump(mode="json", by_alias=True)["steps"]
    states = request.execution_state.steps
    done = {step["id"] for step in old if step["number"] in request.completed_steps}
    done |= {name for name, state in states.items() if state in GOOD}
    failed = {step["id"] for step in old if step["number"] in request.failed_steps}
    failed |= {name for name, state in states.items() if state == FAILED}
    book = Book(now().timestamp())
    if "steps" in information:
        steps = [_settled(step, done) for step in old if step["id"] in done]
        steps += _new(information["steps"], len(steps), book)
    else:
        steps = _recovered(old, failed)
    _refuse_gone(old, steps)
    for number, step in enumerate(steps, 1):
        step["number"] = number
    made = _revised(request, steps, information)
    document, violations = check(made, ExecutionPlan)
    if document is None:
        raise refusal(f"revision {plan.revision + 1}", ExecutionPlan, [book.translated(each) for each in violations])
    document.refuse_unsafe(f"revision {plan.revision + 1}")
    return document


def _settled(step: dict[str, Any], done: set[str]) -> dict[str, Any]:
    """A step that is done, without what it would have fallen back on or looked at, where that goes."""
    strategy, when = step["on_failure"]["strategy"], step["when"]
    if strategy.startswith(ALTERNATIVE) and strategy.removeprefix(ALTERNATIVE) not in done:
        step = {**step, "on_failure": {**step["on_failure"], "strategy": "fail_fast"}}
    if when is not None and when["kind"] not in ("exists", "missing") and when["of"] not in done:
        step = {**step, "when": None}
    return step


def _revised(request: ReplanRequest, steps: list[dict[str, Any]], information: dict[str, Any]) -> dict[str, Any]:
    """The document around the steps."""
    plan = request.current_plan
    made = plan.model_dump(mode="json", by_alias=True)
    before = {
        "revision": plan.revision,
        "sha256": digest(to_bytes(plan)),
        "reason": request.reason,
        "completed_steps": sorted(set(request.completed_steps)),
        "failed_steps": sorted(set(request.failed_steps)),
        "new_information": information,
    }
    made["metadata"]["history"].append(before)
    levels = [step["risk"].get("level") for step in steps]
    made["intent"]["risk_level"] = max([each for each in levels if each in LEVELS], key=LEVELS.index, default="LOW")
    return {**made, "revision": plan.revision + 1, "steps": steps}


def _new(given: object, before: int, book: Book) -> list[dict[str, Any]]:
    """New steps, with what is derived filled in."""
    where = "/new_information/steps"
    book.origins["/steps"] = where
    if not isinstance(given, list) or not all([isinstance(each, dict) for each in given]):
        raise ExecplanError("bad-replan", f"{where}: should be an array of steps", exit=INPUT, hint=_HINT)
    steps = []
    for at, each in enumerate(given):
        step = dict(each)
        book.origins[f"/steps/{before + at}"] = f"{where}/{at}"
        kind = step.get("type")
        if isinstance(kind, str) and kind in TYPES and TYPES[kind].tool:
            step.setdefault("tool", TYPES[kind].tool)
        step.setdefault("description", describe(step))
        read_command(step)
        _rate(step)
        steps.append(step)
    return steps


def _rate(step: dict[str, Any]) -> None:
    """Rate a step that may be wrong in any way; then what it says stays, and the check of its fields tells the rest."""
    given = step.setdefault("risk", {"level": "LOW"})
    alone = {**step, "number": 1, "depends_on": [], "when": None, "on_failure": {}, "source": None}
    level = given.get("level") if isinstance(given, dict) else None
    around = {"plan_id": "new", "description": "new", "mode": "agent"}
    intent = {"summary": "new", "category": "mixed", "risk_level": level}
    valid, _ = check({**around, "intent": intent, "steps": [alone]}, ExecutionPlan)
    if valid is not None:
        checked = valid.model_dump(mode="json", by_alias=True)["steps"][0]
        rate(checked)
        step["risk"] = checked["risk"]


def _recovered(old: list[dict[str, Any]], failed: set[str]) -> list[dict[str, Any]]:
    """The steps without those that failed and name an alternative, which stands in for them at their place."""
    stands: dict[str, str] = {}
    for step in old:
        strategy = step["on_failure"]["strategy"]
        if step["id"] in failed and strategy.startswith(ALTERNATIVE):
            stands[step["id"]] = strategy.removeprefix(ALTERNATIVE)
    by_id = {step["id"]: step for step in old}
    moved = {name for name in stands.values() if name not in stands}
    steps: list[dict[str, Any]] = []
    for step in old:
        name = _last(step["id"], stands)
        if (step["id"] in stands or step["id"] not in moved) and by_id[name] not in steps:
            steps.append(by_id[name])
    for step in steps:
        step["depends_on"] = list(dict.fromkeys([_last(name, stands) for name in step["depends_on"]]))
        if step["when"] is not None and step["when"]["kind"] == "failed" and step["when"]["of"] in stands:
            step["when"] = None  # it is known to hold by now
    return steps


def _last(name: str, stands: dict[str, str]) -> str:
    """The step that stands in for a step, or itself; alternatives come later, so that this ends."""
    while name in stands:
        name = stands[name]
    return name


def _refuse_gone(old: list[dict[str, Any]], steps: list[dict[str, Any]]) -> None:
    """Refuse steps that need, look at or fall back on one that is no longer there."""
    gone = {step["id"] for step in old} - {step.get("id") for step in steps}
    told = []
    for step in steps:
        when, recovery = step.get("when"), step.get("on_failure")
        named = {f"needs {name}": name for name in step.get("depends_on") or () if isinstance(name, str)}
        if isinstance(when, dict) and when.get("kind") not in ("exists", "missing"):
            named[f"looks at {when.get('of')}"] = str(when.get("of"))
        if isinstance(recovery, dict) and str(recovery.get("strategy")).startswith(ALTERNATIVE):
            other = str(recovery["strategy"]).removeprefix(ALTERNATIVE)
            named[f"falls back on {other}"] = other
        told += [f"{step.get('id')} {words}, which is taken out" for words, name in named.items() if name in gone]
    if told:
        message = told[0] if len(told) == 1 else f"{told[0]}, and {len(told) - 1} more"
        candidates = told if len(told) > 1 else ()
        raise ExecplanError("bad-replan", message, exit=INPUT, hint=_HINT, candidates=candidates)


_HINT = "give every step that is still to be done in new_information['steps'], each needing only steps that are there"
