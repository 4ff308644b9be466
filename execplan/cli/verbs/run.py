"""`execplan run`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call, quote_plan_name
from execplan.cli.plan_name import plan_argument
from execplan.cli.verb import jsonl_option, new_options, define_command
from execplan.errors import USAGE, ExecplanError
from execplan.repo import pick

if TYPE_CHECKING:
    from execplan.repo.amend import WriteOptions

JOBS = 64
"""Steps that may run beside each other at most."""


@define_command(
    reads="the execution plan and its approval; the files that its steps name; the policy; the register of approvals; what its "
    "commands read.",
    writes="what was approved, and nothing else: what its steps do, the ticks of their tasks, the run and the ledger among the "
    "plan's artifacts; backups in the state folder; the register. --dry-run: nothing.",
    examples=(
        "execplan run",
        "execplan run parser --dry-run",
        "execplan run parser --step api",
        "execplan run parser --from api --jobs 4 --timeout 600",
        "execplan run parser --jsonl",
    ),
)
@plan_argument()
@click.option("--step", "steps", metavar="ID", multiple=True, help="Only this step; may be given several times.")
@click.option("--from", "begin", metavar="ID", default="", help="Begin with this step; those before it are skipped.")
@click.option(
    "--jobs",
    type=click.IntRange(1, JOBS),
    default=1,
    metavar="N",
    help="Let so many steps run beside each other, where they are parallel.",
)
@click.option(
    "--timeout",
    "seconds",
    type=click.IntRange(min=1),
    metavar="SECONDS",
    help="For the whole run; the policy's limit, where that is less.",
)
@click.option(
    "--replay",
    "replays",
    metavar="RUN",
    default="",
    help="Run what that run ran, on the same inputs; show what differs.",
)
@jsonl_option
@new_options
def run(
    call: Call,
    plan: str | None,
    *,
    steps: tuple[str, ...],
    begin: str,
    jobs: int,
    seconds: int | None,
    replays: str,
    jsonl: bool,
    options: WriteOptions,
) -> Answer:
    """Run what was approved: its steps in order, each judged, its task ticked, its transcript kept.

    What a step changes is backed up first, so that `rollback` can take it back; a run that fails is rolled back by itself
    where the policy says so. A run that was paused or interrupted goes on with `resume`. Exit 1 when it failed, 7 when
    nobody has approved what would run, 4 when something has changed since, 8 when it waits for an answer.
    """
    if steps and begin:
        message = "--step and --from exclude each other: one names the steps, the other where to begin"
        raise ExecplanError("usage", message, exit=USAGE, hint="see execplan run --help")
    from execplan.cli.running.outcome import outcome_answer
    from execplan.cli.running.watching import observe_run
    from execplan.engine import run as engine
    from execplan.engine.watch import RunOptions

    project, ref = pick.select_plan(os.getcwd(), plan)
    run_options = RunOptions(steps, begin, jobs, seconds, replays)
    if options.dry_run:
        from execplan.cli.running.outlook import dry_run_answer

        path = project.display_path(ref.path)
        return dry_run_answer(engine.preview_run(project, ref, run_options), run_options, path, quote_plan_name(ref.id, path))
    with observe_run(call, "run", stream=jsonl) as observer:
        finished_run = engine.run(project, ref, run_options, observer, options)
    return outcome_answer(project, ref, finished_run, quiet=call.quiet)


command = run
