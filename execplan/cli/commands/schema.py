"""The `execplan schema` command."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.output.text_table import format_table
from execplan.context.decision import DECISION_KINDS
from execplan.errors import INPUT, ExecplanError
from execplan.execution.document_schemas import DOCUMENT_KINDS, RULES
from execplan.json_model.json_bytes import to_json_bytes
from execplan.json_model.json_schema import make_json_schema
from execplan.text.suggestions import did_you_mean

if TYPE_CHECKING:
    from execplan.json_model.document_model import Model
    from execplan.json_model.json_schema import Json


KINDS = {**DOCUMENT_KINDS, **DECISION_KINDS}
"""Document types by the name that `execplan schema` accepts."""
ALIASES = {"plan": "execution-plan", "record": "run-record", "decision": "context-decision"}


def find_model(name: str) -> type[Model]:
    """Return the model of a document type."""
    kind = KINDS[name]
    model: type[Model] = getattr(import_module(f"execplan.{kind.module}"), kind.model)
    return model


def build_schema(name: str) -> Json:
    """Return the schema of a document type."""
    return make_json_schema(name, find_model(name), RULES.get(name))


def schema_bytes(name: str) -> bytes:
    """Return the schema as serialized bytes."""
    return to_json_bytes(build_schema(name))


@define_command(
    reads="nothing.",
    writes="nothing.",
    examples=(
        "execplan schema",
        "execplan schema execution-plan",
        "execplan schema approval --json",
    ),
)
@click.argument("name", required=False, metavar="[NAME]")
def schema(call: Call, name: str | None) -> Answer:
    """Print the JSON Schema of a document type.

    Use it to create or validate documents with other tools. Without a name, lists the document types. The commands that
    read a document also check the rules that a JSON Schema can't express.
    """
    if name is None:
        rows = [[kind_name, kind.description] for kind_name, kind in KINDS.items()]
        data = {"schemas": [{"name": kind_name, "about": kind.description} for kind_name, kind in KINDS.items()]}
        return Answer(data, format_table(("name", "what"), rows), next_commands=("execplan schema execution-plan",))
    schema_name = ALIASES.get(name, name)
    if schema_name not in KINDS:
        raise _unknown_schema_error(name, tuple(KINDS))
    return Answer({"name": schema_name, "schema": build_schema(schema_name)}, schema_bytes(schema_name).decode())


def _unknown_schema_error(name: str, schema_names: tuple[str, ...]) -> ExecplanError:
    suggestion = did_you_mean(name, schema_names)
    hint = f"{suggestion} See all: execplan schema" if suggestion else "list all: execplan schema"
    return ExecplanError("no-such-schema", f"unknown schema {name!r}", exit=INPUT, hint=hint, candidates=schema_names)


command = schema
