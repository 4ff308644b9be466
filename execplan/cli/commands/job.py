"""The `execplan job` command."""

from __future__ import annotations

import os

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, require_digest
from execplan.cli.option_rules import excludes, option_rules
from execplan.cli.plan_arguments import plan_option
from execplan.cli.run_options import jobs_option
from execplan.core.errors import OK
from execplan.core.plan_store import plan_selection


@define_command(
    reads=(
        "the plan and its stored execution plan; the files that its steps name; the policy; the file of --load; what its "
        "commands read."
    ),
    writes=(
        "what `run` writes, for the steps of the job; an approval of them in the plan's artifacts; the outputs in the file "
        "of --load; the file of --save. --check: nothing."
    ),
    examples=(
        "execplan job 1 -p parser --digest 41f2…09 --check",
        "execplan job 2 -p parser --digest 8ab3…5e --load job-1.tar --save job-2.tar",
    ),
)
@click.argument("number", metavar="NUMBER", type=click.IntRange(min=1))
@plan_option
@click.option("--digest", metavar="DIGEST", required=True, help="The digest of the job in the exported workflow.")
@click.option("--check", is_flag=True, help="Only check the digest.")
@click.option("--load", metavar="FILE", default="", help="Unpack the outputs of the previous job first.")
@click.option("--save", metavar="FILE", default="", help="Save the outputs of this job and the earlier ones.")
@click.option(
    "--confirmed", is_flag=True, help="A person let the job begin, and so confirms its first step if that asks."
)
@jobs_option("Run up to N steps at the same time if they are parallel.", default=1)
@option_rules(excludes("--check", "--load", "--save", "--confirmed", "--jobs", reason="runs nothing"))
def job(
    call: Call,
    number: int,
    plan: str | None,
    *,
    digest: str,
    check: bool,
    load: str,
    save: str,
    confirmed: bool,
    jobs: int,
) -> Answer:
    """Run one job of an exported plan.

    The workflows that `export` writes call this command. The steps of the job run as `run` runs them, if the plan and
    the files that it uses are those that were exported. The digest takes the place of an approval: whoever can change
    the workflow decides what runs.

    Exits 1 if a step failed, 4 if something has changed since the export.
    """
    from execplan.cli.run_output.run_observers import plain_observer
    from execplan.cli.run_output.run_outcome import outcome_answer
    from execplan.execution.export import job_run

    require_digest("--digest", digest, "copy the digest from the exported workflow")
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    if check:
        steps = [step.id for step in job_run.check_job(project, ref, number, digest).steps]
        text = f"job {number} is as it was exported: {', '.join(steps)}"
        return Answer({"id": ref.id, "job": number, "steps": steps}, text)
    job_options = job_run.JobOptions(number, digest, load, save, jobs, confirmed)
    finished_run = job_run.run_job(project, ref, job_options, plain_observer(call, "job"))
    answer = outcome_answer(project, ref, finished_run, quiet=call.quiet)
    is_between_jobs = answer.exit == OK and answer.work is not None  # the workflow does the rest
    return answer._replace(work=None, next_commands=()) if is_between_jobs else answer
