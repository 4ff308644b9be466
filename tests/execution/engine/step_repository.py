"""A repository in which single steps of a plan are done, as a run does them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from execplan.core.plan.reader import read
from execplan.core.plan_store import plan_selection
from execplan.execution.approvals.disk_world import DiskWorld
from execplan.execution.binding import bind
from execplan.execution.compile import compile_plan
from execplan.execution.engine.journal.journal_entries import AttemptResult
from execplan.execution.engine.run_records.run_directories import RunPaths, next_run
from execplan.execution.engine.steps.run_context import RunContext
from execplan.execution.engine.steps.step_execution import PreparedStep, perform_step, prepare_step
from execplan.execution.execution_plan import ExecutionPlan, Step
from execplan.execution.found_files import with_found_files
from execplan.execution.policy import Policy
from execplan.execution.world import State
from tests.conftest import Folder

HEAD = "# Build the parser\n\n## Progress\n\n- [ ] Build the parser.\n\n## Concrete Steps\n\n"


def compile_steps(steps: str, plan_id: str = "parser") -> ExecutionPlan:
    """What fences compile to."""
    document = compile_plan(read((HEAD + steps).encode()), plan_id, f".agent/execplans/{plan_id}.md").document
    assert document is not None
    return document


class StepRepository:
    """A repository, its plan, and what its steps are done with."""

    def __init__(self, repo: Folder, steps: str, **policy: Any) -> None:
        from execplan.core.secrets.redaction import Redactor
        from execplan.execution.engine.commands.stop_signal import StopSignal
        from execplan.execution.engine.run_observer import RunObserver
        from execplan.execution.engine.workspace.backup_store import BackupStore
        from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles

        self.repo = repo
        repo.plan(HEAD + steps, "parser")
        project, ref = plan_selection.select_plan(str(repo.path), "parser")
        self.document = with_found_files(compile_steps(steps), DiskWorld(project))
        run_paths: RunPaths = next_run(project, ref)
        os.makedirs(run_paths.folder)
        os.makedirs(run_paths.state)
        self.policy = Policy(sandbox="off")._replace(**policy)
        self.context = RunContext(
            run_paths, self.document, self.policy, WorkspaceFiles(project), BackupStore(project), None,
            Redactor(os.environ, set(os.environ)), StopSignal(), RunObserver(), time.monotonic() + 600,
        )  # fmt: skip
        self.expected: dict[str, State] = bind(b"", self.document, DiskWorld(project), self.policy).states

    def step(self, name: str) -> Step:
        """A step by its id."""
        return next(step for step in self.document.steps if step.id == name)

    def prepare(self, name: str) -> PreparedStep:
        """What a run does before a step."""
        return prepare_step(self.context, self.step(name), self.expected)

    def perform(self, name: str, attempt: int = 1) -> AttemptResult:
        """An attempt of a step, of which the next ones know."""
        performed = perform_step(self.context, self.step(name), attempt, self.prepare(name))
        self.expected |= {change.path: change.after for change in performed.changes}
        self.expected |= {folder: self.context.workspace.state(folder) for folder in performed.folders}
        return performed

    def path(self, name: str) -> Path:
        """A path of the repository."""
        return self.repo.path / name

    def transcript(self, performed: AttemptResult) -> str:
        """What a step printed."""
        return self.path(performed.transcript).read_text(encoding="utf-8")
