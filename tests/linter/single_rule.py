"""One rule over one plan, as the tests of the families of rules use it."""

from __future__ import annotations

from execplan.core.clock import minute_bounds, read_timestamp
from execplan.core.plan import reader
from execplan.core.plan.model import ParsedPlan
from execplan.core.text.text_lines import apply_edits
from execplan.linter.rule import RULES, Finding
from execplan.linter.rule_facts import Clock
from execplan.linter.runner import RuleContext, lint_plan


def clock(stamp: str) -> Clock:
    """A clock that stands still."""
    timestamp = read_timestamp(stamp)
    span = minute_bounds(timestamp) if timestamp is not None else None
    assert span is not None
    return Clock(span[0])


def findings(code: str, text: str, context: RuleContext | None = None) -> list[Finding]:
    """What one rule finds in a text."""
    return lint_plan(reader.read(text.encode()), context, {code: RULES[code].level})


def lines(code: str, text: str, context: RuleContext | None = None) -> list[int]:
    """In which lines it does, counted from 1."""
    return [finding.line for finding in findings(code, text, context)]


def marked_text(code: str, text: str, context: RuleContext | None = None) -> list[str]:
    """Between which columns it does: the words of the text there."""
    return [
        text.split("\n")[finding.line - 1][finding.column - 1 : finding.end_column]
        for finding in findings(code, text, context)
    ]


def fixed_text(code: str, text: str) -> str:
    """The text with one fix after the other made, until none is left; each has to lessen what is found."""
    fixes = [finding.fix for finding in findings(code, text) if finding.fix is not None]
    while fixes:
        plan: ParsedPlan = reader.read(text.encode())
        text = apply_edits(plan.text, fixes[0].edits).to_str()
        remaining = [finding.fix for finding in findings(code, text) if finding.fix is not None]
        assert len(remaining) < len(fixes)
        fixes = remaining
    return text
