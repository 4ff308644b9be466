"""Removal of created plans and recreation of removed ones; the journal keeps their text."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable

from execplan.core.archive.file_transfer import target_taken_error
from execplan.core.edits.active_runs import ensure_not_running
from execplan.core.edits.digest_check import ensure_digest_matches
from execplan.core.edits.edit_entries import CREATE, REMOVE, UNDO
from execplan.core.edits.edit_journal import JournalTransaction, Operation
from execplan.core.edits.plan_commit import commit_paths
from execplan.core.edits.plan_preconditions import ensure_not_archived, ensure_plan_exists
from execplan.core.edits.plan_writer import EditResult, WriteOptions, format_diff
from execplan.core.edits.undo_stack import load_entries, read_stack
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.git import git_query
from execplan.core.git.git_commit import CommitResult
from execplan.core.plan import reader
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_state
from execplan.core.project.plan_journal import former_paths
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import require_existing
from execplan.core.text.text_lines import digest
from execplan.core.undo.operation_reversal import ensure_still_next, unpack_texts
from execplan.core.undo.operation_selection import SelectedOperation, describe_operation
from execplan.core.undo.work_signs import signs_of_work


def remove_created(selected: SelectedOperation, options: WriteOptions, command: str) -> EditResult:
    """Remove a plan created by `new` or recreated by an undo; raises ExecplanError, SupersededError."""
    project, ref, step, _ = selected
    _, text = unpack_texts(selected)

    path = project.display_path(ref.path)
    message = f"{'undone' if command == UNDO else 'redone'}: {describe_operation(selected)}; removed {path}"
    if options.dry_run and selected.later:  # later steps of the same command, which are undone first
        data = plan_store.read_bytes(project, ref.path)
        return EditResult(path, True, digest(data), format_diff(data, None, path), None, 0, (message,), ())

    def check(data: bytes) -> None:
        ensure_still_next(selected, command)
        if data != text:
            raise ExecplanError(
                "changed-since",
                f"{project.display_path(ref.path)} has changed since it was created",
                hint=_changed_plan_hint(project, ref, digest(data)),
            )

    summary = f"{command}, {step.operation.summary}"
    return remove_plan(project, ref, options, command, summary, message, check, step.operation.id)


def _changed_plan_hint(project: Project, ref: PlanRef, current_digest: str) -> str:
    """Return what to do instead of undoing the creation of a plan that has changed since."""
    undone = [step.latest for step in read_stack(project, ref.path).redoable]
    if any([entry.old_digest in (entry.new_digest, current_digest) for entry in undone]):
        return f"if git has restored what was undone, restore it in the history, too: execplan redo -p {ref.shell_name}"
    if project.git is not None and is_committed(project, ref.real_path):
        return f"see what has changed: git log -p; to give the plan up: {_abandon_command(ref)}"
    _ensure_no_artifacts(project, ref, _undo_hint(ref))  # which `drop` would refuse, too
    return f"remove it anyway: execplan drop {ref.shell_name} --force"


def _abandon_command(ref: PlanRef) -> str:
    return f"execplan archive {ref.shell_name} --as abandoned --reason 'Why'"


def remove_plan(
    project: Project,
    ref: PlanRef,
    options: WriteOptions,
    command: str,
    summary: str,
    message: str,
    check: Callable[[bytes], object],
    undoes: str = "",
) -> EditResult:
    """Remove a plan and its empty artifacts directory, keeping its text in the journal; raises ExecplanError."""
    path = project.display_path(ref.path)
    if options.dry_run:
        data = _read_removable(project, ref, options, check)
        return EditResult(path, True, digest(data), format_diff(data, None, path), None, 0, (message,), ())
    options.prepare_commit(project)
    ensure_not_running(project, ref)
    commit_result: CommitResult | None = None
    with (
        project_state.lock(project, "project", f"{command} of {ref.id}"),
        project_state.lock(project, ref.real_path, f"{command} of {ref.id}"),
    ):
        ensure_plan_exists(project, ref)
        data = _read_removable(project, ref, options, check)
        folder = project.plan_artifacts_dir(ref.path, archived=ref.archived)
        atomic_files.remove_leftover(ref.path, (data,), within=project.root)
        operation = Operation(options.operation_id(), REMOVE, undoes)
        with JournalTransaction(project, ref.path, command, summary, data, b"", operation):
            atomic_files.remove_empty_directory(folder)
            atomic_files.remove(ref.path, data)
            atomic_files.remove_empty_directory(folder)
        if options.should_commit(project):
            title = _title(data)
            commit_result = commit_paths(
                project, ref.id, [ref.path, folder], command, summary, {ref.path: data}, title, options.defer_commit
            )
    commit, warnings = (commit_result.digest, commit_result.warnings) if commit_result else (None, ())
    return EditResult(path, True, digest(data), "", commit, 0, (message,), warnings)


def recreate_plan(selected: SelectedOperation, options: WriteOptions, command: str) -> EditResult:
    """Recreate a removed plan under its old name, unless git has done so; raises ExecplanError, SupersededError."""
    project, ref, step, _ = selected
    path = project.display_path(ref.path)
    data, _ = unpack_texts(selected)
    message = f"{'undone' if command == UNDO else 'redone'}: {describe_operation(selected)}"
    plan = reader.read_or_none(data)  # a file that can't be read as a plan can be dropped, too
    open_tasks = len(plan.unfinished_tasks) if plan is not None else 0
    is_there = os.path.lexists(ref.path)
    if is_there:
        if os.path.islink(ref.path) or not _is_known_version(project, ref.path):
            raise target_taken_error(path)
        message = f"already there, so there is nothing to {command}: {describe_operation(selected)}"
        if options.dry_run:
            return EditResult(path, False, digest(data), "", None, open_tasks, (message,), ())
    if options.dry_run:
        return EditResult(path, True, digest(data), format_diff(b"", data, path), None, open_tasks, (message,), ())
    options.prepare_commit(project)
    commit_result: CommitResult | None = None
    summary = f"{command}, {step.operation.summary}"
    with (
        project_state.lock(project, "project", f"{command} of {ref.id}"),
        project_state.lock(project, ref.real_path, f"{command} of {ref.id}"),
    ):
        ensure_still_next(selected, command)
        operation = Operation(options.operation_id(), CREATE, step.operation.id)
        with JournalTransaction(project, ref.path, command, summary, b"", data, operation):
            if not is_there and not atomic_files.create(ref.path, data, within=project.root, make_directories=True):
                raise target_taken_error(path)
        if is_there:
            return EditResult(path, False, digest(data), "", None, open_tasks, (message,), ())
        folder = project.plan_artifacts_dir(ref.path, archived=ref.archived)
        atomic_files.make_directory(folder, within=project.root)
        if options.should_commit(project):
            commit_result = commit_paths(
                project, ref.id, [ref.path, folder], command, summary, {}, _title(data), options.defer_commit
            )
    commit, warnings = (commit_result.digest, commit_result.warnings) if commit_result else (None, ())
    return EditResult(path, True, digest(data), "", commit, open_tasks, (message,), warnings)


def _is_known_version(project: Project, path: str) -> bool:
    """Return whether a plan is as one of its operations left it; raises ExecplanError."""
    current = file_access.read_if_exists(path, reader.MAX_BYTES)
    return bool(current) and digest(current or b"") in {entry.new_digest for entry in load_entries(project, path)}


def _read_removable(project: Project, ref: PlanRef, options: WriteOptions, check: Callable[[bytes], object]) -> bytes:
    """Return the plan's content if the plan can be removed; raises ExecplanError."""
    if os.path.islink(ref.path):
        raise ExecplanError(
            "is-a-link", f"{project.display_path(ref.path)} is a symbolic link", hint="remove the link by hand, with rm"
        )
    data = plan_store.read_bytes(project, ref.path)
    ensure_digest_matches(project, ref, options.if_match, data)
    check(data)
    _ensure_no_artifacts(project, ref, _undo_hint(ref))
    return data


