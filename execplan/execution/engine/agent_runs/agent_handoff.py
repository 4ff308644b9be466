"""The handoff of a plan to an agent that runs it: reasons, steps, order, status, and how to report."""

from __future__ import annotations

from typing import Any, NamedTuple

from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.errors import ExecplanError
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.outline import PURPOSE
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.hint_reader import fit_command
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.invisible_characters import escape_unprintable
from execplan.core.text.text_lines import digest
from execplan.execution import states
from execplan.execution.approval_document import Approval
from execplan.execution.approvals.approved_plan import ApprovedPlan, find_candidate
from execplan.execution.approvals.effective_policy import effective_policy
from execplan.execution.engine.agent_runs import agent_run_lookup, agent_start, open_tasks
from execplan.execution.engine.agent_runs.agent_run_lookup import AgentRun
from execplan.execution.engine.agent_runs.agent_transitions import next_steps
from execplan.execution.engine.agent_runs.open_tasks import ProsePlan
from execplan.execution.engine.agent_runs.recorded_reports import build_schedule, open_question, recovery_advice
from execplan.execution.engine.commands.command_environment import make_redaction
from execplan.execution.engine.journal.journal_entries import APPROVE, COVERED
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_records.run_statuses import EDITED, REMOVED, read_run_status
from execplan.execution.engine.run_state import Question, RunState
from execplan.execution.engine.step_permission import step_question
from execplan.execution.execution_plan import ExecutionPlan, Step
from execplan.execution.permission import find_approver
from execplan.execution.policy import Policy
from execplan.execution.risk.step_risk import effective_risk


class Handoff(NamedTuple):
    """The information that an agent gets to run a plan."""

    payload: dict[str, Any]
    """Data that `--json` prints, without secrets."""
    document: ExecutionPlan | None
    """Execution plan of the steps; None if the plan has no steps."""
    redacted: frozenset[str]
    """IDs of the steps with redacted secrets."""


class _ApprovalCheck(NamedTuple):
    """Whether an agent may run the steps now, and if not, why."""

    approved_plan: ApprovedPlan | None
    """The plan, if its steps may run now."""
    reasons: tuple[str, ...]
    """Reasons that no approval applies."""
    is_done: bool = False
    """Whether the last run has used the approval, and completed its steps."""

    @property
    def approval(self) -> Approval | None:
        """Return the newest approval under which the steps may run now."""
        return self.approved_plan.approval if self.approved_plan is not None else None


def handoff(project: Project, ref: PlanRef) -> Handoff:
    """Return what an agent needs to run a plan: its steps, or its open tasks if it has no annotated steps.

    Writes nothing. Raises ExecplanError.
    """
    ensure_not_archived(project, ref)
    prose_plan = open_tasks.find_prose_plan(project, ref)
    return _task_handoff(project, ref, prose_plan) if prose_plan is not None else _step_handoff(project, ref)


def _task_handoff(project: Project, ref: PlanRef, prose_plan: ProsePlan) -> Handoff:
    """Build the handoff of open tasks for a plan that is not compiled and has no annotated steps."""
    data = plan_store.read_bytes(project, ref.path)
    plan, document, redactor = plan_store.parse(project, data), prose_plan.document, make_redaction()
    steps = document.steps if document is not None else ()
    tasks = open_tasks.list_tasks(project, ref, plan, ())
    policy = effective_policy(project)
    run_state = RunState(document) if document is not None else None
    payload: dict[str, Any] = {
        "plan": _plan_json(project, ref, plan, data),
        "mode": "tasks",
        "revision": None,
        "approved": False,
        "approval": _approval_json(_ApprovalCheck(None, ())),
        "run": None,
        "reasoning": _reasoning_json(document, plan),
        "constraints": None,
        "tasks": tasks,
        "sections": open_tasks.list_sections(plan),
        "steps": [
            _step_json(project, ref, None, run_state, step, policy, _ApprovalCheck(None, ()))
            for step in steps
            if run_state is not None
        ],
        "next_steps": [],
        "report": _fit_to_reader(open_tasks.recording_commands(ref)),
    }
    return Handoff(make_visible(redactor.redact_value(payload)), document, frozenset())


