"""Validation of an enhancer's answer as a proposal; all of its errors are reported at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from execplan.agents.enhancer.relaxations import has_different_behavior
from execplan.agents.enhancer.unmask import is_same_json, iter_masked_texts, unmask
from execplan.core.documents.document_model import validate_document
from execplan.core.project.project import Project
from execplan.core.text.invisible_characters import describe_characters, find_hidden
from execplan.core.text.violation import Violation, json_pointer
from execplan.execution.attributes import LEVELS, STEP_TYPES
from execplan.execution.documents.derived_fields import describe_step, fill_risk, parse_command_fields
from execplan.execution.execution_plan import ExecutionPlan, Metadata

_UNCHANGED_FIELDS = ("schema", "version", "plan_id", "revision", "source", "mode", "metadata")
"""Fields of the plan that must stay as they were sent."""
_UNCHANGED_STEP_FIELDS = ("inferred", "source")
_MIN_SECRET_LENGTH = 4
"""Minimum length, in characters, of a text that is masked in messages.

Shorter texts are no secrets and occur in many words.
"""
_CHECKS = ("paths", "hidden", "limits")
"""Evaluation checks whose errors no proposal may add, even if the policy disables them."""


class Proposal(NamedTuple):
    """The execution plan that an enhancer proposes, or the errors of its answer."""

    document: ExecutionPlan | None
    """Document with all masked texts restored; None if there are violations."""
    violations: list[Violation]


def plan_content(document: ExecutionPlan) -> dict[str, Any]:
    """Return an execution plan as plain data, without its sources and metadata.

    No step depends on them, and no other program needs them.
    """
    plan = document.model_dump()
    steps = [{**step, "source": None} for step in plan["steps"]]
    return {**plan, "source": None, "metadata": Metadata().model_dump(), "steps": steps}


def build_proposal(
    project: Project, document: ExecutionPlan, sent_plan: dict[str, Any], answer: object, mark: str
) -> Proposal:
    """Build a proposal from an answer to the sent plan of a document. Raises ExecplanError if a disk fails.

    Masked texts do not appear in the violations.
    """
    proposal = _build_unmasked_proposal(project, document, sent_plan, answer, mark)
    masked_pairs = [
        pair for pair in set(iter_masked_texts(sent_plan, plan_content(document))) if len(pair[0]) >= _MIN_SECRET_LENGTH
    ]
    sorted_pairs = sorted(masked_pairs, key=lambda pair: (-len(pair[0]), pair))
    return proposal._replace(violations=[_mask_violation(violation, sorted_pairs) for violation in proposal.violations])


def _mask_violation(violation: Violation, masked_pairs: list[tuple[str, str]]) -> Violation:
    fields = [str(field) for field in violation]
    for original, masked in masked_pairs:
        fields = [field.replace(original, masked) for field in fields]
    return Violation(*fields)


def _build_unmasked_proposal(
    project: Project, document: ExecutionPlan, sent_plan: dict[str, Any], answer: object, mark: str
) -> Proposal:
    if not isinstance(answer, dict):
        return Proposal(None, [Violation("", "is not an execution plan, which is an object")])
    answer = {**{name: sent_plan[name] for name in ("schema", "version", "source", "metadata")}, **answer}
    original_plan = plan_content(document)
    plan, mask_violations = unmask(deepcopy(answer), sent_plan, original_plan, mark)
    completed_plan, violations = _complete_plan(plan, original_plan)
    all_violations = list(
        dict.fromkeys(
            [
                *_find_forbidden_changes(answer, sent_plan),
                *mask_violations,
                *_find_hidden_characters(plan, original_plan),
                *violations,
            ]
        )
    )
    if completed_plan is None or all_violations:
        return Proposal(None, all_violations)
    full_plan = document.model_dump()
    lines = {step["id"]: step["source"] for step in full_plan["steps"]}
    completed_plan |= {"source": full_plan["source"], "metadata": full_plan["metadata"]}
    completed_plan["steps"] = [{**step, "source": lines.get(step["id"])} for step in completed_plan["steps"]]
    new_document, violations = validate_document(completed_plan, ExecutionPlan)
    if new_document is not None:
        violations = _find_policy_violations(project, document, new_document)
    return Proposal(None if violations else new_document, violations)


def _find_forbidden_changes(answer: Mapping[str, Any], sent_plan: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield a violation for each change that an answer is not allowed to make."""
    for name in _UNCHANGED_FIELDS:
        if name in answer and not is_same_json(answer[name], sent_plan[name]):
            yield Violation(f"/{name}", "must stay as it was sent")
    answer_steps = answer.get("steps")
    if not isinstance(answer_steps, list):
        return  # field validation reports this
    steps = [raw_step if isinstance(raw_step, dict) else {} for raw_step in answer_steps]
    sent_steps = {step["id"]: step for step in sent_plan["steps"]}
    answer_ids = {step.get("id") for step in steps if isinstance(step.get("id"), str)}
    yield from [Violation("/steps", f"step {name} was removed") for name in sent_steps if name not in answer_ids]
    for index, step in enumerate(steps):
        sent_step = sent_steps.get(step["id"]) if isinstance(step.get("id"), str) else None
        if sent_step is not None:
            changed = [
                name
                for name in _UNCHANGED_STEP_FIELDS
                if name in step and not is_same_json(step[name], sent_step[name])
            ]
            yield from [Violation(f"/steps/{index}/{name}", "must stay as it was sent") for name in changed]
        elif step.get("source") is not None:
            yield Violation(f"/steps/{index}/source", "must be null: a new step doesn't come from a line of the plan")


