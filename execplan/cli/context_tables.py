"""The decisions of `context` as lines and tables for people."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from execplan.cli.table import format_table
from execplan.context.unit import KEEP, PRUNE, SUMMARIZE, TRUNCATE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.context.decision import Chosen, Decision

_RESULTS = {KEEP: "kept", SUMMARIZE: "shortened", TRUNCATE: "shortened", PRUNE: "left out"}
_GROUPS = tuple(dict.fromkeys(_RESULTS.values()))
_COLUMNS = ("result", "tokens", "item", "why")


def decision_summary(decision: Decision) -> str:
    """The decision in a line."""
    statistics, valid, token_counter = decision.statistics, decision.validation, decision.explainability.counter
    counts = [
        f"{count} {label}"
        for label, count in (
            ("kept", statistics.units_kept),
            ("summarized", statistics.units_summarized),
            ("truncated", statistics.units_truncated),
            ("left out", statistics.units_pruned),
        )
        if count or label == "kept"
    ]
    token_limit = decision.recommendations.budget_allocation.context
    savings = f", {statistics.reduction_percentage} % less than all of it" if statistics.tokens_saved else ""
    action = decision.session_hygiene.recommended_action
    session = f"; session: {action.replace('_', ' ')}" if action != "continue" else ""
    precision = "" if token_counter.exact else "about "
    return f"{', '.join(counts)}: {precision}{valid.total_tokens:,} of {token_limit:,} tokens ({token_counter.name}){savings}{session}"


def explanation_table(decision: Decision) -> str:
    """A row for each item: kept, shortened, left out; the most important first in each group."""
    items = sorted(decision.optimized_context, key=lambda item: (_GROUPS.index(_RESULTS[item.action]), -item.priority))
    return _table_with_head(_COLUMNS, [[_RESULTS[item.action], _tokens(item), item.id, item.reason] for item in items])


def comparison_table(control: Decision, optimized: Decision) -> str:
    """Both decisions side by side: their sums, then a row for each item."""
    both = (control, optimized)
    sums = [
        ["strategy", *[decision.explainability.strategy_used for decision in both]],
        ["tokens", *[f"{decision.validation.total_tokens:,}" for decision in both]],
        ["kept", *[f"{decision.statistics.units_kept:,}" for decision in both]],
        ["shortened", *[f"{decision.statistics.units_summarized + decision.statistics.units_truncated:,}" for decision in both]],
        ["left out", *[f"{decision.statistics.units_pruned:,}" for decision in both]],
    ]
    optimized_items = {item.id: item for item in optimized.optimized_context}
    rows = [[item.id, _result(item), _result(optimized_items[item.id])] for item in control.optimized_context]
    head = ("item", "control", "optimized")
    return f"{_table_with_head(('sum', *head[1:]), sums)}\n\n{_table_with_head(head, rows)}"


def _result(item: Chosen) -> str:
    return f"{_RESULTS[item.action]} {_tokens(item)}" if item.action != PRUNE else f"left out {item.original_tokens:,}"


def _tokens(item: Chosen) -> str:
    if item.action == KEEP:
        return f"{item.tokens:,}"
    return f"{item.tokens:,} of {item.original_tokens:,}"


def _table_with_head(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with the names of its columns, also where no terminal shows it."""
    return format_table(head, rows) if sys.stdout.isatty() else format_table(head, [head, *rows])
