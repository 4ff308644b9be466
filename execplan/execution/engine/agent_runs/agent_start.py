"""Starting an agent's run, or resuming it under a new approval. The agent performs the steps; none run here.

The paths that the steps write are backed up when the run begins, so that it can be rolled back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256
from typing import Any

from execplan.core import features
from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.errors import ExecplanError
from execplan.core.git import git_query
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import require_existing
from execplan.execution import rare_features, states
from execplan.execution.approval_document import Approval
from execplan.execution.approvals import approval_files
from execplan.execution.approvals.approved_plan import ApprovedPlan, find_candidate, require_approval
from execplan.execution.binding import sanitize_state
from execplan.execution.engine import run_setup
from execplan.execution.engine.agent_runs import agent_run_lookup, guard_grant, undeclared_changes
from execplan.execution.engine.agent_runs.agent_run_lookup import AgentRun
from execplan.execution.engine.agent_runs.agent_transitions import apply_transitions
from execplan.execution.engine.journal.journal_entries import state_json
from execplan.execution.engine.journal.journal_writer import JournalWriter, continue_journal
from execplan.execution.engine.run_observer import RunObserver
from execplan.execution.engine.run_preconditions import (
    ensure_no_unfinished_run,
    ensure_not_remainder_approval,
    ensure_same_document,
)
from execplan.execution.engine.run_records import run_directories
from execplan.execution.engine.run_records.evidence_copies import open_journal
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.schedule import Schedule
from execplan.execution.engine.steps.step_paths import list_declared_paths, list_replaced_paths, parent_folders
from execplan.execution.engine.workspace.backup_store import BackupStore
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.execution_plan import ExecutionPlan, Step
from execplan.execution.world import ABSENT, FILE, State


def save_states(
    project: Project,
    steps: Iterable[Step],
    approval: Approval,
    known_paths: Collection[str],
    reported_paths: Collection[str],
) -> dict[str, Any]:
    """Back up the declared paths and return the JSON form of their states: approved, outputs and directories.

    `known_paths`: paths of which the run already knows the expected state. `reported_paths`: paths written before
    execplan was asked; only their approved state is known, and Git may have their bytes. Raises ExecplanError.
    """
    workspace, approved = WorkspaceFiles(project), dict(approval.binding.states)
    states = {path: state for path, state in approved.items() if path not in known_paths}
    declared_paths = dict.fromkeys([path for step in steps for path in (*list_declared_paths(step), *step.files)])
    with BackupStore(project).batch() as store:
        for path in declared_paths:
            if path in reported_paths:
                _save_from_git(project, store, path, approved.get(path))
            elif path not in known_paths:
                current_state = store.save_path(workspace, path)
                states.setdefault(path, sanitize_state(current_state))
    for folder in parent_folders(list(declared_paths)):
        if folder not in known_paths and workspace.state(folder).kind == ABSENT:
            states.setdefault(folder, State(ABSENT))
    return {path: state_json(state) for path, state in states.items()}


def _save_from_git(project: Project, store: BackupStore, path: str, state: State | None) -> None:
    """Back up the approved bytes of a path if the last commit has them."""
    if state is None or state.kind != FILE or not state.sha256 or store.has(state.sha256) or not project.git:
        return
    try:
        data = git_query.output(project, "cat-file", "blob", f"HEAD:{path}")
    except ExecplanError:
        return  # not committed: it cannot be restored, and a rollback reports that
    if sha256(data).hexdigest() == state.sha256:
        store.save(data)


def expected_states_json(expected: Mapping[str, State], paths: Iterable[str]) -> dict[str, Any]:
    """Return the JSON form of the expected states of some paths, as far as they are known."""
    return {path: state_json(expected[path]) for path in paths if path in expected}


def start_or_resume(project: Project, ref: PlanRef, *, session: str) -> RunPaths:
    """Begin an agent's run, or resume the active one, and issue its guard grant. Raises ExecplanError.

    The caller holds the lock of runs.
    """
    return acquire_run(project, ref, session, "")[0]


def acquire_run(project: Project, ref: PlanRef, session: str, reported_step: str) -> tuple[RunPaths, ApprovedPlan]:
    """Begin or resume a run like `start_or_resume`; return it with the approved plan.

    `reported_step`: the step, by ID or number, that was performed before execplan was asked. Only the paths that it
    writes may differ from their approved state.
    """
    require_existing(project)
    ensure_not_archived(project, ref)
    agent_run = agent_run_lookup.find_last(project, ref)
    if agent_run is None or not agent_run.is_active:
        return _start_run(project, ref, session, reported_step)
    agent_run_lookup.ensure_not_waiting(ref, agent_run)
    return agent_run.run_paths, _resume_run(project, ref, agent_run, session, reported_step)


def find_reported_run(project: Project, ref: PlanRef, reported_step: str) -> AgentRun | None:
    """Return the agent's run that a step report is about: the last one, unless it has ended and another may begin."""
    agent_run = agent_run_lookup.find_last(project, ref)
    if agent_run is None or agent_run.is_active:
        return agent_run
    try:
        require_agent_plan(project, ref, "", reported_step)
    except ExecplanError:
        return agent_run
    return None


