"""Reports on steps as they are recorded, and what follows: repeated reports, advice, the next question."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project
from execplan.execution import states
from execplan.execution.approvals.effective_policy import effective_policy
from execplan.execution.attributes import named_alternative
from execplan.execution.binding import describe_difference, sanitize_state
from execplan.execution.engine.agent_runs.agent_transitions import next_steps
from execplan.execution.engine.error_hints import format_replan_command
from execplan.execution.engine.journal.journal_entries import AttemptResult, StateChange
from execplan.execution.engine.recovery.failure_recovery import (
    ALTERNATIVE,
    ASK,
    EXPECTATION,
    RETRY,
    SKIP,
    choose_recovery,
)
from execplan.execution.engine.run_questions import ALLOWED_ANSWERS
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_state import Attempt, Question, RunState
from execplan.execution.engine.schedule import Schedule
from execplan.execution.engine.step_permission import step_question
from execplan.execution.engine.steps.step_paths import checked_paths, list_replaced_paths
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.execution_plan import PROGRAM_TYPES, ExecutionPlan, Step
from execplan.execution.world import ABSENT

if TYPE_CHECKING:
    from execplan.execution.engine.agent_runs.agent_run_lookup import AgentRun
    from execplan.execution.engine.run_observer import FinishedRun

COMPLETED = "completed"
FAILED = "failed"
"""Statuses that an agent can report."""


class StepReport(NamedTuple):
    """An agent's report about a step."""

    status: str
    """Status that the agent reported: COMPLETED or FAILED."""
    result: str
    """Result in the agent's own words."""
    evidence: bytes | None = None
    """Output that the agent saw."""
    session: str = ""
    evidence_path: str = ""
    """Path of the file with the evidence, from the repository root; empty if it is not a file of the repository."""


def evidence_digest(step_report: StepReport) -> str:
    """Return the SHA-256 digest of the output that an agent saw; empty if it gave none."""
    return sha256(step_report.evidence).hexdigest() if step_report.evidence is not None else ""


class RecoveryAdvice(NamedTuple):
    """The recovery from a failed step: its kind, an explanation, and the next step or commands."""

    kind: str
    """One of retry, skip, alternative, replan, ask or fail."""
    words: str
    step: str = ""
    """ID of the step that is next; empty if there is none."""
    commands: tuple[str, ...] = ()


def recovery_advice(run_paths: RunPaths, run_state: RunState, step: Step, performed: AttemptResult) -> RecoveryAdvice:
    """Return the recovery from the last attempt of a step, which failed."""
    ref, tries = run_paths.ref, run_state.count_tries(step.id)
    policy_recovery = choose_recovery(step, performed, tries)
    name = step.id
    if policy_recovery.kind == RETRY:
        remaining = 1 + step.on_failure.max_retries - tries
        times = "once more" if remaining == 1 else f"{remaining} more times"
        pause = f", after a pause of {policy_recovery.seconds:g} s" if policy_recovery.seconds else ""
        return RecoveryAdvice(RETRY, f"step {name} can be tried {times}{pause}", name)
    if policy_recovery.kind == SKIP:
        return RecoveryAdvice(SKIP, f"step {name} is skipped, and the run continues")
    if policy_recovery.kind == ALTERNATIVE:
        alternative_step = named_alternative(step.on_failure.strategy)
        return RecoveryAdvice(
            ALTERNATIVE, f"step {alternative_step} replaces step {name} and is next", alternative_step
        )
    if policy_recovery.kind == ASK:
        resume = f"execplan resume {run_paths.number} -p {ref.shell_name}"
        commands = tuple([f"{resume} --answer {answer}" for answer in ALLOWED_ANSWERS[ASK]])
        return RecoveryAdvice(ASK, "a person must decide how to continue", commands=commands)
    approval = "a person approves the revision only if its steps are new"
    message = f"edit the steps in the plan, then replan; {approval}"
    next_commands: tuple[str, ...] = (format_replan_command(run_paths.number, ref.shell_name),)
    if performed.cause == EXPECTATION and step.type not in PROGRAM_TYPES:  # the agent has not done what the plan says
        message = (
            f"replan, then make the files as the plan says; if the plan is wrong, edit its steps first: {approval}"
        )
    is_open = run_state.status == states.IN_PROGRESS
    effect = f"steps that need {name} are blocked, the others continue; then" if is_open else "the run has failed:"
    return RecoveryAdvice(policy_recovery.kind, f"{effect} {message}", commands=next_commands)


class ReportOutcome(NamedTuple):
    """The outcome of a report, and of the run after it."""

    run: str
    """ID of the run; empty in a dry run before the run has begun."""
    step: Step
    performed: AttemptResult | None
    """Result of the attempt by report and checks; None if it was recorded before."""
    ok: bool
    already_recorded: bool
    """Whether the same report was recorded before, with the same text."""
    reason: str
    changes: tuple[StateChange, ...]
    recovery: RecoveryAdvice | None
    """Recovery from a failure."""
    next_steps: tuple[Step, ...]
    status: str
    """Status of the run."""
    finished: FinishedRun | None
    task_text: str
    """Text of the task that was checked off."""
    warnings: tuple[str, ...] = ()
    untested: bool = False
    """Whether the step's `test_after` was skipped, as in a dry run."""
    has_calls: bool = True
    """Whether calls of the step's attempt were recorded; only the guard records calls."""


