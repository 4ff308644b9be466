"""A move that was written down before it began: carried out, taken back, or finished after it was cut short."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.repo.edits import moved
from execplan.repo.moving import intent as intents
from execplan.repo.moving.evidence import EVIDENCE_FILE, is_evidence
from execplan.repo.moving.transfer import remove_copied, is_fully_copied, target_taken_error, move_path
from execplan.text import disk, files
from execplan.trace import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project
    from execplan.repo.moving.intent import MoveIntent

_MAX_BYTES = 64 << 20


def read_evidence(folder: str) -> bytes | None:
    """The evidence that an archive has put into a folder of artifacts."""
    path = os.path.join(folder, EVIDENCE_FILE)
    return disk.read(path, _MAX_BYTES)[0] if is_evidence(path) else None


def execute_move(project: Project, intent: MoveIntent) -> None:
    """Do all of the renames, and the evidence, that are not done yet; raises ExecplanError."""
    plan = intent.moves[-1] if intent.moves and intent.moves[-1][1] == intent.goal else None
    for pair in intent.moves:
        if pair != plan:
            _move_one(project, intent, *pair)
    _replace_evidence(project, intent)
    if plan is not None:
        _move_one(project, intent, *plan)
    for old, new in intent.moves:
        if is_fully_copied(old, new, EVIDENCE_FILE):
            remove_copied(project, old)
    if intent.evidence is None and intent.path != intent.goal:
        files.remove_empty_directory(intent.artifacts)
    for folder in {os.path.dirname(path) for pair in intent.moves for path in pair}:
        if os.path.isdir(folder):
            files.sync_directory(folder)
    moved.move_journal(project, intent.path, intent.goal, [old for old, _ in intent.moves], intent.operation)


def roll_back_move(project: Project, intent: MoveIntent) -> None:
    """Take back all that was done of a move, and forget it; raises ExecplanError."""
    for old, new in intent.moves:
        if new == intent.goal:
            _move_one_back(project, old, new)
    _restore_evidence(project, intent)
    for old, new in reversed(intent.moves):
        if is_fully_copied(new, old, EVIDENCE_FILE):
            remove_copied(project, new)
        else:
            _move_one_back(project, old, new)
    if intent.new != intent.old and _has_content(intent.path, intent.new):
        files.replace(intent.path, intent.new, intent.old, within=project.root)
    for folder in reversed(intent.made):
        files.remove_empty_directory(folder)
    try:
        moved.move_journal_back(project, intent.path, intent.goal, intent.operation)
    except (OSError, ExecplanError) as error:
        log(f"the journal of {intent.path} could not go back: {error}")
    intents.delete_intent(project)


def has_started(intent: MoveIntent) -> bool:
    """Whether anything of a move was done."""
    is_moved = any([os.path.lexists(new) and not os.path.lexists(old) for old, new in intent.moves])
    return is_moved or (intent.new != intent.old and not _has_content(intent.path, intent.old))


def _has_content(path: str, data: bytes) -> bool:
    try:
        return disk.read(path, len(data) + 1)[0] == data
    except ExecplanError:
        return False


def _move_one(project: Project, intent: MoveIntent, old: str, new: str) -> None:
    """Rename one, unless that is done; what lies in a folder that was renamed already is found in it."""
    if not os.path.lexists(old):
        if os.path.lexists(new) or os.path.lexists(intent.goal):  # the plan moves last, and its empty folder goes then
            return
        old = os.path.join(intent.artifacts, os.path.basename(old))
    if os.path.islink(old) and os.path.islink(new) and os.path.realpath(old) == os.path.realpath(new):
        os.unlink(old)
    elif not is_fully_copied(old, new, EVIDENCE_FILE):
        move_path(project, old, new)


def _move_one_back(project: Project, old: str, new: str) -> None:
    if os.path.lexists(new) and not os.path.lexists(old):
        move_path(project, new, old)


def _replace_evidence(project: Project, intent: MoveIntent) -> None:
    """Put the new evidence, or none, in place of what is there; raises ExecplanError."""
    current_evidence = read_evidence(intent.artifacts)
    if current_evidence == intent.evidence:
        return
    path = os.path.join(intent.artifacts, EVIDENCE_FILE)
    if current_evidence is not None:
        files.remove(path, current_evidence)
    if intent.evidence is not None and not files.create(path, intent.evidence, within=project.root, make_directories=True):
        raise target_taken_error(project.display_path(path))


def _restore_evidence(project: Project, intent: MoveIntent) -> None:
    """Take the new evidence out, and put the old one back if its folder has been moved."""
    current_evidence = read_evidence(intent.artifacts)
    path = os.path.join(intent.artifacts, EVIDENCE_FILE)
    if current_evidence is not None and current_evidence == intent.evidence:
        files.remove(path, current_evidence)
    moved_artifacts = [new for old, new in intent.moves if new == intent.artifacts and not os.path.lexists(old)]
    if intent.was is not None and moved_artifacts and not os.path.lexists(path):
        files.create(path, intent.was, within=project.root, make_directories=True)
