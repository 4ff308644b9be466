"""`execplan resume`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call, quote_plan_name
from execplan.cli.plan_name import plan_option
from execplan.cli.verb import jsonl_option, new_options, define_command
from execplan.cli.verbs.run import JOBS
from execplan.engine.entries import ANSWERS

if TYPE_CHECKING:
    from execplan.repo.amend import WriteOptions


@define_command(
    reads="the journal of the run, and what `run` reads.",
    writes="what `run` writes: a step that is done is not run again.",
    examples=(
        "execplan resume",
        "execplan resume --dry-run",
        "execplan resume -p parser",
        "execplan resume 1 -p parser --answer skip",
    ),
)
@click.argument("run", required=False, metavar="[PLAN] [RUN]")
@plan_option
@click.option(
    "--answer",
    type=click.Choice(ANSWERS),
    help="What it waits for: go on, run the step again, go on without it, or end the run.",
)
@click.option(
    "--jobs", type=click.IntRange(1, JOBS), metavar="N", help="Let so many steps run beside each other; else as before."
)
@jsonl_option
@new_options
def resume(
    call: Call,
    run: str | None,
    *,
    plan: str | None,
    answer: str | None,
    jobs: int | None,
    jsonl: bool,
    options: WriteOptions,
) -> Answer:
    """Go on with a run that was paused, interrupted, killed or has failed; the last one of the plan, if none is named.

    What the steps that are done have left must be as they left it, else it exits 4 and says what is not. Of a step that
    was cut short and may run only once nobody knows whether it had its effect: look, then say --answer.
    """
    from execplan.cli.running.outcome import outcome_answer
    from execplan.cli.running.watching import observe_run
    from execplan.engine import place
    from execplan.engine import resume as engine
    from execplan.engine.plan_choice import choose_plan_with_run

    project, ref = choose_plan_with_run(os.getcwd(), plan)
    run_paths = place.find_run(project, ref, run)
    if options.dry_run:
        from execplan.cli.running.ahead import resume_preview_answer
        from execplan.engine.ahead import preview_resume

        return resume_preview_answer(preview_resume(project, ref, run_paths, answer), answer, quote_plan_name(ref.id, project.display_path(ref.path)))
    with observe_run(call, "resume", stream=jsonl) as observer:
        finished_run = engine.resume(project, ref, run_paths, answer, observer, options, jobs=jobs)
    return outcome_answer(project, ref, finished_run, quiet=call.quiet)


command = resume
