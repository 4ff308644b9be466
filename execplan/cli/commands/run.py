"""The `execplan run` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, jsonl_option, new_options
from execplan.cli.error_handler import printable_line
from execplan.cli.plan_arguments import plan_argument
from execplan.errors import USAGE, ExecplanError
from execplan.execution.evaluation.evaluation_text import describe_commands, step_json
from execplan.plan_store import plan_selection
from execplan.plan_store.plan_store import quote_plan_name
from execplan.text.message_parts import format_count

if TYPE_CHECKING:
    from execplan.edits.plan_writer import WriteOptions
    from execplan.engine.dry_run import PlannedStep, RunPreview
    from execplan.engine.run_observer import RunOptions


def dry_run_answer(preview: RunPreview, run_options: RunOptions, path: str, name: str) -> Answer:
    """The answer of a dry run; the plan's path, and its name as it can be typed."""
    approval, document = preview.approval, preview.document
    running_steps = [planned_step for planned_step in preview.steps if planned_step.will_run]
    data: dict[str, Any] = {
        "plan": document.plan_id,
        "revision": document.revision,
        "path": path,
        "approval": approval.digest,
        "approver": approval.approver,
        "expires_at": approval.expires_at,
        "sandbox": preview.sandbox or None,
        "no_sandbox": None if preview.sandbox else preview.sandbox_reason,
        "steps": [
            {
                **step_json(planned_step.evaluated_step, path),
                "runs": planned_step.will_run,
                "why": planned_step.reason or None,
            }
            for planned_step in preview.steps
        ],
        "changed": False,
    }
    sandbox_text = f"in {preview.sandbox}" if preview.sandbox else f"in no sandbox ({preview.sandbox_reason})"
    approver = "the policy" if approval.how == "policy" else approval.approver
    lines = [
        f"would run {len(running_steps)} of {format_count(len(preview.steps), 'step')}, approved by {approver}, {sandbox_text}"
    ]
    lines += [line for planned_step in preview.steps for line in _step_lines(planned_step)]
    lines.append(f"the changes, the risk and the findings of each step: execplan evaluate {name}")
    text = "\n".join([printable_line(line) for line in lines])
    return Answer(data, text, warnings=preview.warnings, next_commands=(_run_command(run_options, name),))


def _step_lines(planned_step: PlannedStep) -> list[str]:
    """A step in the order of the run: what it does and its commands, or why it is skipped."""
    step = planned_step.evaluated_step.step
    if not planned_step.will_run:
        return [f"{step.number} {step.id}: skipped: {planned_step.reason}"]
    lines = [f"{step.number} {step.id}: {step.description}"]
    for label, command_text in describe_commands(step):
        count = command_text.strip("\n").count("\n") + 1
        lines.append(f"  {label}: {command_text}" if count == 1 else f"  {label}: {format_count(count, 'line')}")
    return lines


def _run_command(run_options: RunOptions, name: str) -> str:
    """The command that does it."""
    flags = [f"--step {step_id}" for step_id in run_options.steps] + (
        [f"--from {run_options.begin}"] if run_options.begin else []
    )
    flags += [f"--jobs {run_options.jobs}"] if run_options.jobs > 1 else []
    flags += [f"--timeout {run_options.seconds}"] if run_options.seconds else []
    flags += [f"--replay {run_options.replays}"] if run_options.replays else []
    return " ".join(["execplan run", name, *flags])


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
    from execplan.cli.run_output.observer_selection import observe_run
    from execplan.cli.run_output.run_outcome import outcome_answer
    from execplan.engine import run
    from execplan.engine.run_observer import RunOptions

    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    run_options = RunOptions(steps, begin, jobs, seconds, replays)
    if options.dry_run:
        path = project.display_path(ref.path)
        return dry_run_answer(
            run.preview_run(project, ref, run_options), run_options, path, quote_plan_name(ref.id, path)
        )
    with observe_run(call, "run", stream=jsonl) as observer:
        finished_run = run.run(project, ref, run_options, observer, options)
    return outcome_answer(project, ref, finished_run, quiet=call.quiet)


command = run
