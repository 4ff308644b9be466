"""Decisions on calls without a grant in force: all checks of `run` are made, then the run starts or resumes."""

from __future__ import annotations

from execplan.agents.guard import call_recording, stored_denial
from execplan.agents.guard.guard_context import GuardContext, PlannedStep, context_from_grant
from execplan.agents.guard.guard_decision import GuardDecision, decide
from execplan.agents.guard.tool_call import ToolCall
from execplan.core import clock
from execplan.core.errors import ExecplanError
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.execution.approvals.approved_plan import ApprovedPlan, find_candidate, require_approval
from execplan.execution.engine.agent_runs import agent_run_lookup, agent_start, guard_grant
from execplan.execution.engine.agent_runs.agent_run_lookup import AgentRun
from execplan.execution.engine.ordering_fields import parse_ordering_fields
from execplan.execution.engine.run_preconditions import ensure_same_document
from execplan.execution.engine.run_state import RunState
from execplan.execution.permission import DENY
from execplan.execution.risk.step_risk import effective_risk
from execplan.execution.states import FAILED


def decide_by_plan(
    project: Project, call: ToolCall, plan_name: str | None, *, asks: bool
) -> tuple[GuardDecision, tuple[str, ...]]:
    """Decide on a call by its plan, whose run starts with the first step. Raises ExecplanError."""
    project, ref = stored_denial.find_named(plan_name) or _find_only_plan(project)
    issued_grant = guard_grant.load(project, ref.id)
    if issued_grant is not None:  # the plan was not named by its ID
        entries = call_recording.read_entries(issued_grant)
        context = context_from_grant(issued_grant, entries)
        if not call_recording.is_run_over(context):
            return call_recording.decide_by_grant(call, issued_grant, entries, context, asks=asks), issued_grant.hidden
    approved_plan, run = _load_approved_plan(project, ref)
    context = _build_context(project, ref, approved_plan, run)
    decision = decide(call, context, clock.epoch_seconds())
    if not decision.is_permitted_step:
        return decision, context.hidden
    with call_recording.lock_runs(project, call):
        issued_grant = guard_grant.load(project, ref.id)
        if issued_grant is None or call_recording.is_run_over(
            context_from_grant(issued_grant, call_recording.read_entries(issued_grant, locked=True))
        ):
            agent_start.start_or_resume(project, ref, session=call.session)
            issued_grant = guard_grant.load(project, ref.id)
        if issued_grant is None:
            return GuardDecision(
                DENY, "the run's grant was changed while it was being written", decision.step
            ), context.hidden
        entries = call_recording.read_entries(issued_grant, locked=True)
        context = context_from_grant(issued_grant, entries)
        decision = decide(call, context, call_recording.current_time(entries))
        return call_recording.record_decision(call, issued_grant, entries, context, decision, asks=asks), context.hidden


def _find_only_plan(project: Project) -> tuple[Project, PlanRef]:
    """Find the only plan that allows anything. Raises ExecplanError."""
    approved_refs = stored_denial.find_approved(project)
    runnable_refs = [ref for ref in approved_refs if len(approved_refs) == 1 or _can_run(project, ref)] or approved_refs
    if len(runnable_refs) == 1:
        return project, runnable_refs[0]
    raise stored_denial.choice_error(runnable_refs)


def _can_run(project: Project, ref: PlanRef) -> bool:
    try:
        _load_approved_plan(project, ref)
    except ExecplanError:
        return False
    return True


def _load_approved_plan(project: Project, ref: PlanRef) -> tuple[ApprovedPlan, AgentRun | None]:
    """Load an approved plan and its active run; otherwise store why it allows nothing. Raises ExecplanError."""
    start, candidate = stored_denial.start_check(), None
    last_run = agent_run_lookup.find_last(project, ref)
    run = last_run if last_run is not None and last_run.is_active else None
    try:
        if run is not None:
            agent_run_lookup.ensure_not_waiting(ref, run)
        candidate = find_candidate(project, ref, with_programs=False)
        if run is None:
            return require_approval(project, ref, candidate, ""), None
        ensure_same_document(run.run_paths, run.entries)
        paths_at_work = run.run_state.states_before_work()
        return require_approval(project, ref, candidate, run.run_paths.id, paths_at_work), run
    except ExecplanError as error:
        denial = _used_approval_error(ref, last_run, error)
        stored_denial.store(project, ref, denial, candidate, start)
        raise denial from error


def _used_approval_error(ref: PlanRef, last_run: AgentRun | None, error: ExecplanError) -> ExecplanError:
    """Return the error for an approval that a run used, with the status of that run if it is the agent's and has ended."""
    if error.code != "approval-used" or (last_run is not None and last_run.is_active):
        return error
    message, reasons = error.message, error.candidates
    hint = f"see what is next: execplan next {ref.shell_name}; a person must approve another run"
    if last_run is not None:
        from execplan.core.plan_store.hint_reader import ASK  # most calls meet no ended run
        from execplan.execution.engine.error_hints import continue_ended_run, describe_end

        reasons = ()
        run_state, number = last_run.run_state, last_run.run_paths.number
        message = f"run {last_run.run_paths.id} of {ref.id} {describe_end(run_state.status)}"
        message += "; the approval allows nothing more" if run_state.status != FAILED else ""
        hint = continue_ended_run(run_state.status, number, ref.shell_name, run_state.executor, ASK)
    return ExecplanError("approval-used", message, hint=hint, candidates=reasons)


def _build_context(project: Project, ref: PlanRef, approved_plan: ApprovedPlan, run: AgentRun | None) -> GuardContext:
    """Build the context of a call before its run starts or resumes."""
    document, policy = approved_plan.document, approved_plan.policy
    plan_json = {**document.model_dump(), "steps": [step.model_dump() for step in document.steps]}
    plain_plan = parse_ordering_fields(plan_json)
    run_state = RunState(document, run.entries if run is not None else ())
    run_state.expected_states = {**approved_plan.binding.states, **run_state.expected_states}
    levels = {step.id: effective_risk(step, policy).level for step in document.steps}
    return GuardContext(
        project=project,
        read_policy=policy.reads,
        tools=policy.tools,
        commits=policy.commits,
        hidden=guard_grant.find_secrets(document),
        plan=ref.id,
        constraints=plan_json["constraints"],
        planned_steps=tuple([PlannedStep(step, levels[step["id"]]) for step in plan_json["steps"]]),
        plain_steps={step.id: step for step in plain_plan.steps},
        run_state=run_state,
        terms=approved_plan.terms,
        interval=policy.checkpoint_interval,
    )
