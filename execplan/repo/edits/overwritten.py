"""Edits that another program has overwritten: found with the journal's and git's help, put back, or forgotten."""

from __future__ import annotations

from functools import partial

from execplan.errors import CONFLICT, ExecplanError
from execplan.plan.whole import rebase_text
from execplan.repo import state
from execplan.repo.amend import amend, format_diff
from execplan.repo.edits import journal
from execplan.repo.edits.lost import JournaledEdit, reapply_edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.change import PlanChange
    from execplan.plan.model import Plan
    from execplan.repo.amend import WriteOptions
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef

_COMMAND = "doctor"


def preview_restore(project: Project, ref: PlanRef, step: JournaledEdit, text: bytes) -> tuple[bytes | None, str]:
    """A text with an edit put back and the difference, or None where its lines were changed otherwise."""
    restored = reapply_edit(step, text)
    return restored, "" if restored is None else format_diff(text, restored, project.display_path(ref.path))


def restore_edit(project: Project, ref: PlanRef, step: JournaledEdit, options: WriteOptions) -> None:
    """Put an edit back, as an edit of its own that `undo` takes back; raises ExecplanError where its lines have changed."""
    if amend(project, ref, partial(_restore_change, step), options, command=_COMMAND).changed:
        forget_edits(project, ref, [step])  # the edit that put it back stands for it from now on


def forget_edits(project: Project, ref: PlanRef, steps: Sequence[JournaledEdit]) -> None:
    """Take it that edits are no longer in their plan on purpose; raises ExecplanError."""
    with state.lock(project, ref.real_path, f"{_COMMAND} of {ref.id}"):
        for step in steps:
            journal.mark_undone(project, ref.path, step.number)


def _restore_change(step: JournaledEdit, plan: Plan) -> PlanChange:
    """The change that makes an edit again, to the plan as it is now."""
    current = plan.text.to_bytes()
    restored = reapply_edit(step, current)
    if restored is None:
        raise ExecplanError(
            "changed-since",
            f"the lines of {step.summary} have changed meanwhile",
            exit=CONFLICT,
            hint="look again: execplan doctor",
        )
    return rebase_text(plan, current, restored, f"put back, {step.summary}", f"put back: {step.description}", "")


def edit_diff(project: Project, ref: PlanRef, step: JournaledEdit) -> bytes:
    """What an edit did, as a unified diff."""
    return (format_diff(step.old, step.new, project.display_path(ref.path)) + "\n").encode("utf-8", "backslashreplace")
