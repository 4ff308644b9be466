"""Whether what a plan compiles to now may run: compiled, approved, stale, and why."""

from __future__ import annotations

import os

from execplan.clock import now
from execplan.errors import CHANGED, POLICY, ExecplanError
from execplan.execution import approval as seals
from execplan.execution.binding import bind, drift
from execplan.execution.permission import NEVER, validity_problem
from execplan.record import NamedTuple
from execplan.repo.execution import approvals, key, register, tree
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Final

    from execplan.execution.approval import Approval
    from execplan.execution.binding import Binding
    from execplan.execution.policy import Policy
    from execplan.repo.execution.approvals import Kept
    from execplan.repo.execution.current import Current
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef

NONE: Final = "none"
COMPILED: Final = "compiled"
STALE: Final = "stale"
APPROVED: Final = "approved"
EXPIRED: Final = "expired"
ALTERED: Final = "altered"
USED: Final = "used"
REVOKED: Final = "revoked"


class Now(NamedTuple):
    """What would be approved now."""

    current: Current
    binding: Binding
    policy: Policy


class JudgedApproval(NamedTuple):
    """An approval, with whether it holds."""

    kept: Kept
    state: str
    why: tuple[str, ...]
    """What drifted, or what else is wrong with it, a line each."""


class Standing(NamedTuple):
    """How a plan stands."""

    state: str
    approval: Approval | None = None
    """The one that holds, else the last one."""
    drift: tuple[str, ...] = ()
    path: str = ""
    """Of the approval."""
    now: Now | None = None
    """None for a plan that compiles to nothing."""


def look(home: Project, ref: PlanRef, *, programs: bool = True) -> Now:
    """What a plan compiles to now, and what an approval of it would bind; raises ExecplanError.

    Programs are left out where an agent's program runs the steps: it has a PATH of its own.
    """
    from execplan.repo.execution.current import current
    from execplan.repo.execution.policy import effective
    from execplan.repo.execution.world import Disk

    found, policy = current(home, ref), effective(home)
    binding = bind(found.data, found.document, Disk(home), policy)
    return Now(found, binding if programs else binding._replace(programs=None), policy)


def standing(home: Project, ref: PlanRef, run: str = "", *, programs: bool = True) -> Standing:
    """How a plan stands, or how it does for a run; one that compiles to nothing is stale where it was approved.

    Raises ExecplanError.
    """
    try:
        found = look(home, ref, programs=programs)
    except ExecplanError as error:
        return Standing(STALE if approvals.every(home, ref) else NONE, drift=(error.message,))
    best = _best(judge(home, ref, found, run))
    if best is None:
        stale = found.current.stale
        return Standing(STALE if stale else COMPILED, drift=(stale,) if stale else (), now=found)
    return Standing(best.state, best.kept.approval, best.why, best.kept.path, found)


def every(home: Project, ref: PlanRef, run: str = "") -> list[JudgedApproval]:
    """Every approval of a plan with whether it holds, the newest first; raises ExecplanError."""
    try:
        return judge(home, ref, look(home, ref), run)
    except ExecplanError as error:
        return judge(home, ref, error.message, run)


def judge(home: Project, ref: PlanRef, found: Now | str, run: str = "", spared: Collection[str] = ()) -> list[JudgedApproval]:
    """As `every`, of what would be approved now, or of why that can't be told; for a run that goes on, its own holds.

    Paths that are spared may have changed since.
    """
    kept = approvals.every(home, ref)
    if not kept:
        return []
    sealing = key.read(home)
    return [_judged(home, each, found, sealing, run, spared) for each in kept]


def _best(judged: list[JudgedApproval]) -> JudgedApproval | None:
    """The approval that holds, else the last one."""
    return next((each for each in judged if each.state == APPROVED), judged[0] if judged else None)


