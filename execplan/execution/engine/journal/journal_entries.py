"""Kinds of journal entries, and the records of a step's results; the fields of each kind are in entry_schema.py."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.execution import states
from execplan.execution.world import ABSENT, Program, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

BEGUN: Final = "begun"
"""Beginning of a run.

`chosen` has the IDs of the steps to run, null for all; `replays` is a run; `states` and `programs` (name → path, path without
links, digest, version) are as approved; old journals have no programs. `mode` is only that of an agent's run. `executor` is
as the person named it; without it all steps run here. `traceparent` is the span of the program that started the run, in the
form of W3C Trace Context, if traces are sent.
"""
INTENT: Final = "intent"
"""Intent to run a step, on disk before anything of the step happens.

`by` is `person` or `policy`: who approved it. `before` has all paths that it will change, backed up. `snapshot` is whether a
snapshot of the tree was taken, `worker` the worker that gets the command, if it does not run here.
"""
QUESTION: Final = "asked"
"""An agent's call about which its program asks a person, on disk before it does.

It doesn't count as a call of the step: `called` follows when the program reports that the call was made. `call` is its ID in
the program.
"""
CALLED: Final = "called"
"""An agent's call, on disk before the agent gets the permission.

`tool` is its name in the agent's program, `what` the command or the paths; `paths` are those that it writes, from the root.
`asked` is whether a person was asked and allowed it; then `call` is the ID in `asked`.
"""
DENIED: Final = "denied"
"""A denied call of an agent; limited in number for each run.

`what` is the program of a command, or the paths, and no more; `step` is the nearest one.
"""
RESULT: Final = "result"
"""Result of an attempt, with the fields of `AttemptResult`, and programs that changed meanwhile."""
SERVICE_ENDED: Final = "service_ended"
"""End of the service that an attempt started, with the fields of `AttemptResult`: what it used and changed meanwhile."""
RETAKEN: Final = "retaken"
"""Rollback of a failed or interrupted attempt's changes."""
SKIPPED: Final = "skipped"
BLOCKED: Final = "blocked"
RECOVERED: Final = "recovered"
"""A step that another one, `by`, replaced."""
TICKED: Final = "ticked"
"""A checked-off task: its text, and the path of the transcript from the root, or empty."""
REOPENED: Final = "reopened"
PAUSED: Final = "paused"
"""A run that waits for an answer, after so many seconds; for a requested revision they are absent."""
ANSWERED: Final = "answered"
"""An answer, one of `ANSWERS`, from a `terminal` or by a `resume`; the seconds that it took are only of a terminal."""
REPLANNED: Final = "replanned"
"""Revision of the plan.

`document` is the digest of the new one, `step` the one whose failure led to the revision, empty if a person requested it.
`generation_s` is the time to create it in seconds.
"""
INTERRUPTED: Final = "interrupted"
"""Interruption of a run by a signal."""
RESUMED: Final = "resumed"
"""Resume of a run.

`covered_by` has the digest of the earlier approval that covers a revision, and its revision. The steps in `failed` stay
failed, with their consequences still to be applied. States and programs are those of a new approval.
"""
ENDED: Final = "ended"
"""End of a run; `cause` is one of `ROLLBACK_CAUSES` in policy.py, drift, or empty."""
ROLLBACK: Final = "rollback"
"""Beginning of a rollback.

`automatic` is the cause or empty. The changes are in the order of undoing, the directories are to be removed; `undone_not` lists
effects that cannot be undone. `whole` is whether it covers the whole run.
"""
RESTORED: Final = "restored"
"""A restored path, with the digest of the overwritten contents, which have a backup, or empty."""
ROLLED_BACK: Final = "rolled_back"
ROLLBACK_KINDS = (ROLLBACK, RESTORED, REOPENED, ROLLED_BACK)
"""Kinds of the entries of a rollback."""

CHECKPOINT: Final = "checkpoint"
CONFIRM: Final = "confirm"
BY_HAND: Final = "by_hand"
ASK: Final = "ask"
UNKNOWN: Final = "unknown"
APPROVE: Final = "approve"
COVERED: Final = "covered"
REVISION_REASONS = (APPROVE, COVERED)
QUESTION_REASONS = (CHECKPOINT, CONFIRM, BY_HAND, ASK, UNKNOWN, *REVISION_REASONS)
"""Reasons for which a run waits.

In order: a number of steps or a marked step is completed; a step asks before it runs; a manual step asks
whether it is done; a failed step asks; a step that
may run only once was interrupted and its effect is unknown; a new revision needs approval; a new revision needs no
approval and the run has to be resumed.
"""
GO: Final = "go"
AGAIN: Final = "again"
SKIP: Final = "skip"
STOP: Final = "stop"
ANSWERS = (GO, AGAIN, SKIP, STOP)
"""Answers: continue (an interrupted step has done its work); run the step again; skip it; end the run as failed."""


class StateChange(NamedTuple):
    """A change of a path, with the states before and after."""

    path: str
    before: State
    after: State
    added: int = 0
    """Number of added lines; 0 for a file that is not text."""
    removed: int = 0
    declared: bool = True
    """Whether the step declares the change; other changes of a command were found by comparing snapshots."""


class JournaledChecks(NamedTuple):
    """Results of a step's checks: `passed`, `failed` or `not_run`, and the number of tests."""

    pre: str = "not_run"
    post: str = "not_run"
    tests_run: int = 0
    tests_passed: int = 0


