"""Import of execution plans from other systems or repositories: complete, or rejected with all that is unsupported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from execplan.core.clock import now
from execplan.core.documents.document_io import load_document
from execplan.core.documents.document_model import document_error, validate_document
from execplan.core.text import strict_json
from execplan.core.text.violation import Violation
from execplan.execution.attributes import LEVELS
from execplan.execution.documents.derived_fields import fill_risk, parse_command_fields
from execplan.execution.execution_plan import SCHEMA, ExecutionPlan
from execplan.execution.importers import governance_format, stepwise_format, typed_format
from execplan.execution.importers.object_reader import ImportReport, ObjectReader

_FORMATS = (governance_format, typed_format, stepwise_format)
_HINT = "execplan explain bad-document"


def import_plan(data: bytes, label: str, plan_id: str) -> ExecutionPlan:
    """Return the execution plan in a document of a known format, under the ID of one of our plans.

    Raises ExecplanError with everything that can't be imported at once, by its location in the source document.
    """
    parsed = strict_json.read(data)
    if not parsed.is_complete:
        raise document_error(label, ExecutionPlan, parsed.violations, parsed.omitted)
    value = parsed.value
    if isinstance(value, dict) and value.get("schema") == SCHEMA:
        return _with_plan_id(load_document(data, ExecutionPlan, label), plan_id)
    plan_format = next((candidate for candidate in _FORMATS if isinstance(value, dict) and candidate.fits(value)), None)
    if plan_format is None or not isinstance(value, dict):
        why = "not a plan in a known format: it needs operations or steps; execplan's own documents have a schema"
        raise document_error(label, ExecutionPlan, [*parsed.violations, Violation("", why)], parsed.omitted, hint=_HINT)
    report = ImportReport(now().timestamp())
    plan_fields = plan_format.read(ObjectReader(value, "", report))
    preserved = {name: entry for name, entry in plan_fields.pop("kept").items() if entry not in (None, {}, [])}
    plan_fields |= {"plan_id": plan_id, "metadata": {"context": {"imported": preserved}}}
    document = _fill_derived(plan_fields, report)
    known_pointers = {violation.pointer for violation in (*parsed.violations, *report.violations)}
    violations = [
        *parsed.violations,
        *report.violations,
        *[violation for violation in document[1] if violation.pointer not in known_pointers],
    ]
    if document[0] is None or violations:
        raise document_error(label, ExecutionPlan, violations, parsed.omitted, hint=_HINT)
    document[0].ensure_safe(label)
    return document[0]


def _fill_derived(
    plan_fields: dict[str, Any], report: ImportReport
) -> tuple[ExecutionPlan | None, Sequence[Violation]]:
    """Return the document with its derived fields, and its violations with locations in the source document."""
    stated_risks = [step.pop("risk", None) for step in plan_fields["steps"]]
    for step in plan_fields["steps"]:
        parse_command_fields(step)
        step["risk"] = {"level": "LOW"}
    plan_fields["intent"]["risk_level"] = "LOW"
    valid_plan, violations = validate_document(plan_fields, ExecutionPlan)
    if valid_plan is None:
        return None, [report.translate(violation) for violation in violations]
    plan_fields = valid_plan.model_dump()
    risk_violations = []
    for index, (step, risk) in enumerate(zip(plan_fields["steps"], stated_risks, strict=True)):
        step["risk"] = risk or {}
        if risk and risk["level"] not in LEVELS:
            risk_violations.append(
                report.translate(Violation(f"/steps/{index}/risk_level", f"should be one of {', '.join(LEVELS)}"))
            )
        fill_risk(step)
    plan_fields["intent"]["risk_level"] = max(
        [step["risk"]["level"] for step in plan_fields["steps"]], key=LEVELS.index
    )
    document, violations = validate_document(plan_fields, ExecutionPlan)
    return document, [*risk_violations, *[report.translate(violation) for violation in violations]]


def _with_plan_id(document: ExecutionPlan, plan_id: str) -> ExecutionPlan:
    """Return one of our documents under another ID.

    It loses its references to lines of a plan, which are kept in its context.
    """
    if document.plan_id == plan_id and document.source is None:
        return document
    plan_fields = document.model_dump()
    lines = {step["id"]: step["source"] for step in plan_fields["steps"] if step["source"] is not None}
    preserved = {"shape": "execplan", "plan_id": document.plan_id, "source": plan_fields["source"], "lines": lines}
    earlier_import = plan_fields["metadata"]["context"].get("imported")
    preserved |= {"imported": earlier_import} if earlier_import is not None else {}
    plan_fields["metadata"]["context"]["imported"] = {
        name: value for name, value in preserved.items() if value not in (None, {})
    }
    for step in plan_fields["steps"]:
        step["source"] = None
    imported, violations = validate_document({**plan_fields, "plan_id": plan_id, "source": None}, ExecutionPlan)
    if imported is None:
        raise document_error(plan_id, ExecutionPlan, violations)
    return imported
