"""State of a run, derived only from the entries of its journal, from the first to the last."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.execution import states
from execplan.execution.engine.journal.journal import altered_error
from execplan.execution.engine.journal.journal_entries import (
    AttemptResult,
    RunProgress,
    StateChange,
    attempt_result_from_entry,
    change_from_json,
    programs_from_entry,
    state_from_json,
)
from execplan.execution.world import ABSENT, FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from execplan.execution.engine.journal.journal import RunEntry
    from execplan.execution.engine.ordering_fields import Step
    from execplan.execution.execution_plan import ExecutionPlan
    from execplan.execution.world import Program, State


class Question(NamedTuple):
    """A question that a run waits for."""

    why: str
    """Why the question is asked: one of `QUESTION_REASONS`."""
    step: str
    """ID of the step before or after which the question is asked; empty if it is about no step."""
    words: str


class Attempt(NamedTuple):
    """An attempt to run a step."""

    number: int
    performed: AttemptResult | None
    """The result; None if the attempt has begun and its outcome is unknown."""
    before: dict[str, State]
    approved_by: str
    retaken: bool = False
    """Whether the changes of the attempt were undone."""
    entry: int = 0
    """Number of the entry with the result or, until then, of the entry that began the attempt."""
    began: str = ""
    ended: str = ""
    """End time by the wall clock, which may have been set in the meantime; empty while the end is unknown."""
    calls: tuple[RunEntry, ...] = ()
    """Entries of the calls that an agent was allowed for the attempt."""
    resume_count: int = 0
    """Number of resumes before the attempt. A person who resumes allows as many retries as before."""
    worker: str = ""
    """The worker that got the command; empty if it ran here."""
    service_end: AttemptResult | None = None
    """How the service ended that the attempt started, with what it changed meanwhile; None for other steps, or until then."""
    service_entry: int = 0
    """Number of the entry with that end."""

    @property
    def results(self) -> list[tuple[int, AttemptResult]]:
        """The results of the attempt, each with the number of its entry: its own, and that of its service."""
        results = ((self.entry, self.performed), (self.service_entry, self.service_end))
        return [(number, result) for number, result in results if result is not None]


class RunState(RunProgress):
    """The state of a run according to its journal."""

    def __init__(self, document: ExecutionPlan, entries: Sequence[RunEntry] = ()) -> None:
        """Apply the given entries; `document` is that of the last revision."""
        super().__init__()
        self.document = document
        self.approval_fields: dict[str, Any] = {}
        """Fields of the entry that names the current approval: that of the beginning or of the last resume."""
        self.later_approvals: list[RunEntry] = []
        """Entries of the resumes under another approval than before."""
        self.resume_count = 0
        self.status_of = {step.id: states.PENDING for step in document.steps}
        self.reasons: dict[str, str] = {}
        """Why each step was skipped, is blocked or failed, by step ID."""
        self.attempts: dict[str, list[Attempt]] = {}
        self.expected_states: dict[str, State] = {}
        """Expected current state of each path: as approved, or as left by the steps that ran."""
        self.approved_programs: dict[str, Program] = {}
        """Programs by name, as they were when the run began or was last resumed under a new approval."""
        self.programs: dict[str, Program] = {}
        """Programs by name, as left by the steps that ran."""
        self.ticked_tasks: dict[str, tuple[str, str]] = {}
        """Text of the task that each step checked off and path of its transcript, without reopened tasks."""
        self.question: Question | None = None
        self.answers: list[RunEntry] = []
        """Entries of the answers, with the question and the step."""
        self.end_entry: RunEntry | None = None
        self.rollbacks: list[RunEntry] = []
        self.open_rollback: RunEntry | None = None
        """The rollback that has begun and not ended."""
        self.restored_paths: set[str] = set()
        """Paths that the last rollback has restored."""
        self.rolled_back_steps: set[str] = set()
        """IDs of the steps that were rolled back."""
        self.replans: list[RunEntry] = []
        self.asked_calls: dict[str, RunEntry] = {}
        """Calls about which a program asks a person, by their IDs, until it reports that they were made."""
        self.denied_calls = 0
        """Number of recorded calls of an agent that were not allowed."""
        self.last_entry: RunEntry | None = None
        self.apply_entries(entries)

    def apply_entries(self, entries: Iterable[RunEntry]) -> None:
        """Apply further entries of the journal."""
        for entry in entries:
            handler = getattr(self, f"_on_{entry.kind}", None)
            if handler is None:
                raise altered_error("the journal", entry.number)
            try:
                self.advance(entry.kind, entry.fields)
                handler(entry, entry.fields)
            except KeyError:  # a step that was never begun
                raise altered_error("the journal", entry.number) from None
            self.last_entry = entry

    def changes(self, *, only_step: str | None = None) -> list[tuple[str, StateChange]]:
        """Return the changes of the run, or of one step, that are not undone, in the order they were made."""
        return [
            (step, change)
            for _, step, performed in sorted(self._kept_results(only_step), key=lambda result: result[0])
            for change in performed.changes
        ]

    def created_folders(self, *, only_step: str | None = None) -> frozenset[str]:
        """Return the directories that the run, or one step, created and that were not rolled back."""
        return frozenset([folder for *_, performed in self._kept_results(only_step) for folder in performed.folders])

    def _kept_results(self, only_step: str | None) -> list[tuple[int, str, AttemptResult]]:
        """Return the journal entry, step and result of each attempt, or those of one step, that is not undone."""
        return [
            (entry, step, performed)
            for step, attempts in self.attempts.items()
            for attempt in attempts
            for entry, performed in attempt.results
            if not attempt.retaken and only_step in (None, step) and step not in self.rolled_back_steps
        ]

    def expected_now(self, current_state: Callable[[str], State]) -> dict[str, State]:
        """Return the expected states; a directory that the run has created is expected to be as it is now.

        `current_state` returns the state of a path: the journal has no modes of created directories.
        """
        created_folders = {
            folder: current_state(folder)
            for folder in self.created_folders()
            if folder in self.expected_states and self.expected_states[folder].kind == ABSENT
        }
        return self.expected_states | {
            folder: state for folder, state in created_folders.items() if state.kind == FOLDER
        }

    def open_attempts(self) -> list[tuple[str, Attempt]]:
        """Return the attempts that began and have no recorded end: the process was killed. Raises ExecplanError."""
        last_attempts = [(step, attempts[-1]) for step, attempts in self.attempts.items()]
        unfinished = [
            (step, attempt) for step, attempt in last_attempts if attempt.performed is None and not attempt.retaken
        ]
        for step, attempt in unfinished:
            if step not in self.status_of or all([document_step.id != step for document_step in self.document.steps]):
                raise altered_error("the journal", attempt.entry)
        return unfinished

    def open_services(self) -> list[Step]:
        """Return the services that were started and have no recorded end: they run, or the process was killed."""
        last_attempts = [(step, self.last_attempt(step.id)) for step in self.document.steps if step.service]
        return [
            step
            for step, attempt in last_attempts
            if attempt is not None and attempt.performed is not None and attempt.performed.ok
            if not attempt.retaken and attempt.service_end is None
        ]

    def is_service_needed(self, service: Step) -> bool:
        """Return whether a step after a service is still to run, or runs."""
        later_steps = [step.id for step in self.document.steps if step.number > service.number]
        return any([self.status_of.get(step) not in (*states.SUCCESS_STATES, states.BLOCKED) for step in later_steps])

    def _needed_services(self) -> list[Step]:
        """Return the services that a resume starts again; an agent starts its services itself."""
        services = [step for step in self.document.steps if step.service and not self.is_agent_run]
        return [service for service in services if self.is_service_needed(service)]

    def steps_with_status(self, status: str) -> list[str]:
        """Return the IDs of the steps with a status."""
        return [step.id for step in self.document.steps if self.status_of.get(step.id) == status]

    def status_now(self, step: str) -> str:
        """Return the status of a step that matches its files: a step that was rolled back is pending again.

        All steps of a completed run are done, even those that were rolled back one by one since. A failed step has
        failed, with or without its changes.
        """
        status = self.status_of[step]
        is_undone = step in self.rolled_back_steps and self.status != states.COMPLETED
        return states.PENDING if is_undone and status != states.FAILED else status

    @property
    def settled_steps(self) -> frozenset[str]:
        """IDs of the steps that the run will not run again."""
        return (
            frozenset([step for step, status in self.status_of.items() if status in states.SUCCESS_STATES])
            - self.rolled_back_steps
            - {service.id for service in self._needed_services()}
        )

    def states_before_work(self) -> dict[str, State]:
        """Return the states of the paths of an agent's unfinished steps before their first attempts.

        Unlike here, failed attempts of an agent leave their changes in place.
        """
        attempts = [
            [attempt for attempt in attempts if not attempt.retaken][:1]
            for step, attempts in self.attempts.items()
            if self.is_agent_run and step not in self.settled_steps
        ]
        return {path: state for first in attempts for attempt in first for path, state in attempt.before.items()}

    def last_attempt(self, step: str) -> Attempt | None:
        """Return the last attempt of a step, or None if it has none."""
        return self.attempts[step][-1] if self.attempts.get(step) else None

    def last_result(self, step: str) -> AttemptResult | None:
        """Return the result of the last attempt of a step; None if it has none or is unfinished."""
        attempt = self.last_attempt(step)
        return attempt.performed if attempt is not None else None

    def failures(self) -> list[tuple[str, AttemptResult]]:
        """Return the IDs of the failed steps with the results of their last attempts."""
        failed_steps = [(step, self.last_result(step)) for step in self.steps_with_status(states.FAILED)]
        return [(step, performed) for step, performed in failed_steps if performed is not None]

    def count_tries(self, step: str) -> int:
        """Return the number of tries of a step since a person last had it run."""
        attempts = self.attempts.get(step, [])
        return sum([attempt.resume_count == attempts[-1].resume_count for attempt in attempts])

    def step_numbers(self, status: str) -> list[int]:
        """Return the numbers of the steps with a status."""
        known_steps = [step for step in self.document.steps if step.id in self.status_of]
        return [step.number for step in known_steps if self.status_now(step.id) == status]

    def _on_begun(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        self.begin_fields = {**fields, "at": entry.at}
        self.approval_fields = fields
        self.expected_states = {path: state_from_json(state) for path, state in fields["states"].items()}
        self._record_programs(fields)

    def _on_resumed(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        self.end_entry = self.question = None
        if fields.get("approval_id") != self.approval_fields.get("approval_id"):
            self.later_approvals.append(entry)
        self.approval_fields = fields
        self.resume_count += 1
        self.expected_states |= {path: state_from_json(state) for path, state in fields.get("states", {}).items()}
        self._record_programs(fields)
        reset_statuses = (states.FAILED, states.BLOCKED, states.AWAITING)
        for step, status in self.status_of.items():
            if step in self.rolled_back_steps or (status in reset_statuses and step not in fields.get("failed", ())):
                self.status_of[step] = states.PENDING
        for service in self._needed_services():
            if self.status_of.get(service.id) == states.COMPLETED:
                self.status_of[service.id] = states.PENDING  # it was stopped with the session

    def _on_intent(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        before = {path: state_from_json(state) for path, state in fields["before"].items()}
        attempt = Attempt(
            fields["attempt"],
            None,
            before,
            fields["by"],
            entry=entry.number,
            began=entry.at,
            resume_count=self.resume_count,
            worker=fields.get("worker", ""),
        )
        step = fields["step"]
        if step in self.rolled_back_steps:  # its earlier changes are gone, its new ones are not
            self.rolled_back_steps.discard(step)
            self.attempts[step] = [past_attempt._replace(retaken=True) for past_attempt in self.attempts[step]]
        self.attempts.setdefault(step, []).append(attempt)
        self.status_of[step] = states.RUNNING

    def _on_asked(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        if fields["step"] not in self.status_of:
            raise KeyError(fields["step"])
        self.asked_calls[fields["call"]] = entry

    def _on_called(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        self.asked_calls.pop(fields.get("call", ""), None)
        attempts = self.attempts[fields["step"]]
        attempts[-1] = attempts[-1]._replace(calls=(*attempts[-1].calls, entry))

    def _on_denied(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        self.denied_calls += 1

    def _on_result(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        step, performed = fields["step"], attempt_result_from_entry(fields)
        self._update_last_attempt(step, performed=performed, entry=entry.number, ended=entry.at)
        self.status_of[step] = states.COMPLETED if performed.ok else states.FAILED
        if not performed.ok:
            self.reasons[step] = performed.reason
        self._expect_states([(change.path, change.after) for change in performed.changes])
        self.programs |= programs_from_entry(fields)

    def _on_service_ended(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        step, ended = fields["step"], attempt_result_from_entry(fields)
        self._update_last_attempt(step, service_end=ended, service_entry=entry.number)
        if not ended.ok:
            self.status_of[step], self.reasons[step] = states.FAILED, ended.reason
        self._expect_states([(change.path, change.after) for change in ended.changes])

    def _on_retaken(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        self._update_last_attempt(fields["step"], retaken=True)
        if self.status_of.get(fields["step"]) == states.RUNNING:
            self.status_of[fields["step"]] = states.PENDING
        changes = [change_from_json(change_fields) for change_fields in fields["changes"]]
        self._expect_states([(change.path, change.before) for change in changes])
        self.programs |= programs_from_entry(fields)

    def _record_programs(self, fields: dict[str, Any]) -> None:
        """Record the programs under a new approval."""
        self.approved_programs |= programs_from_entry(fields)
        self.programs |= programs_from_entry(fields)

    def _update_last_attempt(self, step: str, **updates: Any) -> None:
        """Update fields of the last attempt of a step."""
        attempts = self.attempts[step]
        attempts[-1] = attempts[-1]._replace(**updates)

    def _expect_states(self, path_states: Iterable[tuple[str, State]]) -> None:
        self.expected_states.update(dict(path_states))

    def _on_skipped(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        self.status_of[fields["step"]] = states.SKIPPED
        self.reasons[fields["step"]] = fields["reason"]

    def _on_blocked(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        self.status_of[fields["step"]] = states.BLOCKED
        self.reasons[fields["step"]] = fields["reason"]

    def _on_recovered(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        self.status_of[fields["step"]] = states.RECOVERED
        self.reasons[fields["step"]] = f"replaced by {fields['by']}"

    def _on_ticked(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        self.ticked_tasks[fields["step"]] = (fields["task"], fields["transcript"])

    def _on_reopened(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        self.ticked_tasks.pop(fields["step"], None)

    def _on_paused(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        self.question = Question(fields["why"], fields["step"] or "", fields["question"])
        if fields["step"] and self.status_of.get(fields["step"]) == states.PENDING:
            self.status_of[fields["step"]] = states.AWAITING

    def _on_answered(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        self.question = None
        self.resume_count += 1
        self.answers.append(entry)
        step = fields["step"]
        if step and self.status_of.get(step) == states.AWAITING:
            self.status_of[step] = states.PENDING

    def _on_replanned(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        self.replans.append(entry)
        self.end_entry = self.question = None
        settled_statuses = {step: status for step, status in self.status_of.items() if status in states.SUCCESS_STATES}
        self.status_of = {step.id: settled_statuses.get(step.id, states.PENDING) for step in self.document.steps}

    def _on_interrupted(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        """Change nothing else: `advance` knows the status of an interrupted run."""

    def _on_ended(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        self.end_entry, self.question = entry, None

    def _on_rollback(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        self.open_rollback = entry
        self.restored_paths = set()
        self.rollbacks.append(entry)

    def _on_restored(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        earlier_form = [fields["path"]] if "path" in fields else []
        self.restored_paths.update(fields.get("restored", ()), fields.get("removed", ()), earlier_form)

    def _on_rolled_back(self, entry: RunEntry, fields: dict[str, Any]) -> None:
        rollback, self.open_rollback = self.open_rollback, None
        for change_fields in rollback.fields["changes"] if rollback is not None else ():
            change = change_from_json(change_fields)
            self.expected_states[change.path] = change.before
        self.rolled_back_steps.update(fields["steps"])
        if self.is_agent_run and self.end_entry is None:  # no resume precedes the agent's next step
            self.status_of |= dict.fromkeys(
                [step for step in fields["steps"] if step in self.status_of], states.PENDING
            )
        if fields["whole"]:
            self.end_entry, self.question = entry, None
