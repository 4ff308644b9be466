"""What the ledger says of an entry of a journal: what somebody has to know who reads it in a year."""

from __future__ import annotations

import json
import os

from execplan.engine.commands.command_environment import public_variables
from execplan.engine.journal import journal_entries
from execplan.engine.replanning.run_revisions import numbered_path
from execplan.errors import ExecplanError
from execplan.execution.world import ABSENT
from execplan.files import file_access
from execplan.secrets.redaction import Redactor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from execplan.engine.journal.journal import Entry

_OMITTED_FIELDS = {
    journal_entries.BEGUN: ("states",),
    journal_entries.INTENT: ("before", "snapshot"),
}
"""What stays in the journal: all that an approval names, and what there was before, which the result tells again."""
_RECORD_FIELDS = ("run", "plan_id", "user", "session")
"""What every record has a place for."""
_STEP_FIELDS = ("type", "tool", "target", "argv", "shell", "command", "cwd", "network", "inferred")
_DOCUMENT_KINDS = (journal_entries.BEGUN, journal_entries.RESUMED, journal_entries.REPLANNED)
"""Behind them another document may be run."""
_UNREDACTED_FIELDS = frozenset(
    "approval approved_at covered_by digest document expires_at file head how inferred max_risk policy received revision sent steps".split()
)
"""What no person has written: digests and ids stay as they are, even where a variable of a CI job has the same value."""
_LIMIT = 64 << 20


class StepDetails:
    """What the steps of runs are to do, from the documents that lie with them."""

    def __init__(self) -> None:
        self._steps: dict[str, dict[str, Any]] = {}
        self._document_path = ""

    def for_entry(self, entry: Entry, document: str) -> dict[str, Any]:
        """What the step of an entry is to do, in few words; nothing where its document can't be read."""
        if entry.kind in _DOCUMENT_KINDS or self._document_path != document:
            revision_path = numbered_path(document, entry.fields.get("revision", 0))
            self._steps, self._document_path = _load_steps(revision_path) or _load_steps(document), document
        step = self._steps.get(entry.fields.get("step", ""), {}) if entry.kind == journal_entries.INTENT else {}
        fields = {name: step[name] for name in _STEP_FIELDS if step.get(name)}
        if "argv" in fields:
            fields.pop("command", None)
        return redact_details(fields)


def redact_details(details: dict[str, Any]) -> dict[str, Any]:
    """What is said, without secrets."""
    redaction = Redactor(os.environ, public_variables(os.environ))
    return {
        name: value if name in _UNREDACTED_FIELDS else redaction.redact_value(value) for name, value in details.items()
    }


def entry_details(entry: Entry) -> dict[str, Any]:
    """What an entry says, without what every record says and what stays in the journal."""
    omitted = (*_RECORD_FIELDS, *_OMITTED_FIELDS.get(entry.kind, ()))
    details = {name: value for name, value in entry.fields.items() if name not in omitted}
    if "changes" in details:
        details["changes"] = [_change_json(change) for change in details["changes"]]
    return details


def _change_json(change: dict[str, Any]) -> dict[str, Any]:
    """What became of a path, with the digests before and after."""
    return {**change, "before": _state_json(change["before"]), "after": _state_json(change["after"])}


def _state_json(raw_state: list[Any]) -> dict[str, Any] | None:
    """What was at a path, or nothing where there was none."""
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


def _load_steps(path: str) -> dict[str, dict[str, Any]]:
    try:
        document = json.loads(file_access.read(path, _LIMIT)[0])
        return {step["id"]: step for step in document["steps"]}
    except (ExecplanError, ValueError, KeyError, TypeError, RecursionError):
        return {}
