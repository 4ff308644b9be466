"""The decision document: what to read within a budget, why, and what that saves. Its sums always add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from execplan.core.json_model.constraints import Check, Range, Text, ensure_real_date
from execplan.core.json_model.document_model import Model
from execplan.core.json_model.field_types import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION: Final = "1.0"


Count = Annotated[int, Range(0)]
"""Count of tokens, unless a field states otherwise."""
Percent = Annotated[float, Range(0)]
"""Percentage with one decimal."""
SavedPercent = Annotated[float, Range(0, 100)]
"""Percentage from 0 to 100 with one decimal; 0.0 if the whole is 0."""
Fraction = Annotated[float, Range(0, 1)]
DateTime = Annotated[str, Check(ensure_real_date, "date-time")]
Name = Annotated[str, Text(min_length=1)]
IntentName = Literal["code_generation", "debugging", "explanation", "search", "planning", "review", "generic"]
Strategy = Literal["keep_all", "intent_aware", "relevance", "newest_first"]
"""How the items were chosen.

`keep_all`: everything fits. `intent_aware`: by relevance, weighted for the intent. `relevance`: by relevance alone,
because the intent is unknown. `newest_first`: by age.
"""
Advice = Literal["continue", "prepare_checkpoint", "checkpoint_then_compact", "checkpoint_then_compact_immediately"]


class InputSummary(Model):
    """What there was to read."""

    total_units: Count
    """How many."""
    total_tokens: Count
    """If all were printed whole."""
    units_by_type: dict[str, int]


class Constraints(Model):
    """What was asked for."""

    token_budget: Count
    target_model: Name
    intent: IntentName


class Experiment(Model):
    """Which variant of an experiment this is, if it is one."""

    enabled: bool = False
    id: str | None = None
    variant: str | None = None
    assignment_key: str | None = None
    """Equal keys get equal variants."""


class ModelChoice(Model):
    """Which model does for this."""

    recommended: Name
    reason: Name
    alternatives: tuple[str, ...] = ()


class BudgetAllocation(Model):
    """How the budget is split."""

    system_prompt: Count
    context: Count
    """What may be read."""
    response_reserve: Count


class Recommendations(Model):
    """With which model, and how the budget is split."""

    model: ModelChoice
    budget_allocation: BudgetAllocation


class Chosen(Model):
    """An item and what happens to it."""

    id: Name
    type: Literal[
        "section", "task", "decision", "discovery", "file", "artifact", "diff", "message", "tool_result", "instruction"
    ]
    action: Literal["keep", "summarize", "truncate", "prune"]
    tokens: Count
    """Of all that is printed of it, its heading too; 0 where it is pruned."""
    original_tokens: Count
    """If it were printed whole."""
    priority: Annotated[int, Range(0, 100)]
    reason: Name


class Statistics(Model):
    """What is saved, and how many units became what."""

    tokens_saved: Count
    reduction_percentage: SavedPercent
    units_kept: Count
    units_summarized: Count
    units_truncated: Count
    units_pruned: Count


class Filtering(Model):
    """What is saved by leaving out what is not relevant."""

    tokens_saved: Count
    percentage_of_baseline: SavedPercent


class Shortening(Filtering):
    """What is saved by pruning the rest for want of room, and by summaries."""

    percentage_of_post_filter: SavedPercent


class SavingsBreakdown(Model):
    """Where the savings come from."""

    baseline_tokens: Count
    after_filter_tokens: Count
    """Without the units that are not relevant."""
    after_pruning_tokens: Count
    """What is printed."""
    package_filtering: Filtering
    pruning_and_summarization: Shortening
    overall: Filtering


class SessionHygiene(Model):
    """Whether the session should be compacted; without a session all numbers are 0, `continue` and an empty playbook."""

    message_count_estimate: Count
    """Messages."""
    input_context_utilization_pct: Percent
    """What the session takes of the window of the target model."""
    optimized_context_utilization_pct: Percent
    """What is left of it in the pack, of the same window."""
    recommended_action: Advice
    playbook: tuple[str, ...]
    """What to do, in order."""


class TokenCounter(Model):
    """What counted the tokens."""

    name: Name
    exact: bool


class Explainability(Model):
    """How this was decided."""

    strategy_used: Strategy
    intent_confidence: Fraction
    pruning_threshold: Fraction
    """What is less relevant is left out, room or not; 0 where relevance does not count."""
    counter: TokenCounter


class Validation(Model):
    """Whether the pack fits the budget."""

    total_tokens: Count
    within_budget: bool
    """Whether these are at most what may be read."""
    budget_remaining: int


class Decision(Model):
    """What an agent should read, and why."""

    plan_id: Name
    decision_id: Name
    """Of this decision; equal ones have all in common, the time and the texts of the pack too."""
    created_at: DateTime
    version: Literal["1.0"]
    input_summary: InputSummary
    constraints: Constraints
    experiment: Experiment
    recommendations: Recommendations
    optimized_context: tuple[Chosen, ...]
    """Every unit, in the order in which those that are not pruned are printed."""
    statistics: Statistics
    savings_breakdown: SavingsBreakdown
    session_hygiene: SessionHygiene
    warnings: tuple[str, ...]
    explainability: Explainability
    validation: Validation

    def find_problems(self) -> Iterator[Problem]:
        """Yield sums that don't agree; a wrong sum is a bug in execplan and must fail as one."""
        units, context = self.optimized_context, self.recommendations.budget_allocation.context
        original_tokens, final_tokens = (
            sum([item.original_tokens for item in units]),
            sum([item.tokens for item in units]),
        )
        expected = (
            len(units),
            original_tokens,
            original_tokens,
            final_tokens,
            final_tokens,
            final_tokens <= context,
            context - final_tokens,
        )
        sections = self.input_summary, self.savings_breakdown, self.validation
        actual = (
            sections[0].total_units,
            sections[0].total_tokens,
            sections[1].baseline_tokens,
            sections[1].after_pruning_tokens,
            sections[2].total_tokens,
            sections[2].within_budget,
            sections[2].budget_remaining,
        )
        if actual != expected or self.statistics.tokens_saved != original_tokens - final_tokens:
            yield Problem((), f"the sums are {actual}, but should be {expected}")
