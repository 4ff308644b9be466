"""The decision document: what to read within a budget, why, and what that saves. Its sums always add up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from execplan.core.documents.document_model import Model
from execplan.core.documents.json_values import find_date_violations
from execplan.core.text.violation import Violation

VERSION: Final = "1.0"


Count = Annotated[int, Meta(ge=0)]
"""Count of tokens, unless a field states otherwise."""
Percent = Annotated[float, Meta(ge=0)]
"""Percentage with one decimal."""
SavedPercent = Annotated[float, Meta(ge=0, le=100)]
"""Percentage from 0 to 100 with one decimal; 0.0 if the whole is 0."""
Fraction = Annotated[float, Meta(ge=0, le=1)]
DateTime = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Name = Annotated[str, Meta(min_length=1)]
IntentName = Literal["code_generation", "debugging", "explanation", "search", "planning", "review", "generic"]
Strategy = Literal["keep_all", "intent_aware", "relevance", "newest_first"]
"""How the items were chosen.

`keep_all`: everything fits. `intent_aware`: by relevance, weighted for the intent. `relevance`: by relevance alone,
because the intent is unknown. `newest_first`: by age.
"""
Advice = Literal["continue", "prepare_checkpoint", "checkpoint_then_compact", "checkpoint_then_compact_immediately"]


class InputSummary(Model):
    """The units that were candidates for the pack."""

    total_units: Count
    """Number of units."""
    total_tokens: Count
    """Tokens of all units in full, and of what is printed around them."""
    units_by_type: dict[str, int]


class Constraints(Model):
    """What the caller asked for."""

    token_budget: Count
    target_model: Name
    intent: IntentName


class Experiment(Model):
    """The variant of an experiment, if the decision is part of one."""

    enabled: bool = False
    id: str | None = None
    variant: str | None = None
    assignment_key: str | None = None
    """Key that determines the variant: equal keys get equal variants."""


class ModelChoice(Model):
    """The recommended model, and why."""

    recommended: Name
    reason: Name
    alternatives: tuple[str, ...] = ()


class BudgetAllocation(Model):
    """The shares of the token budget."""

    system_prompt: Count
    context: Count
    """Tokens for the pack."""
    response_reserve: Count


class Recommendations(Model):
    """The recommended model and split of the budget."""

    model: ModelChoice
    budget_allocation: BudgetAllocation


class Chosen(Model):
    """A unit, and whether it is kept, shortened or left out."""

    id: Name
    type: Literal[
        "section", "task", "decision", "discovery", "file", "artifact", "diff", "message", "tool_result", "instruction"
    ]
    action: Literal["keep", "summarize", "truncate", "prune"]
    tokens: Count
    """Tokens that are printed of the unit, including its heading; 0 if it is pruned."""
    original_tokens: Count
    """Tokens of the unit in full."""
    priority: Annotated[int, Meta(ge=0, le=100)]
    reason: Name
    content: str = ""
    """Text of the unit that is in the pack; empty if it is pruned."""


class Statistics(Model):
    """The tokens that are saved, and the number of units for each action."""

    tokens_saved: Count
    reduction_percentage: SavedPercent
    units_kept: Count
    units_summarized: Count
    units_truncated: Count
    units_pruned: Count


class Filtering(Model):
    """Tokens that are saved by leaving out units that are not relevant."""

    tokens_saved: Count
    percentage_of_baseline: SavedPercent


class Shortening(Filtering):
    """Tokens that are saved by summaries and by leaving out relevant units that do not fit."""

    percentage_of_post_filter: SavedPercent


class SavingsBreakdown(Model):
    """The savings of each stage."""

    baseline_tokens: Count
    after_filter_tokens: Count
    """Tokens without the units that are not relevant."""
    after_pruning_tokens: Count
    """Tokens that are printed."""
    package_filtering: Filtering
    pruning_and_summarization: Shortening
    overall: Filtering


class SessionHygiene(Model):
    """Whether to compact the session; without one, all numbers are 0, and the action is `continue`."""

    message_count_estimate: Count
    """Number of messages in the session."""
    input_context_utilization_pct: Percent
    """Percentage of the target model's context window that the session takes."""
    optimized_context_utilization_pct: Percent
    """Percentage of the same window that the messages take which the pack keeps."""
    recommended_action: Advice
    playbook: tuple[str, ...]
    """The steps to take, in order."""


class TokenCounter(Model):
    """The program that counted the tokens."""

    name: Name
    exact: bool


class Explainability(Model):
    """How the units were chosen."""

    strategy_used: Strategy
    intent_confidence: Fraction
    pruning_threshold: Fraction
    """Units that are less relevant are left out even if they fit; 0 if relevance does not count."""
    counter: TokenCounter


class Validation(Model):
    """Whether the pack fits the budget."""

    total_tokens: Count
    within_budget: bool
    """Whether the printed tokens are at most those for the pack."""
    budget_remaining: int


class Decision(Model):
    """A context decision: what an agent should read, and why."""

    plan_id: Name
    decision_id: Name
    """ID of the decision; decisions with equal IDs are equal in everything, including time and texts."""
    created_at: DateTime
    version: Literal["1.0"]
    input_summary: InputSummary
    constraints: Constraints
    experiment: Experiment
    recommendations: Recommendations
    optimized_context: tuple[Chosen, ...]
    """All units; those that are not pruned are printed in this order."""
    statistics: Statistics
    savings_breakdown: SavingsBreakdown
    session_hygiene: SessionHygiene
    warnings: tuple[str, ...]
    explainability: Explainability
    validation: Validation

    @classmethod
    def find_violations(cls, value: dict[str, Any]) -> Iterator[Violation]:
        """Yield a date that does not exist."""
        yield from find_date_violations(value, ("created_at",))

    def find_contradictions(self) -> Iterator[Violation]:
        """Yield sums that don't agree; a wrong sum is a bug in execplan and must fail as one."""
        units, context = self.optimized_context, self.recommendations.budget_allocation.context
        final_tokens = self.validation.total_tokens
        saved_tokens = sum([item.original_tokens - item.tokens for item in units])
        original_tokens = final_tokens + saved_tokens
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
        if actual != expected or self.statistics.tokens_saved != saved_tokens:
            yield Violation("", f"the sums are {actual}, but should be {expected}")
