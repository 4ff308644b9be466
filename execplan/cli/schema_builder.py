"""JSON Schemas of all document types: built from the models, and as they are shipped."""

from __future__ import annotations

import os

from execplan.core.documents.document_model import Model
from execplan.core.documents.json_schema import Json
from execplan.core.named_tuple import NamedTuple


class DocumentKind(NamedTuple):
    """A document type and the location of its model."""

    module: str
    """Module name within the package `execplan`; imported when a schema is built."""
    model: str
    description: str


KINDS = {
    "execution-plan": DocumentKind(
        "execution.execution_plan", "ExecutionPlan", "The execution plan that a plan compiles to."
    ),
    "run-record": DocumentKind("execution.run_record", "Record", "The results of a run and of each of its steps."),
    "approval": DocumentKind(
        "execution.approval_document", "Approval", "Who approved which steps, and until when; signed."
    ),
    "answer": DocumentKind("execution.documents.json_answer", "Answer", "The output of every command with --json."),
    "context-decision": DocumentKind("context.decision", "Decision", "What `context` includes for an agent, and why."),
}
"""Document types by the name that `execplan schema` accepts."""
_PACKAGE_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PACKAGED_DIR = os.path.join(_PACKAGE_DIR, "schemas")
_CHECKOUT_DIR = os.path.join(os.path.dirname(_PACKAGE_DIR), "docs", "reference", "schemas")


def shipped_schema(name: str) -> str:
    """Return the schema of a document type as text; it was built with the package, which takes 20 ms."""
    directory = _PACKAGED_DIR if os.path.isdir(_PACKAGED_DIR) else _CHECKOUT_DIR
    with open(os.path.join(directory, f"{name}.json"), encoding="utf-8") as file:
        return file.read()


def find_model(name: str) -> type[Model]:
    """Return the model of a document type."""
    from importlib import import_module

    kind = KINDS[name]
    model: type[Model] = getattr(import_module(f"execplan.{kind.module}"), kind.model)
    return model


def build_schema(name: str) -> Json:
    """Return the schema of a document type."""
    from execplan.core.documents.json_schema import make_json_schema
    from execplan.execution.documents.schema_rules import RULES

    return make_json_schema(name, find_model(name), RULES.get(name))


def schema_bytes(name: str) -> bytes:
    """Return the schema as serialized bytes."""
    from execplan.core.documents.document_io import to_json_bytes

    return to_json_bytes(build_schema(name))
