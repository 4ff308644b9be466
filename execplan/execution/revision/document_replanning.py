"""New revisions of an execution plan, based on findings from its run; the old revision is unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import field

from execplan.core.clock import now
from execplan.core.documents.document_io import document_bytes
from execplan.core.documents.document_model import Model, document_error, validate_document
from execplan.core.errors import ExecplanError
from execplan.core.text.message_parts import format_excess
from execplan.core.text.text_lines import digest
from execplan.core.text.violation import Violation
from execplan.execution import states
from execplan.execution.attributes import ALTERNATIVE, LEVELS, STEP_TYPES, named_alternative
from execplan.execution.documents.derived_fields import describe_step, fill_risk, parse_command_fields
from execplan.execution.execution_plan import ExecutionPlan, Id, Number, ShortText
from execplan.execution.importers.object_reader import ImportReport
from execplan.execution.run_record import RunStatus, StepStatus
from execplan.execution.states import COMPLETED, FAILED, RECOVERED, REPLANNING, RUN_TRANSITIONS, SUCCESS_STATES


class ExecutionState(Model):
    """States of a run and of its steps; a step that is not listed is pending."""

    status: RunStatus = "pending"
    current_step: Number | None = None
    steps: dict[Id, StepStatus] = field(default_factory=dict)

    def advance(self, step: str, new_state: str) -> ExecutionState:
        """Return the state with one step in a new state. Raises ExecplanError if the transition is not allowed."""
        step_state = states.advance(self.steps.get(step, states.PENDING), new_state)
        return self._updated(steps={**self.steps, step: step_state})

    def advance_run(self, new_state: str) -> ExecutionState:
        """Return the state with the run in a new state. Raises ExecplanError if the transition is not allowed."""
        return self._updated(status=states.advance(self.status, new_state, states.RUN_TRANSITIONS))

    def _updated(self, **changed: object) -> ExecutionState:
        return ExecutionState.model_validate({**self.model_dump(), **changed})


class ReplanRequest(Model):
    """Input for a revision: the plan, its state, and what was learned."""

    current_plan: ExecutionPlan
    execution_state: ExecutionState = ExecutionState.model_validate({"status": "in_progress"})
    reason: ShortText
    completed_steps: tuple[Number, ...] = ()
    failed_steps: tuple[Number, ...] = ()
    new_information: dict[str, Any] | ShortText | None = None
    """New information; its `steps`, if any, replace all unfinished steps, and the rest is kept in the history."""

    @classmethod
    def find_violations(cls, value: dict[str, Any]) -> Iterator[Violation]:
        """Yield the broken rules of the plan."""
        plan = value.get("current_plan")
        for violation in ExecutionPlan.find_violations(plan) if isinstance(plan, dict) else ():
            yield Violation(f"/current_plan{violation.pointer}", violation.message)

    def find_contradictions(self) -> Iterator[Violation]:
        """Yield all contradictions as one problem."""
        contradictions = list(_find_contradictions(self))
        if contradictions:
            yield Violation("", "; ".join(contradictions))


def _find_contradictions(request: ReplanRequest) -> Iterator[str]:
    """Yield contradictions between the step numbers, the states and the plan."""
    names = {step.number: step.id for step in request.current_plan.steps}
    state, completed, failed = request.execution_state, request.completed_steps, request.failed_steps
    unknown = [number for number in (*completed, *failed) if number not in names]
    yield from [f"unknown step {number}" for number in unknown]
    yield from [f"step {number} is both completed and failed" for number in sorted({*completed} & {*failed})]
    if state.current_step is not None and state.current_step not in names:
        yield f"execution_state.current_step: unknown step {state.current_step}"
    yield from [f"execution_state.steps: unknown step {name}" for name in state.steps if name not in names.values()]
    for listed_state, numbers, allowed_states in (
        (COMPLETED, completed, (COMPLETED, RECOVERED)),
        (FAILED, failed, (FAILED,)),
    ):
        for number in numbers:
            actual_state = state.steps.get(names.get(number, ""), listed_state)
            if actual_state not in allowed_states:
                yield f"step {number} is listed as {listed_state}, but is {actual_state} in execution_state"
    yield from _find_impossible(request, {names[number] for number in failed if number in names})
    if state.status != "pending" and REPLANNING not in (state.status, *RUN_TRANSITIONS[state.status]):
        yield f"execution_state.status: a run that is {state.status} can't be replanned"


def _find_impossible(request: ReplanRequest, failed: set[str]) -> Iterator[str]:
    """Yield completed steps with a dependency that failed and was not recovered."""
    for step in request.current_plan.steps:
        if step.number in request.completed_steps:
            for name in [dependency for dependency in step.depends_on if dependency in failed]:
                yield f"step {step.number} is completed, but {name}, which it needs, has failed"


def replan_document(request: ReplanRequest) -> ExecutionPlan:
    """Return the next revision of a plan; the current one is unchanged, and its digest is kept in the history.

    Completed, recovered and skipped steps are kept. New steps, if given, replace all others. Otherwise a failed step
    with an alternative is removed, and the alternative takes its place for dependent steps; without one, it is kept for
    a retry. Raises ExecplanError with everything that is wrong at once, such as steps that need a removed one.
    """
    plan = request.current_plan
    information = request.new_information
    information = {"note": information} if isinstance(information, str) else dict(information or {})
    old: list[dict[str, Any]] = plan.model_dump()["steps"]
    states = request.execution_state.steps
    finished = {step["id"] for step in old if step["number"] in request.completed_steps}
    finished |= {name for name, state in states.items() if state in SUCCESS_STATES}
    failed = {step["id"] for step in old if step["number"] in request.failed_steps}
    failed |= {name for name, state in states.items() if state == FAILED}
    report = ImportReport(now().timestamp())
    if "steps" in information:
        steps = [_finished_step(step, finished) for step in old if step["id"] in finished]
        steps += _new_steps(information["steps"], len(steps), report)
    else:
        steps = _apply_alternatives(old, failed)
    _ensure_references_exist(old, steps)
    for number, step in enumerate(steps, 1):
        step["number"] = number
    plan_fields = _revised_plan(request, steps, information)
    document, violations = validate_document(plan_fields, ExecutionPlan)
    if document is None:
        raise document_error(
            f"revision {plan.revision + 1}", ExecutionPlan, [report.translate(violation) for violation in violations]
        )
    document.ensure_safe(f"revision {plan.revision + 1}")
    return document


def _finished_step(step: dict[str, Any], finished: set[str]) -> dict[str, Any]:
    """Return a finished step without its alternative or condition if these refer to a removed step."""
    alternative, when = named_alternative(step["on_failure"]["strategy"]), step["when"]
    if alternative and alternative not in finished:
        step = {**step, "on_failure": {**step["on_failure"], "strategy": "fail_fast"}}
    if when is not None and when["kind"] not in ("exists", "missing") and when["of"] not in finished:
        step = {**step, "when": None}
    return step


def _revised_plan(request: ReplanRequest, steps: list[dict[str, Any]], information: dict[str, Any]) -> dict[str, Any]:
    """Return the document of the next revision for the given steps."""
    plan = request.current_plan
    plan_fields = plan.model_dump()
    previous_revision = {
        "revision": plan.revision,
        "sha256": digest(document_bytes(plan)),
        "reason": request.reason,
        "completed_steps": sorted(set(request.completed_steps)),
        "failed_steps": sorted(set(request.failed_steps)),
        "new_information": information,
    }
    plan_fields["metadata"]["history"].append(previous_revision)
    levels = [step["risk"].get("level") for step in steps]
    plan_fields["intent"]["risk_level"] = max(
        [level for level in levels if level in LEVELS], key=LEVELS.index, default="LOW"
    )
    return {**plan_fields, "revision": plan.revision + 1, "steps": steps}


def _new_steps(raw_steps: object, offset: int, report: ImportReport) -> list[dict[str, Any]]:
    """Return the new steps with derived fields filled in."""
    location = "/new_information/steps"
    report.origins["/steps"] = location
    if not isinstance(raw_steps, list) or not all([isinstance(entry, dict) for entry in raw_steps]):
        raise ExecplanError("bad-replan", f"{location}: should be an array of steps", hint=_HINT)
    steps = []
    for index, entry in enumerate(raw_steps):
        step = dict(entry)
        report.origins[f"/steps/{offset + index}"] = f"{location}/{index}"
        kind = step.get("type")
        if isinstance(kind, str) and kind in STEP_TYPES and STEP_TYPES[kind].tool:
            step.setdefault("tool", STEP_TYPES[kind].tool)
        step.setdefault("description", describe_step(step))
        parse_command_fields(step)
        _rate_unchecked(step)
        steps.append(step)
    return steps


def _rate_unchecked(step: dict[str, Any]) -> None:
    """Set the risk of a step if it is valid; if not, its stated risk stays and field validation reports errors."""
    risk = step.setdefault("risk", {"level": "LOW"})
    isolated = {**step, "number": 1, "depends_on": [], "when": None, "on_failure": {}, "source": None}
    level = risk.get("level") if isinstance(risk, dict) else None
    envelope = {"plan_id": "new", "description": "new", "mode": "agent"}
    intent = {"summary": "new", "category": "mixed", "risk_level": level}
    valid_plan, _ = validate_document({**envelope, "intent": intent, "steps": [isolated]}, ExecutionPlan)
    if valid_plan is not None:
        rated_step = valid_plan.model_dump()["steps"][0]
        fill_risk(rated_step)
        step["risk"] = rated_step["risk"]


def _apply_alternatives(old: list[dict[str, Any]], failed: set[str]) -> list[dict[str, Any]]:
    """Return the steps with each failed step that names an alternative replaced by that alternative."""
    replacements: dict[str, str] = {}
    for step in old:
        alternative = named_alternative(step["on_failure"]["strategy"])
        if step["id"] in failed and alternative:
            replacements[step["id"]] = alternative
    by_id = {step["id"]: step for step in old}
    moved_ids = {name for name in replacements.values() if name not in replacements}
    steps: list[dict[str, Any]] = []
    for step in old:
        name = _resolve_replacement(step["id"], replacements)
        if (step["id"] in replacements or step["id"] not in moved_ids) and by_id[name] not in steps:
            steps.append(by_id[name])
    for step in steps:
        step["depends_on"] = list(
            dict.fromkeys([_resolve_replacement(name, replacements) for name in step["depends_on"]])
        )
        if step["when"] is not None and step["when"]["kind"] == "failed" and step["when"]["of"] in replacements:
            step["when"] = None  # the condition is already met
    return steps


def _resolve_replacement(name: str, replacements: dict[str, str]) -> str:
    """Return the step that replaces a step, or the step itself; it ends because alternatives come later."""
    while name in replacements:
        name = replacements[name]
    return name


def _ensure_references_exist(old: list[dict[str, Any]], steps: list[dict[str, Any]]) -> None:
    """Raise ExecplanError if a step depends on, refers to or falls back on a removed step."""
    removed = {step["id"] for step in old} - {step.get("id") for step in steps}
    problems = []
    for step in steps:
        when, recovery = step.get("when"), step.get("on_failure")
        references = {f"requires {name}": name for name in step.get("depends_on") or () if isinstance(name, str)}
        if isinstance(when, dict) and when.get("kind") not in ("exists", "missing"):
            references[f"refers to {when.get('of')}"] = str(when.get("of"))
        if isinstance(recovery, dict) and str(recovery.get("strategy")).startswith(ALTERNATIVE):
            alternative = str(recovery["strategy"]).removeprefix(ALTERNATIVE)
            references[f"falls back on {alternative}"] = alternative
        problems += [
            f"{step.get('id')} {reference}, which is removed"
            for reference, name in references.items()
            if name in removed
        ]
    if problems:
        message = problems[0] + format_excess(len(problems), 1, ", ")
        candidates = problems if len(problems) > 1 else ()
        raise ExecplanError("bad-replan", message, hint=_HINT, candidates=candidates)


_HINT = "list every remaining step in new_information['steps']; each can only need steps that exist"
