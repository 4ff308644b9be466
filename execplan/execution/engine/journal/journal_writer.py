"""The journal writer of an active run: redacts, syncs and applies entries, adds them to the audit log, reports them."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from execplan.core import trace
from execplan.execution.engine.commands.command_environment import make_redaction
from execplan.execution.engine.journal.journal import check_entries
from execplan.execution.engine.journal.journal_entries import RECOVERED, TICKED
from execplan.execution.engine.replanning import run_revisions
from execplan.execution.engine.run_lock import acquire_run_lock
from execplan.execution.engine.run_observer import RunObserver
from execplan.execution.engine.run_records.evidence_copies import open_journal
from execplan.execution.engine.run_records.run_summary import never_begun_error
from execplan.execution.engine.run_state import RunState

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Final

    from execplan.core.secrets.redaction import Redactor
    from execplan.execution.engine.audit_log.log_writer import AuditLog
    from execplan.execution.engine.journal.journal import Journal, RunEntry
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.engine.schedule import StepTransition
    from execplan.execution.engine.ticks import TickResult


@contextmanager
def open_run(run_paths: RunPaths, observer: RunObserver, lock_owner: str) -> Iterator[JournalWriter]:
    """Open the journal of a run for writing and update the audit log from it. Raises ExecplanError."""
    if not os.path.lexists(run_paths.journal):
        raise never_begun_error(run_paths)
    with acquire_run_lock(run_paths.project, lock_owner), open_journal(run_paths) as journal:
        if not journal.entries:
            raise never_begun_error(run_paths)
        journal_writer = continue_journal(run_paths, journal, observer)
        journal_writer.warnings += [
            warning for warning in journal_writer.repair(run_paths) if not observer.warn(warning)
        ]
        yield journal_writer


def continue_journal(run_paths: RunPaths, journal: Journal, observer: RunObserver) -> JournalWriter:
    """Return the writer of an open journal that has entries; update the audit log from them. Raises ExecplanError."""
    from execplan.execution.engine.audit_log.log_writer import AuditLog

    check_entries(journal.entries, run_paths.journal)
    run_state = RunState(run_revisions.load_document(run_paths, journal.entries), journal.entries)
    audit_log = AuditLog(run_paths.project, run_paths.ref, can_restore=True)
    audit_log.append_entries(run_paths.id, journal.entries)
    return JournalWriter(run_paths.id, journal, run_state, audit_log, make_redaction(), observer)


UNREDACTED_FIELDS: Final = frozenset(
    "step steps attempt path changes before after folders states transcript stdout run plan_id document approval approval_id "
    "policy sandbox executor chosen replays head traceparent kind by why answer task restored removed displaced signal status cause failed "
    "completed".split()
)
"""Fields that a resume or a rollback depends on: IDs, digests, paths and texts of the plan, stored next to the journal
anyway. All other fields of an entry are redacted.
"""


class JournalWriter:
    """A writer of run journals for use from any thread; entries are in the order of writing."""

    def __init__(
        self,
        run: str,
        journal: Journal,
        run_state: RunState,
        audit_log: AuditLog,
        redaction: Redactor,
        observer: RunObserver,
    ) -> None:
        self.run = run
        self.journal = journal
        self.run_state = run_state
        """Run state, always in step with the journal."""
        self.audit_log = audit_log
        self.redaction = redaction
        self.observer = observer
        self.written_at: dict[int, int] = {}
        """Time of each entry that this process has written, by its number, in nanoseconds since 1970."""
        self.warnings: list[str] = []
        """Warnings about files restored at the resume that could not be shown then."""
        self.is_running_steps = False
        """Whether this process runs steps."""
        self._lock = threading.RLock()

    def write(self, kind: str, **fields: Any) -> RunEntry:
        """Write an entry to disk, then update the run state, the audit log and the observer. Raises ExecplanError."""
        return self._write(kind, fields, durable=True)

    def write_unsynced(self, kind: str, **fields: Any) -> RunEntry:
        """Write an entry like `write`, but it is on disk only when the next one is, or after `sync`."""
        return self._write(kind, fields, durable=False)

    def _write(self, kind: str, fields: dict[str, Any], *, durable: bool) -> RunEntry:
        redacted_fields = {
            name: value if name in UNREDACTED_FIELDS else self.redaction.redact_value(value)
            for name, value in fields.items()
        }
        with self._lock:
            entry = self.journal.append_entry(kind, redacted_fields, durable=durable)
            self.written_at[entry.number] = time.time_ns()
            self.run_state.apply_entries([entry])
            self.audit_log.append_entries(self.run, [entry])
            self._notify_observer(entry)
        return entry

    def sync(self) -> None:
        """Sync all entries before something depends on them. Raises ExecplanError."""
        with self._lock:
            self.journal.sync()

    def write_transition(self, transition: StepTransition) -> None:
        """Write the entry of a step that does not run. Raises ExecplanError."""
        detail_field = "by" if transition.kind == RECOVERED else "reason"
        self.write(transition.kind, step=transition.step, **{detail_field: transition.detail})

    def write_tick(self, step: str, transcript: str, tick_result: TickResult) -> list[str]:
        """Record that a step has checked off its task, if it has; return why it couldn't. Raises ExecplanError."""
        if tick_result.task:
            self.write(TICKED, step=step, task=tick_result.task, transcript=transcript)
        return [tick_result.warning] if tick_result.warning else []

    def repair(self, run_paths: RunPaths) -> list[str]:
        """Restore the files of the run that a step removed or altered, and return warnings. Raises ExecplanError."""
        from execplan.execution.engine.run_records.run_repair import repair_run

        with self._lock:
            return repair_run(
                run_paths, self.journal, self.audit_log, self.run_state, step_just_ran=self.is_running_steps
            )

    def _notify_observer(self, entry: RunEntry) -> None:
        """Notify the observer; the loss of a terminal does not end the run."""
        try:
            self.observer.entry(entry)
        except OSError as error:
            trace.log(f"the observer is gone: {error}")
            self.observer = RunObserver()
