"""Decision whether a step may run now, shared by the engine that runs steps and the guard of an agent."""

from __future__ import annotations

from execplan.core.clock import format_utc_timestamp
from execplan.core.named_tuple import NamedTuple
from execplan.execution import states
from execplan.execution.attributes import LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Final

ALLOW: Final = "allow"
ASK: Final = "ask"
DENY: Final = "deny"
PERSON: Final = "person"
POLICY: Final = "policy"
NEVER: Final = "NEVER"
"""Value in place of a risk level: no step needs a person."""
READ_POLICIES = ("anywhere", "inside", "ask", "none")
"""What an agent may read without a plan: anything, files in the repository, what a person allows, or nothing.

The strictest value is last.
"""
PLANS: Final = "plans"
STEPS: Final = "steps"
"""What an agent may commit: files of plans, and files that its completed steps changed."""
CLOCK_SKEW_SECONDS: Final = 60
"""Maximum number of seconds by which the clock at approval may be ahead of the clock at the run."""


class ApprovalTerms(NamedTuple):
    """The terms of an approval, and what the policy approves automatically."""

    how: str
    """`policy` if no person approved; otherwise how a person did."""
    max_risk: str | None
    """Highest risk level that is covered; None means no limit."""
    steps: tuple[str, ...] | None
    """IDs of the only steps that are covered; None means all."""
    inferred: bool
    """Whether inferred steps are covered."""
    approved: float
    """Time of the approval, in seconds since 1970."""
    expires: float
    """Time when the approval expires, in seconds since 1970."""
    person_from: str
    """Lowest risk level that needs a person, or NEVER."""


class StepRequest(NamedTuple):
    """A step that is about to run, and its current state."""

    id: str
    level: str
    """Risk level of the step, from the policy's table and the plan."""
    inferred: bool
    status: str
    """Status of the step, one of the states in states.py."""
    needs: tuple[str, ...]
    """IDs of the steps that must be settled first: its dependencies, and the step whose outcome is its condition."""
    calls: int = 0
    """Number of calls so far in this attempt; an engine calls once."""
    max_calls: int = 1
    """Maximum number of calls in an attempt."""
    condition_failure: str = ""
    """Why the condition of the step is not met, or an empty string."""
    question: str = ""
    """Question to ask a person first, or an empty string."""


class Permission(NamedTuple):
    """Whether a step may run, why not, and who approved it."""

    kind: str
    """Decision: ALLOW, ASK or DENY."""
    why: str = ""
    approved_by: str = ""
    """Who approved the step, if it is not denied: PERSON or POLICY."""


def allowed_calls(step: Mapping[str, Any]) -> int:
    """Return how often an agent may call a step.

    The limit applies to each place that the step changes, because many programs change one after the other: the hunks
    and renames of a diff, the places of a text that is replaced, the files that are copied or moved.
    """
    hunks = sum([line.startswith(("@@ ", "rename to ")) for line in (step.get("patch") or "").split("\n")])
    matches = (step.get("replacement") or {}).get("count", 0)
    files = 0
    if step.get("from"):
        files = len(step.get("files") or ()) * (2 if step.get("type") == "move" else 1)
    return int(step.get("max_invocations", 1) * max(hunks, matches, files, 1))


def is_covered(terms: ApprovalTerms, step_id: str, level: str, *, inferred: bool) -> bool:
    """Return whether an approval covers a step, given by its ID and its risk."""
    is_risk_covered = terms.max_risk is None or LEVELS.index(level) <= LEVELS.index(terms.max_risk)
    is_selected = terms.steps is None or step_id in terms.steps
    return is_risk_covered and is_selected and (terms.inferred or not inferred)


def needs_person(person_from: str, level: str) -> bool:
    """Return whether a person must approve a step with this risk level, if `person_from` is the lowest such level."""
    return person_from != NEVER and LEVELS.index(level) >= LEVELS.index(person_from)


def find_approver(terms: ApprovalTerms, step_id: str, level: str, *, inferred: bool) -> str:
    """Return who approved a step: PERSON, POLICY, or an empty string."""
    is_covered_step = is_covered(terms, step_id, level, inferred=inferred)
    if is_covered_step and terms.how != POLICY:
        return PERSON
    return POLICY if is_covered_step or not (inferred or needs_person(terms.person_from, level)) else ""


def validity_problem(terms: ApprovalTerms, timestamp: float) -> str:
    """Return why an approval is not valid at a time, in seconds since 1970, or an empty string."""
    if timestamp >= terms.expires:
        return f"the approval expired at {format_utc_timestamp(terms.expires)}"
    if timestamp < terms.approved - CLOCK_SKEW_SECONDS:
        return f"the approval was given at {format_utc_timestamp(terms.approved)}, which is in the future: the clock was set back"
    return ""


def check_permission(
    request: StepRequest, terms: ApprovalTerms, statuses: Mapping[str, str], timestamp: float
) -> Permission:
    """Return whether a step may start, or be called once more, at the given time."""
    approved_by = find_approver(terms, request.id, request.level, inferred=request.inferred)
    for check in _CHECKS:
        if why := check(request, terms, statuses, timestamp, approved_by):
            return Permission(DENY, why)
    return Permission(ASK if request.question else ALLOW, request.question, approved_by)


def _check_approved(
    request: StepRequest, terms: ApprovalTerms, statuses: Mapping[str, str], timestamp: float, approved_by: str
) -> str:
    description = f"{request.level}, inferred" if request.inferred else request.level
    return "" if approved_by else f"{request.id} ({description}) is not approved"


def _check_validity_period(
    request: StepRequest, terms: ApprovalTerms, statuses: Mapping[str, str], timestamp: float, approved_by: str
) -> str:
    return validity_problem(terms, timestamp)


def _check_not_finished(
    request: StepRequest, terms: ApprovalTerms, statuses: Mapping[str, str], timestamp: float, approved_by: str
) -> str:
    if request.status in (states.PENDING, states.RUNNING, states.AWAITING):
        return ""
    return f"step {request.id} is {request.status} and is not run again"


def _check_dependencies(
    request: StepRequest, terms: ApprovalTerms, statuses: Mapping[str, str], timestamp: float, approved_by: str
) -> str:
    unmet = list(dict.fromkeys([name for name in request.needs if statuses.get(name) not in states.SUCCESS_STATES]))
    running = [name for name in unmet if statuses.get(name) == states.RUNNING]
    hint = f": first report the result of {', '.join(running)}" if running else ""
    verb = "is" if len(unmet) == 1 else "are"
    return f"step {request.id} needs {', '.join(unmet)}, which {verb} not completed yet{hint}" if unmet else ""


def _check_condition(
    request: StepRequest, terms: ApprovalTerms, statuses: Mapping[str, str], timestamp: float, approved_by: str
) -> str:
    if request.condition_failure:
        return f"the condition of step {request.id} is not met: {request.condition_failure}"
    return ""


def _check_call_limit(
    request: StepRequest, terms: ApprovalTerms, statuses: Mapping[str, str], timestamp: float, approved_by: str
) -> str:
    limit = "once" if request.max_calls == 1 else f"{request.max_calls} times"
    if request.calls >= request.max_calls:
        return f"step {request.id} may be called {limit}, and it already was: report its result"
    return ""


_CHECKS: Sequence[Callable[[StepRequest, ApprovalTerms, Mapping[str, str], float, str], str]] = (
    _check_approved,
    _check_validity_period,
    _check_not_finished,
    _check_dependencies,
    _check_condition,
    _check_call_limit,
)
