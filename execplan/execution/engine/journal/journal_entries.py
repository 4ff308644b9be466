"""Journal entries: their kinds and fields, and the records of a step's results."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.execution.world import ABSENT, Program, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

BEGUN: Final = "begun"
"""Entry for the beginning of a run.

Fields: run, plan_id, revision, document, approval (its digest), approval_id, approver, how, user, session, policy,
sandbox (its name or empty), jobs, chosen (IDs or null), replays (a run or null), head, states (path → state, as
approved), mode (`agent` if an agent performs the steps, otherwise absent), programs (name → path, path without links,
digest, version: as approved; absent from old journals), executor (as the person named it; absent if all steps run here),
traceparent (the span of the program that started the run, in the form of W3C Trace Context; absent if there is none or no
traces are sent).
"""
INTENT: Final = "intent"
"""Entry for the intent to run a step, on disk before anything of the step happens.

Fields: step, attempt, by (`person` or `policy`: who approved it), before (path → state: all that it will change,
backed up), snapshot (whether a snapshot of the tree was taken), worker (the worker that gets the command; absent if it
runs here).
"""
QUESTION: Final = "asked"
"""Entry for an agent's call about which its program asks a person, on disk before it does.

It doesn't count as a call of the step: `called` follows when the program reports that the call was made. Fields: step,
call (its ID in the program), tool, paths, by (who approved the step), further, session.
"""
CALLED: Final = "called"
"""Entry for an agent's call, on disk before the agent gets the permission.

Fields: step, attempt, tool (its name in the agent's program), what (the command, or the paths), paths (those that it
writes, from the root), session, asked (whether a person was asked and allowed it), call (then: the ID in `asked`).
"""
DENIED: Final = "denied"
"""Entry for a denied call of an agent; limited in number for each run.

Fields: tool, what (the program of a command, or the paths, and no more), step (the nearest one, or null), session.
"""
RESULT: Final = "result"
"""Entry for the result of an attempt.

Fields: step, attempt, ok, and the fields of `AttemptResult`; seconds from a monotonic clock; programs (those that
changed meanwhile, as in `begun`).
"""
RETAKEN: Final = "retaken"
"""Entry for the rollback of a failed or interrupted attempt's changes.

Fields: step, attempt, changes and programs (as in a result).
"""
SKIPPED: Final = "skipped"
"""Entry for a skipped step. Fields: step, reason."""
BLOCKED: Final = "blocked"
"""Entry for a blocked step. Fields: step, reason."""
RECOVERED: Final = "recovered"
"""Entry for a step that another one replaced. Fields: step, by (the replacement)."""
TICKED: Final = "ticked"
"""Entry for a checked-off task. Fields: step, task (its text), transcript (path from the root or empty)."""
REOPENED: Final = "reopened"
"""Entry for a reopened task. Fields: step, task."""
PAUSED: Final = "paused"
"""Entry for a run that waits for an answer.

Fields: why (one of `QUESTION_REASONS`), step or null, question, seconds (so far; absent for a requested revision).
"""
ANSWERED: Final = "answered"
"""Entry for an answer.

Fields: why, step, answer (one of `ANSWERS`), user, session, how (`terminal` or `resume`), seconds (that the person took
to answer on a terminal; absent otherwise).
"""
REPLANNED: Final = "replanned"
"""Entry for a revision of the plan.

Fields: revision, document (digest of the new one), reason, completed (numbers), failed (numbers), step (the one whose
failure led to the revision; empty if a person requested it), plan_steps (number of steps), generation_s (time to
create it in seconds), user, session.
"""
INTERRUPTED: Final = "interrupted"
"""Entry for an interrupted run. Fields: signal (its name), seconds (so far)."""
RESUMED: Final = "resumed"
"""Entry for the resume of a run.

Fields: user, session, approval, approval_id, approver, how, covered_by (for a revision covered by an earlier approval:
the digest of that approval and its revision; otherwise absent), document, revision, failed (steps that stay failed,
with their consequences still to be applied), states and programs (of a new approval, as approved), executor (as in
`begun`).
"""
ENDED: Final = "ended"
"""Entry for the end of a run.

Fields: status (completed or failed), cause (one of `ROLLBACK_CAUSES` in policy.py, drift, or empty), reason, seconds.
"""
ROLLBACK: Final = "rollback"
"""Entry for the beginning of a rollback.

Fields: steps (IDs), automatic (the cause or empty), user, session, changes (to be restored, as in a result, in the
order of undoing), folders (to be removed), undone_not (lines: effects that cannot be undone), whole (whether it covers
the whole run).
"""
RESTORED: Final = "restored"
"""Entry for a restored path.

Fields: path, displaced (digest of the overwritten contents, which have a backup, or empty).
"""
ROLLED_BACK: Final = "rolled_back"
"""Entry for a finished rollback. Fields: steps, restored, removed, whole (whether it covers the whole run)."""

CHECKPOINT: Final = "checkpoint"
CONFIRM: Final = "confirm"
ASK: Final = "ask"
UNKNOWN: Final = "unknown"
APPROVE: Final = "approve"
COVERED: Final = "covered"
REVISION_REASONS = (APPROVE, COVERED)
QUESTION_REASONS = (CHECKPOINT, CONFIRM, ASK, UNKNOWN, *REVISION_REASONS)
"""Reasons for which a run waits.

In order: a number of steps or a marked step is completed; a step asks before it runs; a failed step asks; a step that
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