def _undo_hint(ref: PlanRef) -> str:
    return f"only the creation of the plan is left to undo; to give it up with its artifacts: {_abandon_command(ref)}"


def _ensure_no_artifacts(project: Project, ref: PlanRef, hint: str) -> None:
    """Raise ExecplanError with a hint if a plan has artifacts, which would be left without it."""
    folder = project.plan_artifacts_dir(ref.path, archived=ref.archived)
    try:
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    except OSError as error:
        raise file_access.file_error(error, folder, "read") from None
    artifacts = [name for name in names if os.path.join(folder, name) != ref.path]
    if artifacts:
        raise ExecplanError(
            "has-artifacts",
            f"{ref.id} has artifacts, which would be left without their plan",
            hint=hint,
            candidates=artifacts[:20],
        )


def _title(data: bytes) -> str | None:
    plan = reader.read_or_none(data)
    return plan.title if plan is not None else None


def drop_plan(project: Project, ref: PlanRef, options: WriteOptions, *, force: bool) -> EditResult:
    """Remove an uncommitted plan, keeping its text in the journal; raises ExecplanError.

    Without `force`, only a draft without signs of work can be removed.
    """
    require_existing(project)
    ensure_not_archived(project, ref)

    def check(data: bytes) -> None:
        _ensure_uncommitted(project, ref)
        signs = signs_of_work(project, ref, data)
        command = f"execplan drop {ref.shell_name}{' --force' if signs else ''}"
        folder = project.display_path(project.plan_artifacts_dir(ref.path, archived=False))
        archive = f"or archive them with the plan: {_abandon_command(ref)}"
        _ensure_no_artifacts(project, ref, f"move them out of {folder}, then: {command}; {archive}")
        reasons = [] if force else signs
        if reasons:
            raise ExecplanError(
                "worked-on",
                f"{ref.id} is not an unused draft, so only --force drops it",
                hint=f"drop it anyway: {command}; to restore it then: execplan undo",
                candidates=reasons,
                data={"reasons": reasons},
            )

    message = f"dropped: {ref.id}; to restore it: execplan undo"
    return remove_plan(project, ref, options, "drop", f"drop, {ref.id}", message, check)


