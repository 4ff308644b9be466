"""`execplan schema`."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.table import table
from execplan.cli.verb import verb
from execplan.errors import INPUT, ExecplanError


@verb(
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
    """Print the JSON Schema of a kind of document; without a name, which kinds there are.

    Whether a document holds to the rules that no JSON Schema can tell is said by the verbs that read it.
    """
    from execplan.cli.schemas import ALIASES, KINDS, schema_bytes
    from execplan.cli.schemas import schema as made

    if name is None:
        rows = [[each, kind.about] for each, kind in KINDS.items()]
        data = {"schemas": [{"name": each, "about": kind.about} for each, kind in KINDS.items()]}
        return Answer(data, table(("name", "what"), rows), next=("execplan schema execution-plan",))
    wanted = ALIASES.get(name, name)
    if wanted not in KINDS:
        raise _unknown(name, tuple(KINDS))
    return Answer({"name": wanted, "schema": made(wanted)}, schema_bytes(wanted).decode())


def _unknown(name: str, known: tuple[str, ...]) -> ExecplanError:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}? See all: execplan schema" if near else "see all: execplan schema"
    return ExecplanError("no-such-schema", f"there is no schema {name!r}", exit=INPUT, hint=hint, candidates=known)


command = schema
