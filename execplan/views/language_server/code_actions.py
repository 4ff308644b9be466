"""Quick fixes of findings, and the edits of the task under the cursor."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from execplan.core.text.text_lines import apply_edits
from execplan.linter.checking.plan_fix import build_fix_change, fix_finding
from execplan.linter.rule import SAFE
from execplan.views.language_server.plan_diagnostics import finding_range, make_diagnostic
from execplan.views.language_server.suppression_edits import text_ignoring
from execplan.views.language_server.task_commands import task_commands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.core.text.text_lines import Text
    from execplan.linter.rule import Finding
    from execplan.views.language_server.plan_document import PlanDocument

FIX_ALL: Final = "source.fixAll.execplan"
"""Kind of the action that makes all safe fixes, which some editors run on each save."""
KINDS: Final = (lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.Refactor, FIX_ALL)
_MAX_FINDINGS: Final = 8
"""Number of findings at one place for which there are actions."""


def list_actions(document: PlanDocument, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """Return the actions for a range of a document, of the kinds that the editor asks for.

    While the cursor moves, an editor asks only whether there are any; then those that take time to compute are left out.
    """
    if document.plan is None or document.ref.archived:
        return []
    is_complete = params.context.trigger_kind != lsp.CodeActionTriggerKind.Automatic
    actions: list[lsp.CodeAction] = []
    if _is_wanted(params, lsp.CodeActionKind.QuickFix):
        findings = [finding for finding in document.findings if _touches(document, finding, params.range)]
        for finding in findings[:_MAX_FINDINGS]:
            actions += _finding_actions(document, finding, with_comments=is_complete)
    if _is_wanted(params, lsp.CodeActionKind.Refactor):
        task = document.task_on(params.range.start.line)
        commands = task_commands(document, *task) if task is not None else []
        actions += [
            lsp.CodeAction(command.title, kind=lsp.CodeActionKind.Refactor, command=command) for command in commands
        ]
    if _is_wanted(params, FIX_ALL) and (is_complete or params.context.only):
        actions += _fix_all(document)
    return actions


def _is_wanted(params: lsp.CodeActionParams, kind: str) -> bool:
    only = params.context.only
    return not only or any([kind == requested or kind.startswith(f"{requested}.") for requested in only])


def _touches(document: PlanDocument, finding: Finding, place: lsp.Range) -> bool:
    """Return whether a finding is on a line of the range: a cursor need not be in the middle of it."""
    finding_place = finding_range(document, finding)
    return finding_place.start.line <= place.end.line and place.start.line <= finding_place.end.line


def _finding_actions(document: PlanDocument, finding: Finding, *, with_comments: bool) -> Iterator[lsp.CodeAction]:
    """Yield the fix of a finding, if it has one, and the comment that hides it."""
    assert document.plan is not None
    diagnostics = [make_diagnostic(document, finding)]
    fixed_plan = fix_finding(document.plan, finding)
    if fixed_plan is not None and finding.fix is not None:
        is_safe = finding.fix.kind == SAFE
        title = f"Fix {finding.code}" if is_safe else f"Fix {finding.code} (unsafe: may change the meaning)"
        yield _edit_action(document, title, fixed_plan.text, diagnostics, is_preferred=is_safe)
    ignoring = text_ignoring(document, finding) if with_comments else None
    if ignoring is not None:
        yield _edit_action(document, f"Ignore {finding.code} here", ignoring, diagnostics)


def _fix_all(document: PlanDocument) -> list[lsp.CodeAction]:
    """Return the action that makes all safe fixes; none if there is nothing to fix."""
    assert document.plan is not None
    fixed_counts: Counter[str] = Counter()
    change = build_fix_change(document.rule_context(), document.levels, unsafe=False, fix_counts=fixed_counts)
    edits = change(document.plan).edits
    if not edits:
        return []
    title = f"Fix {fixed_counts.total()} findings of execplan"
    return [_edit_action(document, title, apply_edits(document.text, edits), None, kind=FIX_ALL)]


def _edit_action(
    document: PlanDocument,
    title: str,
    text: Text,
    diagnostics: Sequence[lsp.Diagnostic] | None,
    *,
    kind: str = lsp.CodeActionKind.QuickFix,
    is_preferred: bool = False,
) -> lsp.CodeAction:
    return lsp.CodeAction(
        title,
        kind=kind,
        diagnostics=diagnostics,
        is_preferred=is_preferred or None,
        edit=workspace_edit(document, text),
    )


def workspace_edit(document: PlanDocument, text: Text) -> lsp.WorkspaceEdit:
    """Return the edit that makes this version of a document another text; an editor refuses it for other versions."""
    identifier = lsp.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
    return lsp.WorkspaceEdit(document_changes=[lsp.TextDocumentEdit(identifier, document.edits_to(text))])
