"""The comment that makes the linter ignore a finding, at the place where it hides that finding and changes nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.plan import reader
from execplan.core.plan.plan_change import plan_content
from execplan.core.text.markdown_blocks import FRONT
from execplan.core.text.text_lines import Edit, apply_edits, is_blank
from execplan.linter.rules.suppression_rules import CODE, MARK
from execplan.linter.runner import lint_plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.core.text.text_lines import Text
    from execplan.linter.rule import Finding
    from execplan.views.language_server.plan_document import PlanDocument

_MAX_PLACES = 4
"""Number of blocks around a finding above which a comment is tried."""


def text_ignoring(document: PlanDocument, finding: Finding) -> Text | None:
    """Return the text with a comment that hides a finding; None if no comment can do that."""
    if document.plan is None:
        return None
    content = plan_content(document.plan)
    for edit in _possible_edits(document, finding):
        text = apply_edits(document.text, [edit])
        plan = reader.read_text(text)
        if plan_content(plan) != content:
            continue
        remaining = lint_plan(plan, document.rule_context(), document.levels)
        if _counts(remaining, finding.code) < _counts(document.findings, finding.code) and (
            _counts(remaining, CODE) <= _counts(document.findings, CODE)
        ):
            return text
    return None


def _possible_edits(document: PlanDocument, finding: Finding) -> Iterator[Edit]:
    """Yield edits that insert the comment above the blocks with the finding, the innermost first."""
    assert document.plan is not None
    line = finding.line - 1
    places: dict[int, int] = {}
    for block in document.plan.blocks:
        if block.kind != FRONT and block.start <= line < block.end:
            places.setdefault(block.start, block.column)  # the outermost block that starts there
    lines = document.lines
    for start, column in list(reversed(places.items()))[:_MAX_PLACES]:
        comment = f"{' ' * column}{MARK} {finding.code} -->"
        blank_line = [""] if start and not is_blank(lines[start - 1]) else []
        yield Edit(start, start, (*blank_line, comment))


def _counts(findings: Sequence[Finding], code: str) -> int:
    return len([finding for finding in findings if finding.code == code])
