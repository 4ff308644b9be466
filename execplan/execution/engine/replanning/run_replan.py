"""Replanning of a run: the next revision is made from new information, recorded, and stored for approval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from execplan.core.documents.document_io import document_bytes
from execplan.core.documents.document_model import validate_document
from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.edits.plan_writer import WriteOptions, format_diff
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import author
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import require_existing
from execplan.core.text import strict_json
from execplan.core.text.text_lines import digest
from execplan.execution import states
from execplan.execution.approvals import artifact_store
from execplan.execution.approvals.current_plan import compile_plan_file
from execplan.execution.documents.document_diff import describe_differences
from execplan.execution.engine import run_questions
from execplan.execution.engine.commands.command_environment import make_redaction
from execplan.execution.engine.error_hints import CORRECT_OR_EDIT, format_resume_command
from execplan.execution.engine.journal.journal_entries import PAUSED, REPLANNED
from execplan.execution.engine.journal.journal_writer import JournalWriter, open_run
from execplan.execution.engine.recovery.interrupted_attempts import InterruptionRecovery, ensure_not_drifted
from execplan.execution.engine.replanning import revision_coverage, run_revisions
from execplan.execution.engine.replanning.next_revision import NextRevision, build_next_revision
from execplan.execution.engine.replanning.removed_steps import ensure_has_steps
from execplan.execution.engine.replanning.revision_coverage import RevisionCoverage
from execplan.execution.engine.run_observer import RunObserver
from execplan.execution.engine.run_records import record_builder, run_summary
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_state import Question, RunState
from execplan.execution.engine.telemetry.span_sending import send_spans
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.execution_plan import ExecutionPlan

_MAX_REASON_LENGTH = 2000
"""Maximum length of a reason in characters, as in the model of the request."""


class ReplanResult(NamedTuple):
    """A revision that was made or, in a dry run, would be made."""

    run: str
    executor: str
    """Executor with which the run was begun or last resumed; empty for this machine."""
    revision: int
    document: ExecutionPlan
    digest: str
    """SHA-256 digest of the revision's bytes."""
    path: str
    """Path of the stored revision, relative to the repository root."""
    completed_steps: tuple[str, ...]
    """IDs of the steps that do not run again."""
    differences: tuple[str, ...]
    """Differences from the previous revision, one per line."""
    coverage: RevisionCoverage
    """The approval that covers the revision, or why a person has to approve it."""
    diff: str
    """Unified diff against the stored document; only in a dry run."""
    commit: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def question(self) -> Question:
        """The question that the run waits for after the revision."""
        if self.coverage.derived_approval is not None and self.coverage.approval is not None:
            return run_questions.coverage_question(self.revision, self.coverage.approval)
        return run_questions.approval_question(self.revision)


def replan_run(
    run_paths: RunPaths,
    *,
    reason: str,
    failed: Sequence[str],
    information: str | None,
    observer: RunObserver,
    options: WriteOptions,
    journal_writer: JournalWriter | None = None,
) -> ReplanResult:
    """Revise the execution plan of a run. Raises ExecplanError and then changes nothing.

    `failed` has the IDs or numbers of steps to count as failed, in addition to those that failed in the run.
    `information` is plain text, or a JSON object whose `steps` replace everything that is not done. Without such steps,
    edited steps of the plan do so. With `journal_writer`, the active run that calls this pauses or continues afterwards; without it, the run is paused until
    the revision is approved.
    """
    project, ref = run_paths.project, run_paths.ref
    if journal_writer is not None:
        short_reason = journal_writer.redaction.redact_text(reason)[:_MAX_REASON_LENGTH]
        revision = build_next_revision(
            journal_writer.run_state, short_reason, failed, information, journal_writer.redaction
        )
        return _store_revision(run_paths, journal_writer, revision, step=failed[0] if failed else None)
    require_existing(project)
    ensure_not_archived(project, ref)
    if options.dry_run:
        _, run_state = run_summary.load_begun_run(run_paths)
        _ensure_can_replan(run_paths, run_state)
        compiled_plan = compile_plan_file(project, ref).document
        revision = build_next_revision(run_state, reason, failed, information, make_redaction(), compiled_plan)
        return _describe_revision(run_paths, run_state, revision, diff=True)
    options.prepare_commit(project)
    with open_run(run_paths, observer, f"replan of run {run_paths.id} of {ref.id}") as opened_writer:
        _ensure_can_replan(run_paths, opened_writer.run_state)
        compiled_plan = compile_plan_file(project, ref).document
        revision = build_next_revision(
            opened_writer.run_state, reason, failed, information, opened_writer.redaction, compiled_plan
        )
        replan_result = _store_revision(run_paths, opened_writer, revision)
        question = replan_result.question
        opened_writer.write(PAUSED, why=question.why, step=None, question=question.words)
        record_builder.file_record(run_paths, opened_writer)
    if options.should_commit(project):
        replan_result = _commit_revision(project, ref, replan_result)
    trace_warnings = send_spans(run_paths, opened_writer)
    return replan_result._replace(warnings=(*replan_result.warnings, *trace_warnings))


