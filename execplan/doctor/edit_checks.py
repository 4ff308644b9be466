"""Doctor checks for lost edits and interrupted moves."""

from __future__ import annotations

from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

from execplan.archive.move_execution import find_interrupted_move, recover_move
from execplan.doctor.doctor_check import ERROR, WARNING, Finding, Fix, check
from execplan.edits import lost_edit_recovery
from execplan.edits.backup_copies import save_backup
from execplan.edits.lost_edit_detection import detect_lost_edits
from execplan.project.plan_journal import journal_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.doctor.doctor_check import DoctorContext
    from execplan.edits.lost_edits import JournaledEdit
    from execplan.edits.plan_writer import WriteOptions
    from execplan.plan_facts.listed_plan import ListedPlan
    from execplan.project.project import Project


@check("moves")
def check_moves(context: DoctorContext) -> Iterator[Finding | str]:
    """No move of a plan is incomplete."""
    for project in context.state_projects:
        move = find_interrupted_move(project)
        if move is not None:
            fix = Fix(f"finish or reverse: {move.description}", partial(_recover_move, project))
            message = f"a move was interrupted: {move.description}"
            yield Finding(ERROR, project.display_path(move.path), message, "execplan doctor --fix", fix=fix)


def _recover_move(project: Project, options: WriteOptions) -> list[str]:
    return recover_move(project)


@check("edits")
def check_edits(context: DoctorContext) -> Iterator[Finding | str]:
    """Every edit made through execplan is still in its plan, according to the journal."""
    for listed in context.plans:
        if listed.facts.error or listed.facts.conflict_line:
            continue
        project, ref = listed[:2]
        losses = detect_lost_edits(project, ref)
        for damaged_record in losses.damaged:
            file = quote(project.display_path(journal_path(project, ref.path)))
            remedy = (
                f"see what else is in the journal: execplan undo --dry-run; to continue without the journal: rm {file}"
            )
            yield Finding(
                WARNING,
                project.display_path(ref.path),
                f"the journal record can't be read: {damaged_record}",
                remedy,
            )
        text = losses.current
        for step in losses.lost:
            if ref.archived:
                yield _archived_loss_finding(listed, step)
                continue
            restored_text, diff = lost_edit_recovery.preview_restore(project, ref, step, text)
            text = text if restored_text is None else restored_text
            yield _lost_edit_finding(listed, step, diff)


def _lost_edit_finding(listed: ListedPlan, step: JournaledEdit, diff: str) -> Finding:
    """Build the finding for an edit that is missing from its plan, with the diff of its restore."""
    project, ref = listed[:2]
    message = f"another program has overwritten an edit: {step.description}"
    remedy, description, apply = "execplan doctor --fix", "restore", _restore_edit
    if not diff:
        message += "; the same lines have changed since, so it can't be restored automatically"
        remedy, description, apply = (
            "save the edit to a file: execplan doctor --fix",
            "save to a file",
            _save_lost_edit,
        )
    remedy += f"; if it was removed on purpose: execplan doctor --forget {ref.shell_name}"
    fix = Fix(f"{description}: {step.description}", partial(apply, listed, step), diff)
    return Finding(ERROR, project.display_path(ref.path), message, remedy, fix=fix)


def _archived_loss_finding(listed: ListedPlan, step: JournaledEdit) -> Finding:
    """Build the finding for an edit missing from an archived plan; its fix saves the edit to a file.

    An archived plan is a record, so the edit can be restored only after the plan itself is restored.
    """
    project, ref = listed[:2]
    message = f"another program overwrote an edit before the plan was archived: {step.description}"
    remedy = f"restore it: execplan restore {ref.shell_name}, then execplan doctor --fix; or save the edit to a file: execplan doctor --fix"
    remedy += f"; if it was removed on purpose: execplan doctor --forget {ref.shell_name}"
    fix = Fix(f"save to a file: {step.description}", partial(_save_lost_edit, listed, step), "")
    return Finding(ERROR, project.display_path(ref.path), message, remedy, fix=fix)


def _restore_edit(listed: ListedPlan, step: JournaledEdit, options: WriteOptions) -> list[str]:
    lost_edit_recovery.restore_edit(listed.project, listed.ref, step, options)
    return [f"restored: {step.description}"]


def _save_lost_edit(listed: ListedPlan, step: JournaledEdit, options: WriteOptions) -> list[str]:
    project, ref = listed[:2]
    file = save_backup(project, ref.path, lost_edit_recovery.edit_diff(project, ref, step))
    lost_edit_recovery.forget_edits(project, ref, [step])
    return [f"saved to {project.display_path(file)}: {step.description}"]
