"""The `execplan replan` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call, json_fields, written_answer
from execplan.cli.command_definition import define_command, new_options
from execplan.cli.plan_arguments import plan_option
from execplan.cli.text_input import read_lines, read_text
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.core.text.message_parts import format_excess

if TYPE_CHECKING:
    from execplan.execution.engine.replanning.run_replan import ReplanResult


@define_command(
    reads="the journal and the execution plan of the run; with @FILE or -, the new information.",
    writes="the next revision in the plan's artifacts and in the run directory, the run's journal and record, the audit log.",
    examples=(
        "execplan replan --reason 'The compiler is too old.'",
        "execplan replan 1 --reason 'No server.' --new-information @steps.json",
        "execplan replan --reason 'It never ends.' --failed api --dry-run",
    ),
)
@click.argument("run", required=False, metavar="[PLAN] [RUN]")
@click.option("--reason", metavar="TEXT", required=True, help="The reason: text, @FILE, or - for standard input.")
@click.option(
    "--failed", metavar="ID", multiple=True, help="Also treat this step as failed: ID or number; can be repeated."
)
@click.option(
    "--new-information",
    "information",
    metavar="TEXT",
    help="New information: text, or a JSON object as below; can be @FILE or -.",
)
@plan_option
@new_options
def replan(
    call: Call,
    run: str | None,
    *,
    reason: str,
    failed: tuple[str, ...],
    information: str | None,
    plan: str | None,
    options: WriteOptions,
) -> Answer:
    """Revise the remaining steps of a run.

    Use it if a run fails, or if new information makes the remaining steps wrong: edit the steps in the plan first. The
    edited steps replace all steps that are not done. If none was edited, a failed step that names an alternative is
    replaced by it, and other failed steps are retried. Completed steps are not run again. Default: the plan's last run.
    New and changed steps need an approval before `resume`; approved steps that are retried, left out or replaced by
    their alternative don't, if nothing else has changed.

    \b
    New steps can also come as JSON, with --new-information:
      {"note": "Why", "steps": [
        {"id": "check", "type": "execute_command", "command": "make check",
         "depends_on": ["build"], "description": "Check it"}]}
    A step needs an id and a type, and what the type needs: command, or target
    and content. All fields of a step: execplan schema execution-plan
    """
    from execplan.cli.run_output.run_lookup import find_run
    from execplan.execution.engine.plan_choice import choose_plan_with_run
    from execplan.execution.engine.replanning.run_replan import replan_run
    from execplan.execution.engine.run_observer import RunObserver
    from execplan.execution.engine.run_records.run_statuses import is_agent_run

    project, ref = choose_plan_with_run(os.getcwd(), plan)
    run_paths = find_run(project, ref, run)
    result = replan_run(
        run_paths,
        reason=read_text(reason, "the reason"),
        failed=failed,
        information="\n".join(read_lines(information, "the new information")) if information is not None else None,
        observer=RunObserver(),
        options=options,
    )
    name = quote_plan_name(ref.id, project.display_path(ref.path))
    by_agent = is_agent_run(run_paths) or result.document.mode == "agent"
    return _replan_answer(result, name, by_agent=by_agent, dry_run=options.dry_run)


def _replan_answer(result: ReplanResult, name: str, *, by_agent: bool, dry_run: bool) -> Answer:
    """Show the differences, the completed steps, and how to continue; `by_agent` means that an agent performs the run."""
    from execplan.cli.output.steps_output import steps_json
    from execplan.execution.engine.run_records.finishing_commands import select_commands
    from execplan.execution.engine.run_records.run_statuses import WAITING, RunStatus

    data: dict[str, Any] = {
        "id": result.document.plan_id,
        **json_fields(result, "run revision path digest"),
        "changed": not dry_run,
        "commit": result.commit,
        "done": list(result.completed_steps),
        "covered_by": result.coverage.approval.digest if result.coverage.approval is not None else None,
        "needs_approval": list(result.coverage.reasons),
        "differences": list(result.differences),
        "steps": steps_json(result.document),
    }
    unchanged = "no other step has changed" if result.warnings else "the plan's steps are unchanged"
    differences = result.differences or (f"{unchanged}; failed steps are retried",)
    lines = [f"revision {result.revision} of run {result.run}:", *[f"  {difference}" for difference in differences]]
    if result.completed_steps:
        lines.append(f"done, not run again: {', '.join(result.completed_steps)}")
    lines += _approval_lines(result)
    lines.append(f"would write {result.path}" if dry_run else f"wrote {result.path}")
    is_approved = result.coverage.derived_approval is not None
    run_status = RunStatus(result.run, WAITING, executor=result.executor)
    commands = select_commands(run_status, name, is_approved=is_approved, by_agent=by_agent)
    return written_answer(result, data, lines, commands[:1], dry_run=dry_run)


def _approval_lines(result: ReplanResult) -> list[str]:
    """Return whether the revision needs approval, and why."""
    from execplan.execution.engine.run_questions import coverage_reason

    if result.coverage.approval is not None:
        return [f"needs no new approval: {coverage_reason(result.coverage.approval)}"]
    reasons = result.coverage.reasons
    return [f"needs a new approval: {reasons[0]}{format_excess(len(reasons), 1)}"]