def _judged(
    home: Project, kept: Kept, found: Now | str, sealing: bytes | None, run: str, spared: Collection[str]
) -> JudgedApproval:
    given = kept.approval
    if given is None:
        return JudgedApproval(kept, ALTERED, (kept.why,))
    if sealing is None or not seals.verify_signature(given, sealing):
        other = sealing is None or seals.key_id(sealing) != given.key
        why = "it is sealed with another key: by another user, or on another machine" if other else "its seal is broken"
        return JudgedApproval(kept, ALTERED, (why,))
    if not kept.untouched:
        return JudgedApproval(kept, ALTERED, ("its bytes or its name are not those that were written",))
    known = register.state(home, given.id)
    if known.revoked:
        return JudgedApproval(kept, REVOKED, ())
    if any([register.state(home, each).revoked for each in given.origins]):
        return JudgedApproval(kept, REVOKED, ("the approval that covers this revision was revoked",))
    only = given.derived_from.run if given.derived_from is not None else ""
    if only and only != run:
        return JudgedApproval(kept, USED, (f"it is for the run {only}, whose revision it covers",))
    if known.run and known.run != run:
        return JudgedApproval(kept, USED, (f"it was used by the run {known.run}",))
    if why := validity_problem(given.terms(NEVER), now().timestamp()):
        return JudgedApproval(kept, EXPIRED, (why,))
    if isinstance(found, str):
        return JudgedApproval(kept, STALE, (found,))
    lines = _drift(
        home,
        given,
        found,
        {**given.binding.states, **found.binding.states} if known.run else spared,
        resumes=bool(known.run),
    )
    return JudgedApproval(kept, STALE if lines else APPROVED, lines)


def _drift(home: Project, given: Approval, found: Now, spared: Collection[str], *, resumes: bool) -> tuple[str, ...]:
    """What differs from what was approved; a run that goes on has made changes and commits, and compares by itself."""
    lines = []
    if given.place != place(home):
        lines.append("it was given in another checkout")
    if given.plan_id != found.current.document.plan_id:
        lines.append(f"it was given for the plan {given.plan_id}")
    elif given.revision != found.current.document.revision:
        lines.append(f"it was given for revision {given.revision}, this is {found.current.document.revision}")
    before, after = [
        each._replace(states={path: state for path, state in each.states.items() if path not in spared})
        for each in (given.binding, found.binding)
    ]
    if resumes or found.policy.programs != "refuse":
        after = after._replace(programs=None)
    lines += drift(before, after)
    if found.current.stale and before.document == after.document:
        lines.append(f"{found.current.path}: {found.current.stale}")
    if not resumes and found.policy.pin == "tree" and given.tree != tree.tree(home):
        lines += tree.changed(home, given.head) or ("HEAD: holds other files than when it was approved",)
    return tuple(lines)


def require(home: Project, ref: PlanRef, *, run: str = "", programs: bool = True) -> Standing:
    """How a plan stands that may run, or go on with a run; raises ExecplanError for one that may not."""
    found = look(home, ref, programs=programs)
    best = required(home, ref, found, run)
    return Standing(APPROVED, best.kept.approval, (), best.kept.path, found)


def required(
    home: Project, ref: PlanRef, found: Now | None = None, run: str = "", spared: Collection[str] = ()
) -> JudgedApproval:
    """The approval that holds; raises ExecplanError where none does."""
    best = _best(judge(home, ref, found or look(home, ref), run, spared))
    if best is None or best.state != APPROVED:
        raise refusal(ref, best)
    return best


def refusal(ref: PlanRef, judged: JudgedApproval | None) -> ExecplanError:
    """Why a plan may not run, with what drifted."""
    hint = f"look at it, then approve it: execplan evaluate {ref.shell_name}; execplan approve {ref.shell_name}"
    if judged is None:
        return ExecplanError("not-approved", f"nobody has approved {ref.id}", exit=POLICY, hint=hint)
    which, why = f"the approval {judged.kept.digest[:12]} of {ref.id}", judged.why
    if judged.state == REVOKED:
        return ExecplanError("not-approved", f"{which} was revoked", exit=POLICY, hint=hint, candidates=why)
    if judged.state == USED:
        what = f"{which} was used: it serves one run and its resumes"
        return ExecplanError("approval-used", what, exit=CHANGED, hint=hint, candidates=why)
    if judged.state == EXPIRED:
        what = f"{which} does not hold at this time"
        return ExecplanError("approval-expired", what, exit=CHANGED, hint=hint, candidates=why)
    if judged.state == ALTERED:
        what = f"{which} is not as it was sealed"
        return ExecplanError("approval-altered", what, exit=CHANGED, hint=hint, candidates=why)
    what = f"{which} is stale: something has changed since"
    return ExecplanError("stale-approval", what, exit=CHANGED, hint=hint, candidates=why)


def place(home: Project) -> str:
    """The digest of where a checkout lies."""
    return digest(os.fsencode(os.path.realpath(home.root)))
