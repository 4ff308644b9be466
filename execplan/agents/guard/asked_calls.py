"""Calls that a program asks its user about: they count only after the program has reported that they were made."""

from __future__ import annotations

from execplan.agents.guard import call_recording, grant_lookup
from execplan.agents.guard.guard_context import context_from_grant
from execplan.agents.guard.guard_decision import GuardDecision
from execplan.agents.guard.tool_call import TOOL, ToolCall
from execplan.execution import states
from execplan.execution.engine.journal.journal import check_entries, read_bytes
from execplan.execution.engine.run_records.evidence_copies import open_journal
from execplan.execution.permission import ASK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_OPEN_STATES: Final = (states.PENDING, states.AWAITING, states.RUNNING)


def record_made_call(call_id: str, plan_name: str | None) -> None:
    """Record that a call was made after its user was asked; do nothing for any other call. Raises ExecplanError."""
    grant = grant_lookup.find_grant(plan_name)
    if grant is None or not call_id:
        return
    if call_id not in context_from_grant(grant, call_recording.read_entries(grant)).run_state.asked_calls:
        return
    waiting_call = ToolCall(TOOL, "", grant.home.root)
    with call_recording.lock_runs(grant.home, waiting_call), open_journal(grant.run_paths) as journal:
        call_recording.ensure_mark_matches(grant, read_bytes(grant.run_paths.journal))
        entries = check_entries(journal.entries, grant.run_paths.journal)
        context = context_from_grant(grant, entries)
        entry = context.run_state.asked_calls.get(call_id)
        if entry is None or call_recording.is_run_over(context):
            return
        fields = entry.fields
        if context.run_state.status_of.get(fields["step"]) not in _OPEN_STATES:
            return
        decision = GuardDecision(
            ASK, "", fields["step"], tuple(fields["paths"]), fields["by"], is_further=bool(fields["further"])
        )
        call = ToolCall(TOOL, fields["tool"], grant.home.root, fields["session"] or "", call_id=call_id)
        call_recording.write_call(call, context, grant, journal, decision)
        call_recording.update_mark(grant)