def _find_hidden_characters(
    value: object, old_value: object, location: tuple[str | int, ...] = ()
) -> Iterator[Violation]:
    """Yield a violation for each invisible character in new or changed values."""
    if is_same_json(value, old_value):
        return
    if isinstance(value, str):
        for line in value.split("\n"):
            for start, end in find_hidden(line.removesuffix("\r")):
                yield Violation(
                    json_pointer(location), f"contains {describe_characters(line[start:end])}, which is invisible"
                )
    elif isinstance(value, dict):
        for name, child in value.items():
            yield from _find_hidden_characters(name, None, (*location, name))
            yield from _find_hidden_characters(
                child, old_value.get(name) if isinstance(old_value, dict) else None, (*location, name)
            )
    elif isinstance(value, list):
        for index, child in enumerate(value):
            old_child = old_value[index] if isinstance(old_value, list) and index < len(old_value) else None
            yield from _find_hidden_characters(child, old_child, (*location, index))


def _complete_plan(
    plan: dict[str, Any], original_plan: dict[str, Any]
) -> tuple[dict[str, Any] | None, list[Violation]]:
    """Fill in the derived fields of a plan, or return its violations.

    No step becomes less risky, and new steps and steps with changed behavior are inferred. A person therefore reviews
    each command written by a model before it runs, whatever the policy approves automatically.
    """
    original_steps = {step["id"]: step for step in original_plan["steps"]}
    answer_steps = plan.get("steps")
    steps = (
        [raw_step for raw_step in answer_steps if isinstance(raw_step, dict)] if isinstance(answer_steps, list) else []
    )
    for step in steps:
        _complete_step(step, original_steps)
    _raise_plan_risk(plan, steps)
    document, violations = validate_document(plan, ExecutionPlan)
    if document is None:
        return None, violations
    completed_plan = document.model_dump()
    for step in completed_plan["steps"]:
        original_step = original_steps.get(step["id"])
        if original_step is None or not is_same_json(original_step, step):
            step["inferred"] = step["inferred"] or original_step is None or has_different_behavior(original_step, step)
            fill_risk(step)
    _raise_plan_risk(completed_plan, completed_plan["steps"])
    return completed_plan, []


def _complete_step(step: dict[str, Any], original_steps: Mapping[str, Any]) -> None:
    """Fill in the fields that a program may omit, in a step that may be invalid in any way."""
    kind, name = step.get("type"), step.get("id")
    original_step = original_steps.get(name) if isinstance(name, str) else None
    if isinstance(kind, str) and kind in STEP_TYPES and STEP_TYPES[kind].tool:
        step.setdefault("tool", STEP_TYPES[kind].tool)
    step.setdefault("description", describe_step(step))
    parse_command_fields(step)
    step["inferred"] = original_step["inferred"] if original_step is not None else True
    step["source"] = None
    risk = step.setdefault("risk", {"level": "LOW"})
    if original_step is not None and isinstance(risk, dict) and risk.get("level") in LEVELS:
        if LEVELS.index(risk["level"]) < LEVELS.index(original_step["risk"]["level"]):
            step["risk"] = original_step["risk"]


def _raise_plan_risk(plan: dict[str, Any], steps: list[dict[str, Any]]) -> None:
    """Set the plan's risk to the highest risk of its steps."""
    levels = [step["risk"].get("level") for step in steps if isinstance(step.get("risk"), dict)]
    highest = max([level for level in levels if level in LEVELS], key=LEVELS.index, default="")
    if highest and isinstance(plan.get("intent"), dict):
        plan["intent"] = {**plan["intent"], "risk_level": highest}


def _find_policy_violations(project: Project, old: ExecutionPlan, new: ExecutionPlan) -> list[Violation]:
    """Find the policy errors of a proposal that the old plan does not have.

    They concern paths that lead out or must not be written, paths that the old document forbids, and limits that are no
    longer met.
    """
    from execplan.execution.approvals.disk_world import SnapshotWorld
    from execplan.execution.approvals.effective_policy import effective_policy

    world, policy = SnapshotWorld(project), effective_policy(project)
    known_errors = set(_find_errors(old, world, policy))
    strict_document = new.model_copy(update={"constraints": old.constraints})
    return [violation for violation in _find_errors(strict_document, world, policy) if violation not in known_errors]


def _find_errors(document: ExecutionPlan, world: Any, policy: Any) -> Iterator[Violation]:
    from execplan.execution.evaluation.approval_scope import find_forbidden_paths
    from execplan.execution.evaluation.checks.all_checks import CHECKS
    from execplan.execution.evaluation.checks.check_registry import ERROR, CheckContext
    from execplan.execution.evaluation.projected_files import ProjectedFiles
    from execplan.execution.evaluation.trial import run_trials

    case = CheckContext(document, run_trials(ProjectedFiles(world, document), document.steps), policy, world)
    for name in _CHECKS:
        for finding in CHECKS[name].run(case):
            if finding.level == ERROR:
                prefix = f"step {finding.step.id}: " if finding.step is not None else ""
                yield Violation("/steps", f"{prefix}{finding.message}")
    yield from [Violation("/steps", message) for message in find_forbidden_paths(document, world)]