def _plan_json(project: Project, ref: PlanRef, plan: ParsedPlan, data: bytes) -> dict[str, Any]:
    return {"id": ref.id, "path": project.display_path(ref.path), "title": plan.title, "digest": digest(data)}


def _step_handoff(project: Project, ref: PlanRef) -> Handoff:
    """Build the handoff of a plan's steps, with the agent's run."""
    policy, last_run = effective_policy(project), agent_run_lookup.find_last(project, ref, by_agent=False)
    agent_run = last_run if last_run is not None and last_run.run_state.is_agent_run else None
    approval_check = _check_approval(project, ref, agent_run, last_run)
    is_rolled_back = agent_run is not None and agent_run.run_state.status == states.ROLLED_BACK
    if agent_run is not None and not agent_run.is_active and (is_rolled_back or approval_check.approval is not None):
        agent_run = None  # the next call begins another run
    is_elsewhere = agent_run is None and last_run is not None and last_run.is_active
    if approval_check.is_done or is_elsewhere:
        agent_run = last_run  # nothing is left of the steps, or somebody else performs them
    if agent_run is not None:
        run_state = agent_run.run_state
    else:
        run_state = RunState(find_candidate(project, ref, with_programs=False).document)
    if approval_check.approval is not None and run_state.question is not None and run_state.question.why == APPROVE:
        run_state.question = None  # a person has answered it by the approval
    data = plan_store.read_bytes(project, ref.path)
    plan = plan_store.parse(project, data)
    document, schedule = run_state.document, build_schedule(project, run_state)
    question = open_question(project, run_state)
    is_edited = agent_run is not None and read_run_status(agent_run.run_paths).why in (EDITED, REMOVED)
    steps = [_step_json(project, ref, agent_run, run_state, step, policy, approval_check) for step in document.steps]
    redactor = make_redaction()
    clean_steps: Any = redactor.redact_value(steps)
    has_ended = run_state.status in states.ENDED_RUN_STATES
    is_waiting = question is not None and question.why != COVERED
    payload = {
        "plan": {**_plan_json(project, ref, plan, data), "title": make_visible(redactor.redact_value(plan.title))},
        "mode": "steps",
        "revision": document.revision,
        "approved": approval_check.approval is not None,
        "approval": redactor.redact_value(_approval_json(approval_check)),
        "run": redactor.redact_value(_run_json(agent_run, question, is_edited=is_edited)),
        "reasoning": make_visible(redactor.redact_value(_reasoning_json(document, plan))),
        "constraints": redactor.redact_value(document.constraints.model_dump()),
        "tasks": make_visible(redactor.redact_value(open_tasks.list_tasks(project, ref, plan, document.steps))),
        "sections": [],
        "steps": clean_steps,
        "next_steps": []
        if has_ended or is_waiting or is_edited or is_elsewhere or approval_check.is_done
        else [step.id for step in next_steps(run_state, schedule)],
        "report": _fit_to_reader(_report_commands(ref)),
    }
    redacted = frozenset(
        [step["id"] for step, clean_step in zip(steps, clean_steps, strict=True) if step != clean_step]
    )
    return Handoff(payload, document, redacted)


def make_visible(value: Any) -> Any:
    """Return plain data with all invisible characters in its texts escaped."""
    if isinstance(value, dict):
        return {name: make_visible(child) for name, child in value.items()}
    if isinstance(value, list):
        return [make_visible(child) for child in value]
    return "\n".join([escape_unprintable(line) for line in value.split("\n")]) if isinstance(value, str) else value


def _check_approval(
    project: Project, ref: PlanRef, agent_run: AgentRun | None, last_run: AgentRun | None
) -> _ApprovalCheck:
    """Return whether the steps of a plan may run now, and if not, why."""
    if last_run is not None and agent_run is None and last_run.is_active:
        return _ApprovalCheck(None, (f"run {last_run.run_paths.id} is in progress, but it is not an agent's run",))
    try:
        if agent_run is None or not agent_run.is_active:
            return _ApprovalCheck(agent_start.require_agent_plan(project, ref, "", ""), ())
        run, paths_at_work = agent_run.run_paths.id, agent_run.run_state.states_before_work()
        return _ApprovalCheck(agent_start.require_agent_plan(project, ref, run, "", paths_at_work), ())
    except ExecplanError as error:
        has_completed = last_run is not None and last_run.run_state.status == states.COMPLETED
        is_done = error.code == "approval-used" and has_completed
        return _ApprovalCheck(None, (error.message, *error.candidates), is_done)


