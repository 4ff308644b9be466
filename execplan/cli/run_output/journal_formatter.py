"""Formatting of a run's journal entries as lines for people: none, one or several lines per entry."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from execplan.cli.error_handler import printable_line
from execplan.cli.run_output.run_text import (
    format_changes,
    format_irreversible,
    format_paths,
    format_rollback_cause,
    truncate_lines,
)
from execplan.core.text.message_parts import format_count, format_duration
from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.journal.journal_entries import GO, attempt_result_from_entry, change_from_json
from execplan.execution.engine.run_questions import is_answered_by_resume
from execplan.execution.world import ABSENT, FILE

GOOD: Final = "good"
BAD: Final = "bad"
MUTED: Final = "aside"
PLAIN: Final = ""
INTERRUPTED: Final = "interrupted"
"""Cause of an attempt that was stopped with its run; it has not failed and is resumed."""
_MAX_LINES_SHOWN = 10
"""Maximum number of output lines shown for a failed step, and of files named when its changes are reverted."""


_TEMPLATES: Final = {
    "skipped": ("skipped {step}: {reason}", MUTED),
    "blocked": ("blocked {step}: {reason}", BAD),
    "recovered": ("recovered {step}: replaced by {by}", GOOD),
    "ticked": ("  checked off: {task}", PLAIN),
    "reopened": ("  reopened: {task}", PLAIN),
    "replanned": ("replanned, now revision {revision}: {reason}", PLAIN),
}
"""Lines for the kinds of entries whose text is the same for all, with their tone."""


class StyledLine(NamedTuple):
    """A line of output with its tone."""

    text: str
    tone: str = PLAIN
    """Tone of the line: GOOD, BAD, MUTED or PLAIN."""


class JournalFormatter:
    """A formatter that remembers the steps of a run and the last output lines of each."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.max_attempts: dict[str, int] = {}
        """Maximum number of attempts by step."""
        self._output_lines: dict[str, deque[str]] = {}
        self._workers: dict[str, str] = {}
        """Worker of the current attempt by step; empty if it runs here."""

    def add_steps(self, steps: Sequence[Any]) -> None:
        """Add steps, given as objects of the execution plan model."""
        self.numbers |= {step.id: step.number for step in steps}
        self.max_attempts |= {step.id: 1 + step.on_failure.max_retries for step in steps}

    def add_output_line(self, step: str, text: str) -> None:
        """Remember a line of a step's output."""
        self._output_lines.setdefault(step, deque(maxlen=_MAX_LINES_SHOWN)).append(text)

    def step_name(self, step: str) -> str:
        """Format a step's ID with its number."""
        return f"{self.numbers[step]} {step}" if step in self.numbers else step

    def worker_text(self, step: str) -> str:
        """Format where the current attempt of a step runs, to be appended; empty if it runs here."""
        return f", on {self._workers[step]}" if self._workers.get(step) else ""

    def format_entry(self, entry: RunEntry) -> list[StyledLine]:
        """Return the lines for a journal entry."""
        lines: list[StyledLine] = []
        if entry.kind in _TEMPLATES:
            template, tone = _TEMPLATES[entry.kind]
            step = self.step_name(str(entry.fields.get("step")))
            lines = [StyledLine(template.format_map({**entry.fields, "step": step}), tone)]
        elif hasattr(self, f"_{entry.kind}"):
            lines = getattr(self, f"_{entry.kind}")(entry.fields)
        return [line._replace(text=printable_line(line.text)) for line in lines]

    def _begun(self, fields: dict[str, Any]) -> list[StyledLine]:
        approval_text = "approved by the policy" if fields["how"] == "policy" else f"approved by {fields['approver']}"
        if fields.get("mode") == "agent":
            location = "by an agent"
        elif fields["sandbox"]:
            location = f"in {fields['sandbox']}"
        else:
            location = "without a sandbox"
        location += _executor_text(fields)
        return [StyledLine(f"run {fields['run']} of {fields['plan_id']}: {approval_text}, {location}")]

    def _resumed(self, fields: dict[str, Any]) -> list[StyledLine]:
        covered = fields.get("covered_by")
        if covered is None:
            return [StyledLine(f"resumed the run{_executor_text(fields)}")]
        why = f"all its steps were approved by {fields['approver']} as revision {covered['revision']}"
        subject = f"resumed the run: revision {fields['revision']} needs no new approval"
        return [StyledLine(f"{subject}: {why} ({covered['approval'][:12]})")]

    def _intent(self, fields: dict[str, Any]) -> list[StyledLine]:
        step, attempt = fields["step"], fields["attempt"]
        self._output_lines.pop(step, None)
        self._workers[step] = fields.get("worker", "")
        if attempt == 1:
            return []
        limit_text = f" of {self.max_attempts[step]}" if self.max_attempts.get(step, 0) >= attempt else ""
        return [StyledLine(f"retrying {self.step_name(step)}: attempt {attempt}{limit_text}{self.worker_text(step)}")]

    def _result(self, fields: dict[str, Any]) -> list[StyledLine]:
        step, performed = fields["step"], attempt_result_from_entry(fields)
        name, time = self.step_name(step), format_duration(performed.seconds)
        attempt = f", attempt {fields['attempt']}" if fields["attempt"] > 1 else ""
        attempt += self.worker_text(step)
        if performed.ok:
            changes_text = format_changes(performed.changes, performed.folders)
            return [StyledLine(f"ok {name} ({time}{attempt})" + (f": {changes_text}" if changes_text else ""), GOOD)]
        if performed.cause == INTERRUPTED:
            reason = f": {performed.reason}" if self.worker_text(step) and performed.reason else ""
            time = time if performed.seconds else "duration unknown"
            return [StyledLine(f"stopped {name} ({time}{attempt}){reason}", MUTED)]
        lines = [StyledLine(f"failed {name} ({time}{attempt}): {performed.reason or performed.cause}", BAD)]
        lines += [StyledLine(f"    {output_line}", MUTED) for output_line in self._output_lines.get(step, ())]
        return lines + ([StyledLine(f"  transcript: {performed.transcript}")] if performed.transcript else [])

    def _service_ended(self, fields: dict[str, Any]) -> list[StyledLine]:
        name, ended = self.step_name(fields["step"]), attempt_result_from_entry(fields)
        time = format_duration(ended.seconds) if ended.seconds else "duration unknown"
        changes_text = format_changes(ended.changes, ended.folders)
        changes_text = f": {changes_text}" if changes_text else ""
        if ended.ok:
            return [StyledLine(f"stopped the service {name} ({time}){changes_text}", MUTED)]
        lines = [StyledLine(f"the service {name} ended ({time}): {ended.reason}", BAD)]
        return [*lines, StyledLine(f"  its output: {ended.transcript}")]

    def _retaken(self, fields: dict[str, Any]) -> list[StyledLine]:
        """Name the kept contents of undeclared files, so that the work of other programs can be found again."""
        changes = [change_from_json(change_data) for change_data in fields["changes"]]
        kept_changes = [
            change for change in changes if change.after.kind == FILE and change.after.sha256 and not change.declared
        ]
        lines = [
            StyledLine(f"  backed up: {change.path}: {change.after.sha256}", MUTED)
            for change in kept_changes[:_MAX_LINES_SHOWN]
        ]
        if more := len(kept_changes[_MAX_LINES_SHOWN:]):
            lines.append(StyledLine(f"  backed up {more} more: see the journal", MUTED))
        if changes:
            return [StyledLine(f"  reverted: {format_paths([change.path for change in changes])}"), *lines]
        return []

    def _answered(self, fields: dict[str, Any]) -> list[StyledLine]:
        if fields["answer"] == GO and fields["how"] == "resume" and is_answered_by_resume(fields["why"]):
            return []  # `resumed the run` says it
        about = f" for {self.step_name(fields['step'])}" if fields["step"] else ""
        return [StyledLine(f"answered{about}: {fields['answer']}")]

    def _rollback(self, fields: dict[str, Any]) -> list[StyledLine]:
        """List all actions of a rollback before it begins."""
        why = f" because {format_rollback_cause(fields['automatic'])}" if fields["automatic"] else ""
        lines = [f"rolling back {format_count(len(fields['steps']), 'step')}{why}: {', '.join(fields['steps'])}"]
        changes = map(change_from_json, fields["changes"])
        files = [f"  {'remove' if change.before.kind == ABSENT else 'restore'} {change.path}" for change in changes]
        lines += truncate_lines(files + [f"  remove {directory}" for directory in fields["folders"]])
        lines += format_irreversible("can't be reverted", fields["undone_not"])
        return [StyledLine(line) for line in lines]


def _executor_text(fields: dict[str, Any]) -> str:
    return f", with workers of {fields['executor']}" if fields.get("executor") else ""
