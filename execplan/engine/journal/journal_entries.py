"""The kinds of entries in a journal, what each says, and the records of what a step did."""

from __future__ import annotations

from execplan.execution.world import ABSENT, Program, State
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

BEGUN: Final = "begun"
"""run, plan_id, revision, document, approval (its digest), approval_id, approver, how, user, session, policy, sandbox (its
name or nothing), jobs, chosen (ids or null), replays (a run or null), head, states (path → state, as approved), mode (`agent` where an agent does the steps; else nothing is said),
programs (name → path, path without links, digest, version: as approved; an old journal says nothing of them)."""
INTENT: Final = "intent"
"""step, attempt, by (`person` or `policy`: who approved it), before (path → state: what it is about to change, all of it
backed up), snapshot (whether the tree was looked at too). On disk before anything of the step happens."""
CALLED: Final = "called"
"""step, attempt, tool (as the agent's program calls it), what (the command, or the paths), paths (from the root, of what it
writes), session, asked (whether somebody was to be asked first). On disk before the agent is told that it may."""
DENIED: Final = "denied"
"""tool, what (the program of a command, or the paths: no more of it is told), step (the nearest one, or null), session. A call
of an agent that was not allowed; of a run only so many are told."""
RESULT: Final = "result"
"""step, attempt, ok, and the fields of Performed; seconds by a clock that is never set; programs (of those that changed
meanwhile, as of the beginning)."""
RETAKEN: Final = "retaken"
"""step, attempt: what a failed or interrupted attempt had changed was taken back; changes and programs (as of a result)."""
SKIPPED: Final = "skipped"
"""step, reason."""
BLOCKED: Final = "blocked"
"""step, reason."""
RECOVERED: Final = "recovered"
"""step, by (the step that stood in for it)."""
TICKED: Final = "ticked"
"""step, task (its words), transcript (path from the root or nothing)."""
REOPENED: Final = "reopened"
"""step, task."""
PAUSED: Final = "paused"
"""why (one of WHYS), step or null, question, seconds (so far; not of a revision that somebody asked for)."""
ANSWERED: Final = "answered"
"""why, step, answer (one of ANSWERS), user, session, how (`terminal` or `resume`)."""
REPLANNED: Final = "replanned"
"""revision, document (digest of the new one), reason, completed (numbers), failed (numbers), step (the one whose failure led
to it, or nothing where somebody asked for it), plan_steps (how many it has), generation_s (how long it took to make), user, session."""
INTERRUPTED: Final = "interrupted"
"""signal (its name), seconds (so far)."""
RESUMED: Final = "resumed"
"""user, session, approval, approval_id, approver, how, covered_by (of a revision that an earlier approval covers: the digest of
that approval, and its revision; else left out), document, revision, failed (steps that stay failed, for what follows from
it is still to be drawn), states and programs (of a new approval, as approved)."""
ENDED: Final = "ended"
"""status (completed or failed), cause (one of CAUSES of policy.py, drift, or nothing), reason,
seconds."""
ROLLBACK: Final = "rollback"
"""steps (ids), automatic (the cause or nothing), user, session, changes (what is to be restored, as of a result, in the order
in which they are undone), folders (to be removed), undone_not (lines: what can't be taken back), whole (whether it is all of
the run)."""
RESTORED: Final = "restored"
"""path, displaced (the digest of what was there and is kept, or nothing)."""
ROLLED_BACK: Final = "rolled_back"
"""steps, restored, removed, whole (whether it was all of the run)."""

CHECKPOINT: Final = "checkpoint"
CONFIRM: Final = "confirm"
ASK: Final = "ask"
UNKNOWN: Final = "unknown"
APPROVE: Final = "approve"
COVERED: Final = "covered"
REVISION_REASONS = (APPROVE, COVERED)
QUESTION_REASONS = (CHECKPOINT, CONFIRM, ASK, UNKNOWN, *REVISION_REASONS)
"""Why a run waits: so many steps are done, or one that is marked; a step asks before it is run; one failed that asks then; one
that may run only once was cut short, and nobody knows whether it had its effect; a new revision is to be approved; a new revision needs no approval, and the run is to be
resumed."""
GO: Final = "go"
AGAIN: Final = "again"
SKIP: Final = "skip"
STOP: Final = "stop"
ANSWERS = (GO, AGAIN, SKIP, STOP)
"""Go on (of a step that was cut short: it has done its work); run the step again; go on without it; end the run as failed."""


class Change(NamedTuple):
    """What became of a path."""

    path: str
    before: State
    after: State
    added: int = 0
    """Lines; of what is no text none."""
    removed: int = 0
    declared: bool = True
    """Whether the step says that it changes it; what else a command changed was seen by looking at the tree."""


class Checks(NamedTuple):
    """What was checked: `passed`, `failed` or `not_run`."""

    pre: str = "not_run"
    post: str = "not_run"
    tests_run: int = 0
    tests_passed: int = 0


class AttemptResult(NamedTuple):
    """How an attempt of a step ended."""

    ok: bool
    cause: str = ""
    """Why it failed: exit, timeout, expectation, syntax, test or limit, as `triggers` names them; drift, where a file is not
    as it should be before it; interrupted; error, where it could not be done at all."""
    reason: str = ""
    exit: int | None = None
    signal: int | None = None
    seconds: float = 0.0
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    changes: tuple[Change, ...] = ()
    folders: tuple[str, ...] = ()
    """Those that were made, from the root, the outer ones first."""
    checks: Checks = Checks()
    transcript: str = ""
    """From the root of the repository; nothing for what prints nothing."""
    stdout: str = ""
    """SHA-256 of all that a command printed to its standard output."""
    outside: str = ""
    """What of its effects nobody here can take back, in words; nothing where there is none."""


def state_json(state: State) -> list[Any]:
    """A state as an entry holds it."""
    return list(state)


def state_from_json(components: list[Any]) -> State:
    """The state that an entry holds."""
    return State(*components)


def programs_from_entry(fields: dict[str, Any]) -> dict[str, Program]:
    """The programs that an entry names."""
    return {name: Program(*components) for name, components in fields.get("programs", {}).items()}


def change_json(change: Change) -> dict[str, Any]:
    """A change as an entry holds it."""
    return {**change._asdict(), "before": state_json(change.before), "after": state_json(change.after)}


def change_from_json(fields: dict[str, Any]) -> Change:
    """The change that an entry holds."""
    return Change(**{**fields, "before": state_from_json(fields["before"]), "after": state_from_json(fields["after"])})


def attempt_result_json(performed: AttemptResult) -> dict[str, Any]:
    """How an attempt ended as an entry holds it."""
    changes = [change_json(change) for change in performed.changes]
    fields = {**performed._asdict(), "changes": changes, "folders": list(performed.folders)}
    return {**fields, "checks": performed.checks._asdict()}


def attempt_result_from_entry(fields: dict[str, Any]) -> AttemptResult:
    """How an attempt ended by an entry."""
    arguments = {name: fields[name] for name in AttemptResult._fields if name in fields}
    arguments["changes"] = tuple([change_from_json(change_fields) for change_fields in fields.get("changes", ())])
    arguments["folders"] = tuple(fields.get("folders", ()))
    arguments["checks"] = Checks(**fields.get("checks", {}))
    return AttemptResult(**arguments)


def change_kind(change: Change) -> str:
    """`created`, `deleted` or `modified`."""
    if change.before.kind == ABSENT:
        return "created"
    return "deleted" if change.after.kind == ABSENT else "modified"
