"""A run that was begun, taken up again: nobody else is at work in the home, and its journal is read and open."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from execplan.engine import revisions
from execplan.engine.alone import alone
from execplan.engine.book import JournalWriter
from execplan.engine.copies import journal_of
from execplan.engine.course import RunState
from execplan.engine.journal import checked
from execplan.errors import INPUT, ExecplanError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.engine.place import RunPaths
    from execplan.engine.watch import RunObserver
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref
    from execplan.text.redaction import Redaction


@contextmanager
def opened(home: Home, ref: Ref, place: RunPaths, watch: RunObserver, what: str) -> Iterator[JournalWriter]:
    """The book of a run, with the ledger brought up to its journal; raises ExecplanError."""
    from execplan.engine.ledger.ledger import AuditLog

    if not os.path.lexists(place.journal):
        raise never_begun(ref, place)
    with alone(home, what), journal_of(place) as journal:
        if not journal.entries:
            raise never_begun(ref, place)
        checked(journal.entries, place.journal)
        course = RunState(revisions.document_of(place, journal.entries), journal.entries)
        ledger = AuditLog(home, ref, can_restore=True)
        ledger.append_entries(place.id, journal.entries)
        book = JournalWriter(place.id, journal, course, ledger, redaction(), watch)
        book.warnings += [each for each in book.mend(home, ref, place) if not watch.warn(each)]
        yield book


def redaction() -> Redaction:
    """What is kept out of everything that a run writes."""
    from execplan.engine.commands.environment import public_variables
    from execplan.text.redaction import Redaction

    return Redaction(os.environ, public_variables(os.environ))


def never_begun(ref: Ref, place: RunPaths) -> ExecplanError:
    """The refusal of a run that was killed before it wrote anything, or whose journal was taken away."""
    what = f"the run {place.id} of {ref.id} has no journal: it was killed before it began, or the journal was removed"
    hint = (
        f"see which: execplan audit {ref.typed} --verify; if it never began its approval still holds: "
        f"execplan run {ref.typed}"
    )
    return ExecplanError("no-such-run", what, exit=INPUT, hint=hint)
