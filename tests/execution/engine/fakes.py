"""A run without a disk: hands that do what they are told, a journal in memory, and somebody who answers."""

from __future__ import annotations

import threading
from math import inf
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from execplan.core.files.sync_group import UnsyncedFiles
from execplan.core.project.project import Project
from execplan.core.project.project_settings import Settings
from execplan.execution.engine.attempt_pool import AttemptPool
from execplan.execution.engine.commands.stop_signal import SignalHandlers
from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.journal.journal_entries import AttemptResult, attempt_result_from_entry
from execplan.execution.engine.journal.journal_writer import JournalWriter
from execplan.execution.engine.run_loop import RunLoop
from execplan.execution.engine.run_observer import RunObserver
from execplan.execution.engine.run_questions import Prompter
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_state import RunState
from execplan.execution.engine.schedule import Schedule
from execplan.execution.engine.step_executor import StepExecutor
from execplan.execution.engine.step_permission import issue_permit
from execplan.execution.permission import ApprovalTerms
from execplan.execution.policy import Policy
from tests.execution.engine.execution_plans import BEGUN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from execplan.execution.engine.run_state import Question
    from execplan.execution.engine.stop_reasons import StopReason
    from execplan.execution.execution_plan import ExecutionPlan, Step


PROJECT = Project("/nowhere", "/nowhere", None, Settings(), exists=False)


def run_paths_in(folder: str, run: str = "0001-00000000", project: Project = PROJECT) -> RunPaths:
    """Return the paths of a run that has all its files in one directory."""
    return RunPaths(run, folder, folder, project, "plan", "/nowhere/plan.md")


class MemoryJournal:
    """A journal in memory, which may be full."""

    def __init__(self) -> None:
        self.entries: list[RunEntry] = []
        self.unsynced = UnsyncedFiles()
        self.refuses: Callable[[str, dict[str, Any]], Exception | None] = lambda kind, fields: None

    def sync(self) -> None:
        """Nothing is on a disk."""

    def append_entry(self, kind: str, fields: dict[str, Any], *, durable: bool) -> RunEntry:
        """Add an entry."""
        error = self.refuses(kind, fields)
        if error is not None:
            raise error
        entry = RunEntry(len(self.entries) + 1, kind, "2026-01-01T00:00:00Z", fields, "")
        self.entries.append(entry)
        return entry


class FakeStopSignal:
    """What stops a run."""

    def __init__(self) -> None:
        self.event, self.signal = threading.Event(), ""

    def set(self, signal: str) -> None:
        """Stop."""
        self.signal = signal
        self.event.set()

    def is_set(self) -> bool:
        """Whether it is stopped."""
        return self.event.is_set()


class ScriptedExecutor(StepExecutor):
    """Each step does what it is told: a list of what its attempts come to, the last one again and again."""

    def __init__(self, outcomes: Mapping[str, Sequence[Any]]) -> None:
        super().__init__()
        self.outcomes = {name: list(results) for name, results in outcomes.items()}
        self.ran: list[str] = []
        self.retaken: list[tuple[str, ...]] = []
        self.running_together: list[frozenset[str]] = []
        self._running: set[str] = set()
        self._lock = threading.Lock()

    def prepare(self, context: Any, step: Step, run_state: Any) -> Any:
        """Nothing; or what is told to go wrong before."""
        errors = self.outcomes.get(f"before {step.id}")
        if errors:
            raise errors.pop(0)
        return SimpleNamespace(before={}, snapshot=False, placement=None)

    def repair(self, context: Any, journal_writer: Any) -> list[str]:
        """Nothing is ever removed."""
        return []

    def perform(self, context: Any, step: Step, attempt: int, prepared: Any) -> AttemptResult:
        """What is told."""
        with self._lock:
            self.ran.append(step.id)
            self._running.add(step.id)
            self.running_together.append(frozenset(self._running))
            results = self.outcomes.get(step.id, [AttemptResult(True)])
            outcome = results.pop(0) if len(results) > 1 else results[0]
        try:
            if callable(outcome):
                outcome = outcome(context)
            if isinstance(outcome, BaseException):
                raise outcome
            assert isinstance(outcome, AttemptResult)
            return outcome
        finally:
            with self._lock:
                self._running.discard(step.id)

    def undo_changes(self, context: Any, changes: Iterable[Any], folders: Sequence[str]) -> None:
        """Remember which paths."""
        self.retaken.append(tuple([change.path for change in changes]))

    def tick_task(self, context: Any, run_state: RunState, step: Step) -> Any:
        """Nothing is ticked."""
        return "", SimpleNamespace(task="", warning="")

    def path_exists(self, context: Any, path: str) -> bool:
        """Nothing is."""
        return False

    def track_parallel_changes(self, context: Any) -> Any:
        """No change that nobody declares."""
        return SimpleNamespace(undeclared=lambda: ((), ()))


