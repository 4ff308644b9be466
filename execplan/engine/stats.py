"""Figures from ledgers: how many runs there were, how they ended, what was rolled back, who approved."""

from __future__ import annotations

from execplan.execution.policy import CAUSES
from execplan.execution.states import ENDED
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Final

    from execplan.engine.ledger.chain import Record

BUCKETS: Final = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14400.0, 86400.0)
"""Seconds: a step or two, a build, a day."""
MANUAL: Final = "manual"
"""The cause of a rollback that somebody asked for."""


_COUNTED = frozenset(
    "begun resumed called replanned result ended rollback rolled_back approved not_given declined revoked".split()
)


class Figures(NamedTuple):
    """What was counted, of one plan or of many."""

    runs: dict[str, int]
    """By the status that they have now."""
    executions: dict[str, int]
    """Runs that ended, each once, by the status that they have now: completed, failed or rolled_back."""
    seconds: tuple[float, ...]
    """How long each run took that ended, with the time before it was resumed."""
    steps: dict[str, int]
    """Attempts of steps: completed, failed."""
    agent_runs: int
    """Of the runs, those that an agent carried out."""
    agent_calls: int
    """Calls that an agent was allowed."""
    rollbacks: dict[str, int]
    """By what caused them: one of the policy's causes, or `manual`."""
    rolled_back: int
    """Runs of which something was rolled back, at least once."""
    replans: int
    approvals: dict[str, int]
    """approved, declined, revoked."""

    @property
    def approval_rate(self) -> float | None:
        """Of what somebody was asked or said to approve, how much was approved."""
        return _rate(self.approvals["approved"], self.approvals["approved"] + self.approvals["declined"])

    @property
    def success_rate(self) -> float | None:
        """Of the runs that ended, how many are completed."""
        return _rate(self.executions["completed"], sum(self.executions.values()))

    @property
    def rollback_rate(self) -> float | None:
        """Of all runs, how many were rolled back, in whole or in part."""
        return _rate(self.rolled_back, sum(self.runs.values()))


def figures(ledgers: Iterable[Sequence[Record]]) -> Figures:
    """Count what the ledgers of some plans tell."""
    counts = _Counts()
    for records in ledgers:
        counts.begin()
        for record in records:
            counts.count(record)
        counts.end()
    return Figures(
        counts.runs,
        counts.executions,
        tuple(counts.seconds),
        counts.steps,
        counts.agent_runs,
        counts.agent_calls,
        counts.rollbacks,
        counts.rolled,
        counts.replans,
        counts.approvals,
    )


class _Counts:
    """A count that goes on; each kind of record has its function."""

    def __init__(self) -> None:
        self.runs: dict[str, int] = {}
        self.executions = dict.fromkeys(ENDED, 0)
        self.seconds: list[float] = []
        self.steps = {"completed": 0, "failed": 0}
        self.agent_runs = self.agent_calls = 0
        self.rollbacks = dict.fromkeys((MANUAL, *CAUSES), 0)
        self.rolled = 0
        self.replans = 0
        self.approvals = {"approved": 0, "declined": 0, "revoked": 0}

    def begin(self) -> None:
        """Begin with another ledger."""
        self._status: dict[str, str] = {}
        self._cause: dict[str, str] = {}
        self._undone: set[str] = set()
        self._took: dict[str, float] = {}

    def end(self) -> None:
        """Add what only its end tells."""
        for status in self._status.values():
            self.runs[status] = self.runs.get(status, 0) + 1
            if status in ENDED:
                self.executions[status] += 1
        self.seconds += [took for run, took in self._took.items() if self._status.get(run) in ENDED]
        self.rolled += len(self._undone)

    def count(self, record: Record) -> None:
        """Count a record, if it is of a kind that is counted."""
        if record.kind in _COUNTED:
            getattr(self, f"_{record.kind}")(record)

    def _begun(self, record: Record) -> None:
        self._status[record.run or ""] = "in_progress"
        self.agent_runs += record.said.get("mode") == "agent"

    def _resumed(self, record: Record) -> None:
        self._status[record.run or ""] = "in_progress"

    def _called(self, record: Record) -> None:
        self.agent_calls += 1

    def _replanned(self, record: Record) -> None:
        self._status[record.run or ""] = "replanning"
        self.replans += 1

    def _result(self, record: Record) -> None:
        self.steps["completed" if record.said.get("ok") else "failed"] += 1

    def _ended(self, record: Record) -> None:
        status = "completed" if record.said.get("status") == "completed" else "failed"
        self._status[record.run or ""] = status
        took = record.said.get("seconds")
        self._took[record.run or ""] = float(took) if isinstance(took, int | float) else 0.0

    def _rollback(self, record: Record) -> None:
        self._cause[record.run or ""] = str(record.said.get("automatic") or MANUAL)

    def _rolled_back(self, record: Record) -> None:
        cause = self._cause.get(record.run or "", MANUAL)
        self.rollbacks[cause] = self.rollbacks.get(cause, 0) + 1
        self._undone.add(record.run or "")
        if record.said.get("whole"):
            self._status[record.run or ""] = "rolled_back"

    def _approved(self, record: Record) -> None:
        self.approvals["approved"] += 1

    def _not_given(self, record: Record) -> None:
        self.approvals["approved"] -= 1

    def _declined(self, record: Record) -> None:
        self.approvals["declined"] += 1

    def _revoked(self, record: Record) -> None:
        self.approvals["revoked"] += 1


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None
