"""The security record of each call, in the plan's ledger: one before anything leaves, and one of how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from execplan.text.lines import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.engine.ledger.ledger import AuditLog

ENHANCING: Final = "enhancing"
ENHANCED: Final = "enhanced"


class EnhancementRecord:
    """The records of a call."""

    def __init__(self, audit_log: AuditLog, program: str, request: bytes, redactions: Mapping[str, int]) -> None:
        """Write the first one; raises ExecplanError, and then nothing is sent."""
        self._audit_log = audit_log
        self._details: dict[str, Any] = {
            "program": program,
            "sent": digest(request),
            "bytes": len(request),
            "redactions": dict(redactions),
        }
        audit_log.append(ENHANCING, self._details)

    def record_end(self, outcome: str, reason: str, received: bytes, seconds: float) -> tuple[str, ...]:
        """Write the second one, and let the anchor know it; raises ExecplanError where it can't be written.

        Why the anchor was not moved, which takes back no record.
        """
        from execplan.errors import ExecplanError

        outcome_fields = {"ended": outcome, "reason": reason, "seconds": round(seconds, 3)}
        received_fields = {"received": digest(received) if received else None, "received_bytes": len(received)}
        self._audit_log.append(ENHANCED, {**self._details, **outcome_fields, **received_fields})
        try:
            self._audit_log.update_anchor()
        except ExecplanError as error:
            return (f"the anchor of the ledger was not moved: {error.message}",)
        return ()
