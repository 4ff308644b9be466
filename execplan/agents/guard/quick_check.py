"""Decisions on calls without a grant in force: calls that need no plan are checked first, because the rest is slow."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan import clock
from execplan.agents.guard import call_recording, self_protection
from execplan.agents.guard.guard_context import PlanlessContext, PlannedStep, context_from_grant
from execplan.agents.guard.guard_decision import Decision, decide
from execplan.agents.guard.step_matching import match_call
from execplan.agents.guard.tool_call import COMMAND, EDIT, WRITE
from execplan.approvals.effective_policy import effective_policy
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.execution.permission import DENY
from execplan.files import file_access
from execplan.plan_store import plan_store
from execplan.project import project_discovery
from execplan.text import fast_json

if TYPE_CHECKING:
    from typing import Final

    from execplan.agents.guard.tool_call import ToolCall
    from execplan.project.project import Project

_MAX_DOCUMENT_BYTES: Final = 8 << 20
"""Maximum size, in bytes, of a document that is checked here."""
_RUN_STARTED_CODES: Final = frozenset(("approval-used", "journal-altered"))
"""Error codes that occur while another call starts the run."""


def decide_without_grant(call: ToolCall, plan_name: str | None, *, asks: bool) -> tuple[Decision, tuple[str, ...]]:
    """Decide on a call; the second value lists secrets that no reason may contain. Raises ExecplanError."""
    project = project_discovery.find(os.getcwd())
    if not project.exists:  # nested projects are not searched, which may exceed the time limit
        message = f"no ExecPlan project found in {project.base} or its parents"
        raise ExecplanError("no-home", message, exit=ENVIRONMENT, hint="start the agent in an ExecPlan project")
    policy = effective_policy(project)
    context = PlanlessContext(project, policy.reads, policy.tools, policy.commits)
    if reason := self_protection.escape_reason(call, context.scope, project):  # reported with or without a plan
        return Decision(DENY, reason), ()
    planless_decision = decide(call, context, clock.epoch_seconds())
    if planless_decision.kind != DENY and (
        call.kind not in (COMMAND, EDIT, WRITE) or _matches_no_plan(project, call, context)
    ):
        return planless_decision, ()
    try:
        with call_recording.lock_slot(project):
            return _decide_in_turn(project, call, plan_name, asks=asks)
    except ExecplanError:
        if planless_decision.kind == DENY:
            raise
        return planless_decision, ()  # a call that needs no plan may be a step of one


def _decide_in_turn(
    project: Project, call: ToolCall, plan_name: str | None, *, asks: bool
) -> tuple[Decision, tuple[str, ...]]:
    """Decide on a call that has a slot. Raises ExecplanError.

    Another call may have started the run before or during this.
    """
    if (outcome := _decide_by_current_grant(call, plan_name, asks=asks)) is not None:
        return outcome
    from execplan.agents.guard.full_check import decide_by_plan

    try:
        return decide_by_plan(project, call, plan_name, asks=asks)
    except ExecplanError as error:
        if error.code not in _RUN_STARTED_CODES:
            raise
        with call_recording.lock_runs(project, call):
            pass  # wait until the other call has started the run
        if (outcome := _decide_by_current_grant(call, plan_name, asks=asks)) is not None:
            return outcome
        raise


def _decide_by_current_grant(
    call: ToolCall, plan_name: str | None, *, asks: bool
) -> tuple[Decision, tuple[str, ...]] | None:
    """Decide on a call by the grant in force; return None if there is none. Raises ExecplanError."""
    grant = call_recording.find_grant(plan_name)
    if grant is None:
        return None
    entries = call_recording.read_entries(grant)
    context = context_from_grant(grant, entries)
    return (
        None
        if call_recording.is_run_over(context)
        else (call_recording.decide_by_grant(call, grant, entries, context, asks=asks), grant.hidden)
    )


def _matches_no_plan(project: Project, call: ToolCall, context: PlanlessContext) -> bool:
    """Check whether no approved plan matches or denies a call that needs no plan, by the stored documents.

    Such a call is also allowed if the plan can't be read at all, so this check is sufficient.
    """
    for ref in plan_store.all_refs(project):
        folder = project.plan_artifacts_dir(ref.path, archived=ref.archived)
        if ref.archived or not plan_store.list_entries(os.path.join(folder, "approvals")):
            continue
        try:
            plan_json = fast_json.read(
                file_access.read(os.path.join(folder, "execution-plan.json"), _MAX_DOCUMENT_BYTES)[0].decode()
            )
            planned_steps = tuple([PlannedStep(step, "") for step in plan_json["steps"]])
            scope = context.scope._replace(constraints=plan_json.get("constraints") or {})
            match_result = match_call(call, planned_steps, scope, context.read_policy)
        except (ExecplanError, AttributeError, KeyError, TypeError, ValueError):
            return False
        if match_result.matches or match_result.denial_reason:
            return False
    return True
