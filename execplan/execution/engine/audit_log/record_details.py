"""The details of journal entries in the audit log: what a reader needs to know a year later."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from execplan.core.errors import ExecplanError
from execplan.core.secrets.redaction import Redactor
from execplan.core.text import fast_json
from execplan.execution.engine.audit_log.hash_chain import AuditRecord
from execplan.execution.engine.commands.command_environment import public_variables
from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.journal.journal_entries import BEGUN, CALLED, DENIED, RESULT
from execplan.execution.engine.replanning.run_revisions import document_name
from execplan.execution.engine.run_records import evidence_copies
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.world import ABSENT

_OMITTED_FIELDS = {
    journal_entries.BEGUN: ("states",),
    journal_entries.INTENT: ("before", "snapshot"),
}
"""Fields that stay in the journal: all that an approval names, and previous states, which the result repeats."""
_RECORD_FIELDS = ("run", "plan_id", "user", "session")
"""Fields that every record already has."""
_STEP_FIELDS = (
    "type",
    "tool",
    "from",
    "target",
    "replacement",
    "argv",
    "shell",
    "command",
    "cwd",
    "network",
    "inferred",
)
_DOCUMENT_KINDS = (journal_entries.BEGUN, journal_entries.RESUMED, journal_entries.REPLANNED)
"""Kinds of entries after which another document may run."""
_UNREDACTED_FIELDS = frozenset(
    "approval approved_at covered_by digest document executor expires_at file head how inferred max_risk policy received revision sent steps".split()
)
"""Fields not written by a person: digests and IDs stay unredacted, even if a CI variable has the same value."""


def find_unseen_steps(records: Sequence[AuditRecord], *, is_guarded: bool) -> list[str]:
    """Return the steps, each with its run, for runs of agents in a guarded repository, or with other recorded calls.

    The records may have been altered, so their fields can have any type.
    """
    agent_runs = {record.run for record in records if record.kind == BEGUN and record.said.get("mode") == "agent"}
    guarded_runs = {record.run for record in records if record.kind in (CALLED, DENIED)}
    called_attempts = {_attempt(record) for record in records if record.kind == CALLED}
    return [
        f"{record.said.get('step')} of run {record.run}"
        for record in records
        if record.kind == RESULT and record.said.get("ok") and record.run in agent_runs
        if (is_guarded or record.run in guarded_runs) and _attempt(record) not in called_attempts
    ]


def _attempt(record: AuditRecord) -> tuple[str | None, str, str]:
    return record.run, str(record.said.get("step")), str(record.said.get("attempt"))


class StepDetails:
    """The definitions of run steps, read from the documents stored with the runs."""

    def __init__(self) -> None:
        self._redaction: Redactor | None = None
        self._steps: dict[str, dict[str, Any]] = {}
        self._run = ""

    def for_entry(self, entry: RunEntry, run_paths: RunPaths) -> dict[str, Any]:
        """Return a short definition of an entry's step; empty if its document cannot be read."""
        if entry.kind in _DOCUMENT_KINDS or self._run != run_paths.id:
            revision = entry.fields.get("revision", 0)
            self._steps, self._run = _load_steps(run_paths, revision) or _load_steps(run_paths, 0), run_paths.id
            self._redaction = Redactor(os.environ, public_variables(os.environ))
        step = self._steps.get(entry.fields.get("step", ""), {}) if entry.kind == journal_entries.INTENT else {}
        fields = {name: step[name] for name in _STEP_FIELDS if step.get(name)}
        if "argv" in fields:
            fields.pop("command", None)
        return redact_details(fields, self._redaction)


def redact_details(details: dict[str, Any], redaction: Redactor | None = None) -> dict[str, Any]:
    """Return the details without secrets, also without those of the environment."""
    redaction = redaction or Redactor(os.environ, public_variables(os.environ))
    return {
        name: value if name in _UNREDACTED_FIELDS else redaction.redact_value(value) for name, value in details.items()
    }


def entry_details(entry: RunEntry) -> dict[str, Any]:
    """Return the details of an entry, without the fields of every record and those that stay in the journal."""
    omitted = (*_RECORD_FIELDS, *_OMITTED_FIELDS.get(entry.kind, ()))
    details = {name: value for name, value in entry.fields.items() if name not in omitted}
    if "changes" in details:
        details["changes"] = [_change_json(change) for change in details["changes"]]
    return details


def _change_json(change: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON form of a path's change, with the digests before and after."""
    return {**change, "before": _state_json(change["before"]), "after": _state_json(change["after"])}


def _state_json(raw_state: list[Any]) -> dict[str, Any] | None:
    """Return the JSON form of a path's state; None if the path was absent."""
    state = journal_entries.state_from_json(raw_state)
    if state.kind == ABSENT:
        return None
    fields = {
        "kind": state.kind,
        "sha256": state.sha256,
        "mode": f"{state.mode:04o}" if state.mode else "",
        "link": state.link,
    }
    return {name: value for name, value in fields.items() if value}


def _load_steps(run_paths: RunPaths, revision: int) -> dict[str, dict[str, Any]]:
    try:
        document = fast_json.read(evidence_copies.read_document(run_paths, document_name(revision)).decode())
        return {step["id"]: step for step in document["steps"]}
    except (ExecplanError, ValueError, KeyError, TypeError, RecursionError):
        return {}
