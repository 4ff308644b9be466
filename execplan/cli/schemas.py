"""The JSON Schemas of all our documents, whichever room they come from."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from execplan.context.decision import KINDS as CONTEXT_KINDS
from execplan.document import to_json_bytes, make_json_schema
from execplan.execution.schema import DOCUMENT_KINDS as EXECUTION_KINDS
from execplan.execution.schema import RULES

if TYPE_CHECKING:
    from execplan.document import Json, Model

KINDS = {**EXECUTION_KINDS, **CONTEXT_KINDS}
"""By the name that `execplan schema` knows."""
ALIASES = {"plan": "execution-plan", "record": "run-record", "decision": "context-decision"}


def find_model(name: str) -> type[Model]:
    """The model of a kind."""
    kind = KINDS[name]
    model: type[Model] = getattr(import_module(f"execplan.{kind.module}"), kind.model)
    return model


def build_schema(name: str) -> Json:
    """The schema of a kind of document."""
    return make_json_schema(name, find_model(name), RULES.get(name))


def schema_bytes(name: str) -> bytes:
    """The same, as it is written."""
    return to_json_bytes(build_schema(name))
