"""Doctor checks of runs: interrupted or idle runs, altered evidence and audit logs, and leftovers of deleted runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from shlex import quote
from time import time

from execplan.cli.doctor.doctor_check import ERROR, WARNING, DoctorContext, DoctorFinding, DoctorFix, check
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.files import atomic_files, file_access
from execplan.core.files.tree_walk import remove_tree
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_excess
from execplan.execution.engine.error_hints import format_resume_command
from execplan.execution.engine.run_lock import acquire_run_lock, run_lock_holder
from execplan.execution.engine.run_records import evidence_copies, lost_evidence, run_directories, run_repair
from execplan.execution.engine.run_records.expected_evidence import is_expected, is_missing
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.engine.run_records.run_statuses import (
    BY_AGENT,
    CUT_SHORT,
    OPEN_STATES,
    ROLLING_BACK,
    read_journaled_status,
    read_run_status,
)

_RECORD_NAMES = ("ledger.jsonl", "approvals", "runs")
"""Names among the artifacts of a plan that has, or had, an audit log."""
_IDLE_SECONDS = 86_400
"""Seconds that an agent's run may wait for its next call before a warning."""
_DAYS = 30
"""Days that a run may be missing, on a branch that is not checked out, before its state is a leftover."""


@check("runs")
def check_runs(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """No run or rollback is interrupted, and no agent's run is idle."""
    for project, ref in [listed[:2] for listed in context.plans]:
        for run_paths in run_directories.list_runs(project, ref):
            run_status = read_run_status(run_paths)
            state = run_status.state
            name = f"{run_paths.number} -p {ref.shell_name}"
            first = f"restore the plan: execplan restore {ref.shell_name}; then " if ref.archived else ""
            if state == ROLLING_BACK:
                message = f"the rollback of run {run_paths.id} was interrupted: some of its files are restored, others are not"
                yield DoctorFinding(
                    ERROR, project.display_path(run_paths.folder), message, f"{first}execplan rollback {name}"
                )
            elif state == BY_AGENT and time() - os.lstat(run_paths.journal).st_mtime > _IDLE_SECONDS:
                message = f"no agent has continued its run {run_paths.id} for more than a day"
                remedy = f"{first}hand it to another agent: execplan handoff {ref.shell_name}; or roll it back: execplan rollback {name}"
                yield DoctorFinding(WARNING, project.display_path(run_paths.folder), message, remedy)
            elif state == CUT_SHORT:
                message = f"run {run_paths.id} was interrupted or killed, and has not been resumed or rolled back"
                resume = format_resume_command(run_paths.number, ref.shell_name, run_status.executor)
                remedy = f"{first}resume it: {resume}; or roll it back: execplan rollback {name}"
                yield DoctorFinding(ERROR, project.display_path(run_paths.folder), message, remedy)


@check("evidence")
def check_evidence(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """The evidence of every run is unchanged in its plan's artifacts, and its plan exists."""
    for project, ref in [listed[:2] for listed in context.plans]:
        for run_paths in run_directories.list_runs(project, ref):
            is_running = run_paths.id in run_lock_holder(project)
            names = lost_evidence.list_altered_evidence(run_paths) if not is_running else []
            if names:
                more_note = f" and {len(names) - 1} more files are" if len(names) > 1 else " is"
                message = f"run {run_paths.id}: {names[0]}{more_note} missing or changed in the artifacts"
                fix = DoctorFix(
                    f"restore the files of run {run_paths.id}", partial(_restore_run_files, project, ref, run_paths)
                )
                state = quote(project.display_path(run_paths.state))
                remedy = f"execplan doctor --fix; if you removed them on purpose, also remove what is kept of them: rm -r {state}*"
                yield DoctorFinding(ERROR, project.display_path(run_paths.folder), message, remedy, fix=fix)
    for project in context.state_projects:
        for folder, path in project_state.list_plan_state_dirs(project):
            plan_runs = [] if os.path.lexists(path) else _runs_of_missing_plan(project, folder, path)
            open_runs = [run for run in plan_runs if read_journaled_status(run).state in OPEN_STATES]
            for run_paths in open_runs[:1]:
                text = evidence_copies.read(run_paths, evidence_copies.PLAN)
                if (
                    text is None
                    or not is_missing(project, path)
                    or run_repair.is_in_other_plan(project, path, run_paths.id)
                ):
                    continue
                message = f"this plan no longer exists, but its run {run_paths.id} is unfinished"
                remedy = "restore it as it was before the last step: execplan doctor --fix"
                fix = DoctorFix(f"restore {project.display_path(path)}", partial(_restore_plan, project, path, text))
                yield DoctorFinding(ERROR, project.display_path(path), message, remedy, fix=fix)


def _runs_of_missing_plan(project: Project, folder: str, path: str) -> list[RunPaths]:
    """Return the runs of a missing plan, the last one first."""
    ref = plan_store.PlanRef(project.split_plan_path(path)[1], path, False)
    run_names = [name for name in reversed(file_access.list_names(folder)) if run_directories.is_run_id(name)]
    return [run_directories.get_run_paths(project, ref, name) for name in run_names]


def _restore_plan(project: Project, path: str, text: bytes, options: WriteOptions) -> list[str]:
    with acquire_run_lock(project, "doctor"):
        atomic_files.create(path, text, within=project.root, make_directories=True)
    return [f"restored {project.display_path(path)}"]


def _restore_run_files(project: Project, ref: PlanRef, run_paths: RunPaths, options: WriteOptions) -> list[str]:
    """Restore the files written by a run, as a resume or a rollback would; raises ExecplanError."""
    from execplan.execution.engine.run_observer import RunObserver
    from execplan.execution.engine.run_records.lost_evidence import restore_evidence

    warnings: list[str] = []

    class WarningCollector(RunObserver):
        def warn(self, message: str) -> bool:
            warnings.append(message)
            return True

    restore_evidence(run_paths, WarningCollector())
    return warnings or [f"restored the files of run {run_paths.id}"]


@check("ledgers")
def check_audit_logs(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """Every audit log is intact, according to its hash chain and its anchor."""
    from execplan.execution.engine.audit_log import log_reader
    from execplan.execution.engine.audit_log.log_verification import verify_log

    for project, ref in [listed[:2] for listed in context.plans]:
        folder, copy = project.plan_artifacts_dir(ref.path, archived=ref.archived), log_reader.copy_path(project, ref)
        if not any([os.path.lexists(os.path.join(folder, name)) for name in _RECORD_NAMES]) and not (
            os.path.lexists(copy) and is_expected(project, copy, log_reader.path_of(project, ref))
        ):
            continue  # asking Git for the anchor takes some milliseconds
        verification = verify_log(project, ref)
        if verification.reasons:
            more_note = format_excess(len(verification.reasons), 1, ", ")
            message = f"the audit log of {ref.id} is not as it was written: {verification.reasons[0]}{more_note}"
            remedy, fix = f"see all problems: execplan audit {ref.shell_name} --verify", None
            if log_reader.is_restorable(project, ref):
                fix = DoctorFix(f"restore {verification.path} from its copy", partial(_restore_audit_log, project, ref))
                remedy += "; restore it from its copy: execplan doctor --fix"
            yield DoctorFinding(ERROR, verification.path, message, remedy, fix=fix)


def _restore_audit_log(project: Project, ref: PlanRef, options: WriteOptions) -> list[str]:
    from execplan.execution.engine.audit_log.log_writer import AuditLog
    from execplan.execution.engine.workspace.backup_store import BackupStore

    audit_log = AuditLog(project, ref, can_restore=True)
    audit_log.update_anchor()
    message = f"restored {project.display_path(audit_log.path)}"
    if audit_log.overwritten:
        backup = BackupStore(project).path(BackupStore(project).save(audit_log.overwritten))
        message += f"; the previous content is in {project.display_path(backup)}"
    return [message]


@check("run-states")
def check_run_states(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """State for resuming runs belongs to runs that exist, or existed in the last 30 days."""
    for project in context.state_projects:
        folder = os.path.join(project.state, "runs")
        names = plan_store.list_entries(folder)
        known_ids = _known_run_ids(context, project) if names else set()
        paths_by_run: dict[str, list[str]] = {}
        for name in names:
            paths_by_run.setdefault(name.partition(".")[0], []).append(os.path.join(folder, name))
        leftovers = [(paths, "run") for run, paths in paths_by_run.items() if run not in known_ids]
        for path, plan in project_state.list_plan_state_dirs(project):
            leftovers += [([path], "plan")] if not os.path.lexists(plan) else []
        for paths, owner in leftovers:
            if time() - max([os.lstat(path).st_mtime for path in paths]) > _DAYS * 86_400:
                display_paths = [project.display_path(path) for path in paths]
                fix = DoctorFix(f"remove {', '.join(display_paths)}", partial(_remove_state, project, paths))
                message = f"this belongs to a {owner} that no longer exists"
                remedy = f"rm -r {' '.join(map(quote, display_paths))}"
                yield DoctorFinding(WARNING, display_paths[0], message, remedy, fix=fix)


def _known_run_ids(context: DoctorContext, project: Project) -> set[str]:
    """Return the IDs of the existing runs whose working state shares a project's state directory."""
    refs = [
        (owner, ref) for owner in context.projects if owner.state == project.state for ref in plan_store.all_refs(owner)
    ]
    return {run_paths.id for owner, ref in refs for run_paths in run_directories.list_runs(owner, ref)}


def _remove_state(project: Project, paths: list[str], options: WriteOptions) -> list[str]:
    with acquire_run_lock(project, "doctor"):
        for path in paths:
            if os.path.isdir(path):
                remove_tree(path, lambda _: None)
            else:
                file_access.remove_if_exists(path)
    return [f"removed {project.display_path(path)}" for path in paths]
