"""The decision document: what is read of a context within a budget, why, and what that saves; its sums always add up."""

from __future__ import annotations

from collections import Counter as Tally
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from execplan.context.unit import ACTIONS, KEEP, PRUNE, SUMMARIZE, TRUNCATE
from execplan.document import Kind, Many, Model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.context.budget import Allocation
    from execplan.context.choose import Item
    from execplan.context.intent import Intent
    from execplan.context.tokens import Counter
    from execplan.context.unit import Pack

KINDS = {"context-decision": Kind("context.decision", "Decision", "What `context` lets an agent read, and why.")}
VERSION: Final = "1.0"
STRATEGY: Final = "intent_aware"
"""Relevance weighs what a task of such an intent needs."""


def _possible(moment: str) -> str:
    from datetime import datetime

    datetime.fromisoformat(moment)  # a ValueError where no calendar has it
    return moment


Count = Annotated[int, Field(ge=0)]
"""Of tokens, where nothing else is said."""
Percent = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""With one decimal."""
Saved = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
"""Percent, with one decimal; 0.0 of nothing."""
Part = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Moment = Annotated[str, AfterValidator(_possible), Field(json_schema_extra={"format": "date-time"})]
Name = Annotated[str, Field(min_length=1)]
IntentName = Literal["code_generation", "debugging", "explanation", "search", "planning", "review", "generic"]
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
    alternatives: Many[str] = ()


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
    """A unit, and what becomes of it."""

    id: Name
    type: Literal[
        "section", "task", "decision", "discovery", "file", "artifact", "diff", "message", "tool_result", "instruction"
    ]
    action: Literal["keep", "summarize", "truncate", "prune"]
    tokens: Count
    """Of all that is printed of it, its heading too; 0 where it is pruned."""
    original_tokens: Count
    """If it were printed whole."""
    priority: Annotated[int, Field(ge=0, le=100)]
    reason: Name


class Statistics(Model):
    """What is saved, and how many units became what."""

    tokens_saved: Count
    reduction_percentage: Saved
    units_kept: Count
    units_summarized: Count
    units_truncated: Count
    units_pruned: Count


class Filtering(Model):
    """What is saved by leaving out what is not relevant."""

    tokens_saved: Count
    percentage_of_baseline: Saved


class Shortening(Filtering):
    """What is saved by pruning the rest for want of room, and by summaries."""

    percentage_of_post_filter: Saved


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
    """Whether the session should be compacted."""

    message_count_estimate: Count
    """Messages."""
    input_context_utilization_pct: Percent
    """Of the window of the target model."""
    optimized_context_utilization_pct: Percent
    recommended_action: Advice
    playbook: Many[str]


class TokenCounter(Model):
    """What counted the tokens."""

    name: Name
    exact: bool


class Explainability(Model):
    """How this was decided."""

    strategy_used: Name
    intent_confidence: Part
    pruning_threshold: Part
    """What is less relevant is left out, room or not."""
    counter: TokenCounter


class Validation(Model):
    """Whether it fits."""

    total_tokens: Count
    within_budget: bool
    """Whether these are at most what may be read."""
    budget_remaining: int


class Decision(Model):
    """What an agent should read, and why."""

    plan_id: Name
    created_at: Moment
    version: Literal["1.0"]
    input_summary: InputSummary
    constraints: Constraints
    experiment: Experiment
    recommendations: Recommendations
    optimized_context: Many[Chosen]
    """Every unit, in the order in which those that are not pruned are printed."""
    statistics: Statistics
    savings_breakdown: SavingsBreakdown
    session_hygiene: SessionHygiene
    warnings: Many[str]
    explainability: Explainability
    validation: Validation

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        """A sum that is wrong is a bug of ours, so it ends as one."""
        units, context = self.optimized_context, self.recommendations.budget_allocation.context
        original, final = sum([each.original_tokens for each in units]), sum([each.tokens for each in units])
        expected = (len(units), original, original, final, final, final <= context, context - final)
        told = self.input_summary, self.savings_breakdown, self.validation
        said = (
            told[0].total_units,
            told[0].total_tokens,
            told[1].baseline_tokens,
            told[1].after_pruning_tokens,
            told[2].total_tokens,
            told[2].within_budget,
            told[2].budget_remaining,
        )
        if said != expected or self.statistics.tokens_saved != original - final:
            raise ValueError(f"the sums are {said} and should be {expected}")
        return self


def decide(
    pack: Pack,
    items: Sequence[Item],
    allocation: Allocation,
    counter: Counter,
    *,
    created_at: str,
    intent: Intent,
    threshold: float,
    target_model: str,
    model: ModelChoice,
    hygiene: SessionHygiene,
    experiment: Experiment | None = None,
    warnings: Sequence[str] = (),
) -> Decision:
    """The decision that items come to; `created_at` is a time as ISO 8601 has it."""
    baseline = sum([each.original_tokens for each in items])
    filtered = sum([each.original_tokens for each in items if not each.filtered])
    final = sum([each.tokens for each in items])
    return Decision(
        plan_id=pack.plan_id,
        created_at=created_at,
        version=VERSION,
        input_summary=InputSummary(
            total_units=len(items),
            total_tokens=baseline,
            units_by_type=dict(sorted(Tally([each.unit.type for each in items]).items())),
        ),
        constraints=Constraints.model_validate(
            {"token_budget": sum(allocation[:3]), "target_model": target_model, "intent": intent.name}
        ),
        experiment=experiment or Experiment(),
        recommendations=Recommendations(
            model=model,
            budget_allocation=BudgetAllocation(
                system_prompt=allocation.system_prompt,
                context=allocation.context,
                response_reserve=allocation.response_reserve,
            ),
        ),
        optimized_context=tuple([_chosen(each) for each in items]),
        statistics=_statistics(items, baseline, final),
        savings_breakdown=_savings(baseline, filtered, final),
        session_hygiene=hygiene,
        warnings=tuple(warnings),
        explainability=Explainability(
            strategy_used=STRATEGY,
            intent_confidence=intent.confidence,
            pruning_threshold=threshold,
            counter=TokenCounter(name=counter.name, exact=counter.exact),
        ),
        validation=Validation(
            total_tokens=final, within_budget=final <= allocation.context, budget_remaining=allocation.context - final
        ),
    )


def percentage(part: int, whole: int) -> float:
    """How many percent a part is of a whole, with one decimal; 0.0 of nothing."""
    return round(100 * part / whole, 1) if whole else 0.0


def _chosen(item: Item) -> Chosen:
    return Chosen.model_validate(
        {
            "id": item.unit.id,
            "type": item.unit.type,
            "action": item.action,
            "tokens": item.tokens,
            "original_tokens": item.original_tokens,
            "priority": item.priority,
            "reason": item.reason,
        }
    )


def _statistics(items: Sequence[Item], baseline: int, final: int) -> Statistics:
    count = Tally([each.action for each in items])
    assert set(count) <= set(ACTIONS)
    return Statistics(
        tokens_saved=baseline - final,
        reduction_percentage=percentage(baseline - final, baseline),
        units_kept=count[KEEP],
        units_summarized=count[SUMMARIZE],
        units_truncated=count[TRUNCATE],
        units_pruned=count[PRUNE],
    )


def _savings(baseline: int, filtered: int, final: int) -> SavingsBreakdown:
    first, second = baseline - filtered, filtered - final
    return SavingsBreakdown(
        baseline_tokens=baseline,
        after_filter_tokens=filtered,
        after_pruning_tokens=final,
        package_filtering=Filtering(tokens_saved=first, percentage_of_baseline=percentage(first, baseline)),
        pruning_and_summarization=Shortening(
            tokens_saved=second,
            percentage_of_baseline=percentage(second, baseline),
            percentage_of_post_filter=percentage(second, filtered),
        ),
        overall=Filtering(tokens_saved=first + second, percentage_of_baseline=percentage(first + second, baseline)),
    )
