"""Composition of several execution plans into one, in order."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from execplan.core.documents.document_io import document_bytes
from execplan.core.documents.document_model import document_error, validate_document
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.message_parts import shorten
from execplan.core.text.text_lines import digest
from execplan.execution.attributes import ALTERNATIVE, LEVELS, STEP_OUTCOMES
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.execution_plan import PROGRAM_TYPES, ExecutionPlan, Type


class SourcePlan(NamedTuple):
    """A plan to compose, with its prefix for step IDs."""

    prefix: str
    document: ExecutionPlan
    steps: list[dict[str, Any]]
    """Steps with their new IDs."""


def find_conflicts(plans: list[SourcePlan]) -> Iterator[str]:
    """Yield every conflict between the plans, one line each."""
    positions: dict[str, int] = {}
    for index, plan in enumerate(plans):
        first_index = positions.setdefault(plan.document.plan_id, index)
        if first_index != index:
            yield f"the plan {plan.document.plan_id} is listed twice, at positions {first_index + 1} and {index + 1}"
    if len(positions) == len(plans):
        yield from _path_conflicts(plans)
        yield from _order_conflicts(plans)
    for name in ("mode", "constraints.allow_unplanned"):
        values = {_nested_attribute(plan.document, name) for plan in plans}
        if len(values) > 1:
            yield f"{name} differs: " + ", ".join(
                [f"{plan.prefix} has {_nested_attribute(plan.document, name)}" for plan in plans]
            )
    durations = [plan for plan in plans if plan.document.constraints.max_duration_s is not None]
    if durations and len(durations) < len(plans):
        yield f"{durations[0].prefix} sets constraints.max_duration_s, but another plan doesn't"
    count = sum([len(plan.steps) for plan in plans])
    max_steps = max([plan.document.constraints.max_steps for plan in plans], default=count)
    if count > max_steps:
        yield f"{count} steps in total; the largest constraints.max_steps is {max_steps}"


def _path_conflicts(plans: list[SourcePlan]) -> Iterator[str]:
    """Check that each file is written by only one plan."""
    owners: dict[str, tuple[int, str]] = {}
    folders: dict[str, tuple[int, str]] = {}
    for index, plan in enumerate(plans):
        for step in plan.steps:
            for path in _written_files(step):
                owner = owners.setdefault(path, (index, step["id"]))
                if owner[0] != index:
                    yield f"both {owner[1]} and {step['id']} write {path}"
                for folder in _parent_directories(path):
                    folders.setdefault(folder, (index, step["id"]))
    for path, (index, name) in owners.items():
        if path in folders and folders[path][0] != index:
            yield f"{path} is a file for {name} and a directory for {folders[path][1]}"


def _written_files(step: dict[str, Any]) -> list[str]:
    """Return the files that a step itself writes; outputs of a command are ignored, as they may be written again."""
    runs = step["type"] in PROGRAM_TYPES
    return [] if runs else list(dict.fromkeys([os.path.normpath(path) for path in written_paths(step)]))


def _parent_directories(path: str) -> Iterator[str]:
    folder = os.path.dirname(path)
    while folder not in ("", "/"):
        yield folder
        folder = os.path.dirname(folder)


def _order_conflicts(plans: list[SourcePlan]) -> Iterator[str]:
    """Check that no plan needs the output of a later one; two plans that need each other are reported as a cycle."""
    makers = _find_makers(plans)
    needs: dict[tuple[int, int], str] = {}
    for index, plan in enumerate(plans):
        for step in plan.steps:
            for path in step["inputs"]:
                maker = makers.get(os.path.normpath(path), (index, ""))
                if maker[0] != index:
                    needs.setdefault((index, maker[0]), f"{step['id']} needs {path}, which {maker[1]} creates")
    for (consumer, producer), why in needs.items():
        if consumer < producer and (producer, consumer) in needs:
            names = [plans[index].prefix for index in (consumer, producer, consumer)]
            yield f"the plans depend on each other, {' → '.join(names)}: {why}; {needs[producer, consumer]}"
        elif consumer < producer:
            yield f"{why} later: put {plans[producer].prefix} before {plans[consumer].prefix}"


def _find_makers(plans: list[SourcePlan]) -> dict[str, tuple[int, str]]:
    """Return the plan and the step that create each file, by its path."""
    makers: dict[str, tuple[int, str]] = {}
    for index, plan in enumerate(plans):
        for step in plan.steps:
            if step["type"] not in (Type.MODIFY, Type.DELETE, Type.REFACTOR):
                for path in written_paths(step):
                    makers.setdefault(os.path.normpath(path), (index, step["id"]))
    return makers


def _nested_attribute(document: ExecutionPlan, name: str) -> object:
    value: object = document
    for field in name.split("."):
        value = getattr(value, field)
    return value


_MAX_TEXT_LENGTH = 2000
_MAX_PREFIX_LENGTH = 60
"""Maximum length of a prefix, in characters, to leave room for the rest of the ID."""


def compose(documents: Sequence[ExecutionPlan], plan_id: str) -> ExecutionPlan:
    """Compose several execution plans into one with a new ID; each plan's steps run after all of the previous plan's.

    Step IDs are prefixed with the plan's name. Raises ExecplanError with every conflict at once: a duplicate plan, a
    file that two plans write, a plan that needs the output of a later one, different limits or modes.
    """
    plans = _prefixed_plans(documents)
    conflicts = list(find_conflicts(plans))
    if not documents or conflicts:
        conflicts = conflicts or ["no plans to compose"]
        message = f"{len(conflicts)} conflicts between the plans" if len(conflicts) > 1 else conflicts[0]
        hint = "change the plans so that only one of them writes each path, or run them one by one"
        candidates = conflicts if len(conflicts) > 1 else ()
        raise ExecplanError("bad-composition", message, hint=hint, candidates=candidates)
    steps: list[dict[str, Any]] = []
    final_steps: list[str] = []
    for plan in plans:
        for step in plan.steps:
            step["depends_on"] = step["depends_on"] or list(final_steps)
            steps.append({**step, "number": len(steps) + 1, "source": None})
        final_steps = _final_step_ids(plan.steps) or final_steps
    composed_plan, violations = validate_document(_composed_plan(plans, plan_id, steps), ExecutionPlan)
    if composed_plan is None:
        raise document_error(plan_id, ExecutionPlan, violations)
    composed_plan.ensure_safe(plan_id)
    return composed_plan


def _prefixed_plans(documents: Sequence[ExecutionPlan]) -> list[SourcePlan]:
    """Return the plans with a unique prefix each."""
    plans: list[SourcePlan] = []
    for document in documents:
        prefix = base = _prefix(document.plan_id)
        number = 2
        while prefix in [plan.prefix for plan in plans]:
            prefix, number = f"{base}-{number}", number + 1
        plans.append(SourcePlan(prefix, document, [_add_prefix(step, prefix) for step in _step_dicts(document)]))
    return plans


def _step_dicts(document: ExecutionPlan) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = document.model_dump()["steps"]
    return steps


def _prefix(plan_id: str) -> str:
    """Return the plan's name without its date, reduced to the characters of an ID."""
    head, _, tail = plan_id.partition("_")
    name = tail if tail and head.replace("-", "").isdigit() else plan_id
    name = "".join([char if char.isascii() and (char.isalnum() or char in "_-") else "-" for char in name]).strip("-")
    return (name if name[:1].isalpha() else f"plan-{name}".rstrip("-"))[:_MAX_PREFIX_LENGTH].rstrip("-")


