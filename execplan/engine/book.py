"""The book of a run that is under way: each entry is redacted, on disk, read into the course, in the ledger, and told."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from execplan import trace
from execplan.engine.watch import RunObserver

if TYPE_CHECKING:
    from typing import Any, Final

    from execplan.engine.course import RunState
    from execplan.engine.journal import Entry, Journal
    from execplan.engine.ledger.ledger import AuditLog
    from execplan.engine.place import RunPaths
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref
    from execplan.text.redaction import Redaction

EXACT: Final = frozenset(
    "step steps attempt path changes before after folders states transcript stdout run plan_id document approval approval_id "
    "policy sandbox chosen replays head kind by why answer task restored removed displaced signal status cause failed completed".split()
)
"""Fields that a resume or a rollback goes by: ids, digests, paths and words of the plan, which stand beside the journal
anyway. Whatever else an entry says is redacted."""


class JournalWriter:
    """It may be written by any thread; entries have the order in which they were written."""

    def __init__(
        self, run: str, journal: Journal, course: RunState, ledger: AuditLog, redaction: Redaction, watch: RunObserver
    ) -> None:
        self.run = run
        self.journal = journal
        self.course = course
        """As far as the journal goes, always."""
        self.ledger = ledger
        self.redaction = redaction
        self.watch = watch
        self.warnings: list[str] = []
        """What was put back when the run was taken up, and could not be shown then."""
        self.is_at_work = False
        """Whether steps are done by this process."""
        self._lock = threading.RLock()

    def write(self, kind: str, **said: Any) -> Entry:
        """Have an entry on disk, and let everybody know of it; raises ExecplanError."""
        told = {name: value if name in EXACT else self.redaction.value(value) for name, value in said.items()}
        with self._lock:
            entry = self.journal.write(kind, **told)
            self.course.read([entry])
            self.ledger.append_entries(self.run, [entry])
            self._tell(entry)
        return entry

    def mend(self, home: Home, ref: Ref, place: RunPaths) -> list[str]:
        """Put back what a step has removed or altered of the run, with a warning of it; raises ExecplanError."""
        from execplan.engine.mend import mend

        with self._lock:
            return mend(home, ref, place, self.journal, self.ledger, self.course, at_work=self.is_at_work)

    def _tell(self, entry: Entry) -> None:
        """Tell who looks on; a terminal that has gone away ends no run."""
        try:
            self.watch.entry(entry)
        except OSError as error:
            trace.tell(f"nobody looks on any more: {error}")
            self.watch = RunObserver()
