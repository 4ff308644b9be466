"""The `execplan run` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, jsonl_option, new_options
from execplan.cli.error_handler import printable_line
from execplan.cli.option_rules import exclusive, option_rules
from execplan.cli.plan_arguments import plan_argument
from execplan.cli.run_options import executor_option, jobs_option
from execplan.core.plan_store import plan_selection
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.core.text.message_parts import format_count
from execplan.execution.evaluation.evaluation_text import describe_commands, step_json

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.execution.engine.run import PredictedStep, RunPreview
    from execplan.execution.engine.run_observer import RunOptions


def dry_run_answer(preview: RunPreview, run_options: RunOptions, path: str, name: str) -> Answer:
    """Return the answer of a dry run; `path` is the plan's path, `name` its quoted name."""
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
                "runs_here_because": _reason_to_stay(planned_step, preview) if run_options.executor else None,
            }
            for planned_step in preview.steps
        ],
        "changed": False,
    }
    sandbox_text = f"in {preview.sandbox}" if preview.sandbox else f"without a sandbox ({preview.sandbox_reason})"
    approver = "the policy" if approval.how == "policy" else approval.approver
    lines = [
        f"would run {len(running_steps)} of {format_count(len(preview.steps), 'step')}, approved by {approver}, {sandbox_text}"
    ]
    lines += [line for planned_step in preview.steps for line in _step_lines(planned_step, preview, run_options)]
    lines.append(f"changes, risk and findings of each step: execplan evaluate {name}")
    text = "\n".join([printable_line(line) for line in lines])
    return Answer(data, text, warnings=preview.warnings, next_commands=(_run_command(run_options, name),))


def _reason_to_stay(planned_step: PredictedStep, preview: RunPreview) -> str | None:
    """Return why a step runs here although an executor is given, or None."""
    from execplan.execution.engine.executors.ticket_creation import reason_to_stay

    return reason_to_stay(planned_step.evaluated_step.step, preview.document) or None


def _step_lines(planned_step: PredictedStep, preview: RunPreview, run_options: RunOptions) -> list[str]:
    """Describe a step in the order of the run: its action and commands, or why it is skipped."""
    step = planned_step.evaluated_step.step
    if not planned_step.will_run:
        return [f"{step.number} {step.id}: skipped: {planned_step.reason}"]
    lines = [f"{step.number} {step.id}: {step.description}"]
    if run_options.executor:
        reason = _reason_to_stay(planned_step, preview)
        lines.append(f"  here: {reason}" if reason else f"  on a worker of {run_options.executor}")
    for label, command_text in describe_commands(step):
        count = command_text.strip("\n").count("\n") + 1
        lines.append(f"  {label}: {command_text}" if count == 1 else f"  {label}: {format_count(count, 'line')}")
    return lines


def _run_command(run_options: RunOptions, name: str) -> str:
    """Return the command that performs the run."""
    flags = [f"--step {step_id}" for step_id in run_options.steps] + (
        [f"--from {run_options.begin}"] if run_options.begin else []
    )
    flags += [f"--jobs {run_options.jobs}"] if run_options.jobs is not None else []
    flags += [f"--executor {run_options.executor}"] if run_options.executor else []
    flags += [f"--timeout {run_options.seconds}"] if run_options.seconds else []
    flags += [f"--replay {run_options.replays}"] if run_options.replays else []
    return " ".join(["execplan run", name, *flags])


@define_command(
    reads=(
        "the execution plan and its approval; the files that its steps name; the policy; the approval registry; what its "
        "commands read."
    ),
    writes=(
        "only what was approved: the changes of its steps; the checkboxes of their tasks; the run and the audit log in the "
        "plan's artifacts; backups in the state directory; the approval registry. --dry-run: nothing."
    ),
    examples=(
        "execplan run",
        "execplan run parser --dry-run",
        "execplan run parser --step api",
        "execplan run parser --from api --jobs 4 --timeout 600",
        "execplan run parser --jsonl",
    ),
)
@plan_argument()
@click.option("--step", "steps", metavar="ID", multiple=True, help="Run only this step; can be repeated.")
@click.option("--from", "begin", metavar="ID", default="", help="Start with this step; skip the steps before it.")
@jobs_option(
    "Run up to N steps at the same time if they are parallel. Default: 1, or what the workers of --executor take."
)
@executor_option
@click.option(
    "--timeout",
    "seconds",
    type=click.IntRange(min=1),
    metavar="SECONDS",
    help="Time limit of the whole run; the policy's limit applies if it is lower.",
)
@click.option(
    "--replay",
    "replays",
    metavar="RUN",
    default="",
    help="Repeat that run on the same inputs; show the differences.",
)
@jsonl_option
@new_options
@option_rules(exclusive("--step", "--from"))
def run(
    call: Call,
    plan: str | None,
    *,
    steps: tuple[str, ...],
    begin: str,
    jobs: int | None,
    executor: str,
    seconds: int | None,
    replays: str,
    jsonl: bool,
    options: WriteOptions,
) -> Answer:
    """Run the approved steps of a plan and check each result.

    Steps run in order. Each step is verified, its task is checked off, and its transcript is kept. Everything a step
    changes is backed up first, so that `rollback` can restore it. A failed run keeps
    the work of its completed steps, for `replan`; it is rolled back automatically only if the policy says so. Use `resume` to continue a run that was paused or interrupted. If OTEL_EXPORTER_OTLP_ENDPOINT is set,
    the run's trace is sent there.

    Exits 1 if the run failed, 4 if something has changed since the approval, 7 if its steps are not approved, 8 if the
    run is paused for an answer.
    """
    from execplan.cli.run_output.observer_selection import observe_run
    from execplan.cli.run_output.run_outcome import outcome_answer
    from execplan.execution.engine import run
    from execplan.execution.engine.run_observer import RunOptions

    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    run_options = RunOptions(steps, begin, jobs, seconds, replays, executor)
    if options.dry_run:
        path = project.display_path(ref.path)
        return dry_run_answer(
            run.preview_run(project, ref, run_options), run_options, path, quote_plan_name(ref.id, path)
        )
    with observe_run(call, "run", stream=jsonl) as observer:
        finished_run = run.run(project, ref, run_options, observer, options)
    return outcome_answer(project, ref, finished_run, quiet=call.quiet)
