"""Updates of an agent's run: what they need, the consequences they record, and the end of the run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import author
from execplan.execution import states
from execplan.execution.approvals import approval_key
from execplan.execution.approvals.approved_plan import ApprovedPlan
from execplan.execution.approvals.effective_policy import effective_policy
from execplan.execution.engine import run_setup, stop_reasons
from execplan.execution.engine.agent_runs import agent_start, guard_grant, journal_watermark, undeclared_changes
from execplan.execution.engine.agent_runs.agent_transitions import apply_transitions
from execplan.execution.engine.agent_runs.recorded_reports import next_question
from execplan.execution.engine.agent_runs.report_evaluation import interrupted_result
from execplan.execution.engine.journal.journal import read_bytes
from execplan.execution.engine.journal.journal_entries import (
    RESULT,
    REVISION_REASONS,
    SKIP,
    SKIPPED,
    attempt_result_json,
)
from execplan.execution.engine.journal.journal_writer import continue_journal
from execplan.execution.engine.run_observer import FinishedRun, RunObserver
from execplan.execution.engine.run_preconditions import ensure_same_document
from execplan.execution.engine.run_questions import Prompter
from execplan.execution.engine.run_records.evidence_copies import open_journal
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_session import RunSession, file_run, finish_session, start_session
from execplan.execution.engine.run_state import Question, RunState
from execplan.execution.engine.schedule import Schedule
from execplan.execution.engine.step_executor import StepExecutor
from execplan.execution.engine.steps.run_context import RunContext, make_inspection_context
from execplan.execution.execution_plan import Step
from execplan.execution.world import ABSENT


class AgentRunUpdate:
    """An update of one agent's run. The lock of runs is held and the journal is open."""

    def __init__(self, session: RunSession) -> None:
        self.session = session
        self.journal_writer, self.run_state = session.journal_writer, session.journal_writer.run_state
        self.context = build_context(session.run_paths, self.run_state)
        self.schedule = Schedule(self.run_state.document, None, self.path_exists)
        self.warnings: list[str] = []

    def path_exists(self, path: str) -> bool:
        """Return whether a path exists in the workspace."""
        return self.context.workspace.state(path).kind != ABSENT

    def tick_task(self, step: Step) -> None:
        """Check off the task that is completed by a step, if there is one; a problem here never fails the step."""
        tick = StepExecutor().tick_task(self.context, self.run_state, step)
        self.warnings += self.journal_writer.write_tick(step.id, *tick)

    def find_question(self, *, is_required: bool) -> Question | None:
        """Return the question that the run waits for, or that comes before the next call.

        With `is_required`, return none of the latter if a step can run without an answer.
        """
        return self.run_state.question or next_question(
            self.run_state, self.schedule, self.session.policy.checkpoint_interval, is_required=is_required
        )

    def resume(self, question: Question | None, answer: str) -> FinishedRun:
        """Record that the run resumes, with the answer to a question, and let the agent continue. Runs no steps.

        Failed steps run again if the run had ended; otherwise only the step in question does. Raises ExecplanError.
        """
        run_paths, run_state = self.session.run_paths, self.run_state
        ensure_same_document(run_paths, self.journal_writer.journal.entries)
        approved_plan = self._require_plan()
        run_setup.create_state_directory(run_paths)
        failed: list[str] = []
        if run_state.end_entry is None:
            asked_step = question.step if question is not None else ""
            failed = [name for name in run_state.steps_with_status(states.FAILED) if name != asked_step]
        agent_start.record_resume(
            self.journal_writer, run_paths, approved_plan, author.session_id() or "", failed=failed
        )
        self.schedule = Schedule(run_state.document, None, self.path_exists)
        if question is not None and question.why not in REVISION_REASONS:
            Prompter.record_answer(self.journal_writer, question, answer, "resume")
            if answer == SKIP:
                self.journal_writer.write(SKIPPED, step=question.step, reason="skipped by the person who was asked")
                self.tick_task(self.schedule.steps_by_id[question.step])
        return self.advance()

    def _require_plan(self) -> ApprovedPlan:
        run_paths, paths_at_work = self.session.run_paths, self.run_state.states_before_work()
        return agent_start.require_agent_plan(run_paths.project, run_paths.ref, run_paths.id, "", paths_at_work)

    def advance(self) -> FinishedRun:
        """Record the consequences of the journal so far and return the run's status. Raises ExecplanError."""
        for name in self.run_state.steps_with_status(states.COMPLETED):
            self.tick_task(
                self.schedule.steps_by_id[name]
            )  # the process that recorded completion may have been killed before this
        stop_reason = apply_transitions(self.journal_writer, self.schedule, self.tick_task)
        return self.continue_run() if stop_reason is None else self.stop(stop_reason)

    def continue_run(self) -> FinishedRun:
        """Save the record of a continuing run and issue the grant for the agent's next calls. Raises ExecplanError."""
        run_paths, run_state = self.session.run_paths, self.run_state
        file_run(self.session, None, self.warnings)
        undeclared_changes.save_snapshot(run_paths)
        try:
            guard_grant.issue(run_paths, self._require_plan())
        except ExecplanError as error:
            self.warnings.append(f"no more calls are allowed now: {error.message}")
        return FinishedRun(run_paths.id, run_state.status, run_state.question, warnings=tuple(self.warnings))

    def stop(self, stop_reason: stop_reasons.StopReason) -> FinishedRun:
        """Record the run's end or question; an end also ends the attempts in progress. Raises ExecplanError.

        The grant of a run that has ended allows nothing; it is removed so that no later call has to find that out.
        """
        if stop_reason.question is None:
            for name, attempt in self.run_state.open_attempts():
                performed = interrupted_result(
                    self.context, self.schedule.steps_by_id[name], attempt, self.run_state, keep=True
                )
                self.journal_writer.write(RESULT, step=name, attempt=attempt.number, **attempt_result_json(performed))
        finished_run = finish_session(self.session, self.schedule, stop_reason, "", self.warnings)
        if finished_run.status in states.ENDED_RUN_STATES:
            with suppress(ExecplanError):
                guard_grant.revoke(self.session.run_paths.project, self.session.run_paths.ref.id)
        return finished_run


@contextmanager
def open_run_update(run_paths: RunPaths, options: WriteOptions) -> Iterator[AgentRunUpdate]:
    """Open a run for an update. The caller holds the lock of runs. Raises ExecplanError."""
    _ensure_journal_not_truncated(run_paths)
    with open_journal(run_paths) as journal:
        journal_writer = continue_journal(run_paths, journal, RunObserver())
        policy = effective_policy(run_paths.project)
        warnings = journal_writer.repair(run_paths)
        session = start_session(run_paths, policy, journal_writer, options)
        update = AgentRunUpdate(session)
        update.warnings += warnings
        yield update


def _ensure_journal_not_truncated(run_paths: RunPaths) -> None:
    """Raise ExecplanError if the journal has lost data since a call was last allowed."""
    signing_key = approval_key.read(run_paths.project)
    if signing_key is not None:
        journal_watermark.check(run_paths, read_bytes(run_paths.journal), signing_key)


def build_context(run_paths: RunPaths, run_state: RunState) -> RunContext:
    """Return the context for inspecting an agent's work and running a step's `test_after`. Raises ExecplanError."""
    context = make_inspection_context(run_paths, run_state, RunObserver())
    limits = [context.policy.seconds, run_state.document.constraints.max_duration_s]
    return context._replace(deadline=monotonic() + min([limit for limit in limits if limit is not None]))
