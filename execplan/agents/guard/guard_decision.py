"""Guard decisions on the calls of an agent, also on checks that the user lets agents run at any time.

The checks are, in order: escapes of the guard, denials of the plan, harmless calls, planned steps, and what needs no
step: reading, writing plans, and committing the agent's own work.
"""

from __future__ import annotations

import os

from execplan.agents.guard import read_policy, self_protection
from execplan.agents.guard.command_list import parse_command_list
from execplan.agents.guard.compound_command import extract_core_command
from execplan.agents.guard.guard_context import GuardContext, PlanlessContext
from execplan.agents.guard.step_matching import match_call
from execplan.agents.guard.tool_call import COMMAND, EDIT, HARMLESS, TOOL, WRITE
from execplan.core.named_tuple import NamedTuple
from execplan.core.project import user_settings
from execplan.execution.permission import ALLOW, ASK, DENY, check_permission
from execplan.execution.shell.call_patterns import matches_command
from execplan.execution.states import RUNNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from execplan.agents.guard.guard_context import GuardScope, PlannedStep
    from execplan.agents.guard.step_matching import MatchResult, StepMatch
    from execplan.agents.guard.tool_call import ToolCall
    from execplan.core.project.project import Project
    from execplan.execution.engine.run_state import RunState
    from execplan.execution.engine.step_order import StepOrder
    from execplan.execution.permission import Permission

_COMMIT_COMMANDS = frozenset(("add", "commit", "push", "--continue"))
"""Words of git's commands that stage, commit or push."""


def is_agent_check(call: ToolCall, checks: Sequence[str], scope: GuardScope, read_policy: str) -> bool:
    """Check whether a call is one of these commands at the repository's root, alone or among commands that only read."""
    core = extract_core_command(call, scope, read_policy)
    if core.reason:
        return False
    command_list = parse_command_list(core.command or call.command, call.cwd)
    if command_list is None or len(command_list.commands) != 1:
        return False
    is_at_root = {os.path.realpath(folder) for folder in command_list.folders} == {scope.root}
    return is_at_root and any([matches_command(command_list.commands[0], check) for check in checks])


def find_drift(step: Mapping[str, Any], run_state: RunState, project: Project) -> str:
    """Describe how files differ from their expected state; empty if they do not.

    For a step in progress, only its inputs are compared, because it has started to write. A failed attempt can have been
    reverted. Raises ExecplanError if a disk fails.
    """
    from execplan.execution.documents.written_paths import written_paths

    written_names = written_paths({**step, "outputs": None})
    if not (written_names or step.get("inputs")):
        return ""
    from execplan.execution.approvals.disk_world import DiskWorld
    from execplan.execution.binding import describe_difference, sanitize_state
    from execplan.execution.world import normalize_path

    world = DiskWorld(project)
    expected_states, before_work = run_state.expected_now(world.state), run_state.states_before_work()
    writes = {normalize_path(path) for path in written_names}
    reads = {normalize_path(path) for path in step.get("inputs") or ()}
    is_running = run_state.status_of.get(step["id"]) == RUNNING
    for path in sorted(
        [candidate for candidate in (reads - writes if is_running else reads | writes) if candidate is not None]
    ):
        expected = expected_states.get(path)
        if expected is None or (path not in reads and before_work.get(path) == world.state(path)):
            continue
        if reason := describe_difference(sanitize_state(expected), sanitize_state(world.state(path))):
            return f"{path} {reason}"
    return ""


class GuardDecision(NamedTuple):
    """A decision on a call, with its reason."""

    kind: str
    """ALLOW, ASK or DENY; without a plan, empty for a call that only a step can allow."""
    reason: str
    step: str = ""
    """ID of the step that the call belongs to; for a denial, the nearest step or empty."""
    paths: tuple[str, ...] = ()
    """Paths from the repository root that the call writes."""
    approved_by: str = ""
    """Who approved the step."""
    is_further: bool = False
    """Whether the step's `allow` permits the call in addition to the step's own calls."""

    @property
    def is_permitted_step(self) -> bool:
        """Whether the call performs a step; it is then recorded in the journal before the agent gets the answer."""
        return self.kind != DENY and bool(self.step)


def decide(call: ToolCall, context: GuardContext | PlanlessContext, now: float) -> GuardDecision:
    """Decide on a call at a time in seconds since 1970. Raises ExecplanError."""
    scope = context.scope
    if reason := self_protection.escape_reason(call, scope, context.project):
        return GuardDecision(DENY, reason)
    match_result = match_call(call, context.planned_steps, scope, context.read_policy)
    if match_result.denial_reason:
        return GuardDecision(DENY, match_result.denial_reason, match_result.nearest_step)
    if call.kind == HARMLESS or (call.kind == TOOL and call.tool in context.tools):
        return GuardDecision(ALLOW, f"{call.tool} changes nothing that the guard protects")
    if self_protection.is_execplan_call(call, scope):
        return GuardDecision(ALLOW, f"agents may use this execplan {'tool' if call.kind == TOOL else 'command'}")
    read_decision = read_policy.decide_read(call, scope, context.read_policy)
    if not read_decision.kind and not read_decision.reason and call.kind == COMMAND:
        from execplan.agents.guard.read_script import decide_script

        script_decision = decide_script(call, scope, context.read_policy)
        if script_decision.kind or not match_result.nearest_step:  # the comparison with a step says more
            read_decision = script_decision
    if not read_decision.kind:
        read_decision = _decide_own_work(call, context, read_decision)
    if read_decision.kind == DENY:
        return GuardDecision(DENY, read_decision.reason, match_result.nearest_step)
    read_reason = read_decision.reason or self_protection.reading_reason(call)
    read_result = GuardDecision(read_decision.kind, read_reason) if read_decision.kind else None
    if isinstance(context, PlanlessContext):
        return read_result or GuardDecision("", read_decision.reason)
    step_decisions = [_decide_step(step_match, context, now) for step_match in match_result.matches]
    return _best_decision(step_decisions, read_result) or _decide_unplanned(
        match_result, context, read_decision.reason, now
    )


