"""Edits of tasks that an editor asks for: of the file, or of the text in the editor if that is not saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.core.edits import plan_updates
from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.edits.plan_writer import EditResult, apply_change
from execplan.core.errors import ExecplanError
from execplan.core.plan import reader, task_edits
from execplan.core.plan_store import claims
from execplan.core.plan_store.author import actor
from execplan.views.language_server.task_commands import CLAIM_COMMAND, DONE_COMMAND, RELEASE_COMMAND, REOPEN_COMMAND

if TYPE_CHECKING:
    from execplan.core.text.text_lines import Text
    from execplan.views.language_server.plan_document import PlanDocument


class EditOutcome(NamedTuple):
    """What an edit did, or what the editor should do."""

    messages: tuple[str, ...]
    text: Text | None = None
    """The text that the document in the editor should have; None if the file was written, or nothing changed."""


def edit_task(document: PlanDocument, command: str, task: str) -> EditOutcome:
    """Carry out a command on a task. Raises ExecplanError as the command of the same name does."""
    if command == CLAIM_COMMAND:
        name = actor(document.project)
        task_id = claims.claim_task(document.project, document.ref, name, claims.DEFAULT_HOURS, task)
        return EditOutcome((f"claimed by {name}: {task_id}",))
    if command == RELEASE_COMMAND:
        name = actor(document.project)
        task_ids = claims.release_claims(document.project, document.ref, name, task)
        return EditOutcome(tuple([f"released by {name}: {task_id}" for task_id in task_ids]))
    assert command in (DONE_COMMAND, REOPEN_COMMAND), command
    if not document.is_saved:
        return _edit_open_text(document, command, task)
    write = plan_updates.done if command == DONE_COMMAND else plan_updates.reopen
    return EditOutcome(_edit_messages(write(document.project, document.ref, [task])))


def _edit_open_text(document: PlanDocument, command: str, task: str) -> EditOutcome:
    """Return the text of a document after an edit, checked as an edit of the file is."""
    project, ref = document.project, document.ref
    ensure_not_archived(project, ref)
    changer = (
        plan_updates.completion_change(project, ref, [task])
        if command == DONE_COMMAND
        else task_edits.reopen_tasks([task])
    )
    with claims.ClaimGuard(project, ref, dry_run=True, enforced=True) as protection:
        try:
            data, change = apply_change(document.data, changer, titles=project.titles)
        except ExecplanError as error:
            error.add_plan_name(ref.id)
            raise
        warnings = protection.check_change(document.data, change)
    messages = (*change.messages, *[f"warning: {warning}" for warning in warnings])
    return EditOutcome(messages, reader.decode(data) if data != document.data else None)


def _edit_messages(result: EditResult) -> tuple[str, ...]:
    committed = (f"committed {result.commit[:12]}",) if result.commit else ()
    return (*result.messages, *committed, *[f"warning: {warning}" for warning in result.warnings])
