"""Findings as diagnostics of an editor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from execplan.linter.rule import ERROR, WARNING
from execplan.views.language_server.rule_pages import rule_page_uri

if TYPE_CHECKING:
    from execplan.core.errors import ExecplanError
    from execplan.linter.rule import Finding
    from execplan.views.language_server.open_text import OpenText
    from execplan.views.language_server.plan_document import PlanDocument

SOURCE: Final = "execplan"
_UNUSED_CODES: Final = ("EP010",)
"""Rules about text that has no effect, which editors show faded."""


def list_diagnostics(document: PlanDocument) -> list[lsp.Diagnostic]:
    """Return the findings of a document, with their codes and the help of their rules."""
    return [make_diagnostic(document, finding) for finding in document.findings]


def error_diagnostic(error: ExecplanError) -> lsp.Diagnostic:
    """Return the reason why a document can't be checked, such as invalid settings, at its start."""
    start = lsp.Position(0, 0)
    message = f"{error.message}: {error.hint}" if error.hint else error.message
    return lsp.Diagnostic(lsp.Range(start, start), message, lsp.DiagnosticSeverity.Error, error.code, source=SOURCE)


def finding_range(text: OpenText, finding: Finding) -> lsp.Range:
    """Return the place of a finding."""
    return text.range_at(finding.line - 1, finding.column - 1, finding.end_line - 1, finding.end_column)


def make_diagnostic(document: PlanDocument, finding: Finding) -> lsp.Diagnostic:
    """Return a finding as a diagnostic, with its code and the help of its rule."""
    severities = {ERROR: lsp.DiagnosticSeverity.Error, WARNING: lsp.DiagnosticSeverity.Warning}
    page = rule_page_uri(finding.code)
    return lsp.Diagnostic(
        range=finding_range(document, finding),
        message=finding.message,
        severity=severities.get(finding.level, lsp.DiagnosticSeverity.Information),
        code=finding.code,
        code_description=lsp.CodeDescription(page) if page else None,
        source=SOURCE,
        tags=[lsp.DiagnosticTag.Unnecessary] if finding.code in _UNUSED_CODES else None,
    )
