"""Doctor checks for lost edits and interrupted moves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from shlex import quote

from execplan.cli.doctor.doctor_check import ERROR, NOTICE, WARNING, DoctorContext, DoctorFinding, DoctorFix, check
from execplan.core.archive.move_execution import find_interrupted_move, recover_move
from execplan.core.edits.lost_edits import detect_lost_edits
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.project.plan_journal import journal_path
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_count


@check("moves")
def check_moves(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """No move of a plan is incomplete."""
    for project in context.state_projects:
        move = find_interrupted_move(project)
        if move is not None:
            fix = DoctorFix(f"finish or reverse: {move.description}", partial(_recover_move, project))
            message = f"a move was interrupted: {move.description}"
            yield DoctorFinding(ERROR, project.display_path(move.path), message, "execplan doctor --fix", fix=fix)


def _recover_move(project: Project, options: WriteOptions) -> list[str]:
    return recover_move(project)


@check("edits")
def check_edits(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """No edit made through execplan was overwritten by another program, according to the journal and git."""
    for project, ref, facts, *_ in context.plans:
        if ref.archived or facts.error or facts.conflict_line:
            continue
        lost, damaged, _ = detect_lost_edits(project, ref)
        path = project.display_path(ref.path)
        for record in damaged:
            file = quote(project.display_path(journal_path(project, ref.path)))
            remedy = (
                f"see what else is in the journal: execplan undo --dry-run; to continue without the journal: rm {file}"
            )
            yield DoctorFinding(WARNING, path, f"the journal record can't be read: {record}", remedy)
        if lost:
            edits = "an edit" if len(lost) == 1 else format_count(len(lost), "edit")
            descriptions = "; ".join([step.description for step in lost])
            remedy = (
                f"execplan doctor --restore {ref.shell_name}; "
                f"if it was removed on purpose: execplan doctor --forget {ref.shell_name}"
            )
            yield DoctorFinding(NOTICE, path, f"another program has overwritten {edits}: {descriptions}", remedy)
