"""A run of which a test writes the journal: what its steps would have done stands in it, and no step is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.core.clock import now
from execplan.core.documents.document_io import document_bytes
from execplan.core.files import atomic_files
from execplan.core.project import project_state
from execplan.core.text.text_lines import digest
from execplan.execution.approvals import approval_registry, approved_plan
from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.journal.journal import Journal, RunEntry
from execplan.execution.engine.journal.journal_entries import (
    AttemptResult,
    StateChange,
    attempt_result_json,
    state_json,
)
from execplan.execution.engine.run_records.run_directories import RunPaths, next_run
from execplan.execution.engine.run_state import RunState
from execplan.execution.world import ABSENT, FILE, State

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.execution.execution_plan import ExecutionPlan
    from tests.in_process_repository import InProcessRepository

CHECKED = journal_entries.JournaledChecks("passed", "passed", 2, 2)


class ScriptedRun:
    """The entries of a run, and a course that reads them as they are written."""

    def __init__(self, document: ExecutionPlan, journal: Journal | None = None, run: str = "0001-00000000") -> None:
        self.document = document
        self.journal = journal
        self.run = run
        self.entries: list[RunEntry] = []
        self.run_state = RunState(document)

    def write(self, kind: str, **fields: Any) -> RunEntry:
        """Add an entry."""
        if self.journal is not None:
            entry = self.journal.write(kind, **fields)
        else:
            entry = RunEntry(len(self.entries) + 1, kind, f"{now():%Y-%m-%dT%H:%M:%SZ}", fields, "0" * 64)
        self.entries.append(entry)
        self.run_state.apply_entries([entry])
        return entry

    def begin(self, approval: Any = None, **overrides: Any) -> None:
        """Begin the run, under an approval where there is one."""
        states = {path: state_json(state) for path, state in approval.binding.states.items()} if approval else {}
        fields = {
            "run": self.run,
            "plan_id": self.document.plan_id,
            "revision": self.document.revision,
            "document": digest(document_bytes(self.document)),
            "approval": approval.digest if approval else "1" * 64,
            "approval_id": approval.id if approval else "2" * 32,
            "approver": "Ann",
            "how": "digest",
            "user": "ann",
            "session": None,
            "policy": "3" * 64,
            "sandbox": "",
            "jobs": 1,
            "chosen": None,
            "replays": None,
            "head": None,
            "states": states,
        }
        self.write(journal_entries.BEGUN, **{**fields, **overrides})

    def intent(self, step: str) -> int:
        """Begin an attempt of a step; its number."""
        attempt = len(self.run_state.attempts.get(step, ())) + 1
        self.write(journal_entries.INTENT, step=step, attempt=attempt, by="person", before={}, snapshot=False)
        return attempt

    def result(self, step: str, *, ok: bool = True, **performed: Any) -> None:
        """End the attempt of a step."""
        attempt = self.run_state.attempts[step][-1].number
        self.write(
            journal_entries.RESULT,
            step=step,
            attempt=attempt,
            **attempt_result_json(AttemptResult(ok=ok, checks=CHECKED, **performed)),
        )

    def complete_step(self, step: str, *changes: StateChange) -> None:
        """Do a step."""
        self.intent(step)
        self.result(step, changes=changes, exit=0, seconds=0.5, cpu_s=0.25, peak_memory_bytes=1000)

    def fail_step(self, step: str, cause: str = "exit") -> None:
        """Let a step fail; what it did is taken back."""
        attempt = self.intent(step)
        self.result(step, ok=False, cause=cause, reason="exit 2", exit=2, seconds=0.5)
        self.write(journal_entries.RETAKEN, step=step, attempt=attempt, changes=[])

    def end(self, status: str, cause: str = "") -> None:
        """End the run."""
        self.write(journal_entries.ENDED, status=status, cause=cause, reason="", seconds=1.5)


def created_file(path: str, lines: int = 1) -> StateChange:
    """A file that was made."""
    return StateChange(path, State(ABSENT), State(FILE, "a" * 64, 0o644, size=10), added=lines)


def begin_scripted_run(desk: InProcessRepository) -> tuple[ScriptedRun, RunPaths]:
    """A run in the home of a desk, with the approval and the document that it would have; its journal is open."""
    desk.approve()
    project, ref = desk.project()
    plan = approved_plan.require_approved_plan(project, ref)
    run_paths = next_run(project, ref)
    approval_registry.mark_used(project, plan.approval.id, run_paths.id)
    atomic_files.make_directory(run_paths.folder)
    project_state.make_state_dir(project, "runs")
    atomic_files.make_directory(run_paths.state)
    atomic_files.create(run_paths.document, plan.candidate.current_plan.data)
    scripted_run = ScriptedRun(plan.candidate.current_plan.document, Journal(run_paths.journal), run_paths.id)
    scripted_run.begin(plan.approval)
    return scripted_run, run_paths


def make_file(desk: InProcessRepository, path: str, text: str) -> StateChange:
    """Make a file as a step would have."""
    file: Path = desk.write(path, text)
    file.chmod(0o644)
    data = text.encode()
    return StateChange(path, State(ABSENT), State(FILE, digest(data), 0o644, size=len(data)), added=text.count("\n"))