def find_recorded_outcome(
    project: Project, agent_run: AgentRun, step: str, step_report: StepReport, reason: str
) -> ReportOutcome | None:
    """Return the outcome if the same report was recorded before; None if not. `reason` is its text without secrets.

    Raises ExecplanError if the step has a different final result.
    """
    run_state = agent_run.run_state
    target_step = next(
        (candidate for candidate in run_state.document.steps if step in (candidate.id, str(candidate.number))), None
    )
    performed = run_state.last_result(target_step.id) if target_step is not None else None
    if target_step is None or performed is None or target_step.id in run_state.rolled_back_steps:
        return None
    is_same = (performed.ok, performed.reason) == (
        step_report.status == COMPLETED,
        reason,
    ) and (step_report.evidence is None or evidence_digest(step_report) == performed.stdout)
    if is_same and run_state.status_of[target_step.id] != states.PENDING:
        return _recorded_outcome(project, agent_run, target_step, performed)
    if run_state.status_of[target_step.id] in states.SUCCESS_STATES and agent_run.is_active:
        raise ExecplanError(
            "bad-transition",
            f"step {target_step.id} is already {run_state.status_of[target_step.id]}: {performed.reason}",
            hint="a step with a final result can't be reported again; see which step is next: execplan handoff",
        )
    return None


def _recorded_outcome(project: Project, agent_run: AgentRun, step: Step, performed: AttemptResult) -> ReportOutcome:
    run_state, schedule = agent_run.run_state, build_schedule(project, agent_run.run_state)
    return ReportOutcome(
        agent_run.run_paths.id,
        step,
        None,
        performed.ok,
        already_recorded=True,
        reason=performed.reason,
        changes=performed.changes,
        recovery=None,
        next_steps=tuple(next_steps(run_state, schedule)) if agent_run.is_active else (),
        status=run_state.status,
        finished=None,
        task_text="",
    )


def find_step(document: ExecutionPlan, name: str) -> Step:
    """Return the step with this ID or number. Raises ExecplanError if there is none."""
    match = next((step for step in document.steps if name in (step.id, str(step.number))), None)
    if match is None:
        known_ids = [step.id for step in document.steps]
        hint = "use one of these, or the step's number"
        raise ExecplanError("no-such-step", f"unknown step {name!r}", hint=hint, candidates=known_ids)
    return match


def find_open_attempt(run_state: RunState, step: Step) -> Attempt | None:
    """Return the attempt of a step that is in progress, or None."""
    attempt = run_state.last_attempt(step.id)
    return attempt if attempt is not None and attempt.performed is None and not attempt.retaken else None


def build_schedule(project: Project, run_state: RunState) -> Schedule:
    """Return the schedule of the steps for the current files."""
    workspace = WorkspaceFiles(project)
    return Schedule(run_state.document, None, lambda path: workspace.state(path).kind != ABSENT)


def ensure_inputs_unchanged(workspace: WorkspaceFiles, run_state: RunState, step: Step) -> None:
    """Raise ExecplanError if a file that a step only reads differs from its approved state or its state in the run."""
    declared_paths, problems = set(list_replaced_paths(step)), []
    expected_states = run_state.expected_now(workspace.state)
    for path in checked_paths(step):
        expected_state = expected_states.get(path)
        if path not in declared_paths and expected_state is not None:
            why = describe_difference(sanitize_state(expected_state), sanitize_state(workspace.state(path)))
            problems += [f"{path}: {why}"] if why else []
    if problems:
        raise ExecplanError(
            "drifted",
            f"an input of step {step.id} is not as expected: {problems[0]}",
            hint="restore it and report again, or report that the step failed",
            candidates=problems,
        )


def next_question(
    run_state: RunState, schedule: Schedule, interval: int, *, is_required: bool = False
) -> Question | None:
    """Return the question that would come before the next call, even if the run does not wait for it yet.

    With `is_required`, returns None if a step can run without an answer.
    """
    questions = [step_question(step, run_state, interval) for step in next_steps(run_state, schedule)]
    if is_required and None in questions:
        return None
    return next((question for question in questions if question is not None), None)


def open_question(project: Project, run_state: RunState) -> Question | None:
    """Return the question for which an agent's run waits, or before which no step can begin. Raises ExecplanError.

    If the guard sees the calls of the run, the agent's program asks its user at the next one, so the run does not wait
    before that.
    """
    is_guarded = any([attempt.calls for attempts in run_state.attempts.values() for attempt in attempts])
    if (
        run_state.question is not None
        or run_state.status != states.IN_PROGRESS
        or run_state.open_attempts()
        or is_guarded
    ):
        return run_state.question
    interval = effective_policy(project).checkpoint_interval
    return next_question(run_state, build_schedule(project, run_state), interval, is_required=True)