def _approval_json(approval_check: _ApprovalCheck) -> dict[str, Any]:
    approval = approval_check.approval
    fields = {
        name: getattr(approval, name) if approval is not None else None for name in ("digest", "approver", "session")
    }
    method = approval.effective_how if approval is not None else None
    return {
        **fields,
        "how": method,
        "expires": approval.expires_at if approval is not None else None,
        "why": list(approval_check.reasons),
    }


def _run_json(agent_run: AgentRun | None, question: Question | None, *, is_edited: bool) -> dict[str, Any] | None:
    if agent_run is None:
        return None
    run_state = agent_run.run_state
    return {
        "id": agent_run.run_paths.id,
        "status": run_state.status,
        "session": run_state.begin_fields["session"],
        "agent": run_state.is_agent_run,
        "question": question._asdict() if question is not None else None,
        "edited": is_edited,
    }


def _reasoning_json(document: ExecutionPlan | None, plan: ParsedPlan) -> dict[str, Any]:
    """Return the reasons for the work: the plan's purpose, the document's intent, and the decisions still in effect."""
    lines: list[str] = []
    for section in plan.sections:
        if section.name == PURPOSE:
            lines = [
                plan.text.lines[at]
                for at in range(section.body_start, section.content_end)
                if at not in plan.placeholder_lines
            ]
    superseded = {decision.supersedes for decision in plan.decisions if decision.supersedes}
    decisions = [decision for decision in plan.decisions if decision.text not in superseded]
    fields = ("text", "rationale", "date", "author")
    return {
        "purpose": "\n".join(lines).strip() or None,
        "description": document.description if document is not None else plan.title,
        "intent": document.intent.model_dump() if document is not None else None,
        "decisions": [{name: getattr(decision, name) for name in fields} for decision in decisions],
    }


def _step_json(
    project: Project,
    ref: PlanRef,
    agent_run: AgentRun | None,
    run_state: RunState,
    step: Step,
    policy: Policy,
    approval_check: _ApprovalCheck,
) -> dict[str, Any]:
    """Return everything known about a step: the fields of its JSON, then its status."""
    risk, status = effective_risk(step, policy), run_state.status_of[step.id]
    approved_by = ""
    if approval_check.approved_plan is not None:
        approved_by = find_approver(approval_check.approved_plan.terms, step.id, risk.level, inferred=step.inferred)
    question = step_question(step, run_state, policy.checkpoint_interval) if step.confirm else None
    return {
        **step.model_dump(),
        "risk": {"level": risk.level, "reasons": list(risk.reasons)},
        "status": status,
        "why": (run_state.reasons.get(step.id) or None) if status in states.STATES_WITH_REASON else None,
        "attempts": len(run_state.attempts.get(step.id, ())),
        "approved_by": approved_by or None,
        "question": question.words if question is not None else None,
        "recovery": _recovery_json(agent_run.run_paths, run_state, step) if agent_run is not None else None,
    }


def _recovery_json(run_paths: RunPaths, run_state: RunState, step: Step) -> dict[str, Any] | None:
    """Return the recovery advice for a failed step; None for any other step."""
    performed = run_state.last_result(step.id)
    if run_state.status_of[step.id] != states.FAILED or performed is None:
        return None
    advice = recovery_advice(run_paths, run_state, step, performed)
    return {**advice._asdict(), "step": advice.step or None, "commands": list(advice.commands)}


def _report_commands(ref: PlanRef) -> dict[str, str]:
    """Return the commands with which an agent reports its work."""
    report_command = f"execplan report STEP -p {ref.shell_name} --status"
    return {
        "completed": f"{report_command} completed --result 'What it did.'",
        "failed": f"{report_command} failed --result 'What went wrong.'",
        "replan": f"execplan replan -p {ref.shell_name} --reason 'What was wrong'",
        "handoff": f"execplan handoff {ref.shell_name}",
    }


def _fit_to_reader(commands: dict[str, str]) -> dict[str, str]:
    """Return commands that a named agent runs under its name."""
    return {name: fit_command(command) for name, command in commands.items()}
