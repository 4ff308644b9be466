"""Approvals that are given, declined and revoked on record: what the ledger can't tell of is not approved."""

from __future__ import annotations

import os

from execplan import trace
from execplan.engine.ledger.ledger import AuditLog
from execplan.engine.ledger.witness import APPROVED, DECLINED, NOT_GIVEN, REVOKED
from execplan.errors import ExecplanError
from execplan.execution.documents.document import to_bytes
from execplan.repo.execution import approvals, approve, register
from execplan.text import disk
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.execution.approval import Approval
    from execplan.execution.evaluation.scope import ApprovalScope
    from execplan.repo.amend import Options
    from execplan.repo.execution.approve import Before, Given, Yes
    from execplan.repo.execution.evaluated import Evaluated
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_TOLD = ("digest", "approver", "how", "inferred", "approved_at", "expires_at", "revision", "document", "policy", "head")


def give(home: Home, ref: Ref, shown: Evaluated, scope: ApprovalScope, yes: Yes, options: Options) -> Given:
    """Approve what was shown, and record it first; raises ExecplanError, with a record that it was not given.

    Who is killed between the two leaves a record of an approval whose file is not there: it lets nothing run.
    """
    ledger = AuditLog(home, ref)
    covered = [each.step.id for each in scope.covered]
    recorded: list[Approval] = []

    def record(approval: Approval) -> Before:
        before = disk.read(ledger.path, 1 << 30)[0] if os.path.lexists(ledger.path) else None
        ledger.append(APPROVED, {**_said(approval, covered), **_made(shown)})
        recorded.append(approval)
        return {ledger.path: before}

    try:
        given = approve.give(home, ref, shown, scope, yes, options, record)
    except BaseException as error:
        if recorded and not _is_there(home, ref, recorded[0]):
            why = error.message if isinstance(error, ExecplanError) else type(error).__name__
            ledger.append(NOT_GIVEN, {"digest": recorded[0].digest, "file": _file(recorded[0]), "reason": why})
            _anchor(ledger)
        raise
    return given._replace(warnings=(*given.warnings, *_anchor(ledger))) if recorded else given


def decline(home: Home, ref: Ref, shown: Evaluated, scope: ApprovalScope, by: str) -> None:
    """Record that somebody was asked and did not say yes; where that fails everybody is warned, and it is a no still."""
    ledger = AuditLog(home, ref)
    steps = [each.step.id for each in scope.covered]
    try:
        ledger.append(DECLINED, {"digest": shown.binding.digest, "approver": by, "steps": steps})
        ledger.update_anchor()
    except ExecplanError as error:
        trace.warnings.append(f"that it was declined is not recorded: {error.message}")


def revoke(home: Home, ref: Ref, ids: Mapping[str, str]) -> None:
    """Let approvals, each given by the digest that was approved and its id, hold no more, and record it; raises ExecplanError.

    The record comes behind: who is killed between the two has revoked it.
    """
    ledger = AuditLog(home, ref)
    for name, found in ids.items():
        if register.revoke(home, found):
            try:
                ledger.append(REVOKED, {"digest": name, "approval": found})
            except ExecplanError as error:
                error.message = f"{name[:12]} is revoked, and that is not recorded: {error.message}"
                raise
    if ids:
        ledger.update_anchor()


def _said(approval: Approval, covered: list[str]) -> dict[str, object]:
    told = {name: getattr(approval, name) for name in _TOLD}
    risk = approval.max_risk.value if approval.max_risk is not None else None
    derived = approval.derived_from
    covers = {"covered_by": derived.digest, "run": derived.run} if derived is not None else {}
    own = {"approval": approval.id, "file": _file(approval), "max_risk": risk, "steps": covered}
    return {**told, **own, **covers}


def _made(shown: Evaluated) -> dict[str, object]:
    """How many steps the execution plan has, and how long it took to make where it was made just now."""
    took = shown.current.generation_s
    return {"plan_steps": len(shown.current.document.steps), **({} if took is None else {"generation_s": took})}


def _file(approval: Approval) -> str:
    """SHA-256 of the file of an approval."""
    return digest(to_bytes(approval))


def _is_there(home: Home, ref: Ref, approval: Approval) -> bool:
    """Whether the file was written, and what failed came behind it."""
    path = approvals.path(home, ref, approval.digest)
    return os.path.lexists(path) and disk.read(path, 1 << 30)[0] == to_bytes(approval)


def _anchor(ledger: AuditLog) -> tuple[str, ...]:
    """Move the anchor; why it did not move, which takes back no approval."""
    try:
        ledger.update_anchor()
    except ExecplanError as error:
        return (f"the anchor of the ledger was not moved: {error.message}",)
    return ()