def _decide_own_work(
    call: ToolCall, context: GuardContext | PlanlessContext, read_decision: read_policy.ReadDecision
) -> read_policy.ReadDecision:
    """Return ALLOW for a call that writes plans, commits the agent's own work or checks it; otherwise why not."""
    if call.kind in (WRITE, EDIT):
        from execplan.agents.guard.plan_denials import edits_only_plans

        if edits_only_plans(call, context.project):
            return read_policy.ReadDecision(ALLOW, "it only writes plans")
    words = call.command.split()
    if call.kind == COMMAND and "git" in words and not _COMMIT_COMMANDS.isdisjoint(words):
        from execplan.agents.guard.own_commits import decide_commit

        commit_decision = decide_commit(call, context.scope, context.project, context.read_policy)
        return commit_decision if commit_decision.kind or commit_decision.reason else read_decision
    if call.kind == COMMAND and (checks := user_settings.agent_checks(context.scope.root)):
        if is_agent_check(call, checks, context.scope, context.read_policy):
            return read_policy.ReadDecision(ALLOW, "the user's settings let agents run this check")
    return read_decision


def _best_decision(
    step_decisions: Sequence[GuardDecision], read_decision: GuardDecision | None
) -> GuardDecision | None:
    """Return the first decision of the best kind: ALLOW, ASK or DENY; step decisions precede the read decision."""
    for kind in (ALLOW, ASK, DENY):
        for decision in step_decisions:
            if decision.kind == kind:
                return decision
        if read_decision is not None and read_decision.kind == kind:
            return read_decision
    return None


def _decide_step(step_match: StepMatch, context: GuardContext, now: float) -> GuardDecision:
    """Decide on a call that belongs to a step."""
    step, planned_step = (
        context.plain_steps[step_match.step],
        next(candidate for candidate in context.planned_steps if candidate.step["id"] == step_match.step),
    )
    permission = _step_permission(planned_step, context, context.make_order(), now, is_further=step_match.is_further)
    if permission.kind == DENY:
        return GuardDecision(DENY, permission.why, step_match.step)
    if reason := find_drift(planned_step.step, context.run_state, context.project):
        return GuardDecision(DENY, f"{step_match.step} can't start: {reason}", step_match.step)
    reason = permission.why or f"step {step.number} of {context.plan}, {step_match.step}"
    return GuardDecision(
        permission.kind, reason, step_match.step, step_match.paths, permission.approved_by, step_match.is_further
    )


def _step_permission(
    planned_step: PlannedStep, context: GuardContext, order: StepOrder, now: float, *, is_further: bool = False
) -> Permission:
    """Check whether a step may be called now; a further call does not count toward the step's calls."""
    from execplan.execution.engine.step_permission import build_permission_request

    step = context.plain_steps[planned_step.step["id"]]

    def exists(path: str) -> bool:
        from execplan.execution.approvals.disk_world import DiskWorld
        from execplan.execution.world import ABSENT, OUTSIDE

        return DiskWorld(context.project).state(path).kind not in (ABSENT, OUTSIDE)

    permission_request = build_permission_request(
        step, planned_step.level, context.run_state, order, interval=context.interval, path_exists=exists
    )
    permission_request = permission_request._replace(calls=0) if is_further else permission_request
    return check_permission(permission_request, context.terms, context.run_state.status_of, now)


def _next_steps_hint(context: GuardContext, now: float) -> str:
    """Return a hint on what to do next, for a call that resembles no step."""
    order = context.make_order()
    names = [
        planned_step.step["id"]
        for planned_step in context.planned_steps
        if _step_permission(planned_step, context, order, now).kind != DENY
    ]
    if running := context.run_state.steps_with_status(RUNNING):
        return f"; in progress and not reported yet: {', '.join(running)}"
    return f"; next: {', '.join(names[:3])} (see execplan handoff)" if names else "; see what is next: execplan handoff"


def _decide_unplanned(match_result: MatchResult, context: GuardContext, reason: str, now: float) -> GuardDecision:
    """Decide on a call that no step plans."""
    if context.constraints.get("allow_unplanned"):
        return GuardDecision(ASK, f"no step of {context.plan} includes this call: {match_result.reason}")
    if match_result.nearest_step:
        message = f"no step of {context.plan} includes this call; the nearest step is {match_result.nearest_step}: {match_result.reason}"
    else:
        message = (
            f"no step of {context.plan} includes this call"
            + (f": {match_result.reason}" if match_result.reason else "")
            + _next_steps_hint(context, now)
        )
    return _deny_unplanned(message, reason, match_result.nearest_step)


def _deny_unplanned(message: str, read_reason: str, nearest_step: str = "") -> GuardDecision:
    """Deny a call that no step plans; `read_reason` is why it is not harmless reading."""
    return GuardDecision(DENY, f"{message}; {read_reason}" if read_reason else message, nearest_step)
