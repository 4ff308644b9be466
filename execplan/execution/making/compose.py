"""Several execution plans as one, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.errors import INPUT, ExecplanError
from execplan.execution.attributes import ALTERNATIVE, ENDED, LEVELS
from execplan.execution.documents.document import check, refusal, to_bytes
from execplan.execution.making.conflicts import Part, conflicts_of
from execplan.execution.model import ExecutionPlan
from execplan.text.lines import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST = 60
"""Characters of a prefix, so that an id has room behind it."""


def compose(documents: Sequence[ExecutionPlan], plan_id: str) -> ExecutionPlan:
    """One execution plan of several, under a new id: the steps of each come after all of those of the one before.

    Ids get the plan's name in front. Raises ExecplanError with every conflict at once: a plan that is there twice, a file
    that two of them write, one that needs what a later one makes, limits and modes that differ.
    """
    parts = _parts(documents)
    conflicts = list(conflicts_of(parts))
    if not documents or conflicts:
        conflicts = conflicts or ["there is no plan to compose"]
        message = f"{len(conflicts)} conflicts between the plans" if len(conflicts) > 1 else conflicts[0]
        hint = "change the plans so that each path has one owner, or run them one by one"
        candidates = conflicts if len(conflicts) > 1 else ()
        raise ExecplanError("bad-composition", message, exit=INPUT, hint=hint, candidates=candidates)
    steps: list[dict[str, Any]] = []
    ends: list[str] = []
    for part in parts:
        for step in part.steps:
            step["depends_on"] = step["depends_on"] or list(ends)
            steps.append({**step, "number": len(steps) + 1, "source": None})
        ends = _ends(part.steps) or ends
    composed, violations = check(_whole(parts, plan_id, steps), ExecutionPlan)
    if composed is None:
        raise refusal(plan_id, ExecutionPlan, violations)
    composed.refuse_unsafe(plan_id)
    return composed


def _parts(documents: Sequence[ExecutionPlan]) -> list[Part]:
    """Each plan with a prefix of its own."""
    parts: list[Part] = []
    for document in documents:
        prefix = base = _prefix(document.plan_id)
        number = 2
        while prefix in [part.prefix for part in parts]:
            prefix, number = f"{base}-{number}", number + 1
        parts.append(Part(prefix, document, [_renamed(step, prefix) for step in _steps(document)]))
    return parts


def _steps(document: ExecutionPlan) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = document.model_dump(mode="json", by_alias=True)["steps"]
    return steps


def _prefix(plan_id: str) -> str:
    """The plan's name without its date, in the characters of an id."""
    head, _, tail = plan_id.partition("_")
    name = tail if tail and head.replace("-", "").isdigit() else plan_id
    name = "".join([char if char.isascii() and (char.isalnum() or char in "_-") else "-" for char in name]).strip("-")
    return (name if name[:1].isalpha() else f"plan-{name}".rstrip("-"))[:_LONGEST].rstrip("-")


def _renamed(step: dict[str, Any], prefix: str) -> dict[str, Any]:
    """A step with its id, and the ids that it names, in their new form."""
    step = {**step, "id": f"{prefix}.{step['id']}"}
    step["depends_on"] = [f"{prefix}.{name}" for name in step["depends_on"]]
    strategy = step["on_failure"]["strategy"]
    if strategy.startswith(ALTERNATIVE):
        name = f"{ALTERNATIVE}{prefix}.{strategy.removeprefix(ALTERNATIVE)}"
        step["on_failure"] = {**step["on_failure"], "strategy": name}
    if step["when"] is not None and step["when"]["kind"] in ENDED:
        step["when"] = {**step["when"], "of": f"{prefix}.{step['when']['of']}"}
    return step


def _ends(steps: list[dict[str, Any]]) -> list[str]:
    """The steps that nothing waits for and that are run for certain: what comes after a plan comes after these."""
    needed = {name for step in steps for name in step["depends_on"]}
    spare = {step["on_failure"]["strategy"].removeprefix(ALTERNATIVE) for step in steps}
    certain = [step for step in steps if step["when"] is None and step["on_failure"]["strategy"] != "skip"]
    return [step["id"] for step in certain if step["id"] not in needed | spare]


def _whole(parts: list[Part], plan_id: str, steps: list[dict[str, Any]]) -> dict[str, Any]:
    """The plan around the steps."""
    documents = [part.document for part in parts]
    names = ", ".join([document.plan_id for document in documents])
    categories = {document.intent.category for document in documents}
    limits = [document.constraints for document in documents]
    durations = [each.max_duration_s for each in limits if each.max_duration_s is not None]
    return {
        "plan_id": plan_id,
        "description": _cut(f"In this order: {names}"),
        "mode": documents[0].mode,
        "intent": {
            "summary": _cut("; ".join([document.intent.summary for document in documents])),
            "category": categories.pop() if len(categories) == 1 else "mixed",
            "risk_level": max([document.intent.risk_level for document in documents], key=LEVELS.index),
        },
        "steps": steps,
        "constraints": {
            "max_steps": max([each.max_steps for each in limits]),
            "max_duration_s": sum(durations) if durations else None,
            "require_sequential": any([each.require_sequential for each in limits]),
            "allow_unplanned": limits[0].allow_unplanned,
            "forbidden_paths": list(dict.fromkeys([path for each in limits for path in each.forbidden_paths])),
            "forbidden_commands": list(dict.fromkeys([words for each in limits for words in each.forbidden_commands])),
        },
        "metadata": {"context": {"composed": [_origin(part) for part in parts]}},
    }


def _cut(words: str) -> str:
    return words if len(words) <= 2000 else words[:1999] + "…"


def _origin(part: Part) -> dict[str, Any]:
    """What a plan was, so that nothing that it said is lost."""
    document = part.document.model_dump(mode="json", by_alias=True)
    kept = {name: document[name] for name in ("plan_id", "revision", "description", "source")}
    lines = {step["id"]: step["source"] for step in document["steps"] if step["source"] is not None}
    return {
        "prefix": part.prefix,
        **kept,
        "sha256": digest(to_bytes(part.document)),
        "lines": lines,
        "metadata": document["metadata"],
    }
