"""Execution of a recorded move: completing it, rolling it back, or finishing it after an interruption."""

from __future__ import annotations

import os

from execplan.core import trace
from execplan.core.archive import move_record
from execplan.core.archive.archive_evidence import (
    ATTESTATION_FILE,
    EVIDENCE_FILE,
    attestation_of_evidence,
    is_evidence,
    read_attestation,
)
from execplan.core.archive.file_transfer import is_fully_copied, move_path, remove_copied, target_taken_error
from execplan.core.archive.move_record import MoveIntent
from execplan.core.archive.reference_updates import MoveCause, update_references
from execplan.core.edits import journal_moves
from execplan.core.edits.backup_copies import PlanBackup
from execplan.core.edits.plan_writer import WriteOptions, remove_leftovers
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.files.file_lock import is_held
from execplan.core.plan_store import claims
from execplan.core.plan_store.plan_store import PlanRef, all_refs, list_entries, ref_for_path
from execplan.core.project import project_discovery, project_state
from execplan.core.project.project import Project
from execplan.core.trace import log

_MAX_BYTES = 64 << 20
_EVIDENCE_FILES = (EVIDENCE_FILE, ATTESTATION_FILE)


def read_evidence(folder: str) -> bytes | None:
    """Return the archive evidence in an artifacts directory, or None."""
    path = os.path.join(folder, EVIDENCE_FILE)
    return file_access.read(path, _MAX_BYTES)[0] if is_evidence(path) else None


def execute_move(project: Project, intent: MoveIntent) -> None:
    """Complete the renames and the evidence of a move, skipping what is already done; raises ExecplanError."""
    plan = intent.moves[-1] if intent.moves and intent.moves[-1][1] == intent.goal else None
    targets = [new for _, new in intent.moves]
    for pair in intent.moves:
        if pair != plan and not (pair[0] in targets and os.path.lexists(pair[1])):  # else it is moved and replaced
            _move_one(project, intent, *pair)
    _replace_evidence(project, intent)
    if plan is not None:
        _move_one(project, intent, *plan)
    for old, new in intent.moves:
        if old not in targets and is_fully_copied(old, new, _EVIDENCE_FILES):
            remove_copied(project, old)
    if intent.evidence is None and intent.path != intent.goal:
        atomic_files.remove_empty_directory(intent.artifacts)
    for folder in {os.path.dirname(path) for pair in intent.moves for path in pair}:
        if os.path.isdir(folder):
            atomic_files.sync_directory(folder)
    journal_moves.move_journal(project, intent.path, intent.goal, [old for old, _ in intent.moves], intent.operation)


def roll_back_move(project: Project, intent: MoveIntent) -> None:
    """Undo all completed parts of a move and delete its intent; raises ExecplanError."""
    for old, new in intent.moves:
        if new == intent.goal:
            _move_one_back(project, old, new)
    _restore_evidence(project, intent)
    for old, new in reversed(intent.moves):
        if is_fully_copied(new, old, _EVIDENCE_FILES):
            remove_copied(project, new)
        else:
            _move_one_back(project, old, new)
    path = _plan_path(intent)
    if intent.new != intent.old and _has_content(path, intent.new):
        atomic_files.replace_if_unchanged(path, intent.new, intent.old, within=project.root)
    for folder in reversed(intent.made):
        atomic_files.remove_empty_directory(folder)
    try:
        journal_moves.move_journal_back(project, intent.path, intent.goal, intent.operation)
    except (OSError, ExecplanError) as error:
        log(f"couldn't move the journal of {intent.path} back: {error}")
    move_record.delete_intent(project)


def has_started(intent: MoveIntent) -> bool:
    """Return whether any part of a move has been done."""
    is_moved = any([os.path.lexists(new) and not os.path.lexists(old) for old, new in intent.moves])
    return is_moved or (intent.new != intent.old and not _has_content(_plan_path(intent), intent.old))


def _plan_path(intent: MoveIntent) -> str:
    """Return where the plan is before its move: at the target already if it was moved there by hand."""
    return intent.path if os.path.lexists(intent.path) else intent.goal


def _has_content(path: str, data: bytes) -> bool:
    try:
        return file_access.read(path, len(data) + 1)[0] == data
    except ExecplanError:
        return False


def _move_one(project: Project, intent: MoveIntent, old: str, new: str) -> None:
    """Rename one path unless already done; a file in an already renamed directory is looked up there."""
    if not os.path.lexists(old):
        if os.path.lexists(new) or os.path.lexists(intent.goal):  # the plan is last; its empty directory is removed
            return
        old = os.path.join(intent.artifacts, os.path.basename(old))
    if os.path.islink(old) and os.path.islink(new) and os.path.realpath(old) == os.path.realpath(new):
        os.unlink(old)
    elif not is_fully_copied(old, new, _EVIDENCE_FILES):
        if is_empty_directory(new) and not os.path.samefile(old, new):
            atomic_files.remove_empty_directory(new)  # git leaves the artifacts directory of a plan that it removes
        move_path(project, old, new)


