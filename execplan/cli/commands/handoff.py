"""The `execplan handoff` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.output import handoff_parts
from execplan.cli.output.handoff_parts import (
    DATA_NOTICE,
    TextPart,
    fit_to_budget,
    handoff_title,
    reasoning_parts,
    task_item,
)
from execplan.cli.plan_arguments import plan_argument
from execplan.context.token_budget import MIN_BUDGET
from execplan.engine.journal.journal_entries import COVERED
from execplan.errors import USAGE, ExecplanError
from execplan.execution.evaluation.evaluation_page import code_block, code_span
from execplan.execution.evaluation.evaluation_text import describe_commands
from execplan.execution.execution_plan import Validation
from execplan.execution.permission import allowed_calls
from execplan.execution.states import FAILED, SUCCESS_STATES
from execplan.plan_store import plan_selection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.engine.agent_runs.agent_handoff import Handoff
    from execplan.execution.execution_plan import Step


BUDGET: Final = 4000
"""Default token budget of the text."""
_DONE_RANK, _LATER_RANK, _READY_RANK = 5, 3, 1
"""Ranks for shortening, with those of handoff_parts.py: completed steps are shortened first, the next steps last."""


def handoff_text(agent_handoff: Handoff, budget: int | None) -> str:
    """Return the text in markdown, within a token budget; raises ExecplanError if a given budget is too small.

    The next step is never shortened.
    """
    from execplan.context.token_counter import estimate_tokens

    parts = (
        handoff_parts.task_handoff_parts(agent_handoff)
        if agent_handoff.payload["mode"] == "tasks"
        else _step_parts(agent_handoff)
    )
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
        f"This text was shortened to fit its budget. Run `{handoff_command}` again after each report: it shows the next step in full. "
        f"To see more now: `{handoff_command} --budget N`."
    )


def _step_parts(agent_handoff: Handoff) -> list[TextPart]:
    """Return the text of a plan with steps."""
    handoff_json = agent_handoff.payload
    assert agent_handoff.document is not None  # it has steps
    steps = {step.id: step for step in agent_handoff.document.steps}
    parts = [
        TextPart(block)
        for block in (
            handoff_title(handoff_json),
            *_status_text(handoff_json),
            "## How to work",
            *_work_instructions(handoff_json),
            "## Background",
        )
    ]
    parts += [*reasoning_parts(handoff_json["reasoning"]), TextPart("## Steps"), TextPart(DATA_NOTICE)]
    ready = handoff_json["next_steps"]
    for step_json in handoff_json["steps"]:
        lines = list(
            _step_blocks(
                step_json,
                steps[step_json["id"]],
                handoff_json["plan"]["path"],
                redacted=step_json["id"] in agent_handoff.redacted,
            )
        )
        if step_json["id"] in ready:
            rank = _READY_RANK if step_json["id"] != ready[0] else 0
        else:
            rank = _DONE_RANK if step_json["status"] in SUCCESS_STATES else _LATER_RANK
        dependency_text = (
            f", after {', '.join([code_span(name) for name in step_json['depends_on']])}"
            if step_json["depends_on"]
            else ""
        )
        short = (
            lines[0]
            if rank == _DONE_RANK
            else f"{lines[0]}\n\n- {code_span(step_json['description'])}{dependency_text}"
        )
        parts.append(TextPart("\n\n".join(lines), rank, short))
    unplanned_tasks = [task for task in handoff_json["tasks"] if task["step"] is None]
    if unplanned_tasks:
        parts += [
            TextPart("## Open tasks without a step"),
            TextPart("A person does these, or plans steps for them."),
        ]
        parts += [TextPart(task_item(task), _LATER_RANK) for task in unplanned_tasks]
    return parts + [TextPart(block) for block in ("## Up next", *_next_steps_text(handoff_json))]


def _status_text(handoff_json: dict[str, Any]) -> Iterator[str]:
    """Yield the status of the run and of the approval."""
    run, approval = handoff_json["run"], handoff_json["approval"]
    if run is not None:
        yield f"Status of run {code_span(run['id'])}: {run['status'].replace('_', ' ')}."
        if run["question"] is not None and run["question"]["why"] == COVERED:
            yield f"The run has a new revision: {code_span(run['question']['words'])}"
        elif run["question"] is not None:
            yield f"The run is paused until a person answers: {code_span(run['question']['words'])} Do nothing until then."
    if handoff_json["approved"]:
        by = "by the policy" if approval["how"] == "policy" else f"by {code_span(approval['approver'])}"
        by += f", in the session {code_span(approval['session'])} of an agent's program," if approval["session"] else ""
        yield f"The plan is approved {by} until {approval['expires']}."
    elif run is None or run["status"] in ("in_progress", "replanning"):
        yield "**The plan is not approved: don't run any of it yet.** A person must review and approve it."
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


def _step_blocks(step_json: dict[str, Any], step: Step, path: str, *, redacted: bool) -> Iterator[str]:
    yield f"### {step_json['number']}. {code_span(step_json['id'])}: {step_json['status'].replace('_', ' ')}"
    yield "\n".join([f"- {line}" for line in _step_facts(step_json)])
    yield from _action_blocks(step_json, step)
    if step_json["expect"] is not None:
        yield "Expected output (`…` is any text):"
        yield code_block(step_json["expect"], "text")
    if redacted:
        source_range = f", lines {step.source.line_start} to {step.source.line_end}" if step.source is not None else ""
        yield f"A secret is redacted here; see {code_span(path)}{source_range}."


def _step_facts(step_json: dict[str, Any]) -> Iterator[str]:
    """Yield the facts about a step, one per line."""
    yield code_span(step_json["description"]) + (", inferred from prose" if step_json["inferred"] else "")
    yield f"tool {code_span(step_json['tool'])}, type {code_span(step_json['type'])}"
    yield f"risk {step_json['risk']['level']}: {', '.join([code_span(reason) for reason in step_json['risk']['reasons']]) or 'no reason given'}"
    yield (
        {"policy": "approved by the policy", None: "not approved: don't run it"}.get(
            step_json["approved_by"], "approved"
        )
    )
    if step_json["why"]:
        yield f"reason: {code_span(step_json['why'])}"
    if step_json["recovery"]:
        yield step_json["recovery"]["words"]
        yield from [code_span(recovery_command) for recovery_command in step_json["recovery"]["commands"]]
    if step_json["depends_on"]:
        yield f"after {', '.join([code_span(step_id) for step_id in step_json['depends_on']])}"
    if step_json["when"]:
        yield f"only if {code_span(step_json['when']['of'])} {step_json['when']['kind']}"
    for name in ("inputs", "outputs", "allow", "deny"):
        if step_json[name]:
            yield f"{name}: {', '.join([code_span(entry) for entry in step_json[name]])}"
    max_calls = allowed_calls(step_json["max_invocations"], step_json["patch"])
    per_place = ", once for each hunk of the diff" if max_calls > step_json["max_invocations"] == 1 else ""
    yield "call it once" if max_calls == 1 else f"call it at most {max_calls} times{per_place}"
    failure = step_json["on_failure"]
    tries = f", {1 + failure['max_retries']} attempts" if failure["max_retries"] else ""
    yield f"if it fails: {code_span(failure['strategy'])}{tries}"
    if step_json["confirm"]:
        yield "a person must confirm it first"
    if step_json["exit"]:
        yield f"expected exit status: {step_json['exit']}"
    if step_json["task"]:
        yield f"task: {code_span(step_json['task'])}"


def _action_blocks(step_json: dict[str, Any], step: Step) -> Iterator[str]:
    """Yield the exact action of a step."""
    target = code_span(step_json["target"]) if step_json["target"] is not None else ""
    content = step_json["content"]
    if step_json["patch"] is not None:
        yield "Change the files exactly as in this diff:"
        yield code_block(step_json["patch"], "diff")
    elif content is not None:
        lines = (
            f"lines {step_json['lines'][0]} to {step_json['lines'][1]} of {target}"
            if step_json["lines"]
            else f"the file {target}"
        )
        end = "" if not content or content.endswith("\n") else ", without a newline at the end"
        yield f"Write {lines} with exactly this content{end}:" if content else f"Write {lines} with no content."
        if content:
            yield code_block(content, "text")
    elif step_json["type"] == "delete_file":
        yield f"Delete the file {target}."
    clean = step.model_copy(
        update={name: step_json[name] for name in ("command", "parameters")}
        | {"argv": tuple(step_json["argv"]) if step_json["argv"] else None, "env": step_json["env"]}
        | {"validation": Validation(**step_json["validation"])}
    )
    for label, command_text in describe_commands(clean, code_span):
        if label == "tests afterwards":
            yield "When you report the step as completed, `report` runs this test:"
        else:
            yield _call_instruction(label, step_json)
        yield code_block(command_text, "sh" if not label.startswith("calls") else "json")


def _call_instruction(label: str, step_json: dict[str, Any]) -> str:
    if label.startswith("calls"):
        return f"Call the tool {code_span(step_json['tool'])} with:"
    location = (
        f" in the directory {code_span(step_json['cwd'])}" if step_json["cwd"] != "." else " in the repository root"
    )
    script = f" as one script for {step_json['shell']}" if step_json["shell"] else ""
    return f"Run this{script}{location}:"


def _next_steps_text(handoff_json: dict[str, Any]) -> Iterator[str]:
    names = ", ".join([code_span(step_id) for step_id in handoff_json["next_steps"]])
    run = handoff_json["run"]
    if not names and run is not None and run["question"] is not None:
        yield "Nothing, until a person answers."
    elif not names and run is not None and run["status"] == FAILED:
        yield "Nothing: the run failed. Edit its steps in the plan, then continue with:"
        yield code_block(handoff_json["report"]["replan"], "sh")
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
def handoff(call: Call, plan: str | None, budget: int | None) -> Answer:
    """Print a plan as instructions for an agent.

    The instructions explain why, list the steps and their status, and say what is next and how to report. If the plan
    has no steps, they list its open tasks instead. Content from the repository is in code blocks, with secrets
    redacted, and marked as data, not instructions. To fit the budget, completed steps, old decisions and later steps
    are shortened; the next step never is.

    The command starts nothing: the run starts with the first call that the guard allows, or with the first report.
    """
    if call.as_json and budget is not None:
        message = "--budget and --json can't be combined: --json prints everything"
        raise ExecplanError("usage", message, exit=USAGE, hint="omit one of them")
    from execplan.engine.agent_runs import agent_handoff

    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    result = agent_handoff.handoff(project, ref)
    text = "" if call.as_json else handoff_text(result, budget)
    return Answer(result.payload, text, next_commands=result.next_commands)


command = handoff
