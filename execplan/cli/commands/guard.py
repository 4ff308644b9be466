"""The `execplan guard` command: its help, and the flags before it; without these it is answered before click is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from execplan.agents.guard import guard_entry
from execplan.cli.command_definition import define_command
from execplan.cli.plan_arguments import plan_argument

if TYPE_CHECKING:
    from execplan.cli.answer import Answer, Call


@define_command(
    reads="one call of a tool, on standard input, in the form of an agent's program; the plan that is carried out, and its run.",
    writes="the journal of the run, for each call of a step that it allows; the first one begins the run.",
    examples=(
        "execplan guard < call.json",
        "execplan guard --program claude -p parser < call.json",
        "execplan guard --json < call.json",
    ),
)
@plan_argument()
@click.option(
    "--program",
    type=click.Choice(["claude", "codex", "json"]),
    help="Whose form the call has; else that is told from the call. json: any other program's.",
)
def guard(call: Call, plan: str | None, program: str | None) -> Answer:
    """Say whether an agent may make a call: allow, ask or deny.

    A call is allowed when it is that of a step which is approved, has its turn and was not called too often, or when it only
    reads. Whatever goes wrong is a denial. The exit status is that which the program wants: 0 with an answer, 2 where none
    could be given.
    """
    plan_options = [f"--plan={plan}"] if plan is not None else []
    form_options = ["--json"] if call.as_json else [f"--program={program}"] if program else []
    click.get_current_context().exit(guard_entry.guard([*plan_options, *form_options]))


command = guard
guard.finishes_moves = False  # a move that was cut short is finished by a verb that may take its time