def is_empty_directory(path: str) -> bool:
    """Return whether a path is an empty directory, which a move may replace."""
    return os.path.isdir(path) and not os.path.islink(path) and not list_entries(path)


def _move_one_back(project: Project, old: str, new: str) -> None:
    if os.path.lexists(new) and not os.path.lexists(old):
        move_path(project, new, old)


def _replace_evidence(project: Project, intent: MoveIntent) -> None:
    """Replace the existing evidence and its attestation by the new ones, or by none; raises ExecplanError."""
    folder, new_attestation = intent.artifacts, attestation_of_evidence(project, intent.evidence, intent.artifacts)
    _replace_file(project, os.path.join(folder, EVIDENCE_FILE), read_evidence(folder), intent.evidence)
    _replace_file(project, os.path.join(folder, ATTESTATION_FILE), read_attestation(folder), new_attestation)


def _replace_file(project: Project, path: str, old: bytes | None, new: bytes | None) -> None:
    if old == new:
        return
    if old is not None:
        atomic_files.remove(path, old)
    if new is not None and not atomic_files.create(path, new, within=project.root, make_directories=True):
        raise target_taken_error(project.display_path(path))


def _restore_evidence(project: Project, intent: MoveIntent) -> None:
    """Remove the new evidence and attestation, and restore the old ones if their directory has been moved."""
    folder = intent.artifacts
    moved_from = [old for old, new in intent.moves if new == folder and not os.path.lexists(old)]
    files = (
        (EVIDENCE_FILE, read_evidence(folder), intent.evidence, intent.was),
        (
            ATTESTATION_FILE,
            read_attestation(folder),
            attestation_of_evidence(project, intent.evidence, folder),
            attestation_of_evidence(project, intent.was, moved_from[0]) if moved_from else None,
        ),
    )
    for name, current, new, old in files:
        path = os.path.join(folder, name)
        if current is not None and current == new:
            atomic_files.remove(path, current)
        if old is not None and moved_from and not os.path.lexists(path):
            atomic_files.create(path, old, within=project.root, make_directories=True)


def find_interrupted_move(project: Project) -> MoveIntent | None:
    """Return the interrupted move; None without one, or while its process still runs. Raises ExecplanError."""
    intent = move_record.read_intent(project)
    if intent is None or is_held(project_state.lock_path(project, "project")):
        return None
    return move_record.read_intent(project)


def recover_move(project: Project) -> list[str]:
    """Finish an interrupted move or roll it back, and return messages about it; raises ExecplanError if both fail."""
    if find_interrupted_move(project) is None:
        return []
    with project_state.lock(project, "project", "finishing a move"):
        intent = move_record.read_intent(project)
        if intent is None:
            return []
        with project_state.lock(project, os.path.realpath(intent.path), f"finishing the {intent.description}"):
            return _recover(project, intent)


def recover_move_or_warn(project: Project) -> None:
    """Finish an interrupted move, or only warn if that fails, before a command that may not depend on it."""
    try:
        trace.warnings += recover_move(project)
    except ExecplanError as error:
        trace.warnings.append(
            f"a move was interrupted and could not be finished: {error.message}; see: execplan doctor"
        )


def _recover(project: Project, intent: MoveIntent) -> list[str]:
    evidence_files = [os.path.join(intent.artifacts, name) for name in _EVIDENCE_FILES]
    for path in (intent.path, intent.goal, *evidence_files):
        atomic_files.remove_leftover(
            path, (intent.old, intent.new), within=project.root, backup_writer=PlanBackup(project, path)
        )
    if not has_started(intent):
        roll_back_move(project, intent)
        return [f"the {intent.description}, was interrupted before anything was moved"]
    try:
        execute_move(project, intent)
    except ExecplanError as error:
        roll_back_move(project, intent)
        return [
            f"the {intent.description}, was interrupted; it could not be finished, so it was rolled back: {error.message}"
        ]
    project = project_discovery.find_for_file(intent.goal)  # the projects of a repository share their state
    is_archived = ref_for_path(project, intent.goal).archived
    warnings = claims.move_claims(project, intent.path, intent.goal, is_archived=is_archived)
    ref = PlanRef(intent.ids[1], intent.goal, archived=False)
    cause = MoveCause(intent.goal, intent.operation, intent.reverses)
    updates = update_references(project, ref, intent.moves, intent.ids, WriteOptions(), intent.verb, cause)
    for other_ref in all_refs(project):
        if other_ref.path != intent.goal:
            remove_leftovers(project, other_ref, command=intent.verb)
    move_record.delete_intent(project)
    message = f"the {intent.description}, was interrupted and is finished now: {project.display_path(intent.goal)}"
    return [message, *updates.warnings, *warnings]
