"""A call for which no warrant is in force: what passes without a plan is found out first, for all else is slow."""

from __future__ import annotations

import os

from execplan import clock
from execplan.agents.guard import keep, own
from execplan.agents.guard.basis import GuardContext, PlannedStep, context_from_grant
from execplan.agents.guard.call import COMMAND
from execplan.agents.guard.decide import Decision, decide
from execplan.agents.guard.match import match_call
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.execution.permission import DENY
from execplan.repo import homes, shelf
from execplan.repo.execution.terms import effective_policy
from execplan.text import disk, plain_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.agents.guard.call import ToolCall
    from execplan.repo.home import Project

_MAX_DOCUMENT_BYTES: Final = 8 << 20
"""Bytes of the longest document that is looked at here."""
_RUN_STARTED_CODES: Final = frozenset(("approval-used", "journal-altered"))
"""What is found where another call is about to begin the run."""


def decide_without_grant(call: ToolCall, plan_name: str | None, *, asks: bool) -> tuple[Decision, tuple[str, ...]]:
    """What becomes of a call, and what no reason tells; raises ExecplanError."""
    project = homes.find(os.getcwd())
    if not project.exists:  # nobody looks for homes below: that may take longer than there is
        message = f"no plans folder in {project.base} or above"
        raise ExecplanError("no-home", message, exit=ENVIRONMENT, hint="the agent works where there is no plan")
    policy = effective_policy(project)
    context = GuardContext(project, policy.reads, policy.tools)
    if reason := own.escape_reason(call, context.scope, project):  # said whether or not there is a plan to judge by
        return Decision(DENY, reason), ()
    planless_decision = decide(call, context, clock.epoch_seconds())
    if planless_decision.kind != DENY and (call.kind != COMMAND or _matches_no_plan(project, call, context)):
        return planless_decision, ()
    try:
        with keep.lock_slot(project):
            return _decide_in_turn(project, call, plan_name, asks=asks)
    except ExecplanError:
        if planless_decision.kind == DENY:
            raise
        return planless_decision, ()  # a command that only reads needs no plan, but may be a step of one


def _decide_in_turn(
    project: Project, call: ToolCall, plan_name: str | None, *, asks: bool
) -> tuple[Decision, tuple[str, ...]]:
    """What becomes of a call whose turn has come: by then, or meanwhile, another may have begun the run. Raises ExecplanError."""
    if (outcome := _decide_by_current_grant(call, plan_name, asks=asks)) is not None:
        return outcome
    from execplan.agents.guard.afresh import decide_by_plan

    try:
        return decide_by_plan(project, call, plan_name, asks=asks)
    except ExecplanError as error:
        if error.code not in _RUN_STARTED_CODES:
            raise
        with keep.lock_runs(project, call):
            pass  # who has just begun the run finishes that first
        if (outcome := _decide_by_current_grant(call, plan_name, asks=asks)) is not None:
            return outcome
        raise


def _decide_by_current_grant(
    call: ToolCall, plan_name: str | None, *, asks: bool
) -> tuple[Decision, tuple[str, ...]] | None:
    """What becomes of a call by the warrant in force; None where there is none. Raises ExecplanError."""
    grant = keep.find_grant(plan_name)
    if grant is None:
        return None
    entries = keep.read_entries(grant)
    context = context_from_grant(grant, entries)
    return (
        None
        if keep.is_run_over(context)
        else (keep.decide_by_grant(call, grant, entries, context, asks=asks), grant.hidden)
    )


def _matches_no_plan(project: Project, call: ToolCall, context: GuardContext) -> bool:
    """Whether no plan that somebody approved plans or denies a command that only reads, as far as their documents are at hand.

    It is enough for a command that passes too where the plan can't be read at all.
    """
    for ref in shelf.all_refs(project):
        folder = project.plan_artifacts_dir(ref.path, archived=ref.archived)
        if ref.archived or not shelf.list_entries(os.path.join(folder, "approvals")):
            continue
        try:
            plan_json = plain_json.read(
                disk.read(os.path.join(folder, "execution-plan.json"), _MAX_DOCUMENT_BYTES)[0].decode()
            )
            planned_steps = tuple([PlannedStep(step, "") for step in plan_json["steps"]])
            scope = context.scope._replace(constraints=plan_json.get("constraints") or {})
            match_result = match_call(call, planned_steps, scope, context.read_policy)
        except (ExecplanError, AttributeError, KeyError, TypeError, ValueError):
            return False
        if match_result.matches or match_result.denial_reason:
            return False
    return True
