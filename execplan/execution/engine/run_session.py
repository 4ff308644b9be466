"""Run sessions, from the beginning or a resume of a run until it stops, and the loop that runs their steps."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import plan_store
from execplan.execution.approvals import git_triggers
from execplan.execution.engine.attempt_pool import AttemptPool
from execplan.execution.engine.error_hints import add_resume_hint
from execplan.execution.engine.run_loop import RunLoop
from execplan.execution.engine.run_questions import Prompter
from execplan.execution.engine.signal_handlers import SignalHandlers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.approvals.git_triggers import TriggerSnapshot
    from execplan.execution.engine.approved_steps import ApprovedSteps
    from execplan.execution.engine.journal.journal_writer import JournalWriter
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.engine.step_executor import StepExecutor
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.policy import Policy


class RunSession(NamedTuple):
    """One session of a run, from its beginning or a resume until it stops."""

    project: Project
    ref: PlanRef
    run_paths: RunPaths
    policy: Policy
    journal_writer: JournalWriter
    options: WriteOptions
    plan_before: bytes
    """Content of the plan file when the session began."""
    started_at: float
    """When the session began, by time.monotonic()."""
    triggers: TriggerSnapshot
    """What Git runs automatically, as it was when the session began; only read if the session will commit."""


def start_session(
    project: Project,
    ref: PlanRef,
    run_paths: RunPaths,
    policy: Policy,
    journal_writer: JournalWriter,
    options: WriteOptions,
) -> RunSession:
    """Start a run session now. Raises ExecplanError."""
    initial_triggers = git_triggers.take_snapshot(project) if options.should_commit(project) else {}
    return RunSession(
        project,
        ref,
        run_paths,
        policy,
        journal_writer,
        options,
        plan_store.read_bytes(project, ref.path),
        monotonic(),
        initial_triggers,
    )


@contextmanager
def open_loop(
    session: RunSession,
    context: RunContext,
    approved_steps: ApprovedSteps,
    executor: StepExecutor,
    jobs: int,
) -> Iterator[RunLoop]:
    """Open the loop that runs approved steps; until it is closed, signals stop it."""
    jobs = 1 if context.document.constraints.require_sequential else jobs
    with (
        add_resume_hint(
            context.run_paths, context.ref, executor.executor.name if executor.executor is not None else ""
        ),
        AttemptPool(context, session.journal_writer, executor, approved_steps.permit, jobs) as attempt_pool,
        SignalHandlers(context.stop, attempt_pool.wake) as signals,
    ):
        yield RunLoop(attempt_pool, approved_steps.schedule, Prompter(session.journal_writer, signals))
