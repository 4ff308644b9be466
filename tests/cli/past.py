"""Runs as their journals tell them, written by hand: what verbs say of a run without one having to be run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan.approvals.current_plan import load_current_plan
from execplan.engine.journal.journal import Entry, Journal
from execplan.engine.journal.journal_entries import AttemptResult, Change, Checks, attempt_result_json
from execplan.engine.run_records import run_directories
from execplan.execution.world import ABSENT, FILE, State
from execplan.text.text_lines import digest

if TYPE_CHECKING:
    from execplan.engine.run_records.run_directories import RunPaths
    from tests.repo.approving import Desk

GONE = State(ABSENT)
MADE = Change("src/made.py", GONE, State(FILE, "a" * 64, 0o644, "", 6), added=1)
OK = AttemptResult(ok=True, seconds=0.25, checks=Checks(pre="passed"))
FAILED = AttemptResult(ok=False, cause="exit", reason="exit 1, not 0", exit=1, seconds=1.5, transcript="runs/build.md")
SAID: dict[str, Any] = {"user": "ann", "session": None}
APPROVED: dict[str, Any] = {"approval": "b" * 64, "approval_id": "x", "approver": "Ann", "how": "terminal"}


def entry(kind: str, number: int = 1, **said: Any) -> Entry:
    """An entry as a watch is told it."""
    return Entry(number, kind, "2026-01-01T00:00:00Z", said, "")


def result(step: str, performed: AttemptResult, attempt: int = 1) -> dict[str, Any]:
    """What a result says."""
    return {"step": step, "attempt": attempt, **attempt_result_json(performed)}


def intent(step: str, attempt: int = 1) -> dict[str, Any]:
    """What an intent says."""
    return {"step": step, "attempt": attempt, "by": "person", "before": {}, "snapshot": False}


class Past:
    """A run of the plan on a desk, whose journal is written entry by entry."""

    def __init__(self, desk: Desk, **told: Any) -> None:
        project, ref = desk.project()
        found = load_current_plan(project, ref)
        self.place: RunPaths = run_directories.next_run(project, ref)
        os.makedirs(self.place.folder)
        with open(self.place.document, "wb") as file:
            file.write(found.data)
        begun = {
            "plan_id": ref.id,
            "revision": 1,
            "document": digest(found.data),
            "policy": "c" * 64,
            "sandbox": "bwrap",
        }
        more: dict[str, Any] = {"jobs": 1, "chosen": None, "replays": None, "head": None, "states": {}}
        self.write("begun", run=self.place.id, **begun, **more, **APPROVED, **SAID, **told)

    def write(self, kind: str, **said: Any) -> None:
        """Add an entry."""
        with Journal(self.place.journal) as journal:
            journal.write(kind, **said)

    def step(self, name: str, performed: AttemptResult) -> None:
        """Add an attempt of a step."""
        self.write("intent", **intent(name))
        self.write("result", **result(name, performed))
