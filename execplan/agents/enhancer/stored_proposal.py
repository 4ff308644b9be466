"""Proposals as stored among a plan's artifacts, without secrets, and their acceptance by a person."""

from __future__ import annotations

import os
from typing import Any, Final

from execplan.agents.enhancer.proposal import build_proposal, plan_content
from execplan.core.documents.document_io import document_bytes, to_json_bytes
from execplan.core.documents.document_model import document_error, validate_document
from execplan.core.errors import ExecplanError
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text import strict_json
from execplan.core.text.text_lines import digest
from execplan.core.text.violation import Violation
from execplan.execution.execution_plan import ExecutionPlan

FILE_NAME: Final = "enhanced.json"
SCHEMA: Final = "execplan-enhanced"
_FIELDS = {"schema": str, "version": int, "of": str, "program": str, "mark": str, "sent": dict, "answer": dict}
_ASK_AGAIN = "request a new proposal: execplan compile {} --enhance"


def proposal_path(project: Project, ref: PlanRef) -> str:
    """Return the path of the proposal file, whether or not it exists."""
    return os.path.join(project.plan_artifacts_dir(ref.path, archived=ref.archived), FILE_NAME)


def serialize_proposal(document: ExecutionPlan, program: str, mark: str, sent_plan: object, answer: object) -> bytes:
    """Serialize a proposal: the sent plan, the answer, and the digest of the execution plan that it applies to."""
    header = {"schema": SCHEMA, "version": 1, "of": plan_digest(document), "program": program}
    return to_json_bytes({**header, "mark": mark, "sent": sent_plan, "answer": answer})


def plan_digest(document: ExecutionPlan) -> str:
    """Return a digest that identifies an execution plan by its steps' effects; moved source lines do not change it."""
    return digest(to_json_bytes(plan_content(document)))


def is_proposal(data: bytes) -> bool:
    """Check whether a document is a stored proposal."""
    if SCHEMA.encode() not in data[:200]:
        return False
    value = strict_json.read(data).value
    return isinstance(value, dict) and value.get("schema") == SCHEMA


def accept_proposal(project: Project, ref: PlanRef, data: bytes, source: str) -> ExecutionPlan:
    """Apply a proposal to the current execution plan and validate it again. Raises ExecplanError.

    The result no longer refers to lines of the plan, and its context records the proposal.
    """
    from execplan.execution.approvals.current_plan import load_current_plan
    from execplan.execution.importers import plan_import

    proposal = _parse_proposal(data, source)
    document = load_current_plan(project, ref).document
    enhancement = document.metadata.context.get("enhanced")
    if isinstance(enhancement, dict) and enhancement.get("proposal") == digest(data):
        return document
    if proposal["of"] != plan_digest(document):
        message = f"{source} is out of date: the execution plan of {ref.id} has changed since"
        raise ExecplanError("stale-proposal", message, hint=_ASK_AGAIN.format(ref.shell_name))
    _ensure_unaltered(proposal["sent"], document, source)
    new_document, violations = build_proposal(project, document, proposal["sent"], proposal["answer"], proposal["mark"])
    if new_document is None:
        raise document_error(source, ExecutionPlan, violations, hint=_ASK_AGAIN.format(ref.shell_name))
    plan = new_document.model_dump()
    plan["metadata"]["context"]["enhanced"] = {"program": proposal["program"], "proposal": digest(data)}
    checked, violations = validate_document(plan, ExecutionPlan)
    if checked is None:
        raise document_error(source, ExecutionPlan, violations)
    return plan_import.import_plan(document_bytes(checked), source, ref.id)


def _parse_proposal(data: bytes, source: str) -> dict[str, Any]:
    json_document = strict_json.read(data)
    proposal = json_document.value if isinstance(json_document.value, dict) else {}
    violations = list(json_document.violations)
    violations += [
        Violation(f"/{name}", "is missing or has the wrong type")
        for name, kind in _FIELDS.items()
        if type(proposal.get(name)) is not kind
    ]
    violations += [Violation(f"/{name}", "unknown key") for name in proposal if name not in _FIELDS]
    if not violations and (proposal["version"] != 1 or not proposal["mark"].isalnum()):
        violations.append(Violation("/version", "comes from another version of execplan"))
    if violations:
        raise document_error(
            source,
            ExecutionPlan,
            violations,
            json_document.omitted,
            hint="create a proposal: execplan compile --enhance",
        )
    return proposal


def _ensure_unaltered(sent_plan: Any, document: ExecutionPlan, source: str) -> None:
    """Raise ExecplanError unless `sent_plan` is this plan with placeholders for the masked texts."""
    if not _has_same_shape(sent_plan, plan_content(document)):
        message = f"{source}: /sent is not the execution plan that was sent: another program has changed it"
        raise ExecplanError("bad-document", message, hint="request a new proposal: execplan compile --enhance")


def _has_same_shape(sent_value: Any, original_value: Any) -> bool:
    """Check whether two values have the same shape and differ only in strings with placeholders."""
    if isinstance(sent_value, dict) and isinstance(original_value, dict):
        return _has_same_shape(list(sent_value), list(original_value)) and _has_same_shape(
            list(sent_value.values()), list(original_value.values())
        )
    if isinstance(sent_value, list) and isinstance(original_value, list):
        return len(sent_value) == len(original_value) and all(
            [_has_same_shape(left, right) for left, right in zip(sent_value, original_value, strict=True)]
        )
    return sent_value == original_value or (isinstance(sent_value, str) and "redacted_" in sent_value)
