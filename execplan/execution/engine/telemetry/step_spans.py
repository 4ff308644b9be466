"""Spans of the steps of a session and of their attempts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.journal.journal_entries import (
    BLOCKED,
    CALLED,
    INTENT,
    RECOVERED,
    RESULT,
    RETAKEN,
    SKIPPED,
    TICKED,
)
from execplan.execution.engine.telemetry import span_attributes
from execplan.execution.engine.telemetry.run_sessions import EntryTimes, RunSessionEntries, nanoseconds
from execplan.execution.engine.telemetry.span_attributes import CLIENT, INTERNAL, Span, SpanEvent
from execplan.execution.engine.telemetry.trace_context import RunTrace, TraceContext
from execplan.execution.execution_plan import PROGRAM_TYPES, Step

_STATUS_KINDS = (RESULT, SKIPPED, BLOCKED, RECOVERED)
_STEP_KINDS = (INTENT, RETAKEN, TICKED, *_STATUS_KINDS)


class StepSpans:
    """Builder of the spans of steps and attempts of one run."""

    def __init__(
        self, run: str, trace: RunTrace, steps: Mapping[str, Step], entries: Sequence[RunEntry], times: EntryTimes
    ) -> None:
        self._run, self._trace, self._steps, self._times = run, trace, steps, times
        self._results = {_attempt_key(entry): entry for entry in entries if entry.kind == RESULT}
        self._calls: dict[tuple[str, int], list[RunEntry]] = {}
        for entry in entries:
            if entry.kind == CALLED:
                self._calls.setdefault(_attempt_key(entry), []).append(entry)

    def build(self, session: RunSessionEntries, parent: TraceContext) -> list[Span]:
        """Return a span for each step that the session ran or decided not to run, each followed by its attempts.

        The result of an attempt whose process was killed is recorded in a later session; the attempt belongs to this one.
        """
        entries_by_step: dict[str, list[RunEntry]] = {}
        for entry in session.entries:
            if entry.kind in _STEP_KINDS:
                entries_by_step.setdefault(entry.fields["step"], []).append(entry)
        return [
            span
            for step_id, entries in entries_by_step.items()
            if any([entry.kind in (INTENT, SKIPPED, BLOCKED, RECOVERED) for entry in entries])
            for span in self._build_step(step_id, entries, session, parent)
        ]

    def _build_step(
        self, step_id: str, entries: list[RunEntry], session: RunSessionEntries, parent: TraceContext
    ) -> list[Span]:
        context = parent._replace(span_id=self._trace.span_id("step", session.number, step_id))
        attempts = [self._build_attempt(entry, session, context) for entry in entries if entry.kind == INTENT]
        status_entry = next(
            (entry for entry in reversed(entries) if entry.kind in (INTENT, *_STATUS_KINDS)), entries[-1]
        )
        outcome = span_attributes.step_outcome(
            self._results.get(_attempt_key(status_entry)) if status_entry.kind == INTENT else status_entry
        )
        entry_times = [self._times.time(entry) for entry in entries]
        step_span = Span(
            step_id,
            INTERNAL,
            context,
            parent,
            min([*entry_times, *[attempt.start for attempt in attempts]]),
            max([*entry_times, *[attempt.end for attempt in attempts]]),
            {
                **span_attributes.step_attributes(step_id, self._steps.get(step_id), self._run),
                **outcome.attributes(span_attributes.TASK_RESULT, "execplan.step.status"),
            },
            outcome.status,
            events=tuple([event for entry in entries if (event := self._event(entry)) is not None]),
            last_entry=session.closing_entry,
        )
        return [step_span, *attempts]

    def _event(self, entry: RunEntry) -> SpanEvent | None:
        """Return the event of a step for an entry, or None for an entry of another kind."""
        name, attributes = "", {}
        if entry.kind == RETAKEN:
            name, attributes = "execplan.changes_undone", {"execplan.attempt.number": entry.fields["attempt"]}
        elif entry.kind == TICKED:
            name = "execplan.task_completed"
        elif entry.kind in (SKIPPED, BLOCKED):
            name, attributes = f"execplan.step_{entry.kind}", {"execplan.reason": entry.fields["reason"]}
        elif entry.kind == RECOVERED:
            name, attributes = "execplan.step_recovered", {"execplan.recovered_by": entry.fields["by"]}
        return SpanEvent(name, self._times.time(entry), attributes) if name else None

    def _build_attempt(self, intent: RunEntry, session: RunSessionEntries, parent: TraceContext) -> Span:
        """Return the span of an attempt; without a result, it ends with the session."""
        step_id, number = _attempt_key(intent)
        step, result = self._steps.get(step_id), self._results.get((step_id, number))
        start, end = self._times.time(intent), self._times.time(session.entries[-1])
        if result is not None:
            is_late = result.number >= session.closing_entry and result is not session.entries[-1]
            seconds = result.fields.get("seconds", 0)
            if is_late:
                end = min(self._times.time(result), max(end, start + nanoseconds(seconds)))
            else:
                end = self._times.time(result)
        program = span_attributes.executable_name(step)
        outcome = span_attributes.attempt_outcome(result)
        attributes = span_attributes.attempt_attributes(intent.fields, self._run, program, result)
        calls = [
            SpanEvent(
                "execplan.agent_call",
                self._times.time(call),
                {"execplan.agent.tool": call.fields["tool"], "execplan.agent.asked": call.fields["asked"]},
            )
            for call in self._calls.get((step_id, number), ())
        ]
        return Span(
            program or (step.type.value if step is not None else "attempt"),
            CLIENT if step is not None and step.type in PROGRAM_TYPES else INTERNAL,
            parent._replace(span_id=self._trace.attempt(step_id, number).span_id),
            parent,
            start,
            max(start, end),
            {**attributes, **outcome.attributes(span_attributes.TASK_RESULT)},
            outcome.status,
            events=tuple(calls),
            last_entry=session.closing_entry,
        )


def _attempt_key(entry: RunEntry) -> tuple[str, int]:
    """Return the step and the number of the attempt that an entry is about."""
    return entry.fields["step"], entry.fields["attempt"]
