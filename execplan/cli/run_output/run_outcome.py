"""Results of runs: an answer if the run completed or failed, an error if it is paused or was stopped."""

from __future__ import annotations

from typing import Any

from execplan.cli.answer import Answer, json_fields
from execplan.cli.error_handler import printable_line
from execplan.cli.run_output.loaded_run import LoadedRun, advise_after_run, load_run, run_json
from execplan.cli.run_output.run_text import format_irreversible, format_run_command, truncate_lines
from execplan.core.errors import CHECK_FAILED, OK, ExecplanError, interrupted_error
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_count, format_duration
from execplan.execution import states
from execplan.execution.approvals.effective_policy import effective_policy
from execplan.execution.engine import error_hints
from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.run_observer import FinishedRun, RollbackResult
from execplan.execution.engine.run_questions import ALLOWED_ANSWERS, answer_arguments, explain_answers
from execplan.execution.engine.run_records import run_directories
from execplan.execution.engine.run_state import Question
from execplan.execution.engine.stop_reasons import CANCELLATION, is_rolled_back_after


def rollback_answer(rolled_back: RollbackResult, name: str, *, dry_run: bool) -> Answer:
    """Build the answer of `rollback`; `name` is the plan, already quoted for a shell."""
    if dry_run:
        next_commands: tuple[str, ...] = (format_run_command("rollback", rolled_back.run, name),)
        text = "\n".join(rollback_preview_lines(rolled_back))
    else:
        next_commands = (
            f"execplan show {name} --run {rolled_back.run}",
            f"execplan evaluate {name}",
        )
        text = "\n".join(
            rollback_lines(rolled_back) + ([f"committed {rolled_back.commit[:12]}"] if rolled_back.commit else [])
        )
    return Answer(
        {**rollback_json(rolled_back), "changed": not dry_run},
        text,
        warnings=rolled_back.warnings,
        next_commands=next_commands,
    )


def rollback_json(rolled_back: RollbackResult) -> dict[str, Any]:
    """Return the JSON form of a rollback: reverted changes, backups, and changes that could not be reverted."""
    return {
        **json_fields(rolled_back, "run steps restored removed reopened"),
        "kept": list(rolled_back.backups),
        "left": list(rolled_back.irreversible),
        "whole": rolled_back.is_whole_run,
        "commit": rolled_back.commit,
    }


def rollback_preview_lines(rolled_back: RollbackResult) -> list[str]:
    """Return the lines about a planned rollback."""
    lines = [f"would roll back {_steps_text(rolled_back)} of run {rolled_back.run}"]
    lines += [f"  restore {path}" for path in rolled_back.restored]
    lines += [f"  remove {path}" for path in rolled_back.removed]
    lines += [f"  reopen: {task}" for task in rolled_back.reopened]
    lines += [f"  back up: {path}" for path in rolled_back.backups]
    lines += format_irreversible("can't be reverted", rolled_back.irreversible)
    return [printable_line(line) for line in lines]


def rollback_lines(rolled_back: RollbackResult) -> list[str]:
    """Return the lines about a finished rollback."""
    counts = [
        f"restored {format_count(len(rolled_back.restored), 'path')}" if rolled_back.restored else "",
        f"removed {format_count(len(rolled_back.removed), 'path')}" if rolled_back.removed else "",
        f"reopened {format_count(len(rolled_back.reopened), 'task')}" if rolled_back.reopened else "",
    ]
    summary = ", ".join([count_text for count_text in counts if count_text]) or "nothing to restore"
    lines = [f"rolled back {_steps_text(rolled_back)} of run {rolled_back.run}: {summary}"]
    lines += truncate_lines([f"  backed up: {path}" for path in rolled_back.backups])
    lines += format_irreversible("couldn't be reverted", rolled_back.irreversible)
    return [printable_line(line) for line in lines]


def _steps_text(rolled_back: RollbackResult) -> str:
    if rolled_back.steps:
        return f"{format_count(len(rolled_back.steps), 'step')} ({', '.join(rolled_back.steps)})"
    return "no steps"


_DRIFT = "drift"


def outcome_answer(project: Project, ref: PlanRef, finished_run: FinishedRun, *, quiet: bool) -> Answer:
    """Build the answer of a run or a part of it; raises ExecplanError if the run has not ended.

    With `quiet`, nothing was shown before, so the answer names the transcripts.
    """
    try:
        return _build_answer(project, ref, finished_run, quiet=quiet)
    except ExecplanError as error:
        error.warnings = finished_run.warnings
        raise