class AttemptResult(NamedTuple):
    """The result of an attempt of a step."""

    ok: bool
    cause: str = ""
    """Cause of the failure: exit, timeout, expectation, syntax, test or limit, as `triggers` names them.

    Also drift, if a file was not as expected before the step; interrupted; error, if the step could not be performed.
    """
    reason: str = ""
    exit: int | None = None
    signal: int | None = None
    seconds: float = 0.0
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    changes: tuple[StateChange, ...] = ()
    folders: tuple[str, ...] = ()
    """Created directories, from the root, outer ones first."""
    checks: JournaledChecks = JournaledChecks()
    transcript: str = ""
    """Path of the transcript from the repository root; empty for a step without output."""
    stdout: str = ""
    """SHA-256 of the command's complete standard output."""
    outside: str = ""
    """Description of the effects that cannot be rolled back; empty if there are none."""


def state_json(state: State) -> list[Any]:
    """Return a state in the form of an entry."""
    return list(state)


def state_from_json(components: list[Any]) -> State:
    """Return the state in an entry."""
    return State(*components)


def programs_from_entry(fields: dict[str, Any]) -> dict[str, Program]:
    """Return the programs in an entry."""
    return {name: Program(*components) for name, components in fields.get("programs", {}).items()}


def change_json(change: StateChange) -> dict[str, Any]:
    """Return a change in the form of an entry."""
    return {**change._asdict(), "before": state_json(change.before), "after": state_json(change.after)}


def change_from_json(fields: dict[str, Any]) -> StateChange:
    """Return the change in an entry."""
    return StateChange(
        **{**fields, "before": state_from_json(fields["before"]), "after": state_from_json(fields["after"])}
    )


def attempt_result_json(performed: AttemptResult) -> dict[str, Any]:
    """Return the result of an attempt in the form of an entry."""
    changes = [change_json(change) for change in performed.changes]
    fields = {**performed._asdict(), "changes": changes, "folders": list(performed.folders)}
    return {**fields, "checks": performed.checks._asdict()}


def attempt_result_from_entry(fields: dict[str, Any]) -> AttemptResult:
    """Return the result of an attempt from an entry."""
    arguments = {name: fields[name] for name in AttemptResult._fields if name in fields}
    arguments["changes"] = tuple([change_from_json(change_fields) for change_fields in fields.get("changes", ())])
    arguments["folders"] = tuple(fields.get("folders", ()))
    arguments["checks"] = JournaledChecks(**fields.get("checks", {}))
    return AttemptResult(**arguments)


def change_kind(change: StateChange) -> str:
    """Return the kind of a change: `created`, `deleted` or `modified`."""
    if change.before.kind == ABSENT:
        return "created"
    return "deleted" if change.after.kind == ABSENT else "modified"


class RunProgress:
    """How far a run has come, from its entries in order; all that is known without the document of the run.

    Journals and audit logs are read with it, also altered ones, so that any field may be missing.
    """

    KINDS = (BEGUN, RESUMED, REPLANNED, PAUSED, INTERRUPTED, ENDED, ROLLBACK, ROLLED_BACK)
    """Kinds of entries of which it reads the fields."""

    def __init__(self) -> None:
        self.status = states.PENDING
        self.begin_fields: Mapping[str, Any] = {}
        self.executor = ""
        """Where commands could run since the beginning or the last resume, besides here; empty for nowhere else."""
        self.revision = 0
        """The latest revision that was made during the run; 0 for the initial plan."""
        self.document_digest = ""
        """SHA-256 digest of the bytes of the latest revision."""
        self.seconds: Any = None
        """Seconds that the run took, as recorded when it last stopped. The time of a killed session is unknown."""
        self.last_kind: str | None = None
        """Kind of the last entry that was not part of a rollback; `ROLLED_BACK` after a rollback of the whole run."""
        self.last_fields: Mapping[str, Any] = {}
        """Fields of that entry; for a run that was rolled back, of its end."""
        self.is_rolling_back = False
        """Whether a rollback has begun and not ended."""
        self.rollback_cause = ""
        """Cause of the last rollback; empty if a person requested it, or if there was none."""
        self.end_fields: Mapping[str, Any] = {}
        """Fields of the last end."""

    @property
    def is_agent_run(self) -> bool:
        """Whether an agent runs the steps: then its calls are checked one by one, and no step runs here."""
        return self.begin_fields.get("mode") == "agent"

    def advance(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Apply the next entry."""
        if kind in (BEGUN, RESUMED):
            self.status, self.executor = states.IN_PROGRESS, str(fields.get("executor", ""))
        if kind == BEGUN:
            self.begin_fields, self.document_digest = fields, str(fields.get("document", ""))
        elif kind == REPLANNED:
            self.status = states.REPLANNING
            self.revision, self.document_digest = fields.get("revision", 0), str(fields.get("document", ""))
        elif kind == ENDED:
            self.status = states.COMPLETED if fields.get("status") == states.COMPLETED else states.FAILED
            self.end_fields = fields
        if kind in (PAUSED, INTERRUPTED, ENDED):
            self.seconds = fields.get("seconds") or self.seconds  # 0 if a rollback ended a killed run
        if kind not in ROLLBACK_KINDS:
            self.last_kind, self.last_fields = kind, fields
        elif kind == ROLLBACK:
            self.is_rolling_back, self.rollback_cause = True, str(fields.get("automatic") or "")
        elif kind == ROLLED_BACK:
            self.is_rolling_back = False
            if fields.get("whole"):
                self.status, self.last_kind, self.last_fields = states.ROLLED_BACK, kind, self.end_fields
