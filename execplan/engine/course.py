"""How far a run has come: what its journal says, read from the first entry to the last, and nothing else."""

from __future__ import annotations

from execplan.engine import entries as kinds
from execplan.engine.entries import Change, Performed, change_from, performed_from, programs_from, state_from
from execplan.engine.journal import altered
from execplan.execution import states
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, ClassVar

    from execplan.engine.journal import Entry
    from execplan.execution.model import ExecutionPlan
    from execplan.execution.world import Program, State


class Question(NamedTuple):
    """What a run waits for."""

    why: str
    """One of WHYS."""
    step: str
    """Before or behind which it is asked; nothing where it is about none."""
    words: str


class Attempt(NamedTuple):
    """An attempt of a step."""

    number: int
    performed: Performed | None
    """None: it was begun, and how it ended is not known."""
    before: dict[str, State]
    by: str
    retaken: bool = False
    """Whether what it had changed was taken back."""
    entry: int = 0
    """The number of the entry that says how it ended, or that it began."""
    began: str = ""
    ended: str = ""
    """By the clock, which may have been set meanwhile; nothing while its end is not known."""
    calls: tuple[Entry, ...] = ()
    """Those that an agent was allowed for it."""
    go: int = 0
    """How often the run had been taken up again when it was begun: by a person, who may have it tried as often as before."""


