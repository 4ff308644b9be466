"""A repository whose plan is approved and run within the test's own process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.core.edits.plan_writer import WriteOptions
from execplan.execution.engine.journal import journal
from execplan.execution.engine.replanning.run_revisions import load_document
from execplan.execution.engine.resume import resume
from execplan.execution.engine.run import run
from execplan.execution.engine.run_observer import RunObserver, RunOptions
from execplan.execution.engine.run_records import run_directories
from execplan.execution.engine.run_state import RunState
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from execplan.execution.engine.journal.journal import RunEntry
    from execplan.execution.engine.run_observer import FinishedRun
    from execplan.execution.engine.run_records.run_directories import RunPaths

_HEAD = """\
# Build the parser

## Progress

- [ ] Build the parser.
- [ ] Write it down.

## Concrete Steps
"""


def steps(*fences: str) -> str:
    """A plan with these steps."""
    return "\n".join([_HEAD, *[f"{fence}\n" for fence in fences]])


class RunRepository(InProcessRepository):
    """It approves and runs."""

    name = NAME

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(path, patch)
        patch.setenv("PATH", f"{self.env['PATH']}")

    def approve_plan(self, content: str) -> None:
        """Let the plan be this, and approve it."""
        self.plan(content)
        self.approve()

    def run_plan(self, observer: RunObserver | None = None, *, commit: bool = False, **chosen: Any) -> FinishedRun:
        """Run it."""
        project, ref = self.project()
        return run(project, ref, RunOptions(**chosen), observer or RunObserver(), WriteOptions(commit))

    def resume_run(self, answer: str | None = None, watch: RunObserver | None = None, **options: Any) -> FinishedRun:
        """Resume the last run."""
        return resume(self.last_run(), answer, watch or RunObserver(), WriteOptions(commit=False), **options)

    def write_user_settings(self, terms: str) -> None:
        """Let the user's own settings say this of the execution; behind that it must be approved."""
        folder = self.path.parent / ".config" / "execplan"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(f"[execution]\n{terms}\n")

    def runs(self) -> list[RunPaths]:
        """The places of all runs."""
        return run_directories.list_runs(*self.project())

    def last_run(self) -> RunPaths:
        """The place of the last run."""
        return run_directories.find_run(*self.project(), None)

    def entries(self) -> list[RunEntry]:
        """What its journal says."""
        return journal.read_journal(self.last_run().journal)

    def entry_names(self) -> list[str]:
        """The same, in short."""
        return [" ".join(filter(None, [entry.kind, entry.fields.get("step")])) for entry in self.entries()]

    def run_state(self) -> RunState:
        """How far it has come."""
        entries = self.entries()
        return RunState(load_document(self.last_run(), entries), entries)

    def text(self, name: str) -> str:
        """What a file holds."""
        return (self.path / name).read_text()

    def exists(self, name: str) -> bool:
        """Whether something is there."""
        return (self.path / name).exists()
