"""States of an approval, and the error for a plan whose approval has one that permits nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from execplan.core.errors import ExecplanError

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef

STALE: Final = "stale"
APPROVED: Final = "approved"
EXPIRED: Final = "expired"
ALTERED: Final = "altered"
USED: Final = "used"
REVOKED: Final = "revoked"
UNTRUSTED: Final = "untrusted"
"""The signature is intact, but nobody who may approve has made it."""
INCOMPLETE: Final = "incomplete"
"""The approval is valid, but more people must approve."""


def approval_error(ref: PlanRef, digest: str | None, state: str, reasons: tuple[str, ...]) -> ExecplanError:
    """Return the error for a plan that is not approved, given the digest, state and reasons of its newest approval if any."""
    command = f"execplan evaluate {ref.shell_name}"  # it ends with how the plan is approved, and by whom
    hint = f"see what would run, and who can approve it: {command}"
    if digest is None:
        return ExecplanError("not-approved", f"{ref.id} is not approved", hint=hint)
    subject = f"approval {digest[:12]} of {ref.id}"
    if state == REVOKED:
        return ExecplanError("not-approved", f"{subject} was revoked", hint=hint, candidates=reasons)
    if state == USED:
        message = f"{subject} was already used: an approval is valid for one run and its resumes"
        hint = f"see who can approve it again, then repeat this command: {command}"
        return ExecplanError("approval-used", message, hint=hint, candidates=reasons)
    if state == EXPIRED:
        message = f"{subject} is not valid at this time"
        return ExecplanError("approval-expired", message, hint=hint, candidates=reasons)
    if state == ALTERED:
        message = f"{subject} was altered after it was signed"
        return ExecplanError("approval-altered", message, hint=hint, candidates=reasons)
    if state == UNTRUSTED:
        message = f"{subject} has a signature that does not count here"
        return ExecplanError("signature-not-allowed", message, hint=hint, candidates=reasons)
    if state == INCOMPLETE:
        message = f"not enough people have approved {ref.id}"
        hint = f"someone else must approve it with their own key: execplan approve {ref.shell_name}"
        return ExecplanError("approvers-missing", message, hint=hint, candidates=reasons)
    message = f"{subject} is stale: something has changed since it was given"
    return ExecplanError("stale-approval", message, hint=hint, candidates=reasons)
