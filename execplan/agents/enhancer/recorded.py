"""The security record of each call, in the plan's ledger: one before anything leaves, and one of how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from execplan.text.lines import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.engine.ledger.ledger import AuditLog

ENHANCING: Final = "enhancing"
ENHANCED: Final = "enhanced"


class Recorded:
    """The records of a call."""

    def __init__(self, ledger: AuditLog, program: str, sent: bytes, redactions: Mapping[str, int]) -> None:
        """Write the first one; raises ExecplanError, and then nothing is sent."""
        self._ledger = ledger
        self._said: dict[str, Any] = {
            "program": program,
            "sent": digest(sent),
            "bytes": len(sent),
            "redactions": dict(redactions),
        }
        ledger.append(ENHANCING, self._said)

    def end(self, ended: str, reason: str, received: bytes, seconds: float) -> tuple[str, ...]:
        """Write the second one, and let the anchor know it; raises ExecplanError where it can't be written.

        Why the anchor was not moved, which takes back no record.
        """
        from execplan.errors import ExecplanError

        told = {"ended": ended, "reason": reason, "seconds": round(seconds, 3)}
        got = {"received": digest(received) if received else None, "received_bytes": len(received)}
        self._ledger.append(ENHANCED, {**self._said, **told, **got})
        try:
            self._ledger.update_anchor()
        except ExecplanError as error:
            return (f"the anchor of the ledger was not moved: {error.message}",)
        return ()