def require_agent_plan(
    project: Project, ref: PlanRef, run: str, reported_step: str, paths_at_work: Collection[str] = ()
) -> ApprovedPlan:
    """Return a plan that an agent may run. Raises ExecplanError if it may not.

    Changes of `paths_at_work`, the files of the run's unfinished steps, do not count: a report is checked against what
    they were before.
    """
    candidate = find_candidate(project, ref, with_programs=False)
    documents = [candidate.document]
    if candidate.document.finds_files and reported_step:  # the step has done its work, so its files are not found now
        stored_approvals = approval_files.select_readable(approval_files.read_all(project, ref))
        bind_files = features.load(rare_features.BOUND_FILES)
        documents += [bind_files(candidate.document, stored.approval.binding.states) for stored in stored_approvals]
    reported_paths = [path for document in documents for path in _declared_paths(document, reported_step)]
    approved_plan = require_approval(project, ref, candidate, run, [*reported_paths, *paths_at_work])
    if not run:
        ensure_not_remainder_approval(project, ref, approved_plan.approval)
    return approved_plan


def _start_run(project: Project, ref: PlanRef, session: str, reported_step: str) -> tuple[RunPaths, ApprovedPlan]:
    ensure_no_unfinished_run(project, ref)
    run_paths = run_directories.next_run(project, ref)
    approved_plan = require_agent_plan(project, ref, "", reported_step)
    document, workspace = approved_plan.document, WorkspaceFiles(project)
    with run_setup.open_new_run(run_paths, approved_plan, RunObserver()) as journal_writer:
        initial_states = save_states(
            project, document.steps, approved_plan.approval, (), _declared_paths(document, reported_step)
        )
        undeclared_changes.save_snapshot(run_paths)
        run_fields = {
            "mode": "agent",
            "sandbox": "",
            "jobs": 1,
            "chosen": None,
            "replays": None,
            "states": initial_states,
        }
        run_setup.write_first_entry(journal_writer, run_paths, approved_plan, **run_fields, **_session_field(session))
        schedule = Schedule(document, None, lambda path: workspace.state(path).kind != ABSENT)
        apply_transitions(journal_writer, schedule, lambda step: None)  # steps skipped at the start check off no task
        journal_writer.sync()
        journal_writer.audit_log.update_anchor()
    guard_grant.issue(run_paths, approved_plan)
    return run_paths, approved_plan


def _resume_run(project: Project, ref: PlanRef, agent_run: AgentRun, session: str, reported_step: str) -> ApprovedPlan:
    """Resume a run under its approval; record it if the approval or the revision is another one than before."""
    run_paths, run_state = agent_run.run_paths, agent_run.run_state
    ensure_same_document(run_paths, agent_run.entries)
    paths_at_work = run_state.states_before_work()
    approved_plan = require_agent_plan(project, ref, run_paths.id, reported_step, paths_at_work)
    run_setup.create_state_directory(run_paths)
    is_new_approval = approved_plan.approval.id != run_state.approval_fields["approval_id"]
    if is_new_approval or run_state.status == states.REPLANNING:
        with open_journal(run_paths) as journal:
            journal_writer = continue_journal(run_paths, journal, RunObserver())
            record_resume(journal_writer, run_paths, approved_plan, session, reported_step)
            journal_writer.audit_log.update_anchor()
    guard_grant.issue(run_paths, approved_plan)
    return approved_plan


def record_resume(
    journal_writer: JournalWriter,
    run_paths: RunPaths,
    approved_plan: ApprovedPlan,
    session: str,
    reported_step: str = "",
    failed: Collection[str] | None = None,
) -> None:
    """Record that a run resumes. Raises ExecplanError.

    `failed`: the steps that stay failed; None for all that have failed.
    """
    run_state, document = journal_writer.run_state, approved_plan.document
    is_new_approval = approved_plan.approval.id != run_state.approval_fields["approval_id"]
    run_setup.use_approval(run_paths, approved_plan)
    new_states = (
        approved_plan.approval.binding.states.keys() - run_state.states_before_work() if is_new_approval else ()
    )
    known_paths = [path for path in run_state.expected_states if path not in new_states]
    initial_states = save_states(
        run_paths.project, document.steps, approved_plan.approval, known_paths, _declared_paths(document, reported_step)
    )
    run_state.document = document
    still_failed = run_state.steps_with_status(states.FAILED) if failed is None else list(failed)
    run_setup.write_resumed(
        journal_writer, approved_plan, failed=still_failed, states=initial_states, **_session_field(session)
    )


def _session_field(session: str) -> dict[str, str]:
    return {"session": session} if session else {}


def _declared_paths(document: ExecutionPlan, reported_step: str) -> list[str]:
    """Return the paths that a step writes, by its ID or number, or empties; empty for an empty name."""
    return [
        path
        for step in document.steps
        if reported_step in (step.id, str(step.number))
        for path in list_replaced_paths(step)
    ]
