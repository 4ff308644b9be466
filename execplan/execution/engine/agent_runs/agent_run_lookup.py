"""Lookup of an agent's active run: the last run of a plan, if an agent began it and it has not ended."""

from __future__ import annotations

from collections.abc import Sequence

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.execution import states
from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.journal.journal_entries import REVISION_REASONS
from execplan.execution.engine.replanning import run_revisions
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_records.run_summary import find_last_begun_run
from execplan.execution.engine.run_state import Question, RunState


class AgentRun(NamedTuple):
    """A run, mostly one of an agent, with its journal entries and its state."""

    run_paths: RunPaths
    entries: Sequence[RunEntry]
    run_state: RunState

    @property
    def is_active(self) -> bool:
        """Return whether the run has not ended."""
        return self.run_state.status in (states.IN_PROGRESS, states.REPLANNING)


def find_last(project: Project, ref: PlanRef, *, by_agent: bool = True) -> AgentRun | None:
    """Return the last run of a plan, or None if it is not an agent's, unless `by_agent` is False.

    Raises ExecplanError.
    """
    run_paths, entries = find_last_begun_run(project, ref)
    if run_paths is None or (by_agent and entries[0].fields.get("mode") != "agent"):
        return None
    return AgentRun(run_paths, entries, RunState(run_revisions.load_document(run_paths, entries), entries))


def ensure_not_waiting(ref: PlanRef, agent_run: AgentRun) -> None:
    """Raise ExecplanError if a person has to act first."""
    run_state, run_args = agent_run.run_state, f"{agent_run.run_paths.number} -p {ref.shell_name}"
    if run_state.open_rollback is not None:
        message = f"a rollback of run {agent_run.run_paths.id} was interrupted"
        hint = f"a person must finish it: execplan rollback {run_args}"
        raise ExecplanError("run-cut-short", message, hint=hint)
    if run_state.question is not None and run_state.question.why not in REVISION_REASONS:
        raise waiting_error(agent_run.run_paths, run_state.question)


def waiting_error(run_paths: RunPaths, question: Question) -> ExecplanError:
    """Return the error for a run that waits for a person's answer."""
    from execplan.execution.engine.run_questions import ALLOWED_ANSWERS, format_answer_hint

    ref = run_paths.ref
    hint = format_answer_hint(question, f"{run_paths.number} -p {ref.shell_name}")
    message = f"run {run_paths.id} of {ref.id} is paused: {question.words}"
    return ExecplanError("paused", message, hint=hint, candidates=ALLOWED_ANSWERS[question.why])
