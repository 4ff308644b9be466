"""Execution plans of other systems, and our own from elsewhere: carried in full, or refused with what can't be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.clock import now
from execplan.execution.attributes import LEVELS
from execplan.execution.documents import strict
from execplan.execution.documents.document import check, load, refusal
from execplan.execution.documents.filling import rate, read_command
from execplan.execution.documents.violation import Violation
from execplan.execution.making.shapes import governance, stepwise, typed
from execplan.execution.making.shapes.form import Book, Form
from execplan.execution.model import SCHEMA, ExecutionPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHAPES = (governance, typed, stepwise)
_HINT = "which shapes are taken, field by field, is told in docs/api.md; of each refusal: execplan explain bad-document"


def read(data: bytes, where: str, plan_id: str) -> ExecutionPlan:
    """The execution plan that a document of one of the known shapes holds, under the id of a plan of ours.

    Raises ExecplanError with everything that can't be carried at once, by its place in the document that was read.
    """
    found = strict.read(data)
    if not found.whole:
        raise refusal(where, ExecutionPlan, found.violations, found.more)
    value = found.value
    if isinstance(value, dict) and value.get("schema") == SCHEMA:
        return _ours(load(data, ExecutionPlan, where), plan_id)
    shape = next((each for each in _SHAPES if isinstance(value, dict) and each.fits(value)), None)
    if shape is None or not isinstance(value, dict):
        why = "no plan of a known shape: it needs operations, or steps; execplan's own name their schema"
        raise refusal(where, ExecutionPlan, [*found.violations, Violation("", why)], found.more, hint=_HINT)
    book = Book(now().timestamp())
    made = shape.read(Form(value, "", book))
    kept = {name: each for name, each in made.pop("kept").items() if each not in (None, {}, [])}
    made |= {"plan_id": plan_id, "metadata": {"context": {"imported": kept}}}
    document = _filled(made, book)
    told = {each.pointer for each in (*found.violations, *book.violations)}
    wrong = [*found.violations, *book.violations, *[each for each in document[1] if each.pointer not in told]]
    if document[0] is None or wrong:
        raise refusal(where, ExecutionPlan, wrong, found.more, hint=_HINT)
    document[0].refuse_unsafe(where)
    return document[0]


def _filled(made: dict[str, Any], book: Book) -> tuple[ExecutionPlan | None, Sequence[Violation]]:
    """The document with what is derived, or what is wrong, told by the places of the original."""
    said = [step.pop("risk", None) for step in made["steps"]]
    for step in made["steps"]:
        read_command(step)
        step["risk"] = {"level": "LOW"}
    made["intent"]["risk_level"] = "LOW"
    valid, violations = check(made, ExecutionPlan)
    if valid is None:
        return None, [book.translated(each) for each in violations]
    made = valid.model_dump(mode="json", by_alias=True)
    wrong = []
    for at, (step, risk) in enumerate(zip(made["steps"], said, strict=True)):
        step["risk"] = risk or {}
        if risk and risk["level"] not in LEVELS:
            wrong.append(book.translated(Violation(f"/steps/{at}/risk_level", f"is none of {', '.join(LEVELS)}")))
        rate(step)
    made["intent"]["risk_level"] = max([step["risk"]["level"] for step in made["steps"]], key=LEVELS.index)
    document, violations = check(made, ExecutionPlan)
    return document, [*wrong, *[book.translated(each) for each in violations]]


def _ours(document: ExecutionPlan, plan_id: str) -> ExecutionPlan:
    """One of ours under another id; it no longer comes from lines of a plan, which its context goes on naming."""
    if document.plan_id == plan_id and document.source is None:
        return document
    made = document.model_dump(mode="json", by_alias=True)
    lines = {step["id"]: step["source"] for step in made["steps"] if step["source"] is not None}
    kept = {"shape": "execplan", "plan_id": document.plan_id, "source": made["source"], "lines": lines}
    before = made["metadata"]["context"].get("imported")
    kept |= {"imported": before} if before is not None else {}
    made["metadata"]["context"]["imported"] = {name: each for name, each in kept.items() if each not in (None, {})}
    for step in made["steps"]:
        step["source"] = None
    moved, violations = check({**made, "plan_id": plan_id, "source": None}, ExecutionPlan)
    if moved is None:
        raise refusal(plan_id, ExecutionPlan, violations)
    return moved
