"""One rule over one plan, as the tests of the families of rules use it."""

from __future__ import annotations

from execplan.clock import minute_bounds, read_timestamp
from execplan.linter.rule import RULES, Finding
from execplan.linter.rule_facts import Clock
from execplan.linter.runner import RuleContext, lint_plan
from execplan.plan import reader
from execplan.plan.model import ParsedPlan
from execplan.text.line_edit import apply_edits


def clock(stamp: str) -> Clock:
    """A clock that stands still."""
    read = read_timestamp(stamp)
    span = minute_bounds(read) if read is not None else None
    assert span is not None
    return Clock(span[0])


def found(code: str, text: str, given: RuleContext | None = None) -> list[Finding]:
    """What one rule finds in a text."""
    return lint_plan(reader.read(text.encode()), given, {code: RULES[code].level})


def lines(code: str, text: str, given: RuleContext | None = None) -> list[int]:
    """In which lines it does, counted from 1."""
    return [each.line for each in found(code, text, given)]


def words(code: str, text: str, given: RuleContext | None = None) -> list[str]:
    """Between which columns it does: the words of the text there."""
    return [text.split("\n")[each.line - 1][each.column - 1 : each.end_column] for each in found(code, text, given)]


def mended(code: str, text: str) -> str:
    """The text with one fix after the other made, until none is left; each has to lessen what is found."""
    left = [each.fix for each in found(code, text) if each.fix is not None]
    while left:
        plan: ParsedPlan = reader.read(text.encode())
        text = apply_edits(plan.text, left[0].edits).to_str()
        now = [each.fix for each in found(code, text) if each.fix is not None]
        assert len(now) < len(left)
        left = now
    return text
