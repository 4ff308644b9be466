"""Renaming a plan from an editor: a new title, and with it a new ID, file and artifacts directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.team import plan_moves
from execplan.views.language_server.mention_targets import TargetFinder
from execplan.views.language_server.plan_mentions import PLAN, mention_at

if TYPE_CHECKING:
    from execplan.core.archive.plan_move import MoveResult
    from execplan.views.language_server.open_documents import OpenDocuments
    from execplan.views.language_server.plan_document import PlanDocument


def prepare_rename(
    documents: OpenDocuments, document: PlanDocument, position: lsp.Position
) -> lsp.PrepareRenamePlaceholder | None:
    """Return the place to rename and the present title; None if the position names no plan."""
    renamed = find_renamed(documents, document, position)
    if renamed is None or renamed.plan is None or document.plan is None:
        return None
    line, column = document.column_at(position)
    mention = mention_at(document, line, column)
    if mention is not None:
        place = document.range_at(line, mention.start, line, mention.end)
    else:
        text, title = document.lines[line], document.plan.title or ""
        start = max(text.find(title), 0)
        place = document.range_at(line, start, line, start + len(title))
    return lsp.PrepareRenamePlaceholder(place, renamed.plan.title or renamed.ref.id)


def find_renamed(documents: OpenDocuments, document: PlanDocument, position: lsp.Position) -> PlanDocument | None:
    """Return the plan that is named at a position, or whose title is there; None if there is none."""
    if document.plan is None:
        return None
    target = TargetFinder(documents, document.project).target_at(document, *document.column_at(position))
    return documents.find(target.path) if target is not None and target.kind == PLAN else None


def rename_plan(documents: OpenDocuments, renamed: PlanDocument, title: str) -> MoveResult:
    """Rename a plan on disk, with its references in other plans.

    Raises ExecplanError, also if a document of the repository is not saved: the rename may have to change it.
    """
    unsaved = [
        document.project.display_path(document.ref.path) for document in documents.unsaved_plans(renamed.project)
    ]
    if unsaved:
        raise ExecplanError(
            "unsaved-document",
            f"{unsaved[0]} has unsaved changes in the editor; a rename may change it, so nothing was written",
            hint="save the open documents, then rename the plan again",
            candidates=unsaved if len(unsaved) > 1 else (),
        )
    return plan_moves.rename(renamed.project, renamed.ref, title, WriteOptions())
