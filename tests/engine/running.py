"""A repository whose plan is approved and run within the test's own process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.edits.plan_writer import WriteOptions
from execplan.engine.journal import journal
from execplan.engine.replanning.run_revisions import load_document
from execplan.engine.resume import resume
from execplan.engine.run import run
from execplan.engine.run_observer import RunObserver, RunOptions
from execplan.engine.run_records import run_directories
from execplan.engine.run_state import RunState
from tests.repo.approving import NAME, Desk

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from execplan.engine.journal.journal import Entry
    from execplan.engine.run_observer import FinishedRun
    from execplan.engine.run_records.run_directories import RunPaths

_HEAD = """\
# Build the parser

## Progress

- [ ] Build the parser.
- [ ] Write it down.

## Concrete Steps
"""


def steps(*fences: str) -> str:
    """A plan with these steps."""
    return "\n".join([_HEAD, *[f"{each}\n" for each in fences]])


class Bench(Desk):
    """It approves and runs."""

    name = NAME

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(path, patch)
        patch.setenv("PATH", f"{self.env['PATH']}")

    def approved(self, content: str) -> None:
        """Let the plan be this, and approve it."""
        self.plan(content)
        self.approve()

    def go(self, watch: RunObserver | None = None, *, commit: bool = False, **chosen: Any) -> FinishedRun:
        """Run it."""
        project, ref = self.project()
        return run(project, ref, RunOptions(**chosen), watch or RunObserver(), WriteOptions(commit))

    def on(self, answer: str | None = None, watch: RunObserver | None = None, **more: Any) -> FinishedRun:
        """Resume the last run."""
        project, ref = self.project()
        return resume(project, ref, self.last(), answer, watch or RunObserver(), WriteOptions(commit=False), **more)

    def own(self, terms: str) -> None:
        """Let the user's own settings say this of the execution; behind that it must be approved."""
        folder = self.path.parent / ".config" / "execplan"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(f"[execution]\n{terms}\n")

    def runs(self) -> list[RunPaths]:
        """The places of all runs."""
        return run_directories.list_runs(*self.project())

    def last(self) -> RunPaths:
        """The place of the last run."""
        return run_directories.find_run(*self.project(), None)

    def entries(self) -> list[Entry]:
        """What its journal says."""
        return journal.read_journal(self.last().journal)

    def told(self) -> list[str]:
        """The same, in short."""
        return [" ".join(filter(None, [each.kind, each.fields.get("step")])) for each in self.entries()]

    def course(self) -> RunState:
        """How far it has come."""
        entries = self.entries()
        return RunState(load_document(self.last(), entries), entries)

    def text(self, name: str) -> str:
        """What a file holds."""
        return (self.path / name).read_text()

    def there(self, name: str) -> bool:
        """Whether something is there."""
        return (self.path / name).exists()
