"""Who looks on while a run goes on: told each entry once it is on disk, and asked where somebody can be asked."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from execplan.engine.journal.journal import Entry
    from execplan.engine.run_state import Question


class RunObserver:
    """One who sees nothing and answers nothing; those of the command line are its heirs."""

    def warn(self, warning: str) -> bool:
        """Show a warning before anything is run; False where it can't be shown, so that it belongs to the result."""
        return False

    def begin(self, run: str, steps: Sequence[Any]) -> None:
        """The run and the steps (of the model) that it is about to begin with."""

    def entry(self, entry: Entry) -> None:
        """An entry that is on disk by now; called from the thread that writes them."""

    def line(self, step: str, text: str, *, error: bool) -> None:
        """A line that a step has printed, redacted and escaped; called from the step's own thread."""

    def ask(self, question: Question) -> str | None:
        """The answer to a question, one of ANSWERS; None where nobody can be asked, and the run is paused."""
        return None


class RunOptions(NamedTuple):
    """What of a plan is run, and how."""

    steps: tuple[str, ...] = ()
    """Ids; none: all of them."""
    begin: str = ""
    """The id of the first step that is run; nothing: the first one."""
    jobs: int = 1
    seconds: int | None = None
    """For the whole run; the policy's where that is less."""
    replays: str = ""
    """The run whose document and inputs it is to have."""


class FinishedRun(NamedTuple):
    """How a run, or a part of it, ended."""

    run: str
    status: str
    """Of the run, as states.py has them; in_progress where it is paused or was interrupted."""
    question: Question | None = None
    """What it waits for."""
    signal: str = ""
    """What interrupted it: SIGINT, SIGTERM or SIGHUP."""
    cause: str = ""
    """Why it failed, one of CAUSES of policy.py, or drift."""
    reason: str = ""
    rolled_back: RollbackResult | None = None
    differences: tuple[str, ...] = ()
    """From the run that was replayed, a line each."""
    warnings: tuple[str, ...] = ()
    commit: str | None = None
    goes_on: bool = False
    """Whether the run goes on at once, with a revision that an approval covers."""


class RollbackResult(NamedTuple):
    """What a rollback has done, or would do."""

    run: str
    steps: tuple[str, ...]
    restored: tuple[str, ...]
    """Paths that have their bytes, modes and links again."""
    removed: tuple[str, ...]
    """Paths that the run had made, folders too."""
    reopened: tuple[str, ...]
    """The words of tasks."""
    kept: tuple[str, ...]
    """What was displaced, a line each: its path, and the backup that has it, compressed by gzip."""
    left: tuple[str, ...]
    """What can't be taken back, a line each."""
    whole: bool
    warnings: tuple[str, ...] = ()
    commit: str | None = None
