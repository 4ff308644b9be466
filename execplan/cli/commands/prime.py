"""The `execplan prime` command: its help and options; without most of these it runs before click is imported."""

from __future__ import annotations

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.output.prime_output import PROGRAMS, prime_answer
from execplan.cli.plan_arguments import plan_argument


@define_command(
    reads="the plan, its claims, its last run, and git's status of the working tree.",
    writes="nothing.",
    examples=("execplan prime", "execplan prime parser", "execplan prime --hook codex", "execplan prime --json"),
)
@plan_argument()
@click.option("--hook", type=click.Choice(PROGRAMS), help="Use that agent's hook format; never fail.")
def prime(call: Call, plan: str | None, hook: str | None) -> Answer:
    """Print an overview of a plan for a new agent session, in about 1 KB.

    Use it when a session of an agent starts, or before its context is compacted (shortened). The overview has the next
    task, the last decisions, the last discovery, the state of the last run, the changes since the plan was last
    written, and three commands. Content from the repository is quoted, without secrets. If you name no plan and there
    is none, or there are several, the overview only says so.
    """
    plan_answer = prime_answer(plan, hook)
    return plan_answer if call.as_json else plan_answer._replace(next_commands=())