def _commit_revision(project: Project, ref: PlanRef, replan_result: ReplanResult) -> ReplanResult:
    """Commit the revision with the artifacts of the plan. Raises ExecplanError."""
    from execplan.core.edits.plan_commit import commit_paths

    folder = project.plan_artifacts_dir(ref.path, archived=ref.archived)
    commit = commit_paths(
        project, ref.id, [folder], "replan", f"revision {replan_result.revision} of its steps", {}, None
    )
    return replan_result._replace(commit=commit.digest, warnings=commit.warnings)


def _ensure_can_replan(run_paths: RunPaths, run_state: RunState) -> None:
    """Raise ExecplanError if a run has nothing left to replan, if its plan has no steps, or if a step's outcome is unknown."""
    ref = run_paths.ref
    plan_name = ref.shell_name
    resume_command = format_resume_command(run_paths.number, plan_name, run_state.executor)
    rollback_command = f"execplan rollback {run_paths.number} -p {ref.shell_name}"
    later_run, _ = run_summary.find_last_begun_run(run_paths.project, ref)
    if later_run is not None and later_run.number > run_paths.number:
        message = f"run {run_paths.id} was followed by {later_run.id}, so it can't continue"
        hint = f"see what is next: execplan next {plan_name}"
        hint += f"; or roll this one back: {rollback_command}" if run_state.status != states.ROLLED_BACK else ""
        raise ExecplanError("nothing-to-replan", message, hint=hint)
    if run_state.status in (states.COMPLETED, states.ROLLED_BACK):
        message = f"run {run_paths.id} is {run_state.status.replace('_', ' ')}: nothing is left to replan"
        work = CORRECT_OR_EDIT if run_state.status == states.ROLLED_BACK else "edit the steps in the plan"
        hint = f"{work}, then: execplan evaluate {plan_name}"
        raise ExecplanError("nothing-to-replan", message, hint=hint)
    if run_state.open_rollback is not None:
        message = f"a rollback of run {run_paths.id} was interrupted"
        raise ExecplanError("run-cut-short", message, hint=f"finish it: {rollback_command}")
    steps = [step for step, _ in run_state.open_attempts()] + [
        step.id for step, _, _ in InterruptionRecovery.unknown_outcomes(run_state)
    ]
    if steps:
        if run_state.is_agent_run:
            message = f"{', '.join(steps)} of run {run_paths.id} is in progress: its result is not reported yet"
            hint = f"report it first: execplan report {steps[0]} -p {plan_name} --status failed --result 'What went wrong.'"
            raise ExecplanError("run-cut-short", message, hint=hint)
        message = (
            f"run {run_paths.id} was interrupted in {', '.join(steps)}: what the step has done must be determined first"
        )
        raise ExecplanError(
            "run-cut-short",
            message,
            hint=f"resume it with the steps that it began with: {resume_command}; or roll it back: {rollback_command}",
        )
    if run_state.document.source is not None:
        ensure_has_steps(run_paths)
    if not run_state.is_agent_run:
        ensure_not_drifted(run_state, WorkspaceFiles(run_paths.project), ())


