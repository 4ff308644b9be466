"""The `execplan prime` command: its help and its flags; without most of these it is answered before click is imported."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.output.prime_output import PROGRAMS, prime_answer
from execplan.cli.plan_arguments import plan_argument


@define_command(
    reads="the plan, its claims, its last run, what git says of the working tree.",
    writes="nothing.",
    examples=("execplan prime", "execplan prime parser", "execplan prime --hook codex", "execplan prime --json"),
)
@plan_argument()
@click.option("--hook", type=click.Choice(PROGRAMS), help="As that program wants it of a hook, with no refusal.")
def prime(call: Call, plan: str | None, hook: str | None) -> Answer:
    """Print in about 1 KB where the plan stands: for a session that begins, or whose memory is about to be cut.

    The next task, the last decisions, the last discovery, how the last run stands, what has changed since the plan was
    last written, and three commands. What comes from the repository is quoted, without secrets. Where no plan is named
    and there is none, or several, that is all it says.
    """
    plan_answer = prime_answer(plan, hook)
    return plan_answer if call.as_json else plan_answer._replace(next_commands=())


command = prime
