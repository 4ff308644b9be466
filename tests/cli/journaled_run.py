"""Runs as their journals tell them, written by hand: what verbs say of a run without one having to be run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan.core.text.text_lines import digest
from execplan.execution.approvals.current_plan import load_current_plan
from execplan.execution.engine.journal.journal import Journal, RunEntry
from execplan.execution.engine.journal.journal_entries import (
    AttemptResult,
    JournaledChecks,
    StateChange,
    attempt_result_json,
)
from execplan.execution.engine.run_records import run_directories
from execplan.execution.world import ABSENT, FILE, State

if TYPE_CHECKING:
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from tests.in_process_repository import InProcessRepository

ABSENT_STATE = State(ABSENT)
CREATED_FILE = StateChange("src/made.py", ABSENT_STATE, State(FILE, "a" * 64, 0o644, "", 6), added=1)
OK = AttemptResult(ok=True, seconds=0.25, checks=JournaledChecks(pre="passed"))
FAILED = AttemptResult(ok=False, cause="exit", reason="exit 1, not 0", exit=1, seconds=1.5, transcript="runs/build.md")
USER_FIELDS: dict[str, Any] = {"user": "ann", "session": None}
APPROVED: dict[str, Any] = {"approval": "b" * 64, "approval_id": "x", "approver": "Ann", "how": "terminal"}


def entry(kind: str, number: int = 1, **fields: Any) -> RunEntry:
    """An entry as a watch is told it."""
    return RunEntry(number, kind, "2026-01-01T00:00:00Z", fields, "")


def result(step: str, performed: AttemptResult, attempt: int = 1) -> dict[str, Any]:
    """What a result says."""
    return {"step": step, "attempt": attempt, **attempt_result_json(performed)}


def intent(step: str, attempt: int = 1) -> dict[str, Any]:
    """What an intent says."""
    return {"step": step, "attempt": attempt, "by": "person", "before": {}, "snapshot": False}


class JournaledRun:
    """A run of the plan on a desk, whose journal is written entry by entry."""

    def __init__(self, desk: InProcessRepository, **fields: Any) -> None:
        project, ref = desk.project()
        current_plan = load_current_plan(project, ref)
        self.paths: RunPaths = run_directories.next_run(project, ref)
        os.makedirs(self.paths.folder)
        with open(self.paths.document, "wb") as file:
            file.write(current_plan.data)
        begun = {
            "plan_id": ref.id,
            "revision": 1,
            "document": digest(current_plan.data),
            "policy": "c" * 64,
            "sandbox": "bwrap",
        }
        defaults: dict[str, Any] = {"jobs": 1, "chosen": None, "replays": None, "head": None, "states": {}}
        self.write("begun", run=self.paths.id, **begun, **defaults, **APPROVED, **USER_FIELDS, **fields)

    def write(self, kind: str, **fields: Any) -> None:
        """Add an entry."""
        with Journal(self.paths.journal) as journal:
            journal.write(kind, **fields)

    def step(self, name: str, performed: AttemptResult) -> None:
        """Add an attempt of a step."""
        self.write("intent", **intent(name))
        self.write("result", **result(name, performed))
