"""A move reversed, by the machinery that moves plans: all or nothing, and finished by the next command when it is killed."""

from __future__ import annotations

import os

from execplan.errors import CHANGED, ExecplanError
from execplan.repo.attach import digest_of
from execplan.repo.moving.details import Details, unpack
from execplan.repo.moving.move import Goal, Moved, Reversal, move
from execplan.repo.moving.steps import read_evidence
from execplan.repo.operations.lines import changer, damaged, require_last
from execplan.text import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.change import Change
    from execplan.plan.model import Plan
    from execplan.repo.amend import Options
    from execplan.repo.operations.choose import Chosen

_FOLDER = "undone"
"""Where attached files are kept whose attachment was undone."""


def reverse_move(chosen: Chosen, options: Options, command: str) -> Moved:
    """Bring a plan and its artifacts back to where they were before a move; raises ExecplanError, SupersededError."""
    try:
        details = unpack(chosen.home, chosen.step.latest)
    except ValueError as error:
        raise damaged(chosen, error) from None
    pairs = tuple([(new, old) for old, new in details.files])
    goal = Goal(details.ids[0], details.path, details.artifacts[0])
    if chosen.ref.path != details.goal:
        raise ExecplanError(
            "changed-since",
            f"{chosen.home.shown(details.goal)} was moved since, to {chosen.home.shown(chosen.ref.path)}",
            exit=CHANGED,
            hint=f"move it back by hand, then try again: execplan {command}",
        )
    return _move(chosen, goal, pairs, options, command, details)


def reverse_attachment(chosen: Chosen, options: Options, command: str) -> Moved:
    """Take the files out of the artifacts that an edit put there, and its lines out of the plan; raises ExecplanError."""
    home, ref, step, _ = chosen
    try:
        details = unpack(home, step.latest)
    except ValueError as error:
        raise damaged(chosen, error) from None
    for _, path in details.files:
        _require_same(chosen, path, details.bystanders.get(path, ""))
    folder = os.path.join(home.state, _FOLDER, step.latest.id)
    pairs = tuple([(path, os.path.join(folder, os.path.basename(path))) for _, path in details.files])
    goal = Goal(ref.id, ref.path, home.artifacts_of(ref.path, archived=ref.archived))
    return _move(chosen, goal, pairs, options, command, details)


def _move(
    chosen: Chosen, goal: Goal, pairs: tuple[tuple[str, str], ...], options: Options, command: str, details: Details
) -> Moved:
    home, ref, step, _ = chosen
    change = changer(chosen, command)
    was = details.was if goal.path != ref.path else read_evidence(goal.artifacts)

    def checked(plan: Plan) -> Change:
        require_last(chosen, command)
        return change(plan)

    evidence = None if was is None else lambda data: was
    reversal = Reversal(step.latest, step.operation.id, pairs)
    moved = move(home, ref, goal, checked, options, verb=command, evidence=evidence, reversal=reversal)
    if not options.dry_run:
        for each in sorted(details.made, key=len, reverse=True):
            files.remove_empty(each)
    return moved


def _require_same(chosen: Chosen, path: str, digest: str) -> None:
    """Refuse to take away a file that has changed since it was attached; raises ExecplanError."""
    shown = chosen.home.shown(path)
    if not os.path.lexists(path):
        raise ExecplanError(
            "changed-since", f"{shown} is gone since it was attached", exit=CHANGED, hint="take its line out by hand"
        )
    if digest and digest_of(path)[0] != digest:
        raise ExecplanError(
            "changed-since",
            f"{shown} has changed since it was attached",
            exit=CHANGED,
            hint="move it away first, or take its line out of the plan by hand",
        )
