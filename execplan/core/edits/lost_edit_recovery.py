"""Recovery of plan edits that another program has overwritten: restore, preview, or dismiss."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from execplan.core.edits import edit_journal
from execplan.core.edits.backup_copies import save_backup
from execplan.core.edits.lost_edits import JournaledEdit, detect_lost_edits, reapply_edit
from execplan.core.edits.plan_writer import WriteOptions, amend, format_diff
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_change import PlanChange
from execplan.core.plan.text_rebase import rebase_text
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_count

_COMMAND = "doctor"


class RecoveredEdit(NamedTuple):
    """An overwritten edit that was restored or saved to a file, or would be in a dry run."""

    message: str
    diff: str = ""
    """Diff of the plan in a dry run; empty if the edit's lines have changed since, so it is saved to a file."""


def restore_lost_edits(project: Project, ref: PlanRef, options: WriteOptions) -> list[RecoveredEdit]:
    """Restore the overwritten edits of a plan, with one edit that can be undone. Raises ExecplanError.

    An edit whose lines have changed since is saved to a file as a diff.
    """
    lost, _, text = detect_lost_edits(project, ref)
    restorable: list[JournaledEdit] = []
    recoveries = []
    for step in lost:
        restored = reapply_edit(step, text)
        if restored is not None:
            restorable.append(step)
            diff = format_diff(text, restored, project.display_path(ref.path)) if options.dry_run else ""
            recoveries.append(
                RecoveredEdit(f"{'restore' if options.dry_run else 'restored'}: {step.description}", diff)
            )
            text = restored
        elif options.dry_run:
            recoveries.append(RecoveredEdit(f"save to a file: {step.description}"))
        else:
            file = save_backup(project, ref.path, _edit_diff(project, ref, step))
            forget_edits(project, ref, [step])
            recoveries.append(RecoveredEdit(f"saved to {project.display_path(file)}: {step.description}"))
    if restorable and not options.dry_run:
        if amend(project, ref, partial(_restore_change, restorable), options, command=_COMMAND).changed:
            forget_edits(project, ref, restorable)  # the edit that restored them replaces them from now on
    return recoveries


def forget_edits(project: Project, ref: PlanRef, steps: Sequence[JournaledEdit]) -> None:
    """Accept that edits were removed from their plan on purpose.

    Raises ExecplanError if the journal can't be written.
    """
    with project_state.lock(project, ref.real_path, f"{_COMMAND} of {ref.id}"):
        for step in steps:
            edit_journal.mark_undone(project, ref.path, step.number)


def _restore_change(steps: Sequence[JournaledEdit], plan: ParsedPlan) -> PlanChange:
    """Return the change that applies edits again to the current plan."""
    current = text = plan.text.to_bytes()
    for step in steps:
        restored = reapply_edit(step, text)
        if restored is None:
            raise ExecplanError(
                "changed-since", f"the lines of {step.summary} have changed since", hint="check again: execplan doctor"
            )
        text = restored
    edits = steps[0].summary if len(steps) == 1 else format_count(len(steps), "edit")
    return rebase_text(plan, current, text, f"restore, {edits}", f"restored: {edits}", "")


def _edit_diff(project: Project, ref: PlanRef, step: JournaledEdit) -> bytes:
    """Return the changes of an edit as a unified diff."""
    return (format_diff(step.old, step.new, project.display_path(ref.path)) + "\n").encode("utf-8", "backslashreplace")
