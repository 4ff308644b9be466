"""The decisions of `context` as lines and tables for people."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from execplan.cli.table import table
from execplan.context.unit import KEEP, PRUNE, SUMMARIZE, TRUNCATE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.context.decision import Chosen, Decision

_RESULTS = {KEEP: "kept", SUMMARIZE: "shortened", TRUNCATE: "shortened", PRUNE: "left out"}
_GROUPS = tuple(dict.fromkeys(_RESULTS.values()))
_COLUMNS = ("result", "tokens", "item", "why")


def line(decision: Decision) -> str:
    """The decision in a line."""
    told, valid, counter = decision.statistics, decision.validation, decision.explainability.counter
    counts = [
        f"{count} {what}"
        for what, count in (
            ("kept", told.units_kept),
            ("summarized", told.units_summarized),
            ("truncated", told.units_truncated),
            ("left out", told.units_pruned),
        )
        if count or what == "kept"
    ]
    room = decision.recommendations.budget_allocation.context
    less = f", {told.reduction_percentage} % less than all of it" if told.tokens_saved else ""
    action = decision.session_hygiene.recommended_action
    session = f"; session: {action.replace('_', ' ')}" if action != "continue" else ""
    exact = "" if counter.exact else "about "
    return f"{', '.join(counts)}: {exact}{valid.total_tokens:,} of {room:,} tokens ({counter.name}){less}{session}"


def explain(decision: Decision) -> str:
    """A row for each item: kept, shortened, left out; the most important first in each group."""
    items = sorted(decision.optimized_context, key=lambda each: (_GROUPS.index(_RESULTS[each.action]), -each.priority))
    return _with_head(_COLUMNS, [[_RESULTS[each.action], _tokens(each), each.id, each.reason] for each in items])


def compare(control: Decision, optimized: Decision) -> str:
    """Both decisions side by side: their sums, then a row for each item."""
    both = (control, optimized)
    sums = [
        ["strategy", *[each.explainability.strategy_used for each in both]],
        ["tokens", *[f"{each.validation.total_tokens:,}" for each in both]],
        ["kept", *[f"{each.statistics.units_kept:,}" for each in both]],
        ["shortened", *[f"{each.statistics.units_summarized + each.statistics.units_truncated:,}" for each in both]],
        ["left out", *[f"{each.statistics.units_pruned:,}" for each in both]],
    ]
    others = {each.id: each for each in optimized.optimized_context}
    rows = [[each.id, _result(each), _result(others[each.id])] for each in control.optimized_context]
    head = ("item", "control", "optimized")
    return f"{_with_head(('sum', *head[1:]), sums)}\n\n{_with_head(head, rows)}"


def _result(item: Chosen) -> str:
    return f"{_RESULTS[item.action]} {_tokens(item)}" if item.action != PRUNE else f"left out {item.original_tokens:,}"


def _tokens(item: Chosen) -> str:
    if item.action == KEEP:
        return f"{item.tokens:,}"
    return f"{item.tokens:,} of {item.original_tokens:,}"


def _with_head(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with the names of its columns, also where no terminal shows it."""
    return table(head, rows) if sys.stdout.isatty() else table(head, [head, *rows])