class RunState:
    """A run by its journal."""

    def __init__(self, document: ExecutionPlan, entries: Sequence[Entry] = ()) -> None:
        """Read what is there; the document is that of the last revision."""
        self.document = document
        self.begun: dict[str, Any] = {}
        self.approval: dict[str, Any] = {}
        """What the entry says of the approval under which the run goes on: that of its beginning, or of the last resume."""
        self.goes = 0
        self.status = states.PENDING
        self.status_of = {step.id: states.PENDING for step in document.steps}
        self.why: dict[str, str] = {}
        """By step, why it was skipped, is blocked or failed."""
        self.attempts: dict[str, list[Attempt]] = {}
        self.expected: dict[str, State] = {}
        """By path, how it is to be found now: as approved, or as the steps that ran have left it."""
        self.approved: dict[str, Program] = {}
        """By name, the programs as they were when the run began, or was last taken up under a new approval."""
        self.programs: dict[str, Program] = {}
        """The same, as the steps that ran have left them."""
        self.ticked: dict[str, tuple[str, str]] = {}
        """By step, the words of the task that it ticked, and the path of its transcript; reopened ones are out."""
        self.question: Question | None = None
        self.answers: list[Entry] = []
        """What was answered, to which question of which step."""
        self.ended: Entry | None = None
        self.seconds: float | None = None
        """What the run took, as it was said when it last stopped: what a killed leg took nobody knows."""
        self.rollbacks: list[Entry] = []
        self.rolling: Entry | None = None
        """The rollback that was begun and has not ended."""
        self.restored: set[str] = set()
        """The paths that the last rollback has restored."""
        self.undone: set[str] = set()
        """The steps that were rolled back."""
        self.replans: list[Entry] = []
        self.denied = 0
        """Calls of an agent that were not allowed, as far as they were told."""
        self.last: Entry | None = None
        self.read(entries)

    def read(self, entries: Iterable[Entry]) -> None:
        """Go on with further entries."""
        for entry in entries:
            try:
                self._READ[entry.kind](self, entry, entry.said)
            except KeyError:  # of a step that was never begun, or of a kind that there is not
                raise altered("the journal", entry.number) from None
            self.last = entry

    def changes(self, *, of: str | None = None) -> list[tuple[str, Change]]:
        """What the run, or one step of it, has changed and not taken back, in the order in which it was changed."""
        found = [
            (attempt.entry, step, attempt.performed.changes)
            for step, attempts in self.attempts.items()
            for attempt in attempts
            if attempt.performed is not None and not attempt.retaken and of in (None, step) and step not in self.undone
        ]
        return [(step, change) for _, step, changes in sorted(found, key=lambda each: each[0]) for change in changes]

    def open_attempt(self) -> list[tuple[str, Attempt]]:
        """The attempts that were begun and whose end is not known: the process was killed. Raises ExecplanError."""
        last = [(step, attempts[-1]) for step, attempts in self.attempts.items()]
        found = [(step, attempt) for step, attempt in last if attempt.performed is None and not attempt.retaken]
        for step, attempt in found:
            if step not in self.status_of or all([each.id != step for each in self.document.steps]):
                raise altered("the journal", attempt.entry)
        return found

    def named(self, status: str) -> list[str]:
        """The steps in a state, by their ids."""
        return [step.id for step in self.document.steps if self.status_of.get(step.id) == status]

    def status_now(self, step: str) -> str:
        """The state of a step as its files are now: one that was rolled back is pending again.

        All steps of a completed run are done, also those that somebody has rolled back one by one since.
        """
        is_pending = step in self.undone and self.status != states.COMPLETED
        return states.PENDING if is_pending else self.status_of[step]

    def tries(self, step: str) -> int:
        """How often a step was tried since a person last had it run."""
        every = self.attempts.get(step, [])
        return sum([each.go == every[-1].go for each in every])

    @property
    def is_agents(self) -> bool:
        """Whether an agent carries it out, whose calls are judged one by one, and no step is done here."""
        return self.begun.get("mode") == "agent"

    @property
    def digest(self) -> str:
        """Of the bytes of the document that the run has come to."""
        found: str = (self.replans[-1].said if self.replans else self.begun)["document"]
        return found

    def numbers(self, status: str) -> list[int]:
        """The steps in a state, by their numbers."""
        known = [step for step in self.document.steps if step.id in self.status_of]
        return [step.number for step in known if self.status_now(step.id) == status]

    def _other(self, entry: Entry, said: dict[str, Any]) -> None:
        """An entry that changes nothing of what is kept here."""

    def _begun(self, entry: Entry, said: dict[str, Any]) -> None:
        self.begun = {**said, "at": entry.at}
        self.approval = said
        self.status = states.IN_PROGRESS
        self.expected = {path: state_from(state) for path, state in said["states"].items()}
        self._approve(said)

    def _resumed(self, entry: Entry, said: dict[str, Any]) -> None:
        self.status, self.ended, self.question = states.IN_PROGRESS, None, None
        self.approval = said
        self.goes += 1
        self.expected |= {path: state_from(state) for path, state in said.get("states", {}).items()}
        self._approve(said)
        again = (states.FAILED, states.BLOCKED, states.AWAITING)
        for step, status in self.status_of.items():
            if step in self.undone or (status in again and step not in said.get("failed", ())):
                self.status_of[step] = states.PENDING

    def _intent(self, entry: Entry, said: dict[str, Any]) -> None:
        before = {path: state_from(state) for path, state in said["before"].items()}
        attempt = Attempt(said["attempt"], None, before, said["by"], entry=entry.number, began=entry.at, go=self.goes)
        step = said["step"]
        if step in self.undone:  # what it did before is gone, and what it does now is not
            self.undone.discard(step)
            self.attempts[step] = [each._replace(retaken=True) for each in self.attempts[step]]
        self.attempts.setdefault(step, []).append(attempt)
        self.status_of[step] = states.RUNNING

    def _called(self, entry: Entry, said: dict[str, Any]) -> None:
        attempts = self.attempts[said["step"]]
        attempts[-1] = attempts[-1]._replace(calls=(*attempts[-1].calls, entry))

    def _denied(self, entry: Entry, said: dict[str, Any]) -> None:
        self.denied += 1

    def _result(self, entry: Entry, said: dict[str, Any]) -> None:
        step, performed = said["step"], performed_from(said)
        self._settle(step, performed=performed, entry=entry.number, ended=entry.at)
        self.status_of[step] = states.COMPLETED if performed.ok else states.FAILED
        if not performed.ok:
            self.why[step] = performed.reason
        self._expect([(change.path, change.after) for change in performed.changes])
        self.programs |= programs_from(said)

    def _retaken(self, entry: Entry, said: dict[str, Any]) -> None:
        self._settle(said["step"], retaken=True)
        if self.status_of.get(said["step"]) == states.RUNNING:
            self.status_of[said["step"]] = states.PENDING
        changes = [change_from(each) for each in said["changes"]]
        self._expect([(change.path, change.before) for change in changes])
        self.programs |= programs_from(said)

    def _approve(self, said: dict[str, Any]) -> None:
        """The programs under a new approval."""
        self.approved |= programs_from(said)
        self.programs |= programs_from(said)

    def _settle(self, step: str, **told: Any) -> None:
        """Say more of the last attempt of a step."""
        attempts = self.attempts[step]
        attempts[-1] = attempts[-1]._replace(**told)

    def _expect(self, states_of: Iterable[tuple[str, State]]) -> None:
        self.expected.update(dict(states_of))

    def _skipped(self, entry: Entry, said: dict[str, Any]) -> None:
        self.status_of[said["step"]] = states.SKIPPED
        self.why[said["step"]] = said["reason"]

    def _blocked(self, entry: Entry, said: dict[str, Any]) -> None:
        self.status_of[said["step"]] = states.BLOCKED
        self.why[said["step"]] = said["reason"]

    def _recovered(self, entry: Entry, said: dict[str, Any]) -> None:
        self.status_of[said["step"]] = states.RECOVERED
        self.why[said["step"]] = f"{said['by']} stood in for it"

    def _ticked(self, entry: Entry, said: dict[str, Any]) -> None:
        self.ticked[said["step"]] = (said["task"], said["transcript"])

    def _reopened(self, entry: Entry, said: dict[str, Any]) -> None:
        self.ticked.pop(said["step"], None)

    def _paused(self, entry: Entry, said: dict[str, Any]) -> None:
        self.question = Question(said["why"], said["step"] or "", said["question"])
        self.seconds = said.get("seconds", self.seconds)
        if said["step"] and self.status_of.get(said["step"]) == states.PENDING:
            self.status_of[said["step"]] = states.AWAITING

    def _interrupted(self, entry: Entry, said: dict[str, Any]) -> None:
        self.seconds = said.get("seconds", self.seconds)

    def _answered(self, entry: Entry, said: dict[str, Any]) -> None:
        self.question = None
        self.goes += 1
        self.answers.append(entry)
        step = said["step"]
        if step and self.status_of.get(step) == states.AWAITING:
            self.status_of[step] = states.PENDING

    def _replanned(self, entry: Entry, said: dict[str, Any]) -> None:
        self.replans.append(entry)
        self.status = states.REPLANNING
        self.ended = self.question = None
        done = {step: status for step, status in self.status_of.items() if status in states.SUCCESS_STATES}
        self.status_of = {step.id: done.get(step.id, states.PENDING) for step in self.document.steps}

    def _ended(self, entry: Entry, said: dict[str, Any]) -> None:
        self.status, self.ended, self.question = said["status"], entry, None
        self.seconds = said["seconds"]

    def _rollback(self, entry: Entry, said: dict[str, Any]) -> None:
        self.rolling = entry
        self.restored = set()
        self.rollbacks.append(entry)

    def _restored(self, entry: Entry, said: dict[str, Any]) -> None:
        self.restored.add(said["path"])

    def _rolled_back(self, entry: Entry, said: dict[str, Any]) -> None:
        rolling, self.rolling = self.rolling, None
        for each in rolling.said["changes"] if rolling is not None else ():
            change = change_from(each)
            self.expected[change.path] = change.before
        self.undone.update(said["steps"])
        if self.is_agents and self.ended is None:  # nobody takes it up before its agent goes on
            self.status_of |= dict.fromkeys([step for step in said["steps"] if step in self.status_of], states.PENDING)
        if said["whole"]:
            self.status, self.ended, self.question = states.ROLLED_BACK, entry, None

    _READ: ClassVar[Mapping[str, Callable[[RunState, Entry, dict[str, Any]], None]]] = {
        kinds.BEGUN: _begun,
        kinds.INTENT: _intent,
        kinds.CALLED: _called,
        kinds.DENIED: _denied,
        kinds.RESULT: _result,
        kinds.RETAKEN: _retaken,
        kinds.SKIPPED: _skipped,
        kinds.BLOCKED: _blocked,
        kinds.RECOVERED: _recovered,
        kinds.TICKED: _ticked,
        kinds.REOPENED: _reopened,
        kinds.PAUSED: _paused,
        kinds.ANSWERED: _answered,
        kinds.REPLANNED: _replanned,
        kinds.INTERRUPTED: _other,
        kinds.RESUMED: _resumed,
        kinds.ENDED: _ended,
        kinds.ROLLBACK: _rollback,
        kinds.RESTORED: _restored,
        kinds.ROLLED_BACK: _rolled_back,
    }
