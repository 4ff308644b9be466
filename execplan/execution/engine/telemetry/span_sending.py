"""Sending of a run's spans when a session ends, within a time limit; a failure is only a warning."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from execplan.core import features, trace
from execplan.core.errors import ExecplanError
from execplan.execution.engine.telemetry.trace_context import find_exporter_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final

    from execplan.core.project.project import Project
    from execplan.core.secrets.redaction import Redactor
    from execplan.execution.engine.journal.journal_writer import JournalWriter
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.engine.telemetry.span_attributes import Span
    from execplan.execution.engine.telemetry.trace_context import ExporterSettings, TraceContext

_MAX_PROBLEM_LENGTH: Final = 200
_MARGIN_SECONDS: Final = 0.5
"""Time after the exporter's own limit, so that it can say what went wrong."""


def send_spans(run_paths: RunPaths, journal_writer: JournalWriter) -> tuple[str, ...]:
    """Send the spans of the sessions that this process ended, if the environment asks for it; return warnings.

    Nothing is imported or sent otherwise. The caller has released the lock of runs, so a slow collector blocks nobody.
    """
    settings = find_exporter_settings()
    if settings is None:
        return ()
    problem = settings.problem
    try:
        problem = problem or _send(run_paths, journal_writer, settings)
    except KeyboardInterrupt:
        problem = "interrupted"
    except ExecplanError as error:  # the document of an earlier revision may be missing
        problem = error.message
    except Exception as error:  # noqa: BLE001 - the run is over and filed: nothing here may fail it
        problem = f"{type(error).__name__}: {error}"
    if not problem:
        return ()
    shortened = problem if len(problem) <= _MAX_PROBLEM_LENGTH else f"{problem[:_MAX_PROBLEM_LENGTH]}…"
    warning = f"traces were not sent: {journal_writer.redaction.redact_text(shortened)}"
    return () if journal_writer.observer.warn(warning) else (warning,)


def _send(run_paths: RunPaths, journal_writer: JournalWriter, settings: ExporterSettings) -> str:
    """Send spans and return what went wrong, or an empty string. Raises ExecplanError."""
    from execplan.execution.engine.recovery.rollback_plan import steps_of_all_revisions
    from execplan.execution.engine.telemetry.run_spans import unsent_spans
    from execplan.execution.engine.telemetry.trace_context import VARIABLE, parse_traceparent, trace_of_run

    run_state, entries = journal_writer.run_state, journal_writer.journal.entries
    spans = unsent_spans(entries, steps_of_all_revisions(run_paths, run_state), journal_writer.written_at)
    if not spans:
        return ""
    run_trace = trace_of_run(run_state.begin_fields)
    caller = parse_traceparent(os.environ.get(VARIABLE, ""))
    if caller is not None and caller != run_trace.parent:
        spans[0] = spans[0]._replace(links=(*spans[0].links, caller))
    spans = [redact_span(span, journal_writer.redaction) for span in spans]
    trace.log(f"sends {len(spans)} spans of run {run_paths.id}")
    resource = resource_attributes(run_paths.project, run_state.begin_fields, journal_writer.redaction)
    return _export_within_limit(spans, run_trace.session(1), run_trace.parent, resource, settings)


def resource_attributes(project: Project, begin_fields: Mapping[str, Any], redaction: Redactor) -> dict[str, str]:
    """Return the attributes of the resource: the run, the commit that it began on, and the branch that is now there."""
    from execplan.core.git.git_directory import current_branch
    from execplan.execution.engine.telemetry.span_attributes import run_attributes

    attributes = run_attributes(begin_fields)
    if begin_fields.get("head"):
        attributes["vcs.ref.head.revision"] = begin_fields["head"]
    branch = current_branch(project.git) if project.git is not None else None
    if branch is not None and branch.startswith("refs/heads/"):
        attributes |= {"vcs.ref.head.name": branch.removeprefix("refs/heads/"), "vcs.ref.head.type": "branch"}
    return {name: redaction.redact_text(text) for name, text in attributes.items()}


def redact_span(span: Span, redaction: Redactor) -> Span:
    """Return a span without secrets in its texts."""

    def redact(attributes: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: redaction.redact_text(value) if isinstance(value, str) else value
            for name, value in attributes.items()
        }

    return span._replace(
        name=redaction.redact_text(span.name),
        attributes=redact(span.attributes),
        status=span.status._replace(description=redaction.redact_text(span.status.description)),
        events=tuple([event._replace(attributes=redact(event.attributes)) for event in span.events]),
    )


def _export_within_limit(
    spans: Sequence[Span],
    root: TraceContext,
    parent: TraceContext | None,
    resource: Mapping[str, str],
    settings: ExporterSettings,
) -> str:
    """Export spans in a thread that is abandoned when the time is up: a collector may answer one byte at a time."""
    try:
        from execplan.execution.engine.telemetry.span_export import MissingExporterError, export_spans
    except ImportError as error:
        trace.log(f"import failed: {error}")
        return f"the OpenTelemetry SDK is not installed; {features.load(features.EXTRA_HINT)('otel')}"
    problems: list[str] = []

    def export() -> None:
        try:
            problems.append(export_spans(spans, root, parent, resource, settings))
        except MissingExporterError as error:
            problems.append(str(error))
        except Exception as error:  # noqa: BLE001 - whatever fails in the SDK, the run is over and filed
            problems.append(f"{type(error).__name__}: {error}")

    thread = threading.Thread(target=export, name="spans", daemon=True)
    thread.start()
    thread.join(settings.seconds + _MARGIN_SECONDS)
    return problems[0] if problems else settings.timeout_problem
