"""The commands that an editor offers for a task and a plan, as titles with their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from execplan.core.errors import ExecplanError
from execplan.core.plan.model import DONE
from execplan.core.plan_store import claims
from execplan.core.plan_store.author import actor

if TYPE_CHECKING:
    from execplan.core.plan.model import Task
    from execplan.views.language_server.plan_document import PlanDocument

DONE_COMMAND: Final = "execplan.done"
REOPEN_COMMAND: Final = "execplan.reopen"
CLAIM_COMMAND: Final = "execplan.claim"
RELEASE_COMMAND: Final = "execplan.release"
NEXT_COMMAND: Final = "execplan.next"
EVALUATE_COMMAND: Final = "execplan.evaluate"


def task_commands(
    document: PlanDocument, task_id: str, task: Task, claim_names: dict[str, str] | None = None
) -> list[lsp.Command]:
    """Return the commands for a task; `claim_names` has who has claimed each task, and is read if it is not given."""
    names = find_claim_names(document) if claim_names is None else claim_names
    arguments = [document.uri, task_id]
    if task.state == DONE:
        return [lsp.Command("Reopen", REOPEN_COMMAND, arguments=arguments)]
    if not task.is_unfinished:
        return []
    commands = [lsp.Command("Check off", DONE_COMMAND, arguments=arguments)]
    holder = names.get(task_id, "")
    if not holder:
        return [*commands, lsp.Command("Claim", CLAIM_COMMAND, arguments=arguments)]
    if holder == actor(document.project):
        return [*commands, lsp.Command("Release your claim", RELEASE_COMMAND, arguments=arguments)]
    return commands


def find_claim_names(document: PlanDocument) -> dict[str, str]:
    """Return who has claimed each task of a document."""
    if document.plan is None or not document.project.exists:
        return {}
    try:
        claimed = claims.task_claims(document.project, document.ref, document.plan)
    except ExecplanError:
        return {}
    return {task_id: claim.name for task_id, claim in claimed.items()}
