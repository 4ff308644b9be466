"""Whether a step may be done now: the one answer for the engine that does steps and for the guard of an agent."""

from __future__ import annotations

import time

from execplan.execution import states
from execplan.execution.attributes import LEVELS
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Final

ALLOW: Final = "allow"
ASK: Final = "ask"
DENY: Final = "deny"
PERSON: Final = "person"
POLICY: Final = "policy"
NEVER: Final = "NEVER"
"""In place of a level: no step needs a person."""
READ_POLICIES = ("anywhere", "inside", "ask", "none")
"""What an agent may read that is not planned: anything, what lies in the repository, what somebody allows, nothing; the tightest last."""
CLOCK_SKEW_SECONDS: Final = 60
"""Seconds by which the clock that approved may be ahead of the one that runs."""


class ApprovalTerms(NamedTuple):
    """What was approved, and what the policy approves by itself."""

    how: str
    """`policy` where no person has said yes; else how a person did."""
    max_risk: str | None
    """Steps above it are not covered; None: none is too high."""
    steps: tuple[str, ...] | None
    """The only steps that are covered; None: all."""
    inferred: bool
    """Whether steps that the plan does not say in so many words are covered."""
    approved: float
    """Seconds since 1970."""
    expires: float
    """Seconds since 1970."""
    person_from: str
    """The lowest level of risk that needs a person, or NOBODY."""


class StepRequest(NamedTuple):
    """A step that is about to be done, and how things stand with it."""

    id: str
    level: str
    """Its risk, as the policy's table and the plan have it."""
    inferred: bool
    status: str
    """As states.py has them."""
    needs: tuple[str, ...]
    """What must be settled before: what it depends on, and whose end its condition is about."""
    calls: int = 0
    """How often it was called in this attempt; an engine calls once."""
    max_calls: int = 1
    """How often it may be."""
    condition_failure: str = ""
    """Why its condition does not hold, or nothing."""
    question: str = ""
    """What somebody is to be asked before, or nothing."""


class Permission(NamedTuple):
    """What may become of a step."""

    kind: str
    """ALLOW, ASK or DENY."""
    why: str = ""
    approved_by: str = ""
    """Of one that is not denied who has approved it: PERSON or POLICY."""


def allowed_calls(max_invocations: int, patch: str | None) -> int:
    """How often an agent may call a step: one with a diff as often for each of its places, which many programs change one by one."""
    hunks = sum([line.startswith(("@@ ", "rename to ")) for line in (patch or "").split("\n")])
    return max_invocations * max(hunks, 1)


def is_covered(terms: ApprovalTerms, step_id: str, level: str, *, inferred: bool) -> bool:
    """Whether an approval covers a step, given by its id and its risk."""
    is_risk_covered = terms.max_risk is None or LEVELS.index(level) <= LEVELS.index(terms.max_risk)
    is_selected = terms.steps is None or step_id in terms.steps
    return is_risk_covered and is_selected and (terms.inferred or not inferred)


def needs_person(person_from: str, level: str) -> bool:
    """Whether a step of this risk is for a person to approve, where such of a level and above are."""
    return person_from != NEVER and LEVELS.index(level) >= LEVELS.index(person_from)


def find_approver(terms: ApprovalTerms, step_id: str, level: str, *, inferred: bool) -> str:
    """Who has approved a step: PERSON, POLICY, or nothing for nobody."""
    is_covered_step = is_covered(terms, step_id, level, inferred=inferred)
    if is_covered_step and terms.how != POLICY:
        return PERSON
    return POLICY if is_covered_step or not (inferred or needs_person(terms.person_from, level)) else ""


def validity_problem(terms: ApprovalTerms, timestamp: float) -> str:
    """Why an approval does not hold at a moment, in seconds since 1970, or nothing."""
    if timestamp >= terms.expires:
        return f"the approval expired at {_format_time(terms.expires)}"
    if timestamp < terms.approved - CLOCK_SKEW_SECONDS:
        return (
            f"the approval was given at {_format_time(terms.approved)}, which is in the future: the clock was set back"
        )
    return ""


def _format_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def check_permission(
    request: StepRequest, terms: ApprovalTerms, statuses: Mapping[str, str], timestamp: float
) -> Permission:
    """Whether a step may be begun, or called once more, at a moment."""
    approved_by = find_approver(terms, request.id, request.level, inferred=request.inferred)
    for check in _CHECKS:
        if why := check(request, terms, statuses, timestamp, approved_by):
            return Permission(DENY, why)
    return Permission(ASK if request.question else ALLOW, request.question, approved_by)


def _check_approved(
    request: StepRequest, terms: ApprovalTerms, statuses: Mapping[str, str], timestamp: float, approved_by: str
) -> str:
    description = f"{request.level}, inferred" if request.inferred else request.level
    return "" if approved_by else f"nobody has approved {request.id}, which is {description}"


def _check_validity_period(
    request: StepRequest, terms: ApprovalTerms, statuses: Mapping[str, str], timestamp: float, approved_by: str
) -> str:
    return validity_problem(terms, timestamp)


def _check_not_finished(
    request: StepRequest, terms: ApprovalTerms, statuses: Mapping[str, str], timestamp: float, approved_by: str
) -> str:
    if request.status in (states.PENDING, states.RUNNING, states.AWAITING):
        return ""
    return f"{request.id} is {request.status}: it is not done again"


def _check_dependencies(
    request: StepRequest, terms: ApprovalTerms, statuses: Mapping[str, str], timestamp: float, approved_by: str
) -> str:
    unmet = list(dict.fromkeys([name for name in request.needs if statuses.get(name) not in states.SUCCESS_STATES]))
    running = [name for name in unmet if statuses.get(name) == states.RUNNING]
    hint = f"not done yet: first report what came of {', '.join(running)}" if running else "not done yet"
    return f"{request.id} comes behind {', '.join(unmet)}, {hint}" if unmet else ""


def _check_condition(
    request: StepRequest, terms: ApprovalTerms, statuses: Mapping[str, str], timestamp: float, approved_by: str
) -> str:
    return (
        f"the condition of {request.id} does not hold: {request.condition_failure}" if request.condition_failure else ""
    )


def _check_call_limit(
    request: StepRequest, terms: ApprovalTerms, statuses: Mapping[str, str], timestamp: float, approved_by: str
) -> str:
    limit = "once" if request.max_calls == 1 else f"{request.max_calls} times"
    return (
        f"{request.id} may be called {limit}, and was: report what came of it"
        if request.calls >= request.max_calls
        else ""
    )


_CHECKS: Sequence[Callable[[StepRequest, ApprovalTerms, Mapping[str, str], float, str], str]] = (
    _check_approved,
    _check_validity_period,
    _check_not_finished,
    _check_dependencies,
    _check_condition,
    _check_call_limit,
)