def _add_prefix(step: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return a step with the prefix added to its ID and to the IDs that it refers to."""
    step = {**step, "id": f"{prefix}.{step['id']}"}
    step["depends_on"] = [f"{prefix}.{name}" for name in step["depends_on"]]
    strategy = step["on_failure"]["strategy"]
    if strategy.startswith(ALTERNATIVE):
        name = f"{ALTERNATIVE}{prefix}.{strategy.removeprefix(ALTERNATIVE)}"
        step["on_failure"] = {**step["on_failure"], "strategy": name}
    if step["when"] is not None and step["when"]["kind"] in STEP_OUTCOMES:
        step["when"] = {**step["when"], "of": f"{prefix}.{step['when']['of']}"}
    return step


def _final_step_ids(steps: list[dict[str, Any]]) -> list[str]:
    """Return the steps that certainly run and that no other step needs; the next plan depends on them."""
    needed_ids = {name for step in steps for name in step["depends_on"]}
    alternatives = {step["on_failure"]["strategy"].removeprefix(ALTERNATIVE) for step in steps}
    unconditional = [step for step in steps if step["when"] is None and step["on_failure"]["strategy"] != "skip"]
    return [step["id"] for step in unconditional if step["id"] not in needed_ids | alternatives]


def _composed_plan(plans: list[SourcePlan], plan_id: str, steps: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the composed document for the given steps."""
    documents = [plan.document for plan in plans]
    names = ", ".join([document.plan_id for document in documents])
    categories = {document.intent.category for document in documents}
    all_constraints = [document.constraints for document in documents]
    durations = [
        constraints.max_duration_s for constraints in all_constraints if constraints.max_duration_s is not None
    ]
    return {
        "plan_id": plan_id,
        "description": shorten(f"In this order: {names}", _MAX_TEXT_LENGTH),
        "mode": documents[0].mode,
        "intent": {
            "summary": shorten("; ".join([document.intent.summary for document in documents]), _MAX_TEXT_LENGTH),
            "category": categories.pop() if len(categories) == 1 else "mixed",
            "risk_level": max([document.intent.risk_level for document in documents], key=LEVELS.index),
        },
        "steps": steps,
        "constraints": {
            "max_steps": max([constraints.max_steps for constraints in all_constraints]),
            "max_duration_s": sum(durations) if durations else None,
            "require_sequential": any([constraints.require_sequential for constraints in all_constraints]),
            "allow_unplanned": all_constraints[0].allow_unplanned,
            "forbidden_paths": list(
                dict.fromkeys([path for constraints in all_constraints for path in constraints.forbidden_paths])
            ),
            "forbidden_commands": list(
                dict.fromkeys(
                    [command for constraints in all_constraints for command in constraints.forbidden_commands]
                )
            ),
        },
        "metadata": {"context": {"composed": [_origin_record(plan) for plan in plans]}},
    }


def _origin_record(plan: SourcePlan) -> dict[str, Any]:
    """Return a record of a source plan, so that none of its information is lost."""
    document = plan.document.model_dump()
    fields = {name: document[name] for name in ("plan_id", "revision", "description", "source")}
    lines = {step["id"]: step["source"] for step in document["steps"] if step["source"] is not None}
    return {
        "prefix": plan.prefix,
        **fields,
        "sha256": digest(document_bytes(plan.document)),
        "lines": lines,
        "metadata": document["metadata"],
    }
