"""A run that was begun, taken up again: nobody else is at work in the home, and its journal is read and open."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from execplan.engine import revisions
from execplan.engine.alone import acquire_run_lock
from execplan.engine.book import JournalWriter
from execplan.engine.copies import open_journal
from execplan.engine.course import RunState
from execplan.engine.journal import check_entries
from execplan.errors import INPUT, ExecplanError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.engine.place import RunPaths
    from execplan.engine.watch import RunObserver
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef
    from execplan.text.redaction import Redactor


@contextmanager
def open_run(project: Project, ref: PlanRef, run_paths: RunPaths, observer: RunObserver, lock_owner: str) -> Iterator[JournalWriter]:
    """The book of a run, with the ledger brought up to its journal; raises ExecplanError."""
    from execplan.engine.ledger.ledger import AuditLog

    if not os.path.lexists(run_paths.journal):
        raise never_begun_error(ref, run_paths)
    with acquire_run_lock(project, lock_owner), open_journal(run_paths) as journal:
        if not journal.entries:
            raise never_begun_error(ref, run_paths)
        check_entries(journal.entries, run_paths.journal)
        run_state = RunState(revisions.load_document(run_paths, journal.entries), journal.entries)
        ledger = AuditLog(project, ref, can_restore=True)
        ledger.append_entries(run_paths.id, journal.entries)
        journal_writer = JournalWriter(run_paths.id, journal, run_state, ledger, make_redaction(), observer)
        journal_writer.warnings += [warning for warning in journal_writer.repair(project, ref, run_paths) if not observer.warn(warning)]
        yield journal_writer


def make_redaction() -> Redactor:
    """What is kept out of everything that a run writes."""
    from execplan.engine.commands.environment import public_variables
    from execplan.text.redaction import Redactor

    return Redactor(os.environ, public_variables(os.environ))


def never_begun_error(ref: PlanRef, run_paths: RunPaths) -> ExecplanError:
    """The refusal of a run that was killed before it wrote anything, or whose journal was taken away."""
    message = f"the run {run_paths.id} of {ref.id} has no journal: it was killed before it began, or the journal was removed"
    hint = (
        f"see which: execplan audit {ref.shell_name} --verify; if it never began its approval still holds: "
        f"execplan run {ref.shell_name}"
    )
    return ExecplanError("no-such-run", message, exit=INPUT, hint=hint)
