"""The commands of lenses and actions: their effects, and what the editor shows afterward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from execplan.core.errors import ExecplanError
from execplan.team.advice.next_tasks import find_open_tasks
from execplan.views.language_server.code_actions import workspace_edit
from execplan.views.language_server.document_edits import edit_task
from execplan.views.language_server.task_commands import (
    CLAIM_COMMAND,
    DONE_COMMAND,
    EVALUATE_COMMAND,
    NEXT_COMMAND,
    RELEASE_COMMAND,
    REOPEN_COMMAND,
)

if TYPE_CHECKING:
    from execplan.views.language_server.plan_document import PlanDocument
    from execplan.views.language_server.plan_language_server import PlanLanguageServer

TASK_COMMANDS: Final = (DONE_COMMAND, REOPEN_COMMAND, CLAIM_COMMAND, RELEASE_COMMAND)
PLAN_COMMANDS: Final = (NEXT_COMMAND, EVALUATE_COMMAND)


async def run_command(server: PlanLanguageServer, command: str, uri: str, task: str = "") -> None:
    """Carry out a command on a plan or one of its tasks, and show its result or error as a message."""
    try:
        document = server.documents.get(uri)
        if document is None or document.plan is None:
            raise ExecplanError(
                "not-a-plan", f"{uri} is not a plan that can be read", hint="open a plan: execplan list"
            )
        if command in TASK_COMMANDS:
            await _run_task_command(server, document, command, task)
        elif command == NEXT_COMMAND:
            await _go_to_next(server, document)
        else:
            _show_evaluation(server, document)
    except ExecplanError as error:
        server.show_error(error)


async def _run_task_command(server: PlanLanguageServer, document: PlanDocument, command: str, task: str) -> None:
    outcome = edit_task(document, command, task)
    if outcome.text is not None:
        if not await _apply_in_editor(server, workspace_edit(document, outcome.text)):
            message = "the editor has not applied the edit, so nothing was written; the document has probably changed"
            server.show_message(f"{message}: repeat it", lsp.MessageType.Error)
            return
    server.show_message("\n".join(outcome.messages))
    server.refresh_documents()


async def _apply_in_editor(server: PlanLanguageServer, edit: lsp.WorkspaceEdit) -> bool:
    """Let the editor apply an edit, and return whether it has."""
    try:
        result = await server.workspace_apply_edit_async(lsp.ApplyWorkspaceEditParams(edit))
    except JsonRpcException:  # an editor that asks a person first may fail
        return False
    return result.applied


async def _go_to_next(server: PlanLanguageServer, document: PlanDocument) -> None:
    """Show the next task that can be worked on."""
    assert document.plan is not None
    open_tasks = find_open_tasks(document.project, document.ref, document.plan)
    if open_tasks.task is None:
        server.show_message(f"no task of {document.ref.id} can be worked on now")
        return
    task = document.tasks_by_id[open_tasks.task["id"]]
    await server.show_place(document.uri, document.lines_range(task.box_line, task.end))
    server.show_message(f"next: {task.number}. {task.text}")


def _show_evaluation(server: PlanLanguageServer, document: PlanDocument) -> None:
    from execplan.views.language_server.plan_evaluation_message import evaluation_message

    if not document.is_saved:
        raise ExecplanError(
            "unsaved-document",
            f"{document.ref.id} has unsaved changes in the editor, and steps are evaluated as they are in the file",
            hint="save the plan, then evaluate it again",
        )
    is_ok, message = evaluation_message(document)
    server.show_message(message, lsp.MessageType.Info if is_ok else lsp.MessageType.Warning)
