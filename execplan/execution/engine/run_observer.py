"""Observers of a run, which are notified of each entry once it is on disk and may answer questions; results of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from execplan.core.named_tuple import NamedTuple
from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.run_state import Question


class RunObserver:
    """An observer that shows nothing and answers nothing; base class of the command line's observers."""

    stop_rolls_back = False
    """Whether a run that a person stops at a question is rolled back. The run sets it when a session starts."""

    def warn(self, warning: str) -> bool:
        """Show a warning before steps run. Return False if it cannot be shown and must be part of the result."""
        return False

    def begin(self, run: str, steps: Sequence[Any]) -> None:
        """Handle the start of a run; `steps` are the steps (of the model) that it is about to run."""

    def entry(self, entry: RunEntry) -> None:
        """Handle an entry that is already on disk; called from the thread that writes entries."""

    def line(self, step: str, text: str, *, error: bool) -> None:
        """Handle a line of a step's output, redacted and escaped; called from the step's own thread."""

    def ask(self, question: Question) -> str | None:
        """Return the answer to a question, one of `ANSWERS`, or None if no one can be asked: then the run is paused."""
        return None


class RunOptions(NamedTuple):
    """Options for which steps of a plan run, and how."""

    steps: tuple[str, ...] = ()
    """IDs of the steps to run; empty for all of them."""
    begin: str = ""
    """ID of the first step to run; empty for the first one of the plan."""
    jobs: int | None = None
    """Number of steps that may run at the same time; None for one, or with an executor as many as its workers take."""
    seconds: int | None = None
    """Time limit of the whole run in seconds; a lower limit of the policy takes precedence."""
    replays: str = ""
    """The run to replay, whose document and inputs must be the same."""
    executor: str = ""
    """Where commands may run: empty for here, `dask`, or `dask://HOST:PORT`."""
    done_before: tuple[str, ...] = ()
    """IDs of the steps that earlier jobs of an exported plan have done."""


class FinishedRun(NamedTuple):
    """The result of a run, or of one session of it."""

    run: str
    status: str
    """Status of the run, as in states.py; `in_progress` if it is paused or was interrupted."""
    question: Question | None = None
    """The question that the run waits for."""
    signal: str = ""
    """Signal that interrupted the run: SIGINT, SIGTERM or SIGHUP."""
    cause: str = ""
    """Cause of a failure: one of `ROLLBACK_CAUSES` in policy.py, or `drift`."""
    reason: str = ""
    rolled_back: RollbackResult | None = None
    differences: tuple[str, ...] = ()
    """Differences from the replayed run, one per line."""
    warnings: tuple[str, ...] = ()
    commit: str | None = None
    continues: bool = False
    """Whether the run continues at once, with a revision that an approval covers."""


class RollbackResult(NamedTuple):
    """The result of a rollback, or its preview."""

    run: str
    steps: tuple[str, ...]
    restored: tuple[str, ...]
    """Paths whose content, mode or link is restored."""
    removed: tuple[str, ...]
    """Removed paths that the run had created, including directories."""
    reopened: tuple[str, ...]
    """Texts of the tasks that were reopened."""
    backups: tuple[str, ...]
    """Overwritten files, one per line: the path, and the gzip-compressed backup of its content."""
    irreversible: tuple[str, ...]
    """Effects that cannot be undone, one per line."""
    is_whole_run: bool
    """Whether the whole run is rolled back, rather than some of its steps."""
    warnings: tuple[str, ...] = ()
    commit: str | None = None
