"""What a fix makes of a text, as tests see it."""

from __future__ import annotations

from execplan.linter.runner import RULES, Finding, RuleContext, lint_plan
from execplan.plan import reader
from execplan.text.line_edit import apply_edits


def findings(code: str, text: str, context: RuleContext | None = None) -> list[Finding]:
    """What one rule finds in a text."""
    return lint_plan(reader.read(text.encode()), context, {code: RULES[code].level})


def lines(code: str, text: str, context: RuleContext | None = None) -> list[int]:
    """The lines of what one rule finds."""
    return [finding.line for finding in findings(code, text, context)]


def fixed_text(code: str, text: str) -> str:
    """The text with every fix of one rule made, one after the other; what remains has none."""
    for _ in range(100):
        fixes = [finding.fix for finding in findings(code, text) if finding.fix is not None]
        if not fixes:
            return text
        text = apply_edits(reader.read(text.encode()).text, fixes[0].edits).to_str()
    raise AssertionError(f"{code} mends without end")
