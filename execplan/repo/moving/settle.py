"""A move that was cut short is finished by the next command, or taken back where it can't be."""

from __future__ import annotations

import os

from execplan import trace
from execplan.errors import ExecplanError
from execplan.repo import claims, homes, state
from execplan.repo.amend import WriteOptions, remove_leftovers
from execplan.repo.edits.recovered import PlanBackup
from execplan.repo.moving import intent as intents
from execplan.repo.moving.evidence import EVIDENCE_FILE
from execplan.repo.moving.following import MoveCause, update_references
from execplan.repo.moving.steps import execute_move, has_started, roll_back_move
from execplan.repo.shelf import PlanRef, ref_for_path, all_refs
from execplan.text import files
from execplan.text.lock import is_held

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project
    from execplan.repo.moving.intent import MoveIntent


def find_interrupted_move(project: Project) -> MoveIntent | None:
    """The move that was cut short, None while whoever began it is still at it; raises ExecplanError."""
    intent = intents.read_intent(project)
    if intent is None or is_held(state.lock_path(project, "home")):
        return None
    return intents.read_intent(project)


def recover_move(project: Project) -> list[str]:
    """Finish a move that was cut short, or take it back; what was done, in words. Raises ExecplanError when it can't."""
    if find_interrupted_move(project) is None:
        return []
    with state.lock(project, "home", "finishing a move"):
        intent = intents.read_intent(project)
        if intent is None:
            return []
        with state.lock(project, os.path.realpath(intent.path), f"finishing the {intent.description}"):
            return _recover(project, intent)


def recover_move_or_warn(project: Project) -> None:
    """Finish a move that was cut short, or warn that it can't be, before a verb that may have nothing to do with it."""
    try:
        trace.warnings += recover_move(project)
    except ExecplanError as error:
        trace.warnings.append(f"a move was cut short and could not be finished: {error.message}; see: execplan doctor")


def _recover(project: Project, intent: MoveIntent) -> list[str]:
    for path in (intent.path, intent.goal, os.path.join(intent.artifacts, EVIDENCE_FILE)):
        files.remove_leftover(path, (intent.old, intent.new), within=project.root, backup_writer=PlanBackup(project, path))
    if not has_started(intent):
        roll_back_move(project, intent)
        return [f"the {intent.description}, was cut short before anything was moved"]
    try:
        execute_move(project, intent)
    except ExecplanError as error:
        roll_back_move(project, intent)
        return [f"the {intent.description}, was cut short; it could not be finished, so it was taken back: {error.message}"]
    project = homes.find(os.path.dirname(intent.goal))  # the homes of a repository share their state
    live_path = None if ref_for_path(project, intent.goal).archived else intent.goal
    warnings = claims.move_claims(project, intent.path, live_path)
    ref = PlanRef(intent.ids[1], intent.goal, archived=False)
    cause = MoveCause(intent.goal, intent.operation, intent.reverses)
    updates = update_references(project, ref, intent.moves, intent.ids, WriteOptions(), intent.verb, cause)
    for other_ref in all_refs(project):
        if other_ref.path != intent.goal:
            remove_leftovers(project, other_ref, command=intent.verb)
    intents.delete_intent(project)
    message = f"the {intent.description}, was cut short and is finished now: {project.display_path(intent.goal)}"
    return [message, *updates.warnings, *warnings]
