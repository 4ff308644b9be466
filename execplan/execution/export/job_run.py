"""Run of one job of an exported plan, in the directory where an engine has started it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store.hint_reader import require_person
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import require_existing
from execplan.core.text.message_parts import format_count
from execplan.execution import states
from execplan.execution.approvals import approval_creation, approval_files
from execplan.execution.approvals.approval_creation import Confirmation
from execplan.execution.approvals.approved_plan import find_candidate
from execplan.execution.approvals.effective_policy import repository_policy
from execplan.execution.approvals.plan_evaluation import evaluate_plan
from execplan.execution.binding import Binding, drift
from execplan.execution.engine import approval_audit
from execplan.execution.engine.journal.journal import RunEntry
from execplan.execution.engine.journal.journal_entries import BY_HAND, CHECKPOINT, CONFIRM, GO
from execplan.execution.engine.run import run
from execplan.execution.engine.run_observer import FinishedRun, RunObserver, RunOptions
from execplan.execution.engine.run_preconditions import ensure_no_unfinished_run, ensure_not_agent_mode
from execplan.execution.engine.run_records.run_directories import list_runs
from execplan.execution.engine.run_records.run_summary import load_run_state, read_run_entries
from execplan.execution.engine.run_state import Question
from execplan.execution.engine.workspace.file_archive import (
    FileArchive,
    entries_below,
    find_problem,
    pack_archive,
    replace_with_archive,
    unpack_archive,
)
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.evaluation.approval_scope import approval_scope
from execplan.execution.execution_plan import Step
from execplan.execution.export.export_jobs import Job, job_digest, partition, passed_paths
from execplan.execution.policy import SSH
from execplan.execution.states import ActiveRun
from execplan.execution.world import ABSENT, State

SCHEMA = "execplan/job-outputs/1"
_MAX_BYTES = 4 << 30


def save_outputs(project: Project, path: str, document: str, steps: Sequence[Step]) -> None:
    """Write what these steps pass on to an archive; the same files give the same bytes.

    `document` is the digest of the execution plan. Raises ExecplanError.
    """
    workspace = WorkspaceFiles(project)
    entries = [entry for declared in _declared_paths(steps) for entry in entries_below(workspace, declared)]
    data = pack_archive({"schema": SCHEMA, "document": document}, entries, workspace.read)
    old = file_access.read(path, _MAX_BYTES)[0] if os.path.lexists(path) else None
    atomic_files.replace_if_unchanged(path, old, data)


def load_outputs(project: Project, path: str, document: str, steps: Sequence[Step]) -> None:
    """Write the files of an archive that earlier steps passed on.

    Everything is checked first: the execution plan, that each path is one that these steps declare, and the digest of
    each file. Raises ExecplanError.
    """
    archive = _read_archive(path, document)
    declared_paths = _declared_paths(steps)
    problem = find_problem(archive, declared_paths)
    if problem:
        raise _archive_error(path, problem)
    replace_with_archive(archive, declared_paths, WorkspaceFiles(project))


def _declared_paths(steps: Sequence[Step]) -> list[str]:
    return sorted({path for step in steps for path in passed_paths(step)})


def _read_archive(path: str, document: str) -> FileArchive:
    """Return an archive of the jobs of a plan. Raises ExecplanError."""
    data, size = file_access.read(path, _MAX_BYTES)
    if size > _MAX_BYTES:
        raise _archive_error(path, f"it is larger than {_MAX_BYTES >> 30} GiB")
    try:
        archive = unpack_archive(data)
        schema, archived_document = archive.header["schema"], archive.header["document"]
    except (ValueError, KeyError):
        raise _archive_error(path, "it is not an archive that `execplan job --save` wrote") from None
    if schema != SCHEMA:
        raise _archive_error(path, f"its format is {schema!r}, not {SCHEMA!r}")
    if archived_document != document:
        raise _archive_error(path, "it comes from other steps than those of the plan")
    return archive


def _archive_error(path: str, reason: str) -> ExecplanError:
    return ExecplanError(
        "bad-job-outputs",
        f"{path}: {reason}; nothing was unpacked",
        hint="pass on the file that the previous job saved, from the same run of the workflow",
    )


APPROVER = "the exported workflow"
_VALID_SECONDS = 24 * 60 * 60


class JobOptions(NamedTuple):
    """Options of a job."""

    number: int
    """Number of the job in the plan, from 1."""
    digest: str
    """Digest of the job in the exported workflow."""
    load: str = ""
    """Archive with the outputs of the previous job; empty without one."""
    save: str = ""
    """Archive to write with the outputs of this job and the earlier ones; empty for none."""
    jobs: int = 1
    """Maximum number of steps that run in parallel."""
    confirmed: bool = False
    """Whether a person has let the job begin, which answers the question of its first step."""


class _CheckedJob(NamedTuple):
    job: Job
    earlier_steps: tuple[Step, ...]
    document: str
    """Digest of the execution plan."""
    has_signers: bool
    """Whether people sign approvals, with their own keys."""


def check_job(project: Project, ref: PlanRef, number: int, digest: str) -> Job:
    """Check that a job of an exported plan would run what was approved, and return it. Raises ExecplanError."""
    return _check(project, ref, number, digest).job


def run_job(project: Project, ref: PlanRef, job_options: JobOptions, observer: RunObserver) -> FinishedRun:
    """Run the steps of a job, after the digest check. Raises ExecplanError if nothing was begun.

    The steps are approved by their digest, as `approve --digest` does: whoever wrote the workflow has chosen it. If
    people sign approvals, theirs must be among the plan's artifacts, and no other is made. The steps run as `run` runs
    them, with the same checks, records and limits.
    """
    checked = _check(project, ref, job_options.number, job_options.digest)
    if job_options.confirmed:
        require_person(f"execplan job {job_options.number} --confirmed")
    if job_options.load:
        load_outputs(project, job_options.load, checked.document, checked.earlier_steps)
    if not checked.has_signers:
        _approve(project, ref, checked)
    step_ids = tuple([step.id for step in checked.job.steps])
    finished_run = run(
        project,
        ref,
        RunOptions(
            steps=step_ids, jobs=job_options.jobs, done_before=tuple([step.id for step in checked.earlier_steps])
        ),
        _UnattendedObserver(observer, checked.job.asks_before if job_options.confirmed else ""),
        WriteOptions(commit=False),
    )
    if job_options.save and finished_run.status == states.COMPLETED:
        save_outputs(project, job_options.save, checked.document, [*checked.earlier_steps, *checked.job.steps])
    return finished_run


def _check(project: Project, ref: PlanRef, number: int, digest: str) -> _CheckedJob:
    require_existing(project)
    ensure_not_archived(project, ref)
    candidate = find_candidate(project, ref)
    ensure_not_agent_mode(candidate.document, ref)
    jobs = partition(candidate.document, repository_policy(project))
    if number > len(jobs):
        message = f"{ref.id} has only {format_count(len(jobs), 'job')}, not {number}"
        raise ExecplanError(
            "no-such-job", message, hint=f"export it again: execplan export {ref.shell_name} --to github"
        )
    if job_digest(candidate.binding, jobs, number) != digest:
        ensure_no_unfinished_run(project, ref)
        _ensure_not_changed_by_run(project, ref, candidate.binding, jobs, number, digest)
        raise ExecplanError(
            "other-digest",
            f"{ref.id} is not as it was exported: its steps, or a file that they use, have changed",
            hint=f"see who can approve it, then export it again: execplan evaluate {ref.shell_name}",
            candidates=_changes_since_approval(project, ref, candidate.binding),
        )
    earlier_steps = tuple([step for job in jobs[: number - 1] for step in job.steps])
    has_signers = candidate.policy.signatures == SSH
    return _CheckedJob(jobs[number - 1], earlier_steps, candidate.binding.document, has_signers)


def _ensure_not_changed_by_run(
    project: Project, ref: PlanRef, binding: Binding, jobs: Sequence[Job], number: int, digest: str
) -> None:
    """Raise ExecplanError if a job would find what was exported, had the plan's runs not changed its files."""
    last_run = ""
    states_before = dict(binding.states)
    for run_paths in list_runs(project, ref):
        entries = read_run_entries(run_paths)
        run_state = load_run_state(run_paths, entries)
        if not entries or run_state.status == states.ROLLED_BACK or run_state.document_digest != binding.document:
            continue
        last_run = last_run or run_paths.id
        states_before |= dict.fromkeys(run_state.created_folders(), State(ABSENT))
        states_before |= {change.path: change.before for _, change in reversed(run_state.changes())}
    if last_run and job_digest(binding._replace(states=states_before), jobs, number) == digest:
        raise ExecplanError(
            "other-digest",
            f"{ref.id} is not as it was exported: its runs have already changed the files of this checkout",
            hint=(
                f"list its runs: execplan runs {ref.shell_name}; to start again, roll back each run, "
                f"the last one first: execplan rollback {last_run} -p {ref.shell_name}"
            ),
        )


