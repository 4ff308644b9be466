"""The `execplan schema` command."""

from __future__ import annotations

import json

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.output.text_table import format_table
from execplan.cli.schema_builder import KINDS, shipped_schema
from execplan.core.errors import ExecplanError
from execplan.core.text.suggestions import did_you_mean

ALIASES = {"plan": "execution-plan", "record": "run-record", "decision": "context-decision"}


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
    text = shipped_schema(schema_name)
    return Answer({"name": schema_name, "schema": json.loads(text)}, text)


def _unknown_schema_error(name: str, schema_names: tuple[str, ...]) -> ExecplanError:
    suggestion = did_you_mean(name, schema_names)
    hint = f"{suggestion} See all: execplan schema" if suggestion else "list all: execplan schema"
    return ExecplanError("no-such-schema", f"unknown schema {name!r}", hint=hint, candidates=schema_names)
