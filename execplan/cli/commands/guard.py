"""The `execplan guard` command: its help, and global options before it; without these it runs before click is imported."""

from __future__ import annotations

import click

from execplan.agents.guard import guard_entry
from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.plan_arguments import plan_argument


@define_command(
    reads="one tool call, on standard input, in the format of an agent program; the plan being run, and its run.",
    writes="the journal of the run, for each allowed call of a step; the first one starts the run.",
    examples=(
        "execplan guard < call.json",
        "execplan guard --program claude -p parser < call.json",
        "execplan guard --json < call.json",
    ),
    finishes_moves=False,  # a slower command finishes an interrupted move
)
@plan_argument(default="the only approved plan")
@click.option(
    "--program",
    type=click.Choice(["claude", "codex", "gemini", "opencode", "json"]),
    help="Format of the call; json is for any other program. Default: detected from the call.",
)
def guard(call: Call, plan: str | None, program: str | None) -> Answer:
    """Check whether an agent may make a tool call.

    Agent programs run it as a hook before each tool call; `execplan install guard` sets that up. The answer is allow,
    ask or deny. A call is allowed if it only reads, or if it belongs to a step that is approved, is next, and was not
    called too often. Every error is a denial. The exit status is the one that the program expects: 2 for a
    denial, or with --program json 0 with any answer.
    """
    plan_options = [f"--plan={plan}"] if plan is not None else []
    if call.as_json:
        form_options = ["--json"]
    elif program:
        form_options = [f"--program={program}"]
    else:
        form_options = []
    click.get_current_context().exit(guard_entry.guard([*plan_options, *form_options]))