def _changes_since_approval(project: Project, ref: PlanRef, binding: Binding) -> tuple[str, ...]:
    """Return the changes of steps and files since the last approval in the plan's artifacts, as far as it is there."""
    stored_approvals = approval_files.select_readable(approval_files.read_all(project, ref))
    if not stored_approvals:
        return ()
    approved = stored_approvals[0].approval.binding
    return drift(approved._replace(policy=binding.policy, programs=None), binding)


def _approve(project: Project, ref: PlanRef, checked: _CheckedJob) -> None:
    """Approve the steps of a job in the current state of the files. Raises ExecplanError."""
    step_ids = tuple([step.id for step in checked.job.steps])
    earlier_ids = frozenset([step.id for step in checked.earlier_steps])
    evaluated_plan = evaluate_plan(project, ref, ActiveRun("an earlier job", checked.document, earlier_ids, {}))
    approval_creation.ensure_approvable(project, ref, evaluated_plan)
    scope = approval_scope(evaluated_plan.evaluation, None, step_ids)
    confirmation = Confirmation(
        APPROVER, "digest", _VALID_SECONDS, None, step_ids, inferred="flag" if scope.inferred_steps else None
    )
    if scope.manual_steps:
        require_person(f"execplan approve {ref.shell_name}")
    else:
        confirmation = confirmation._replace(how="policy")
    approval_audit.approve_and_record(project, ref, evaluated_plan, scope, confirmation, WriteOptions(commit=False))


class _UnattendedObserver(RunObserver):
    """An observer that continues after the policy's number of steps: nobody can answer in a job.

    Whoever lets a job begin has confirmed its first step. An exported plan has no other questions; see
    `ensure_exportable`.
    """

    def __init__(self, observer: RunObserver, confirmed_step: str) -> None:
        self._observer, self._confirmed_step = observer, confirmed_step

    def warn(self, warning: str) -> bool:
        return self._observer.warn(warning)

    def begin(self, run: str, steps: Sequence[Any]) -> None:
        self._observer.begin(run, steps)

    def entry(self, entry: RunEntry) -> None:
        self._observer.entry(entry)

    def line(self, step: str, text: str, *, error: bool) -> None:
        self._observer.line(step, text, error=error)

    def ask(self, question: Question) -> str | None:
        is_confirmed = question.why in (CONFIRM, BY_HAND) and question.step == self._confirmed_step
        return GO if question.why == CHECKPOINT or is_confirmed else None