def _ensure_uncommitted(project: Project, ref: PlanRef) -> None:
    """Raise ExecplanError if the plan is committed or staged in Git, also where it was before it was moved."""
    if project.git is None:
        return
    root = os.path.realpath(project.root)
    left = [path for path in former_paths(project, ref.path) if path.endswith(".md") and not os.path.lexists(path)]
    for path in (ref.real_path, *[path for path in left if path.startswith(f"{root}/")]):
        relative_path = os.path.relpath(path, root)
        if is_committed(project, path):
            place = "" if path == ref.real_path else f" as {relative_path}"
            raise ExecplanError(
                "committed-plan",
                f"{project.display_path(ref.path)} is committed{place}, so it can be archived but not dropped",
                hint=f"archive it: {_abandon_command(ref)}",
            )
        if git_query.output(project, "--literal-pathspecs", "ls-files", "-s", "--", relative_path).strip():
            raise ExecplanError(
                "staged-plan",
                f"{relative_path} is staged for the next commit",
                hint=f"unstage it first: git restore --staged {shlex.quote(os.path.relpath(path))}",
            )


def is_committed(project: Project, path: str) -> bool:
    """Return whether the last commit has a file at an absolute path."""
    relative_path = os.path.relpath(path, os.path.realpath(project.root))
    args = ("rev-parse", "-q", "--verify", "--end-of-options", f"HEAD:{relative_path}")
    return bool(git_query.output_or_none(project, *args, no_status=1))
