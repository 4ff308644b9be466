"""Kinds of documents of execution."""

from __future__ import annotations

from execplan.core.json_model.json_bytes import DocumentKind

DOCUMENT_KINDS = {
    "execution-plan": DocumentKind(
        "execution.execution_plan", "ExecutionPlan", "The execution plan that a plan compiles to."
    ),
    "run-record": DocumentKind("execution.run_record", "Record", "The results of a run and of each of its steps."),
    "approval": DocumentKind(
        "execution.approval_document", "Approval", "Who approved which steps, and until when; signed."
    ),
    "answer": DocumentKind("execution.documents.json_answer", "Answer", "The output of every command with --json."),
}
"""Document kinds by the name that `execplan schema` takes."""
