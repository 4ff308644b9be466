"""Journal entries written under the run lock before a call is allowed: the attempt of a step, and the call."""

from __future__ import annotations

from execplan.agents.guard.guard_context import context_from_grant
from execplan.agents.guard.guard_decision import GuardDecision, decide
from execplan.core import clock
from execplan.core.errors import ExecplanError
from execplan.core.files.file_lock import set_timeout
from execplan.core.project import project_state
from execplan.core.text.message_parts import printable_line
from execplan.core.timestamps import parse_utc_timestamp
from execplan.execution import states
from execplan.execution.approvals import approval_key
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.engine.agent_runs import journal_watermark
from execplan.execution.engine.journal import journal_entries
from execplan.execution.engine.journal.journal import check_entries, parse_entries, read_bytes
from execplan.execution.engine.journal.journal_entries import CALLED, DENIED, INTENT, QUESTION, state_json
from execplan.execution.engine.run_lock import LOCK_NAME
from execplan.execution.engine.run_records.evidence_copies import ensure_not_altered, open_journal
from execplan.execution.permission import ASK, CLOCK_SKEW_SECONDS, DENY, validity_problem
from execplan.execution.world import normalize_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

    from execplan.agents.guard.guard_context import GuardContext
    from execplan.agents.guard.tool_call import ToolCall
    from execplan.core.files.file_lock import FileLock
    from execplan.core.project.project import Project
    from execplan.execution.engine.agent_runs.guard_grant import GuardGrant
    from execplan.execution.engine.journal.journal import Journal, RunEntry
    from execplan.execution.engine.run_state import Question


LOCK_TIMEOUT: Final = 12.0
"""Seconds that a call waits for locks of other calls or runs; less than the guard's total time limit."""
_ALTERED: Final = "journal-altered"
MAX_RECORDED_DENIALS: Final = 100
"""Maximum number of denied calls that are recorded in a run."""


def lock_runs(project: Project, call: ToolCall) -> FileLock:
    """Acquire the run lock; wait for other calls, which need it only briefly."""
    set_timeout(LOCK_TIMEOUT)
    return project_state.lock(project, LOCK_NAME, f"guard of {call.session or 'an agent'}")


def read_entries(grant: GuardGrant, *, locked: bool = False) -> list[RunEntry]:
    """Read the journal of a run. Raises ExecplanError if the journal was altered.

    It is read without a lock. If it looks altered, another call may have been writing to it; it is then read again
    under the run lock. `locked`: the caller has that lock.
    """
    try:
        return _read_checked_entries(grant)
    except ExecplanError as error:
        if locked or error.code != _ALTERED:
            raise
    set_timeout(LOCK_TIMEOUT)
    with project_state.lock(grant.home, LOCK_NAME, "guard"):
        return _read_checked_entries(grant)


def _read_checked_entries(grant: GuardGrant) -> list[RunEntry]:
    data = read_bytes(grant.run_paths.journal)
    ensure_mark_matches(grant, data)
    return check_entries(parse_entries(data[: data.rfind(b"\n") + 1], grant.run_paths.journal), grant.run_paths.journal)


def ensure_mark_matches(grant: GuardGrant, data: bytes) -> None:
    """Raise ExecplanError if the journal, or its copy among the artifacts, was altered."""
    ensure_not_altered(grant.run_paths)
    key = approval_key.read(grant.home)
    if key is not None:  # the grant is signed with it
        journal_watermark.check(grant.run_paths, data, key)


def is_run_over(context: GuardContext) -> bool:
    """Check whether the run has ended or waits for approval of its new revision; its grant is then void."""
    return context.run_state.status != states.IN_PROGRESS


def ensure_not_waiting(context: GuardContext, grant: GuardGrant) -> None:
    """Raise ExecplanError if the run waits for a person: until then, the plan allows nothing."""
    run_state = context.run_state
    run_argument = f"{grant.run_paths.number} -p {grant.plan}"
    if run_state.open_rollback is not None:
        raise _waiting_error(
            f"run {grant.run} is being rolled back", f"a person must finish it: execplan rollback {run_argument}"
        )
    if run_state.question is not None:
        from execplan.execution.engine.run_questions import format_answer_hint

        hint = format_answer_hint(run_state.question, run_argument)
        raise _waiting_error(f"run {grant.run} is paused: {run_state.question.words}", hint)


def _waiting_error(message: str, hint: str) -> ExecplanError:
    return ExecplanError("paused", message, hint=hint)


def current_time(entries: Sequence[RunEntry]) -> float:
    """Return the current time in seconds since 1970, at least that of the last journal entry.

    Raises ExecplanError if the clock was set back.
    """
    now, last_time = (
        clock.epoch_seconds(),
        max([parse_utc_timestamp(entry.at) for entry in entries[-1:]], default=0),
    )
    if now < last_time - CLOCK_SKEW_SECONDS:
        message = f"the clock was set back: the journal was written at {entries[-1].at}"
        raise ExecplanError("approval-expired", message, hint="correct the system clock")
    return max(now, last_time)


def decide_by_grant(
    call: ToolCall, grant: GuardGrant, entries: Sequence[RunEntry], context: GuardContext, *, asks: bool
) -> GuardDecision:
    """Decide on a call by a grant and its run; a call of a step is recorded first. Raises ExecplanError."""
    decision = decide(call, context, current_time(entries))
    if not decision.is_permitted_step:
        return decision
    with lock_runs(grant.home, call):
        return record_decision(call, grant, entries, context, decision, asks=asks)


