"""The `execplan report` command."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call, json_fields
from execplan.cli.command_definition import define_command, new_options
from execplan.cli.error_handler import printable_line
from execplan.cli.plan_arguments import plan_option
from execplan.cli.run_output.run_text import format_changes
from execplan.cli.text_input import read_source, read_text
from execplan.core.errors import CHECK_FAILED, OK, ExecplanError
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.execution import states
from execplan.execution.engine.journal.journal_entries import change_kind
from execplan.team.advice.advice import Advice, Work
from execplan.team.advice.plan_advice import advise_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.engine.agent_runs.recorded_reports import ReportOutcome
    from execplan.execution.execution_plan import Step


def read_evidence(project: Project, source: str | None) -> bytes | None:
    """Return the bytes of a file in the repository or the temporary directory, or of standard input for `-`.

    The content is copied into the evidence of the run, so other files are not allowed. Raises ExecplanError.
    """
    if source is None or source == "-":
        return read_source(source) if source is not None else None
    from execplan.execution.approvals import user_directories
    from execplan.execution.approvals.reserved_paths import protection_reason

    real, root = os.path.realpath(source), os.path.realpath(project.root)
    is_protected = _is_within(real, root) and bool(protection_reason(project, os.path.relpath(real, root)))
    own_directories = [user_directories.config_directory(project), user_directories.state_directory(project)]
    is_protected |= any([_is_within(real, os.path.realpath(directory)) for directory in own_directories])
    if is_protected or not (_is_within(real, root) or _is_within(real, os.path.realpath(tempfile.gettempdir()))):
        message = f"{source} is neither an unprotected file of the repository nor a temporary file"
        hint = "name such a file, or use standard input: --evidence -"
        raise ExecplanError("evidence-outside", message, hint=hint)
    return read_source(real)


def _path_in_repository(project: Project, source: str | None) -> str:
    """Return the path of a file with evidence from the root; empty if it is no file of the repository."""
    real, root = os.path.realpath(source or "-"), os.path.realpath(project.root)
    return os.path.relpath(real, root) if source not in (None, "-") and _is_within(real, root) else ""


def _is_within(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")


def report_answer(project: Project, ref: PlanRef, reported: ReportOutcome, status: str, *, dry_run: bool) -> Answer:
    """Return the answer, with the next step; its exit status is 1 if the step is reported as completed, but has failed."""
    from execplan.cli.output.handoff_step import next_step_text
    from execplan.execution.engine.agent_runs.agent_handoff import handoff

    name = quote_plan_name(ref.id, project.display_path(ref.path))
    agent_handoff = handoff(project, ref) if reported.next_steps and not dry_run else None
    run_json = agent_handoff.payload["run"] if agent_handoff is not None else None
    question = run_json["question"] if run_json is not None else None
    reported = reported._replace(next_steps=()) if question is not None else reported
    is_preview = dry_run and not reported.already_recorded
    lines = list(_dry_run_lines(reported) if is_preview else _report_lines(reported))
    if reported.next_steps:
        lines.append(f"ready: {', '.join([_format_step(step) for step in reported.next_steps])}")
    lines += [f"waiting for an answer: {question['words']}"] if question is not None else []
    text = "\n".join([printable_line(line) for line in lines])
    has_completed = reported.status == states.COMPLETED and reported.recovery is None
    is_advised = has_completed or question is not None
    advice = advise_plan(plan_store.load(project, ref)) if is_advised else _advise_run(reported, name)
    instructions = next_step_text(agent_handoff) if agent_handoff is not None else ""
    return Answer(
        {**_report_json(reported), "instructions": instructions or None},
        f"{text}\n\n{instructions}\n" if instructions else text,
        OK if reported.ok or status == states.FAILED else CHECK_FAILED,
        (*reported.warnings, *_unseen_warnings(project, reported)),
        (*advice.commands, f"execplan audit {name}") if has_completed else advice.commands,
        work=advice.work,
    )


def _unseen_warnings(project: Project, reported: ReportOutcome) -> list[str]:
    """Return a warning if the guard is installed, but has seen no call of a completed step."""
    from execplan.agents.integrations import installed_guard

    if reported.has_calls or not reported.ok or not installed_guard.find_programs(project):
        return []
    return [f"the guard saw no call of {reported.step.id}; {installed_guard.UNSEEN_CAUSE}"]


def _report_lines(reported: ReportOutcome) -> Iterator[str]:
    name = _format_step(reported.step)
    if reported.already_recorded:
        yield f"already recorded: {name} {'completed' if reported.ok else 'failed'}"
        return
    changes_text = format_changes(reported.changes)
    if reported.ok:
        yield f"completed {name}" + (f": {changes_text}" if changes_text else "")
    else:
        yield f"failed {name}: {reported.reason}"
    if reported.task_text:
        yield f"checked off: {reported.task_text}"
    if reported.recovery is not None:
        yield reported.recovery.words
        commands = reported.recovery.commands
        yield from [f"  {recovery_command}" for recovery_command in commands if len(commands) > 1]  # `next:` shows one
    if reported.status == states.COMPLETED:
        yield f"completed run {reported.run}"
    if reported.finished is not None and reported.finished.commit:
        yield f"committed {reported.finished.commit[:12]}"


def _dry_run_lines(reported: ReportOutcome) -> Iterator[str]:
    name = _format_step(reported.step)
    changes_text = format_changes(reported.changes)
    yield f"would record {name} as completed" if reported.ok else f"would record {name} as failed: {reported.reason}"
    if changes_text:
        yield f"changes: {changes_text}"
    if reported.untested:
        yield "its test is not run in a dry run; it could still fail"


def _advise_run(reported: ReportOutcome, name: str) -> Advice:
    """Return the advice while the run goes on, or after it has failed."""
    recovery_commands = reported.recovery.commands if reported.recovery is not None else ()
    if reported.next_steps:
        step, command = reported.next_steps[0], _report_command(reported.next_steps[0], name)
        return Advice((command, *recovery_commands), Work(f"do {_format_step(step)}", command))
    if recovery_commands:
        return Advice(recovery_commands)
    if reported.status in states.ENDED_RUN_STATES:
        return Advice((f"execplan audit {name}", f"execplan show {name} --run"))
    return Advice((f"execplan handoff {name}",))


def _report_command(step: Step, name: str) -> str:
    """Return the command that reports a completed step."""
    evidence = " --evidence FILE" if step.expect is not None else ""
    return f"execplan report {step.id} -p {name} --status completed --result 'What it did.'{evidence}"


def _format_step(step: Step) -> str:
    return f"step {step.number} ({step.id})"


def _report_json(reported: ReportOutcome) -> dict[str, Any]:
    recovery, performed, step = reported.recovery, reported.performed, reported.step
    return {
        **json_fields(reported, "run? status"),
        "step": {**json_fields(step, "number id"), "status": "completed" if reported.ok else "failed"},
        "recorded": performed is not None,
        "already": reported.already_recorded,
        "reason": reported.reason or None,
        "cause": performed.cause or None if performed is not None else None,
        "checks": performed.checks._asdict() if performed is not None else None,
        "tested": not reported.untested,
        "changes": [{"path": change.path, "kind": change_kind(change)} for change in reported.changes],
        "transcript": performed.transcript or None if performed is not None else None,
        "task": reported.task_text or None,
        "recovery": {**recovery._asdict(), "step": recovery.step or None} if recovery is not None else None,
        "next_steps": [step.id for step in reported.next_steps],
        "commit": reported.finished.commit if reported.finished is not None else None,
    }


@define_command(
    reads="the execution plan and its approval; the journal of the agent's run; the files that the step declares to write; the evidence.",
    writes=(
        "the run's journal, transcripts and record, the audit log, the task's checkbox; if it is the first event of a run, also everything "
        "that starts a run. --dry-run: nothing."
    ),
    examples=(
        "execplan report build -p parser --status completed --result 'It builds.'",
        "execplan report 2 --status completed --result 'All pass.' --evidence out.txt",
        "execplan report build --status completed --result 'It builds.' --dry-run",
    ),
)
@click.argument("step", metavar="STEP")
@plan_option
@click.option("--status", type=click.Choice(("completed", "failed")), required=True, help="The result of the step.")
@click.option("--result", metavar="TEXT", required=True, help="What happened: text, @FILE, or - for standard input.")
@click.option(
    "--evidence", metavar="FILE", help="The command's output: a file of the repository, or -. It can't be added later."
)
@new_options
def report(
    call: Call, step: str, *, plan: str | None, status: str, result: str, evidence: str | None, options: WriteOptions
) -> Answer:
    """Record the result of a step that an agent ran.

    The command verifies the result, checks off the task, and prints the next steps. STEP is the step's ID or number.
    The step's files must be written as planned, the evidence must match what was expected, and its test must pass. If a
    check fails, the step fails, whatever was reported.

    Exits 1 if a step that was reported as completed has failed, 3 if it is not next, 4 if something changed in the meantime, 7 if it is not approved, 8
    if a person must answer first.
    """
    from execplan.core.plan_store import author
    from execplan.execution.engine.agent_runs import agent_report
    from execplan.execution.engine.plan_choice import choose_plan_with_run

    project, ref = choose_plan_with_run(os.getcwd(), plan, or_approved=True)
    step_report = agent_report.StepReport(
        status,
        read_text(result, "the result"),
        read_evidence(project, evidence),
        author.session_id() or "",
        _path_in_repository(project, evidence),
    )
    reported = agent_report.report(project, ref, step, step_report, options)
    return report_answer(project, ref, reported, status, dry_run=options.dry_run)
