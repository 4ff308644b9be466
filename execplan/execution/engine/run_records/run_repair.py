"""Repair of the evidence of a run, and of its plan, from what the run keeps in the state directory."""

from __future__ import annotations

import os
from collections.abc import Iterator

from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, content_file, file_access
from execplan.core.git import git_query
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_settings, project_state
from execplan.core.project.project import Project
from execplan.core.text import fast_json
from execplan.core.text.text_lines import digest
from execplan.execution.approvals import approval_paths, artifact_store
from execplan.execution.engine.audit_log.log_writer import AuditLog
from execplan.execution.engine.journal.journal import Journal
from execplan.execution.engine.run_records import evidence_copies
from execplan.execution.engine.run_records.run_directories import JOURNAL, LIMIT, RunPaths
from execplan.execution.engine.run_state import RunState
from execplan.execution.engine.workspace.backup_store import BackupStore

_SETTINGS = "execplan.toml"


def is_in_other_plan(project: Project, path: str, run: str) -> bool:
    """Return whether a plan other than the one at a path has a run among its artifacts."""
    other_refs = [ref for ref in plan_store.all_refs(project) if ref.path != path]
    folders = [project.plan_artifacts_dir(ref.path, archived=ref.archived) for ref in other_refs]
    return any([os.path.lexists(os.path.join(folder, "runs", run)) for folder in folders])


def save_plan_and_settings(run_paths: RunPaths) -> None:
    """Back up the plan and the project's settings before a step. Raises ExecplanError."""
    protected_files = _protected_files(run_paths.project, run_paths.ref)
    content_file.keep(run_paths.kept_path, {name: _read_or_none(path) for name, path in protected_files})


def repair_run(
    run_paths: RunPaths,
    journal: Journal,
    audit_log: AuditLog,
    run_state: RunState,
    *,
    step_just_ran: bool,
) -> list[str]:
    """Restore missing or altered files of a run and return warnings. Raises ExecplanError.

    The caller holds the lock of runs. If the plan was renamed or archived meanwhile, its files have moved and nothing
    is restored. Files that are not part of the run are restored only if they existed before a step that was in
    progress. `step_just_ran`: whether a step has just run.
    """
    project, ref = run_paths.project, run_paths.ref
    may_be_damaged = step_just_ran or bool(run_state.open_attempts())
    if not os.path.lexists(ref.path) and is_in_other_plan(project, ref.path, run_paths.id):
        return []
    warnings = []
    for name, path in _protected_files(project, ref) if may_be_damaged else ():
        data = evidence_copies.read(run_paths, name)
        if data is not None and _create_missing(project, path, data):
            warnings.append(f"{project.display_path(path)} was removed by a step; restored as it was before that step")
    if step_just_ran and _restore_reverted_plan(run_paths, run_state):
        message = f"{project.display_path(ref.path)} was reset to the last commit by a step"
        warnings.append(f"{message}; restored as it was before that step")
    repaired_paths: list[str] = []
    overwritten: list[bytes] = []
    for name in evidence_copies.list_altered(run_paths):
        overwritten.append(_restore_evidence(run_paths, name))
        repaired_paths.append(run_paths.artifact_path(name))
    overwritten_journal = journal.repair_mirror()
    if overwritten_journal is not None:
        overwritten.append(overwritten_journal)
        repaired_paths.append(run_paths.artifact_path(JOURNAL))
    if audit_log.overwritten is not None:
        overwritten.append(audit_log.overwritten)
        audit_log.overwritten = None
        repaired_paths.append(audit_log.path)
    missing_documents = _plan_documents(run_paths, run_state.document_digest) if may_be_damaged else ()
    repaired_paths += [path for path, data in missing_documents if _create_missing(project, path, data)]
    return warnings + ([_repair_warning(project, repaired_paths, overwritten)] if repaired_paths else [])


def _repair_warning(project: Project, repaired_paths: list[str], overwritten: list[bytes]) -> str:
    subject_suffix = f" and {len(repaired_paths) - 1} more files of the run were" if len(repaired_paths) > 1 else " was"
    backups = BackupStore(project)
    backup_notes = [
        f"; the previous content is in {project.display_path(backups.path(backups.save(content)))}"
        for content in overwritten
        if content
    ]
    return f"{project.display_path(repaired_paths[0])}{subject_suffix} removed or changed; restored as the run wrote them{''.join(backup_notes)}"


def _protected_files(project: Project, ref: PlanRef) -> list[tuple[str, str]]:
    """Return the files that no snapshot covers and a run cannot do without, with the names under which they are kept."""
    return [(evidence_copies.PLAN, ref.path), (_SETTINGS, os.path.join(project.base, project_settings.SETTINGS_FILE))]


def _restore_reverted_plan(run_paths: RunPaths, run_state: RunState) -> bool:
    """Restore a plan that a step has reset to the last commit, as `git stash` does; return whether that was needed."""
    project, ref = run_paths.project, run_paths.ref
    saved_plan, current_plan = evidence_copies.read(run_paths, evidence_copies.PLAN), _read_or_none(ref.path)
    if (
        saved_plan is None
        or current_plan is None
        or saved_plan == current_plan
        or project.git is None
        or run_state.begin_fields["head"] is None
    ):
        return False
    path = os.path.relpath(ref.real_path, os.path.realpath(project.root))
    try:
        head = git_query.output(project, "rev-parse", "--verify", "HEAD").decode().strip()
        if (
            head != run_state.begin_fields["head"]
            or git_query.output(project, "cat-file", "blob", f"HEAD:{path}") != current_plan
        ):
            return False
    except ExecplanError:
        return False  # not in Git
    with project_state.lock(project, ref.real_path, f"the run of {ref.id}"):
        atomic_files.replace_if_unchanged(ref.path, current_plan, saved_plan, within=project.root)
    return True


def _plan_documents(run_paths: RunPaths, document: str) -> Iterator[tuple[str, bytes]]:
    """Iterate over the plan's execution plan and approvals, as far as the run has them."""
    for name in evidence_copies.list_run_documents(run_paths):
        data = evidence_copies.read(run_paths, name) or b""
        if name.startswith("approval"):
            try:
                fields = fast_json.read(data.decode())
                names = [str(fields[name]) for name in ("digest", "key")]
            except (ValueError, KeyError, TypeError, RecursionError):
                continue  # an invalid approval permits nothing
            if all([name.isalnum() for name in names]):
                file_name = f"{names[0]}.json" if fields.get("ssh") is None else f"{names[0]}-{names[1]}.json"
                yield approval_paths.file_path(run_paths.project, run_paths.ref, file_name), data
        elif digest(data) == document:
            yield artifact_store.path_of(run_paths.project, run_paths.ref), data


def _create_missing(project: Project, path: str, data: bytes) -> bool:
    return not os.path.lexists(path) and atomic_files.create(path, data, within=project.root, make_directories=True)


def _restore_evidence(run_paths: RunPaths, name: str) -> bytes:
    """Restore a file of the run in the artifacts from its copy and return overwritten foreign contents."""
    if not name.startswith(evidence_copies.TRANSCRIPTS):
        return evidence_copies.restore(run_paths, name)
    atomic_files.make_directory(os.path.dirname(run_paths.artifact_path(name)), within=run_paths.project.root)
    try:
        os.link(run_paths.copy_path(name), run_paths.artifact_path(name))
    except OSError as error:
        raise file_access.file_error(error, run_paths.artifact_path(name), "write") from None
    return b""


def _read_or_none(path: str) -> bytes | None:
    try:
        return file_access.read_if_exists(path, LIMIT)
    except ExecplanError:
        return None
