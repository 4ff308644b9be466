"""The `execplan evaluate` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.option_rules import exclusive, option_rules
from execplan.cli.plan_arguments import plan_argument
from execplan.core import features
from execplan.core.errors import CHECK_FAILED, OK, POLICY, ExecplanError
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.plan_store.hint_reader import ask_person
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.execution import rare_features

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.approvals.plan_evaluation import EvaluatedPlan
    from execplan.team.advice.advice import Advice

TEXT = "text"
MARKDOWN = "markdown"


@define_command(
    reads=(
        "the plan, its execution plan and approvals, the files that its steps name, your own settings and the repository's; "
        "PATH, for programs. Shells and node parse the steps' scripts without running them."
    ),
    writes="nothing, not even a lock.",
    examples=(
        "execplan evaluate",
        "execplan evaluate parser",
        "execplan evaluate parser --json",
        "execplan evaluate parser --format markdown",
    ),
    finishes_moves=False,  # a command that writes finishes an interrupted move
    may_page=True,
)
@plan_argument()
@click.option(
    "--format",
    "form",
    type=click.Choice([TEXT, MARKDOWN]),
    default=TEXT,
    help="Output format; markdown prints a page for a reviewer.",
)
@option_rules(exclusive("--json", "--format"))
def evaluate(call: Call, plan: str | None, *, form: str) -> Answer:
    """Evaluate what a plan would do and whether it may run.

    Use it before you approve a plan. Shows each step's risk, a dry run, and every check; after a change also how the
    steps and files differ from what was approved last. Exits 1 if the plan is blocked.
    """
    try:
        return _evaluation_answer(call, plan, form)
    except ExecplanError as error:
        if error.exit != POLICY:
            raise
        return _policy_answer(error)


def _evaluation_answer(call: Call, plan: str | None, form: str) -> Answer:
    from execplan.cli.output import approval_output
    from execplan.cli.output.evaluation_output import evaluation_json, evaluation_text
    from execplan.execution.approvals.plan_evaluation import evaluate_plan
    from execplan.execution.engine.run_records.run_summary import find_active_run
    from execplan.team.advice.advice import Work

    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    evaluated_plan = evaluate_plan(project, ref, find_active_run(project, ref))
    name = quote_plan_name(ref.id, project.display_path(ref.path))
    if form == MARKDOWN:
        from execplan.execution.evaluation.evaluation_page import render_page

        text = render_page(
            evaluated_plan.current_plan.document,
            evaluated_plan.evaluation,
            evaluated_plan.path,
            evaluated_plan.binding.digest,
            f"execplan approve {name}",
            is_in_text=evaluated_plan.is_in_text,
        )
    else:
        text = evaluation_text(evaluated_plan)
    changes_text, changes_json = features.load(features.APPROVAL_CHANGES)(project, ref, evaluated_plan)
    current, ok = evaluated_plan.current_plan, evaluated_plan.evaluation.ok
    warnings = (f"{current.path} is not used: {current.stale_reason}",) if current.stale_reason else ()
    data = {**evaluation_json(evaluated_plan), "changes": changes_json}
    if form == MARKDOWN:
        return Answer(data, text, OK if ok else CHECK_FAILED, warnings)
    text = f"{changes_text}\n\n{text}" if changes_text else text
    advice, is_approval_next = _advise_run(project, ref, name, ok=ok), False
    next_commands, work = advice.commands, advice.work
    left_change = features.load(rare_features.TRIED_CHANGE_LEFT)(project, ref, current.document) if not ok else ""
    if left_change and not next_commands:
        advice = advice._replace(why=left_change)
        next_commands = (f"execplan compile {name} --from-diff --restore",)
    elif not next_commands and (not ok or _has_old_steps(evaluated_plan)):
        next_commands = (_command_after_edit(evaluated_plan, name),)
        work = Work("fix the errors above", next_commands[0]) if not ok else None
    elif not next_commands:
        is_approval_next = True
        if advice.why and _has_signed(project, ref, evaluated_plan):
            advice = advice._replace(why=f"{advice.why}\n{approval_output.OTHERS_APPROVE}")
            next_commands = (ask_person(f"execplan approve {name}"),)
        else:
            next_commands = (approval_output.approve_command(evaluated_plan, name, as_json=call.as_json),)
    text = f"{text}\n{advice.why}" if advice.why else text
    return Answer(
        data, text, OK if ok else CHECK_FAILED, warnings, next_commands, work=work, is_fitted=is_approval_next
    )


def _has_signed(project: Project, ref: PlanRef, evaluated_plan: EvaluatedPlan) -> bool:
    """Return whether whoever reads the evaluation has approved the plan, so that only others still can."""
    from execplan.execution.approvals.approval_status import has_signed

    return has_signed(project, ref, evaluated_plan.policy, evaluated_plan.binding.digest)


def _advise_run(project: Project, ref: PlanRef, name: str, *, ok: bool) -> Advice:
    """Return the advice for an approval or a run; no commands if edits or an approval are next."""
    from execplan.execution.engine.replanning.removed_steps import has_no_steps
    from execplan.team.advice import execution_status
    from execplan.team.advice.advice import Advice
    from execplan.team.advice.plan_advice import advise_after_failure, advise_plan

    status = execution_status.execution_status_json(project, ref, use_cache=False)
    stored_plan = plan_store.load(project, ref)
    run = status["run"]
    if run is not None and execution_status.is_rolled_back(run) and has_no_steps(project, ref):
        return advise_plan(stored_plan)._replace(why="these steps are not in the plan any more")
    failed_run, open_run = (
        execution_status.find_failed_run(status, stored_plan),
        execution_status.unfinished_run(status),
    )
    if failed_run is not None and not execution_status.is_rolled_back(failed_run):
        advice = advise_after_failure(project, ref, failed_run, name)
        is_this = advice.commands[:1] == (f"execplan evaluate {name}",)
        return Advice(why=advice.why) if is_this and ok else advice
    if open_run is not None and execution_status.is_edited(open_run):
        why = execution_status.open_run_text(open_run, "")
        return Advice(execution_status.open_run_commands(status, name), why=why)
    if not ok and (text := execution_status.repeated_run_text(status, stored_plan)):
        return advise_plan(stored_plan)._replace(why=text)
    if ok and status["state"] == execution_status.INCOMPLETE:
        return Advice(why=f"not enough approvers: {'; '.join(status['drift'])}")
    if ok and open_run is not None and status["state"] == execution_status.USED:  # an approval covers its own run
        return Advice(
            execution_status.open_run_commands(status, name), why=execution_status.open_run_text(open_run, "")
        )
    if not ok or status["state"] != execution_status.APPROVED:
        return Advice()
    commands = execution_status.open_run_commands(status, name) or execution_status.start_commands(status, name)
    return Advice(commands, why=execution_status.status_text(status))


def _has_old_steps(evaluated_plan: EvaluatedPlan) -> bool:
    """Return whether the steps are a revision other than the plan's, for a run that was rolled back or has ended."""
    is_revision = evaluated_plan.current_plan.document.revision > 1
    return is_revision and evaluated_plan.active_run is None and not evaluated_plan.is_in_text


def _command_after_edit(evaluated_plan: EvaluatedPlan, name: str) -> str:
    """Return the command that uses edited steps; while a revision is stored, `evaluate` does not read the plan's."""
    active_run = evaluated_plan.active_run
    if active_run is not None:
        from execplan.execution.engine.error_hints import format_replan_command
        from execplan.execution.engine.run_records.run_statuses import run_number

        return format_replan_command(run_number(active_run.run), name)
    command = "compile" if _has_old_steps(evaluated_plan) else "evaluate"
    return f"execplan {command} {name}"


def _policy_answer(error: ExecplanError) -> Answer:
    """Report an error in the policy as a finding, because nothing is about to run."""
    findings = [
        {
            "check": error.code,
            "level": "error",
            "step": None,
            "path": None,
            "line": None,
            "message": message,
            "mend": error.hint,
        }
        for message in error.candidates or (error.message,)
    ]
    data = {"ok": False, "digest": None, "risk": None, "steps": [], "findings": findings, "changes": None}
    lines = [f"error: {finding['message']} ({error.code})" for finding in findings]
    return Answer(data, "\n".join([*lines, f"  fix: {error.hint}", "Blocked"]), CHECK_FAILED)