def record_decision(
    call: ToolCall,
    grant: GuardGrant,
    entries: Sequence[RunEntry],
    context: GuardContext,
    decision: GuardDecision,
    *,
    asks: bool,
) -> GuardDecision:
    """Record that a call of a step is allowed; evaluate the call again if the journal has grown.

    The caller has the run lock. Raises ExecplanError.
    """
    from execplan.execution.engine.step_permission import step_question

    ensure_mark_matches(grant, read_bytes(grant.run_paths.journal))
    with open_journal(grant.run_paths) as journal:
        if [entry.line for entry in entries] != [entry.line for entry in journal.entries]:
            if any([entry.kind not in (INTENT, QUESTION, CALLED, DENIED) for entry in journal.entries[len(entries) :]]):
                return GuardDecision(DENY, f"run {grant.run} has changed in the meantime; make the call again")
            context = context_from_grant(grant, check_entries(journal.entries, grant.run_paths.journal))
            decision = decide(call, context, current_time(journal.entries))
        ensure_not_waiting(context, grant)
        if not decision.is_permitted_step:
            return decision
        if reason := validity_problem(context.terms, current_time(journal.entries)):
            return GuardDecision(DENY, reason, decision.step)  # the approval may expire while waiting for the lock
        if (
            decision.kind == ASK
            and not asks
            and (question := step_question(context.plain_steps[decision.step], context.run_state, context.interval))
        ):
            decision = _pause_run(question, grant, journal, decision)
        elif decision.kind == ASK:
            if not asks:
                return decision
            _write_question(call, journal, decision)
        else:
            write_call(call, context, grant, journal, decision)
    update_mark(grant)
    return decision


def _write_question(call: ToolCall, journal: Journal, decision: GuardDecision) -> None:
    """Record that a program will ask its user about a call; it counts when the program reports that it was made."""
    journal.write(
        QUESTION,
        step=decision.step,
        call=call.call_id,
        tool=printable_line(call.tool, 100),
        paths=list(decision.paths),
        by=decision.approved_by,
        further=decision.is_further,
        session=call.session or None,
    )


def write_call(
    call: ToolCall, context: GuardContext, grant: GuardGrant, journal: Journal, decision: GuardDecision
) -> None:
    """Record the attempt, unless one is in progress, and the call."""
    run_state = context.run_state
    attempt_number = len(run_state.attempts.get(decision.step, ()))
    if run_state.status_of[decision.step] != states.RUNNING:
        attempt_number += 1
        step = next(allowed_step.step for allowed_step in grant.steps if allowed_step.step["id"] == decision.step)
        paths = [
            relative_path
            for relative_path in map(normalize_path, written_paths(step))
            if relative_path is not None and relative_path in run_state.expected_states
        ]
        states_of = {path: state_json(run_state.expected_states[path]) for path in paths}
        journal.write(
            INTENT,
            step=decision.step,
            attempt=attempt_number,
            by=decision.approved_by,
            before=states_of,
            snapshot=False,
        )
    description = next(allowed_step.told for allowed_step in grant.steps if allowed_step.step["id"] == decision.step)
    journal.write(
        CALLED,
        step=decision.step,
        attempt=attempt_number,
        tool=printable_line(call.tool, 100),
        what=description,
        paths=list(decision.paths),
        session=call.session or None,
        asked=decision.kind == ASK,
        further=decision.is_further,
        **({"call": call.call_id} if decision.kind == ASK else {}),
    )


def _pause_run(question: Question, grant: GuardGrant, journal: Journal, decision: GuardDecision) -> GuardDecision:
    """Pause the run for a person's answer, if the agent's program can't ask."""
    journal.write(journal_entries.PAUSED, why=question.why, step=question.step or None, question=question.words)
    hint = f"a person must answer: execplan resume {grant.run_paths.number} -p {grant.plan} --answer go"
    return GuardDecision(DENY, f"{question.words}; {hint}", decision.step)


def record_denial(
    call: ToolCall, grant: GuardGrant, entries: Sequence[RunEntry], context: GuardContext, decision: GuardDecision
) -> None:
    """Record a denied call in the run, after the answer was given.

    It is skipped if another process uses the run or many denials are already recorded. It raises nothing: the call
    stays denied whatever happens here.
    """
    if context.run_state.question is not None or context.run_state.denied_calls >= MAX_RECORDED_DENIALS:
        return
    set_timeout(0.0)
    try:
        with project_state.lock(grant.home, LOCK_NAME, "guard"), open_journal(grant.run_paths) as journal:
            if [entry.line for entry in entries] == [entry.line for entry in journal.entries]:
                step, tool = decision.step or None, printable_line(call.tool, 100)
                journal.write(DENIED, tool=tool, what=_describe_call(call), step=step, session=call.session or None)
                update_mark(grant)
    except Exception:  # noqa: BLE001 - reporting is best effort
        return


def _describe_call(call: ToolCall) -> str:
    """Describe a call by the program of its command or by its paths.

    Neither should contain secrets; they are masked here as well.
    """
    from execplan.core.secrets.certain_secrets import mask_secrets

    names = [arg for arg in call.command.split() if "=" not in arg][:1]
    return printable_line(mask_secrets(" ".join(names or [*[edit.path for edit in call.edits], *call.read_paths])), 300)


def update_mark(grant: GuardGrant) -> None:
    """Record how long the journal is now."""
    key = approval_key.read(grant.home)
    if key is not None:
        journal_watermark.write(grant.run_paths, read_bytes(grant.run_paths.journal), key)
