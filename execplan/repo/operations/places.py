"""A move reversed, by the machinery that moves plans: all or nothing, and finished by the next command when it is killed."""

from __future__ import annotations

import os

from execplan.errors import CONFLICT, ExecplanError
from execplan.repo.attach import digest_file
from execplan.repo.moving.details import MoveDetails, unpack_details
from execplan.repo.moving.move import MoveTarget, MoveResult, Reversal, move_plan
from execplan.repo.moving.steps import read_evidence
from execplan.repo.operations.lines import reversal_change, damaged_entry_error, ensure_still_last
from execplan.text import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.change import PlanChange
    from execplan.plan.model import Plan
    from execplan.repo.amend import WriteOptions
    from execplan.repo.operations.choose import SelectedOperation

_UNDONE_DIR = "undone"
"""Where attached files are kept whose attachment was undone."""


def reverse_move(selected: SelectedOperation, options: WriteOptions, command: str) -> MoveResult:
    """Bring a plan and its artifacts back to where they were before a move; raises ExecplanError, SupersededError."""
    try:
        details = unpack_details(selected.project, selected.step.latest)
    except ValueError as error:
        raise damaged_entry_error(selected, error) from None
    pairs = tuple([(new, old) for old, new in details.files])
    goal = MoveTarget(details.ids[0], details.path, details.artifacts[0])
    if selected.ref.path != details.goal:
        raise ExecplanError(
            "changed-since",
            f"{selected.project.display_path(details.goal)} was moved since, to {selected.project.display_path(selected.ref.path)}",
            exit=CONFLICT,
            hint=f"move it back by hand, then try again: execplan {command}",
        )
    return _reverse_by_move(selected, goal, pairs, options, command, details)


def reverse_attachment(selected: SelectedOperation, options: WriteOptions, command: str) -> MoveResult:
    """Take the files out of the artifacts that an edit put there, and its lines out of the plan; raises ExecplanError."""
    project, ref, step, _ = selected
    try:
        details = unpack_details(project, step.latest)
    except ValueError as error:
        raise damaged_entry_error(selected, error) from None
    for _, path in details.files:
        _ensure_unchanged(selected, path, details.bystanders.get(path, ""))
    folder = os.path.join(project.state, _UNDONE_DIR, step.latest.id)
    pairs = tuple([(path, os.path.join(folder, os.path.basename(path))) for _, path in details.files])
    goal = MoveTarget(ref.id, ref.path, project.plan_artifacts_dir(ref.path, archived=ref.archived))
    return _reverse_by_move(selected, goal, pairs, options, command, details)


def _reverse_by_move(
    selected: SelectedOperation, goal: MoveTarget, pairs: tuple[tuple[str, str], ...], options: WriteOptions, command: str, details: MoveDetails
) -> MoveResult:
    project, ref, step, _ = selected
    change = reversal_change(selected, command)
    old_evidence = details.was if goal.path != ref.path else read_evidence(goal.artifacts)

    def checked(plan: Plan) -> PlanChange:
        ensure_still_last(selected, command)
        return change(plan)

    make_evidence = None if old_evidence is None else lambda data: old_evidence
    reversal = Reversal(step.latest, step.operation.id, pairs)
    move_result = move_plan(project, ref, goal, checked, options, command=command, make_evidence=make_evidence, reversal=reversal)
    if not options.dry_run:
        for directory in sorted(details.made, key=len, reverse=True):
            files.remove_empty_directory(directory)
    return move_result


def _ensure_unchanged(selected: SelectedOperation, path: str, digest: str) -> None:
    """Refuse to take away a file that has changed since it was attached; raises ExecplanError."""
    display_path = selected.project.display_path(path)
    if not os.path.lexists(path):
        raise ExecplanError(
            "changed-since", f"{display_path} is gone since it was attached", exit=CONFLICT, hint="take its line out by hand"
        )
    if digest and digest_file(path)[0] != digest:
        raise ExecplanError(
            "changed-since",
            f"{display_path} has changed since it was attached",
            exit=CONFLICT,
            hint="move it away first, or take its line out of the plan by hand",
        )
