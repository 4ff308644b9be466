"""Steps that an agent reported as completed although the guard saw no call of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution.engine.journal.journal_entries import BEGUN, CALLED, DENIED, RESULT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.engine.audit_log.hash_chain import AuditRecord


def find_unseen_steps(records: Sequence[AuditRecord], *, is_guarded: bool) -> list[str]:
    """Return the steps, each with its run, for runs of agents in a guarded repository, or with other recorded calls.

    The records may have been altered, so their fields can have any type.
    """
    agent_runs = {record.run for record in records if record.kind == BEGUN and record.said.get("mode") == "agent"}
    guarded_runs = {record.run for record in records if record.kind in (CALLED, DENIED)}
    called_attempts = {_attempt(record) for record in records if record.kind == CALLED}
    return [
        f"{record.said.get('step')} of run {record.run}"
        for record in records
        if record.kind == RESULT and record.said.get("ok") and record.run in agent_runs
        if (is_guarded or record.run in guarded_runs) and _attempt(record) not in called_attempts
    ]


def _attempt(record: AuditRecord) -> tuple[str | None, str, str]:
    return record.run, str(record.said.get("step")), str(record.said.get("attempt"))