class AnsweringObserver(RunObserver):
    """One who answers, by why he is asked, and remembers the questions."""

    def __init__(self, **answers: str | None) -> None:
        self.answers = answers
        self.questions: list[tuple[str, str]] = []

    def ask(self, question: Question) -> str | None:
        """As he was told."""
        self.questions.append((question.why, question.step))
        return self.answers.get(question.why)


class LoopRun:
    """A leg of a run."""

    def __init__(
        self,
        document: ExecutionPlan,
        executor: ScriptedExecutor,
        *,
        watch: RunObserver | None = None,
        jobs: int = 1,
        seconds: float = 60,
        chosen: set[str] | None = None,
        policy: Policy | None = None,
        paper: MemoryJournal | None = None,
        expires: float = inf,
        **resumed: Any,
    ) -> None:
        self.paper = paper or MemoryJournal()
        self.executor, self.stop = executor, FakeStopSignal()
        self.run_state = RunState(document, self.paper.entries)
        null_sink: Any = SimpleNamespace(append_entries=lambda run, entries: None, redact_value=lambda value: value)
        memory_journal: Any = self.paper
        self.journal_writer = JournalWriter(
            "0001-00000000", memory_journal, self.run_state, null_sink, null_sink, watch or RunObserver()
        )
        if paper is None:
            self.journal_writer.write("begun", **BEGUN)
        else:
            self.journal_writer.write("resumed", **BEGUN, **resumed)
        context: Any = FakeRunContext(stop=self.stop, deadline=monotonic() + seconds, policy=policy or Policy())
        stop: Any = self.stop
        schedule = Schedule(document, chosen, lambda path: False)
        terms = ApprovalTerms("policy", None, None, True, 0, expires, "MEDIUM")
        levels = dict.fromkeys(schedule.steps_by_id, "LOW")
        allowed = issue_permit(terms, levels, schedule.order, context.policy.checkpoint_interval, schedule.path_exists)
        with (
            AttemptPool(context, self.journal_writer, executor, allowed, jobs) as attempts,
            SignalHandlers(stop, attempts.wake) as signals,
        ):
            loop = RunLoop(attempts, schedule, Prompter(self.journal_writer, signals))
            self.stop_reason: StopReason = loop.run_until_stopped()

    @property
    def entry_names(self) -> list[str]:
        """The entries, in short."""
        return [" ".join(filter(None, [entry.kind, entry.fields.get("step")])) for entry in self.paper.entries[1:]]

    def reason(self, step: str) -> str:
        """Why a step is as it is."""
        return self.run_state.reasons[step]


class FakeRunContext(SimpleNamespace):
    """Of the bench what the loop needs."""

    running_services = None

    def _replace(self, **changes: Any) -> FakeRunContext:
        return FakeRunContext(**{**self.__dict__, **changes})


def failed_result(cause: str = "exit", exit: int | None = 1, **fields: Any) -> AttemptResult:
    """A failure."""
    return AttemptResult(False, cause, f"it failed by {cause}", exit, **fields)


def is_ok(entry: RunEntry) -> bool:
    """Whether a result is a good one."""
    return attempt_result_from_entry(entry.fields).ok
