"""Spans of a run, computed from its journal: sessions, steps, attempts, approvals and rollbacks.

Each session of a run is a span, because a paused run may never be resumed: what a backend has received is complete at
any time. All sessions are in one trace, and later ones are children of the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.journal.journal_entries import (
    ANSWERED,
    BEGUN,
    PAUSED,
    REPLANNED,
    RESUMED,
    REVISION_REASONS,
    ROLLBACK,
    ROLLED_BACK,
)
from execplan.execution.engine.telemetry import span_attributes
from execplan.execution.engine.telemetry.run_sessions import (
    EntryTimes,
    RunSessionEntries,
    last_sent_entry,
    nanoseconds,
    split_sessions,
)
from execplan.execution.engine.telemetry.span_attributes import (
    INTERNAL,
    OK,
    ROLLBACK_CAUSE,
    SERVER,
    Span,
    SpanEvent,
    SpanStatus,
)
from execplan.execution.engine.telemetry.step_spans import StepSpans
from execplan.execution.engine.telemetry.trace_context import RunTrace, trace_of_run
from execplan.execution.execution_plan import Step


class ApprovalSpans:
    """Builder of the spans of approvals of one run."""

    def __init__(self, trace: RunTrace, times: EntryTimes) -> None:
        self._trace, self._times = trace, times
        self._approval_id = ""
        self._open_question: tuple[RunEntry, int] | None = None
        """The entry of the question that the run waits for, and the number of the session that asked it."""

    def build(self, entries: Sequence[RunEntry], sessions: Sequence[RunSessionEntries]) -> list[Span]:
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

    def _build_approval(self, entry: RunEntry, session: RunSessionEntries) -> list[Span]:
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

    def _build_question(self, answer: RunEntry, session: RunSessionEntries) -> Span:
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
        entry: RunEntry,
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
            SpanStatus(OK),
            last_entry=session.closing_entry,
        )


def build_spans(entries: Sequence[RunEntry], steps: Mapping[str, Step], written_at: Mapping[int, int]) -> list[Span]:
    """Return the spans of all sessions of a run that are over, each parent before its children.

    `steps` has the steps of all revisions by ID, `written_at` the exact times of entries by number, in nanoseconds.
    """
    return _RunSpans(entries, steps, EntryTimes(written_at)).build() if entries else []


def unsent_spans(entries: Sequence[RunEntry], steps: Mapping[str, Step], written_at: Mapping[int, int]) -> list[Span]:
    """Return the spans of a run that no earlier process has sent; `written_at` has this process's entries."""
    first_own_entry = min(written_at, default=len(entries) + 1)
    last_sent = last_sent_entry(entries, first_own_entry) if entries else 0
    return [
        span
        for span in build_spans(entries, steps, written_at)
        if span.last_entry > last_sent
        and (entries[span.last_entry - 1].kind != ROLLED_BACK or span.last_entry >= first_own_entry)
    ]


class _RunSpans:
    """Builder of the spans of one run."""

    def __init__(self, entries: Sequence[RunEntry], steps: Mapping[str, Step], times: EntryTimes) -> None:
        self._entries, self._times = entries, times
        self._begin_fields = entries[0].fields
        self._trace = trace_of_run(self._begin_fields)
        self._sessions = split_sessions(entries)
        self._step_spans = StepSpans(self._begin_fields["run"], self._trace, steps, entries, times)
        self._rollbacks = self._build_rollbacks()

    def build(self) -> list[Span]:
        """Return the spans, each parent before its children."""
        session_spans = [
            span for session in self._sessions if session.closing_entry for span in self._build_session(session)
        ]
        approval_spans = ApprovalSpans(self._trace, self._times).build(self._entries, self._sessions)
        return [*session_spans, *approval_spans, *self._rollbacks]

    def _build_session(self, session: RunSessionEntries) -> list[Span]:
        """Return the span of a session, followed by those of its steps."""
        context, first_session = self._trace.session(session.number), self._trace.session(1)
        step_spans = self._step_spans.build(session, context)
        replanned_entries = [entry for entry in session.entries if entry.kind == REPLANNED]
        outcome = span_attributes.session_outcome(session.end_entry, is_replanned=bool(replanned_entries))
        automatic_rollbacks = [
            span for span in self._rollbacks if span.parent == context and ROLLBACK_CAUSE in span.attributes
        ]
        session_span = Span(
            f"RUN {self._begin_fields['plan_id']}",
            SERVER,
            context,
            self._trace.parent if session.number == 1 else first_session,
            self._times.time(session.entries[0]),
            max([self._times.time(session.entries[-1]), *[span.end for span in [*step_spans, *automatic_rollbacks]]]),
            {
                **span_attributes.session_attributes(self._begin_fields, session),
                **outcome.attributes(span_attributes.PIPELINE_RESULT, "execplan.run.status"),
            },
            outcome.status,
            events=tuple(
                [
                    SpanEvent(
                        "execplan.replanned", self._times.time(entry), {"execplan.reason": entry.fields["reason"]}
                    )
                    for entry in replanned_entries
                ]
            ),
            links=(self._trace.session(session.number - 1),) if session.number > 1 else (),
            last_entry=session.closing_entry,
        )
        return [session_span, *step_spans]

    def _build_rollbacks(self) -> list[Span]:
        """Return a span for each finished rollback; its parent is the session that it followed."""
        spans, begin = [], None
        for entry in self._entries:
            if entry.kind == ROLLBACK:
                begin = entry
            elif entry.kind == ROLLED_BACK and begin is not None:
                numbers = [session.number for session in self._sessions if session.entries[0].number < begin.number]
                session_context = self._trace.session(numbers[-1])
                spans.append(
                    Span(
                        "rollback",
                        INTERNAL,
                        session_context._replace(span_id=self._trace.span_id("rollback", begin.number)),
                        session_context,
                        self._times.time(begin),
                        max(self._times.time(begin), self._times.time(entry)),
                        span_attributes.rollback_attributes(begin.fields, entry.fields),
                        SpanStatus(OK),
                        last_entry=entry.number,
                    )
                )
                begin = None
        return spans
