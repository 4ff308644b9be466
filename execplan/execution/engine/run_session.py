"""Run sessions, from the beginning or a resume of a run until it stops."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import plan_store
from execplan.execution.approvals import git_triggers

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.approvals.git_triggers import TriggerSnapshot
    from execplan.execution.engine.journal.journal_writer import JournalWriter
    from execplan.execution.engine.run_records.run_directories import RunPaths
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
