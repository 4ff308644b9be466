"""Spans of approvals: the use of an approval by a run, and the questions that people have answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution.engine.journal.journal_entries import ANSWERED, BEGUN, PAUSED, RESUMED, REVISION_REASONS
from execplan.execution.engine.telemetry import span_attributes
from execplan.execution.engine.telemetry.run_sessions import nanoseconds
from execplan.execution.engine.telemetry.span import INTERNAL, OK, Span, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.engine.journal.journal import Entry
    from execplan.execution.engine.telemetry.run_sessions import EntryTimes, RunSessionEntries
    from execplan.execution.engine.telemetry.trace_context import RunTrace


class ApprovalSpans:
    """Builder of the spans of approvals of one run."""

    def __init__(self, trace: RunTrace, times: EntryTimes) -> None:
        self._trace, self._times = trace, times
        self._approval_id = ""
        self._open_question: tuple[Entry, int] | None = None
        """The entry of the question that the run waits for, and the number of the session that asked it."""

    def build(self, entries: Sequence[Entry], sessions: Sequence[RunSessionEntries]) -> list[Span]:
        """Return the spans of the sessions that are over."""
        spans: list[Span] = []
        session_of = {entry.number: session for session in sessions for entry in session.entries}
        session = sessions[0]
        for entry in entries:
            session = session_of.get(entry.number, session)
            if entry.kind in (BEGUN, RESUMED):
                spans += self._build_approval(entry, session)
            elif entry.kind == PAUSED:
                self._open_question = entry, session.number
            elif entry.kind == ANSWERED and entry.fields["why"] not in REVISION_REASONS:
                spans.append(self._build_question(entry, session))
        return [span for span in spans if span.last_entry]

    def _build_approval(self, entry: Entry, session: RunSessionEntries) -> list[Span]:
        """Return the span of an approval that the run begins to use: a moment, and the wait for it if there was one."""
        if entry.fields["approval_id"] == self._approval_id:
            return []
        self._approval_id = entry.fields["approval_id"]
        start, number = self._times.time(entry), session.number
        if self._open_question is not None and self._open_question[0].fields["why"] in REVISION_REASONS:
            question, number = self._open_question
            start = min(start, self._times.latest_time(question))
            self._open_question = None
        attributes = {
            "execplan.approval.id": entry.fields["approval_id"],
            "execplan.approval.how": entry.fields["how"],
        }
        return [self._span("approval", "approval", start, entry, number, session, attributes)]

    def _build_question(self, answer: Entry, session: RunSessionEntries) -> Span:
        """Return the span of an answered question, from the time it was asked."""
        why, step = answer.fields["why"], answer.fields["step"] or ""
        end, number = self._times.time(answer), session.number
        start = max(end - nanoseconds(answer.fields.get("seconds", 0)), self._times.time(session.entries[0]))
        if self._open_question is not None and self._open_question[0].fields["why"] == why:
            question, number = self._open_question
            start = min(start, self._times.latest_time(question))
        self._open_question = None
        attributes = {"execplan.question.reason": why, "execplan.question.answer": answer.fields["answer"]}
        attributes |= {span_attributes.TASK_NAME: step} if step else {}
        return self._span("question", f"question {why}", start, answer, number, session, attributes)

    def _span(
        self,
        kind: str,
        name: str,
        start: int,
        entry: Entry,
        parent_number: int,
        session: RunSessionEntries,
        attributes: dict[str, str],
    ) -> Span:
        """Return a span that an entry of a session completes."""
        parent = self._trace.session(parent_number)
        return Span(
            name,
            INTERNAL,
            parent._replace(span_id=self._trace.span_id(kind, entry.number)),
            parent,
            start,
            max(start, self._times.time(entry)),
            attributes,
            Status(OK),
            last_entry=session.closing_entry,
        )