def _store_revision(
    run_paths: RunPaths,
    journal_writer: JournalWriter,
    revision: NextRevision,
    step: str | None = None,
) -> ReplanResult:
    """Save a revision with the run, store it for the plan, and record it. Raises ExecplanError.

    If the process is killed before the revision is recorded, the run still uses the previous one, and the next
    revision replaces this one. If it is killed before the approval that covers the revision is derived, a person has to
    approve it.
    """
    replan_result = _describe_revision(run_paths, journal_writer.run_state, revision, diff=False)
    document = revision.document
    previous_revision = document.metadata.history[-1]
    data = document_bytes(document)
    run_revisions.save_revision(run_paths, document.revision, data)
    artifact_store.save(
        run_paths.project, run_paths.ref, lambda: data, WriteOptions(commit=False), command="replan", summary=""
    )
    journal_writer.run_state.document = document
    journal_writer.write(
        REPLANNED,
        revision=document.revision,
        document=replan_result.digest,
        reason=previous_revision.reason,
        completed=list(previous_revision.completed_steps),
        failed=list(previous_revision.failed_steps),
        step=step,
        plan_steps=len(document.steps),
        generation_s=revision.seconds,
        user=author.system_login(),
        session=author.session_id(),
    )
    return replan_result._replace(coverage=revision_coverage.derive_approval(run_paths, replan_result.coverage))


def _describe_revision(run_paths: RunPaths, run_state: RunState, revision: NextRevision, *, diff: bool) -> ReplanResult:
    """Describe a revision of a run. Raises ExecplanError if storing it would overwrite a document that cannot be recreated."""
    project, ref = run_paths.project, run_paths.ref
    document = revision.document
    path, data, old = artifact_store.path_of(project, ref), document_bytes(document), artifact_store.read(project, ref)
    _ensure_own_document(project, ref, old, {run_state.document_digest, digest(document_bytes(run_state.document))})
    stored_path = project.display_path(path)
    return ReplanResult(
        run=run_paths.id,
        executor=run_state.executor,
        revision=document.revision,
        document=document,
        digest=digest(data),
        path=stored_path,
        completed_steps=tuple(
            [step.id for step in document.steps if run_state.status_of.get(step.id) in states.SUCCESS_STATES]
        ),
        differences=tuple(
            [
                difference
                for difference in describe_differences(run_state.document, document)
                if not difference.startswith(_EXPECTED_DIFFERENCES)
            ]
        ),
        coverage=revision_coverage.find_coverage(run_paths, run_state, document),
        diff=format_diff(old or b"", data, stored_path) if diff else "",
        warnings=tuple(
            [
                f"the plan's step {step} was edited, but it is done and does not run again: put the correction into a new step"
                for step in revision.edited_steps
            ]
        ),
    )


def _ensure_own_document(project: Project, ref: PlanRef, old: bytes | None, run_digests: set[str]) -> None:
    """Raise ExecplanError if the stored document cannot be recompiled and does not come from this run."""
    if old is None or digest(old) in run_digests:
        return
    stored_document, _ = validate_document(strict_json.read(old).value, ExecutionPlan)
    if stored_document is None or (stored_document.source is not None and stored_document.revision == 1):
        return  # it can be recompiled
    if any([past_revision.sha256 in run_digests for past_revision in stored_document.metadata.history]):
        return
    stored_path = project.display_path(artifact_store.path_of(project, ref))
    raise ExecplanError(
        "other-document",
        f"{stored_path} is not the document of the run: it was imported, composed or revised since then",
        hint=f"move it elsewhere, and try again: mv {stored_path} other.json",
    )


_EXPECTED_DIFFERENCES = ("revision was ", "metadata.history was ")
"""Prefixes of the differences that every revision has."""
