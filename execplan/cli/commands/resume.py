"""The `execplan resume` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, jsonl_option, new_options
from execplan.cli.error_handler import printable_line
from execplan.cli.plan_arguments import plan_option
from execplan.cli.run_options import executor_option, jobs_option
from execplan.cli.run_output.run_text import format_run_command
from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.author import explicit_actor
from execplan.core.plan_store.hint_reader import is_for_person, require_person
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.core.text.message_parts import format_count
from execplan.execution.engine.journal.journal_entries import ANSWERS
from execplan.execution.engine.run_questions import ALLOWED_ANSWERS, answer_arguments
from execplan.execution.engine.run_records.run_statuses import is_agent_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.engine.resume_preview import ResumePreview


def resume_preview_answer(preview: ResumePreview, name: str, arguments: Sequence[str] = ()) -> Answer:
    """Return the answer of a dry run; `name` is the quoted plan name, `arguments` are those of the suggested command."""
    question = preview.question
    data = {
        "run": preview.run,
        "question": {"why": question.why, "step": question.step or None, "words": question.words} if question else None,
        "answer": preview.answer,
        "cut_short": list(preview.interrupted_steps),
        "steps": [
            {"number": step.number, "id": step.id, "description": step.description, "argv": list(step.argv or ())}
            for step in preview.steps
        ],
        "changed": False,
    }
    lines = [f"would continue run {preview.run}: {format_count(len(preview.steps), 'step')} to do"]
    if question is not None:
        needed = answer_arguments(question.why) if not preview.answer else ()
        if needed:
            action = f"needs an answer ({', '.join(ALLOWED_ANSWERS[question.why])})"
            arguments = (*arguments, *needed)
        else:
            action = f"would answer {preview.answer}" if preview.answer else "would ask"
        lines.append(f"  {action}: {question.words}")
    if preview.interrupted_steps:
        lines.append(f"  interrupted, inspected first: {', '.join(preview.interrupted_steps)}")
    lines += [f"  {step.number} {step.id}: {step.description}" for step in preview.steps]
    next_command = format_run_command("resume", preview.run, name, *arguments)
    return Answer(data, "\n".join([printable_line(line) for line in lines]), next_commands=(next_command,))


@define_command(
    reads="the journal of the run, and what `run` reads.",
    writes="what `run` writes; a completed step is not run again.",
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
    help="Answer the question of the run: continue, run the step again, continue without the step, or stop the run.",
)
@jobs_option("Run up to N steps in parallel. Default: as before, or what the workers of --executor take.")
@executor_option
@jsonl_option
@new_options
def resume(
    call: Call,
    run: str | None,
    *,
    plan: str | None,
    answer: str | None,
    jobs: int | None,
    executor: str,
    jsonl: bool,
    options: WriteOptions,
) -> Answer:
    """Continue a paused, interrupted or failed run.

    Default: the plan's last run. If the run waits for an answer, the command asks on a terminal, and elsewhere needs
    --answer; after a checkpoint it just continues. The results of completed steps must be unchanged; otherwise the command exits 4 and
    lists the changes. If a step that may run only once was interrupted, its result is unknown: check it, then use
    --answer. Only a person resumes a run: an agent with a name, from --as or $EXECPLAN_AGENT, exits 3.
    """
    from execplan.cli.run_output.observer_selection import observe_run
    from execplan.cli.run_output.run_lookup import find_run
    from execplan.cli.run_output.run_outcome import outcome_answer
    from execplan.execution.engine import resume
    from execplan.execution.engine.plan_choice import choose_plan_with_run
    from execplan.execution.engine.resume_preview import preview_resume

    project, ref = choose_plan_with_run(os.getcwd(), plan)
    run_paths = find_run(project, ref, run)
    if options.dry_run:
        return resume_preview_answer(
            preview_resume(run_paths, answer),
            quote_plan_name(ref.id, project.display_path(ref.path)),
            [
                *(["--answer", answer] if answer else []),
                *(["--jobs", str(jobs)] if jobs is not None else []),
                *(["--executor", executor] if executor else []),
            ],
        )
    command = format_run_command("resume", str(run_paths.number), ref.shell_name)
    if explicit_actor() is not None and is_agent_run(run_paths):
        _ensure_person_is_needed(project, ref)
    require_person(command, lambda: preview_resume(run_paths, None))  # a person decides on the answer, too
    with observe_run(call, "resume", stream=jsonl) as observer:
        finished_run = resume.resume(run_paths, answer, observer, options, jobs=jobs, executor_text=executor)
    return outcome_answer(project, ref, finished_run, quiet=call.quiet)


def _ensure_person_is_needed(project: Project, ref: PlanRef) -> None:
    """Raise ExecplanError for an agent that can continue its own run."""
    commands = features.load(features.PLAN_ADVICE)(plan_store.load(project, ref)).commands
    if commands and not is_for_person(commands[0]):
        message = f"an agent performs the steps of {ref.id}, so it needs nobody to resume its run"
        raise ExecplanError("run-under-way", message, hint=f"continue it: {commands[0]}")
