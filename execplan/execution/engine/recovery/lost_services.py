"""Services of a run that was killed: their supervisors stopped them, and nothing recorded it."""

from __future__ import annotations

from execplan.execution.engine.journal.journal_entries import SERVICE_ENDED, AttemptResult, attempt_result_json
from execplan.execution.engine.journal.journal_writer import JournalWriter
from execplan.execution.engine.steps.run_context import RunContext
from execplan.execution.engine.steps.tree_snapshots import unexplained_changes


def record_lost_services(context: RunContext, journal_writer: JournalWriter) -> None:
    """Record the end of services that nothing recorded, with what they changed. Raises ExecplanError."""
    run_state = journal_writer.run_state
    has_open_attempts = bool(run_state.open_attempts())
    steps = {step.id: step for step in context.document.steps}
    for name in [service.id for service in run_state.open_services() if not run_state.is_agent_run]:
        ended = AttemptResult(ok=True, reason="execplan died")
        if not has_open_attempts:  # otherwise what changed belongs to the interrupted step
            changes, folders = unexplained_changes(
                context, steps[name], run_state.expected_states, run_state.created_folders()
            )
            ended = ended._replace(changes=changes, folders=folders)
        attempt = run_state.attempts[name][-1]
        journal_writer.write(SERVICE_ENDED, step=name, attempt=attempt.number, **attempt_result_json(ended))
