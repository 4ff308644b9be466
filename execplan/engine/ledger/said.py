"""What the ledger says of an entry of a journal: what somebody has to know who reads it in a year."""

from __future__ import annotations

import json
import os

from execplan.engine import entries as kinds
from execplan.engine.commands.environment import open_names
from execplan.engine.revisions import beside
from execplan.errors import ExecplanError
from execplan.execution.world import ABSENT
from execplan.text import disk
from execplan.text.redaction import Redaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from execplan.engine.journal import Entry

_LEFT = {
    kinds.BEGUN: ("states",),
    kinds.INTENT: ("before", "snapshot"),
}
"""What stays in the journal: all that an approval names, and what there was before, which the result tells again."""
_OWN = ("run", "plan_id", "user", "session")
"""What every record has a place for."""
_STEP = ("type", "tool", "target", "argv", "shell", "command", "cwd", "network", "inferred")
_NEW = (kinds.BEGUN, kinds.RESUMED, kinds.REPLANNED)
"""Behind them another document may be run."""
_PLAIN = frozenset(
    "approval approved_at covered_by digest document expires_at file head how inferred max_risk policy received revision sent steps".split()
)
"""What no person has written: digests and ids stay as they are, even where a variable of a CI job has the same value."""
_LIMIT = 64 << 20


class Steps:
    """What the steps of runs are to do, from the documents that lie with them."""

    def __init__(self) -> None:
        self._steps: dict[str, dict[str, Any]] = {}
        self._read = ""

    def about(self, entry: Entry, document: str) -> dict[str, Any]:
        """What the step of an entry is to do, in few words; nothing where its document can't be read."""
        if entry.kind in _NEW or self._read != document:
            later = beside(document, entry.said.get("revision", 0))
            self._steps, self._read = _steps(later) or _steps(document), document
        step = self._steps.get(entry.said.get("step", ""), {}) if entry.kind == kinds.INTENT else {}
        told = {name: step[name] for name in _STEP if step.get(name)}
        if "argv" in told:
            told.pop("command", None)
        return clean(told)


def clean(told: dict[str, Any]) -> dict[str, Any]:
    """What is said, without secrets."""
    redaction = Redaction(os.environ, open_names(os.environ))
    return {name: value if name in _PLAIN else redaction.value(value) for name, value in told.items()}


def of(entry: Entry) -> dict[str, Any]:
    """What an entry says, without what every record says and what stays in the journal."""
    left = (*_OWN, *_LEFT.get(entry.kind, ()))
    told = {name: value for name, value in entry.said.items() if name not in left}
    if "changes" in told:
        told["changes"] = [_change(each) for each in told["changes"]]
    return told


def _change(said: dict[str, Any]) -> dict[str, Any]:
    """What became of a path, with the digests before and after."""
    return {**said, "before": _state(said["before"]), "after": _state(said["after"])}


def _state(said: list[Any]) -> dict[str, Any] | None:
    """What was at a path, or nothing where there was none."""
    at = kinds.state_from(said)
    if at.kind == ABSENT:
        return None
    told = {"kind": at.kind, "sha256": at.sha256, "mode": f"{at.mode:04o}" if at.mode else "", "link": at.link}
    return {name: value for name, value in told.items() if value}


def _steps(path: str) -> dict[str, dict[str, Any]]:
    try:
        document = json.loads(disk.read(path, _LIMIT)[0])
        return {step["id"]: step for step in document["steps"]}
    except (ExecplanError, ValueError, KeyError, TypeError, RecursionError):
        return {}
