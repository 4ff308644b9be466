"""The `execplan done` command."""

from __future__ import annotations

import sys

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.option_rules import option_rules, requires
from execplan.cli.plan_arguments import plan_option
from execplan.cli.plan_editing import edit_plan
from execplan.core import features
from execplan.core.edits import plan_updates
from execplan.core.edits.plan_writer import WriteOptions


@define_command(
    reads="the plan; with --verify, also the policy and what the checks read.",
    writes=(
        "the checkbox and the timestamp of each task, or its status, and nothing else. --verify: also a link to the transcript, in the "
        "plan's artifacts; what the checks write; and your approvals of checks, in ~/.local/state/execplan."
    ),
    examples=(
        "execplan done 3",
        "execplan done 1-3 --commit",
        'execplan done "write the tests" -p parser',
        "execplan done 3 --verify",
    ),
)
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...")
@click.option("--verify", is_flag=True, help="Run the check of each task; check off the tasks whose check passes.")
@click.option("-y", "--yes", is_flag=True, help="With --verify: approve the checks without a question, as a person.")
@plan_option
@writer_options
@option_rules(requires("--yes", "--verify", hint="execplan done 3 --verify --yes"))
def done(
    call: Call, tasks: tuple[str, ...], *, verify: bool, yes: bool, plan: str | None, options: WriteOptions
) -> Answer:
    """Check off tasks, with a timestamp.

    A TASK is a number, several numbers as in 1-3 or 1,2,5, an ID, or unique text. If someone else has already checked
    off a task here, the command says who, and exits 1.

    A task can have a check, the command that shows that it is done: a nested item "Check: `pytest -q tests/reader`".
    With --verify, the checks run in the sandbox if there is one, without the network. If a check fails, its task stays open, and the
    command exits 1. A check whose risk needs a person is shown, and asks once for an approval.
    """
    if verify:
        if sys.platform == "win32":
            from execplan.core.files.windows_process import windows_error

            raise windows_error("done --verify")
        answer: Answer = features.load(features.VERIFIED_COMPLETION)(call, plan, tasks, options, approves_all=yes)
        return answer
    return edit_plan(
        plan,
        lambda project, ref: plan_updates.done(project, ref, tasks, options),
        options,
        "execplan next {id}",
        finishes=True,
    )
