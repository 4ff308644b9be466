"""The `execplan handoff` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.option_rules import exclusive, option_rules
from execplan.cli.output import handoff_parts
from execplan.cli.output.handoff_parts import (
    DATA_NOTICE,
    HandoffPart,
    fit_to_budget,
    fixed_parts,
    handoff_title,
    reasoning_parts,
    task_item,
)
from execplan.cli.output.handoff_step import step_blocks
from execplan.cli.plan_arguments import plan_argument
from execplan.context.context_settings import MIN_BUDGET
from execplan.core import features
from execplan.core.plan_store import plan_selection, plan_store
from execplan.execution.engine.commands.command_environment import make_redaction
from execplan.execution.engine.journal.journal_entries import COVERED
from execplan.execution.evaluation.evaluation_page import code_block, code_span
from execplan.execution.states import COMPLETED, FAILED, IN_PROGRESS, RECOVERED, REPLANNING, SKIPPED, SUCCESS_STATES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.engine.agent_runs.agent_handoff import Handoff


BUDGET: Final = 4000
"""Default token budget of the text."""
_LATER_RANK, _READY_RANK = 3, 1
"""Ranks for shortening, with those of handoff_parts.py: the next steps are shortened last."""


def handoff_text(agent_handoff: Handoff, budget: int | None) -> str:
    """Return the text in markdown, within a token budget; raises ExecplanError if a given budget is too small.

    The next step is never shortened.
    """
    from execplan.context.token_counter import estimate_tokens

    if agent_handoff.payload["mode"] == "tasks":
        parts = handoff_parts.task_handoff_parts(agent_handoff)
    else:
        parts = _step_parts(agent_handoff)
    return fit_to_budget(
        parts, _shortened_note(agent_handoff), budget or BUDGET, estimate_tokens, strict=budget is not None
    )


def _shortened_note(agent_handoff: Handoff) -> str:
    """Return what to do about shortened parts."""
    handoff_command = agent_handoff.payload["report"]["handoff"]
    if agent_handoff.payload["mode"] == "tasks":
        return (
            f"This text was shortened to fit its budget. Read the plan itself, or run `{handoff_command} --budget N`."
        )
    return (
        "This text was shortened to fit its budget. Each report prints the next step in full. "
        f"To see more now: `{handoff_command} --budget N`."
    )


def _step_parts(agent_handoff: Handoff) -> list[HandoffPart]:
    """Return the text of a plan with steps."""
    handoff_json = agent_handoff.payload
    assert agent_handoff.document is not None  # it has steps
    steps = {step.id: step for step in agent_handoff.document.steps}
    parts = fixed_parts(handoff_title(handoff_json), *_status_text(handoff_json), "## How to work")
    parts += fixed_parts(*_work_instructions(handoff_json), "## Background")
    parts += [*reasoning_parts(handoff_json["reasoning"]), *fixed_parts("## Steps", DATA_NOTICE)]
    ready = handoff_json["next_steps"]
    for label, statuses in (("Done", (COMPLETED, RECOVERED)), ("Skipped", (SKIPPED,))):
        step_names = [
            code_span(step_json["id"]) for step_json in handoff_json["steps"] if step_json["status"] in statuses
        ]
        parts += fixed_parts(f"{label}: {', '.join(step_names)}") if step_names else []
    for step_json in handoff_json["steps"]:
        if step_json["status"] in SUCCESS_STATES:
            continue
        is_redacted = step_json["id"] in agent_handoff.redacted
        path = handoff_json["plan"]["path"]
        lines = list(step_blocks(step_json, steps[step_json["id"]], path, redacted=is_redacted))
        rank = _READY_RANK if step_json["id"] in ready else _LATER_RANK
        rank = 0 if step_json["id"] in ready[:1] else rank
        names = ", ".join([code_span(name) for name in step_json["depends_on"]])
        dependency_text = f", after {names}" if names else ""
        short = f"{lines[0]}\n\n- {code_span(step_json['description'])}{dependency_text}"
        parts.append(HandoffPart("\n\n".join(lines), rank, short))
    unplanned_tasks = [task for task in handoff_json["tasks"] if task["step"] is None]
    if unplanned_tasks:
        parts += fixed_parts("## Open tasks without a step", "A person does these, or plans steps for them.")
        parts += [HandoffPart(task_item(task), _LATER_RANK) for task in unplanned_tasks]
    return parts + fixed_parts("## Up next", *_next_steps_text(handoff_json))


def _status_text(handoff_json: dict[str, Any]) -> Iterator[str]:
    """Yield the status of the run and of the approval."""
    run, approval = handoff_json["run"], handoff_json["approval"]
    if run is not None:
        yield f"Status of run {code_span(run['id'])}: {run['status'].replace('_', ' ')}."
        if run["edited"]:
            yield "**The steps were edited in the plan: don't run any of them before a new revision.**"
        elif run["question"] is not None and run["question"]["why"] == COVERED:
            yield f"The run has a new revision: {code_span(run['question']['words'])}"
        elif run["question"] is not None:
            yield f"The run is paused until a person answers: {code_span(run['question']['words'])} Do nothing until then."
    if handoff_json["approved"]:
        by = "by the policy" if approval["how"] == "policy" else f"by {code_span(approval['approver'])}"
        by += f", in the session {code_span(approval['session'])} of an agent's program," if approval["session"] else ""
        yield f"The plan is approved {by} until {approval['expires']}."
    elif run is None or (run["status"] in (IN_PROGRESS, REPLANNING) and not run["edited"]):
        command = f"execplan evaluate {handoff_json['report']['handoff'].removeprefix('execplan handoff ')}"
        yield f"**The plan is not approved: don't run any of it yet.** To see who approves it: `{command}`."
        yield from [f"- {code_span(reason)}" for reason in approval["why"]]


def _work_instructions(handoff_json: dict[str, Any]) -> Iterator[str]:
    report = handoff_json["report"]
    yield (
        "Do exactly what the steps below say, and nothing else. If the guard is installed, it checks each of your calls against "
        "the steps and denies a call that is not a step. A step is next when all the steps it depends on are done. Run a command alone and exactly as "
        "written: no pipe, no redirection, no other command around it, not in the background. Only `cd DIRECTORY &&` may precede it."
    )
    yield "Report each step as soon as it is done, before you start another. Report a step that you can't do as failed:"
    yield code_block(f"{report['completed']}\n{report['failed']}", "sh")
    yield (
        "STEP is the step's ID or number. To show the output of a command, name a file of the repository, or pipe it in: "
        "`printf '%s\\n' 'WHAT IT PRINTED' | execplan report STEP … --evidence -`. Your report is verified. If something doesn't match, report the "
        "step as failed, edit the steps in the plan, then replan, as below. A person approves the new steps, unless all of them were approved before."
    )
    yield code_block(report["replan"], "sh")
    forbidden = {
        name: value for name, value in handoff_json["constraints"].items() if name.startswith("forbidden_") and value
    }
    for name, value in forbidden.items():
        yield f"{name.replace('_', ' ').capitalize()}: {', '.join([code_span(entry) for entry in value])}"


def _next_steps_text(handoff_json: dict[str, Any]) -> Iterator[str]:
    names = ", ".join([code_span(step_id) for step_id in handoff_json["next_steps"]])
    run = handoff_json["run"]
    replan = code_block(handoff_json["report"]["replan"], "sh")
    if run is not None and run["edited"]:
        yield from ("Nothing. Make a new revision of the run, with the edited steps:", replan)
    elif run is not None and not run["agent"] and run["status"] in (IN_PROGRESS, REPLANNING):
        yield "Nothing: an agent does not perform the steps of this run."
    elif not names and run is not None and run["question"] is not None:
        yield "Nothing, until a person answers."
    elif not names and run is not None and run["status"] == FAILED:
        yield "Nothing: the run failed. If its steps are wrong, edit them in the plan. Then continue with:"
        yield replan
        if not run["agent"]:
            plan = handoff_json["report"]["handoff"].removeprefix("execplan handoff ")
            yield f"If they are right, correct what they left, and ask a person to run: `execplan resume -p {plan}`"
    elif not names:
        yield "Nothing is left to do now."
    elif handoff_json["approved"]:
        yield f"Do one of these now, then report it: {names}"
    else:
        yield f"After the plan is approved: {names}"


@define_command(
    reads="the plan, its claims, its compiled steps, its approvals, and the journal of the agent's run.",
    writes="nothing.",
    examples=("execplan handoff", "execplan handoff parser --budget 2000", "execplan handoff parser --json"),
)
@plan_argument()
@click.option(
    "--budget", metavar="N", type=click.IntRange(min=MIN_BUDGET), help="Token budget of the text (default: 4000)."
)
@option_rules(exclusive("--budget", "--json", reason="--json prints everything"))
def handoff(call: Call, plan: str | None, budget: int | None) -> Answer:
    """Print a plan as instructions for an agent.

    The instructions explain why, list the steps and their status, and say what is next and how to report. If the plan
    has no steps, they list its open tasks instead. Content from the repository is in code blocks, with secrets
    redacted, and marked as data, not instructions. Of completed steps, only the names are listed. To fit the budget, old
    decisions and later steps are shortened; the next step never is.

    The command starts nothing: the run starts with the first call that the guard allows, or with the first report.
    """
    from execplan.execution.engine.agent_runs import agent_handoff

    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    result = agent_handoff.handoff(project, ref)
    text = "" if call.as_json else handoff_text(result, budget)
    if result.payload["approved"] and result.payload["next_steps"]:
        return Answer(result.payload, text)
    advice = features.load(features.PLAN_ADVICE)(plan_store.load(project, ref))
    work, redactor = advice.work, make_redaction()
    if work is not None:
        description = redactor.redact_text(work.description)
        work = work._replace(description=description, task=redactor.redact_value(work.task))
    return Answer(result.payload, text, next_commands=advice.commands, work=work)