def _build_answer(project: Project, ref: PlanRef, finished_run: FinishedRun, *, quiet: bool) -> Answer:
    """Build the answer of a run or a part of it. Raises ExecplanError, without warnings, if the run has not ended."""
    run = load_run(run_directories.find_run(project, ref, finished_run.run))
    if finished_run.signal:
        raise _interrupted_error(run, finished_run)
    question = finished_run.question or run.run_state.question
    if run.run_state.is_agent_run and finished_run.status == states.IN_PROGRESS and question is None:
        text = printable_line(f"the agent continues run {run.run_paths.id}, {_progress_text(run)}")
        commands = advise_after_run(run).commands
        return Answer(outcome_json(run, finished_run), text, OK, finished_run.warnings, commands)
    if finished_run.status not in states.ENDED_RUN_STATES or finished_run.question is not None:
        raise _paused_error(run, question)
    if finished_run.cause == _DRIFT:
        message = f"run {run.run_paths.id} of {run.document.plan_id} ended: {finished_run.reason}"
        rollback, resume = [
            format_run_command(name, run.run_paths.id, run.plan_name) for name in ("rollback", "resume")
        ]
        hint = f"see what changed: git status; then resume the run: {resume}; or roll it back: {rollback}"
        raise ExecplanError("drifted", message, hint=hint)
    completed = finished_run.status == states.COMPLETED
    lines = _completed_lines(run) if completed else _failed_lines(run, finished_run, quiet=quiet)
    lines += _replay_lines(run, finished_run)
    lines += rollback_lines(finished_run.rolled_back) if finished_run.rolled_back is not None else []
    lines += [f"committed {finished_run.commit[:12]}"] if finished_run.commit else []
    advice = advise_after_run(run)
    return Answer(
        outcome_json(run, finished_run),
        "\n".join(lines),
        OK if completed else CHECK_FAILED,
        finished_run.warnings,
        advice.commands,
        work=advice.work,
    )


def outcome_json(run: LoadedRun, finished_run: FinishedRun) -> dict[str, Any]:
    """Return the JSON form of a run with the results of its last part."""
    rolled_back = finished_run.rolled_back
    return {
        **run_json(run),
        **json_fields(finished_run, "cause? reason?"),
        "rolled_back": rollback_json(rolled_back) if rolled_back is not None else None,
        **json_fields(finished_run, "differences commit"),
    }


def _completed_lines(run: LoadedRun) -> list[str]:
    other_counts = [
        f"{format_count(count, 'step')} {status}"
        for status in (states.SKIPPED, states.RECOVERED)
        if (count := len(run.run_state.step_numbers(status)))
    ]
    done_text = (
        f"{len(run.run_state.step_numbers(states.COMPLETED))} of {format_count(len(run.document.steps), 'step')}"
    )
    return [
        f"completed {', '.join([done_text, *other_counts])} in {format_duration(run.run_state.seconds or 0)}: run {run.run_paths.id}"
    ]


def _failed_lines(run: LoadedRun, finished_run: FinishedRun, *, quiet: bool) -> list[str]:
    """Return the lines about a failed run: the reason and its remaining changes."""
    lines = [printable_line(f"run {run.run_paths.id} failed: {finished_run.reason}")]
    paths = [run.transcript(step.id) for step in run.failed_steps] if quiet else []
    lines += [f"transcript: {printable_line(path)}" for path in paths if path]
    if finished_run.rolled_back is None and run.run_state.changes():
        rollback_command = format_run_command("rollback", run.run_paths.id, run.plan_name)
        lines.append(f"its changes are still in place; to revert them: {rollback_command}")
    return lines


def _replay_lines(run: LoadedRun, finished_run: FinishedRun) -> list[str]:
    """Return the differences from the replayed run."""
    if not (replayed_run := run.run_state.begin_fields["replays"]):
        return []
    if not finished_run.differences:
        return [f"same as {replayed_run}: no step differs"]
    return [
        f"different from {replayed_run}:",
        *[f"  {printable_line(difference)}" for difference in finished_run.differences],
    ]


def _interrupted_error(run: LoadedRun, finished_run: FinishedRun) -> ExecplanError:
    message = f"run {run.run_paths.id} of {run.document.plan_id} was interrupted by {finished_run.signal}, {_progress_text(run)}"
    return _with_resume_hint(interrupted_error(finished_run.signal, message, run.resume_command()))


def _paused_error(run: LoadedRun, question: Question | None) -> ExecplanError:
    """Build the error of a paused run, with its question and how to answer it."""
    plan_name = run.plan_name
    resume = run.resume_command()
    subject = f"run {run.run_paths.id} of {run.document.plan_id}"
    if question is None or question.why == journal_entries.APPROVE:
        message = f"{subject} has a new revision that needs approval"
        hint = (
            f"review and approve it, then resume: execplan evaluate {plan_name}; execplan approve {plan_name}; {resume}"
        )
        return ExecplanError("paused", message, hint=hint)
    message = f"{subject} is paused, {_progress_text(run)}: {question.words}"
    answers = ALLOWED_ANSWERS[question.why]
    names = run.run_paths.id, plan_name, run.run_state.executor
    hint = error_hints.format_resume_command(*names, answer_arguments(question.why))
    if work := error_hints.WORK_BEFORE_ANSWER.get(question.why):
        hint = "; ".join(filter(None, (f"{work}, then: {hint}", error_hints.answer_otherwise(question.why, *names))))
    error = ExecplanError("paused", message, hint=hint, candidates=answers)
    if question.why != journal_entries.UNKNOWN:
        error = _with_resume_hint(error)
    policy = effective_policy(run.run_paths.project)
    rolls_back = is_rolled_back_after(CANCELLATION, policy, run.run_state)
    error.explanations = explain_answers(question, stop_rolls_back=rolls_back)
    return error


def _progress_text(run: LoadedRun) -> str:
    return f"{run.summary.done} of {format_count(run.summary.total, 'step')} done"


def _with_resume_hint(error: ExecplanError) -> ExecplanError:
    """Label the hint of an error as the next command, which resumes the run."""
    error.hint_label = "next"
    return error
