"""Decisions on calls without a grant in force: calls that need no plan are checked first, because the rest is slow."""

from __future__ import annotations

import os

from execplan.agents.guard import self_protection, stored_denial
from execplan.agents.guard.guard_context import PlanlessContext, PlannedStep
from execplan.agents.guard.guard_decision import GuardDecision, decide
from execplan.agents.guard.step_matching import match_call
from execplan.agents.guard.tool_call import COMMAND, EDIT, WRITE
from execplan.core import clock
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.plan_store import plan_store
from execplan.core.project import project_discovery
from execplan.core.text import fast_json
from execplan.execution.approvals.effective_policy import effective_policy
from execplan.execution.permission import DENY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.agents.guard.tool_call import ToolCall
    from execplan.core.project.project import Project

_MAX_DOCUMENT_BYTES: Final = 8 << 20
"""Maximum size, in bytes, of a document that is checked here."""


def decide_without_grant(call: ToolCall, plan_name: str | None, *, asks: bool) -> tuple[GuardDecision, tuple[str, ...]]:
    """Decide on a call; the second value lists secrets that no reason may contain. Raises ExecplanError."""
    project = project_discovery.find(os.getcwd())
    if not project.exists:  # nested projects are not searched, which may exceed the time limit
        message = f"no ExecPlan project found in {project.base} or its parents"
        raise ExecplanError("no-home", message, hint="start the agent in an ExecPlan project")
    policy = effective_policy(project)
    context = PlanlessContext(project, policy.reads, policy.tools, policy.commits)
    if reason := self_protection.escape_reason(call, context.scope, project):  # reported with or without a plan
        return GuardDecision(DENY, reason), ()
    planless_decision = decide(call, context, clock.epoch_seconds())
    if planless_decision.kind == DENY:  # no plan allows it
        return planless_decision, ()
    if planless_decision.kind and (call.kind not in (COMMAND, EDIT, WRITE) or _matches_no_plan(project, call, context)):
        return planless_decision, ()
    if not planless_decision.kind and (stored_error := stored_denial.find(project, plan_name)) is not None:
        _add_reason(stored_error, planless_decision.reason)
        raise stored_error
    from execplan.agents.guard.call_queue import decide_in_turn

    try:
        return decide_in_turn(project, call, plan_name, asks=asks)
    except ExecplanError as error:
        if not planless_decision.kind:
            _add_reason(error, planless_decision.reason)
            raise
        return planless_decision, ()  # a call that needs no plan may be a step of one


def _add_reason(error: ExecplanError, reason: str) -> None:
    """Put the reason why a call needs a plan before the message of an error."""
    error.message = f"{reason}; {error.message}" if reason else error.message


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
