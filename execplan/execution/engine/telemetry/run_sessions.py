"""The sessions of a run according to its journal, and the times of its entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from execplan.core.timestamps import parse_utc_timestamp
from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.journal.journal_entries import (
    ENDED,
    INTERRUPTED,
    PAUSED,
    REPLANNED,
    RESUMED,
    ROLLBACK_KINDS,
)

_SECOND = 1_000_000_000


class RunSessionEntries(NamedTuple):
    """The entries of a session: from the beginning or a resume of a run until it stopped."""

    number: int
    """Number of the session in its run, from 1."""
    entries: tuple[RunEntry, ...]
    closing_entry: int = 0
    """Number of the entry that shows that the session is over: its last one, or the first of the next; 0 if none does."""

    @property
    def end_entry(self) -> RunEntry | None:
        """The entry that ends the session; None if its process was killed, or if a new revision follows it."""
        return self.entries[-1] if self.entries[-1].number == self.closing_entry else None


def split_sessions(entries: Sequence[RunEntry]) -> list[RunSessionEntries]:
    """Return the sessions of a run. The last one may not be over.

    Rollbacks belong to no session, and neither does a revision that somebody requests between sessions.
    """
    sessions: list[RunSessionEntries] = []
    current: list[RunEntry] = []
    for entry in entries:
        is_between = bool(sessions) and not current and entry.kind in (REPLANNED, PAUSED)
        if is_between or entry.kind in ROLLBACK_KINDS:
            continue
        if entry.kind == RESUMED and current and not _is_agent_run(entries):
            # The process was killed, or it made a revision that an approval covers.
            sessions.append(RunSessionEntries(len(sessions) + 1, tuple(current), entry.number))
            current = []
        current.append(entry)
        if _is_session_end(entry, entries):
            sessions.append(RunSessionEntries(len(sessions) + 1, tuple(current), entry.number))
            current = []
    return [*sessions, RunSessionEntries(len(sessions) + 1, tuple(current))] if current else sessions


def _is_agent_run(entries: Sequence[RunEntry]) -> bool:
    return entries[0].fields.get("mode") == "agent"


def _is_session_end(entry: RunEntry, entries: Sequence[RunEntry]) -> bool:
    """Return whether an entry ends a session.

    An agent's run is one session until it ends: other processes record its calls while a question is open.
    """
    return entry.kind == ENDED or (entry.kind in (PAUSED, INTERRUPTED) and not _is_agent_run(entries))


def last_sent_entry(entries: Sequence[RunEntry], first_own_entry: int) -> int:
    """Return the number of the last entry whose spans an earlier process has sent, or tried to send; 0 for none.

    `first_own_entry` is the number of the first entry that this process wrote. The spans of a process that was killed
    before it recorded an end are sent by the next one.
    """
    earlier_entries = entries[: first_own_entry - 1]
    return max([entry.number for entry in earlier_entries if _is_session_end(entry, entries)], default=0)


class EntryTimes:
    """The times of journal entries in nanoseconds since 1970."""

    def __init__(self, written_at: Mapping[int, int]) -> None:
        """Use the exact times in `written_at`, by entry number, of the entries that this process wrote."""
        self._written_at = written_at

    def time(self, entry: RunEntry) -> int:
        """Return the time of an entry: within the second in the journal, and exact if this process wrote the entry."""
        second = parse_utc_timestamp(entry.at) * _SECOND
        return min(max(self._written_at.get(entry.number, second), second), second + _SECOND - 1)

    def latest_time(self, entry: RunEntry) -> int:
        """Return the latest possible time of an entry, which differs from `time` if another process wrote it."""
        is_own = entry.number in self._written_at
        return self.time(entry) if is_own else parse_utc_timestamp(entry.at) * _SECOND + _SECOND - 1


def nanoseconds(seconds: float) -> int:
    """Return a number of seconds in nanoseconds."""
    return int(seconds * _SECOND)
