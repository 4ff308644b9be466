"""Builder of decision documents: their sums, their strategy and their unique ID."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Sequence
from typing import Final

import msgspec

from execplan.context.context_pack import ACTIONS, KEEP, PRUNE, SUMMARIZE, TRUNCATE, ContextPack
from execplan.context.context_settings import Allocation
from execplan.context.decision import (
    VERSION,
    BudgetAllocation,
    Chosen,
    Constraints,
    Decision,
    Experiment,
    Explainability,
    Filtering,
    InputSummary,
    ModelChoice,
    Recommendations,
    SavingsBreakdown,
    SessionHygiene,
    Shortening,
    Statistics,
    Strategy,
    TokenCounter,
    Validation,
)
from execplan.context.pack_printer import PackItem
from execplan.context.task_intent import GENERIC, TaskIntent
from execplan.context.token_counter import Counter

CONTROL: Final = "control"
"""Variant that fills the budget with full units, newest first."""
OPTIMIZED: Final = "optimized"
"""Variant that `context` uses outside an experiment."""
VARIANTS: Final = (CONTROL, OPTIMIZED)


def assign_variant(experiment: str, key: str, variants: tuple[str, ...] = VARIANTS) -> str:
    """Return the variant of a key by hashing the experiment and the key; keys spread evenly over the variants."""
    from hashlib import sha256

    key_bytes = f"{experiment}:{key}".encode("utf-8", "surrogateescape")
    return variants[int.from_bytes(sha256(key_bytes).digest()[:8], "big") % len(variants)]


def build_decision(
    pack: ContextPack,
    items: Sequence[PackItem],
    allocation: Allocation,
    counter: Counter,
    *,
    printed_tokens: int,
    created_at: str,
    intent: TaskIntent,
    threshold: float,
    target_model: str,
    model: ModelChoice,
    hygiene: SessionHygiene,
    experiment: Experiment | None = None,
    warnings: Sequence[str] = (),
) -> Decision:
    """Build the decision document for the chosen items; `created_at` is an ISO 8601 time.

    `printed_tokens` is the count of the printed pack. What it has beside the items is part of every total.
    """
    experiment = experiment or Experiment()
    frame_tokens = printed_tokens - sum([item.tokens for item in items])
    baseline_tokens = frame_tokens + sum([item.original_tokens for item in items])
    filtered_tokens = frame_tokens + sum([item.original_tokens for item in items if not item.is_filtered])
    final_tokens = printed_tokens
    decision = Decision(
        plan_id=pack.plan_id,
        decision_id="-",
        created_at=created_at,
        version=VERSION,
        input_summary=InputSummary(
            total_units=len(items),
            total_tokens=baseline_tokens,
            units_by_type=dict(sorted(Tally([item.unit.type for item in items]).items())),
        ),
        constraints=Constraints.model_validate(
            {"token_budget": sum(allocation[:3]), "target_model": target_model, "intent": intent.name}
        ),
        experiment=experiment,
        recommendations=Recommendations(
            model=model,
            budget_allocation=BudgetAllocation(
                system_prompt=allocation.system_prompt,
                context=allocation.context,
                response_reserve=allocation.response_reserve,
            ),
        ),
        optimized_context=tuple([_to_chosen(item) for item in items]),
        statistics=_statistics(items, baseline_tokens, final_tokens),
        savings_breakdown=_savings(baseline_tokens, filtered_tokens, final_tokens),
        session_hygiene=hygiene,
        warnings=tuple(warnings),
        explainability=Explainability(
            strategy_used=classify_strategy(items, intent, experiment.variant),
            intent_confidence=intent.confidence,
            pruning_threshold=threshold,
            counter=TokenCounter(name=counter.name, exact=counter.exact),
        ),
        validation=Validation(
            total_tokens=final_tokens,
            within_budget=final_tokens <= allocation.context,
            budget_remaining=allocation.context - final_tokens,
        ),
    )
    return decision.model_copy(update={"decision_id": _decision_id(decision)})


def classify_strategy(items: Sequence[PackItem], intent: TaskIntent, variant: str | None = None) -> Strategy:
    """Return the strategy by which the items were chosen."""
    if variant == CONTROL:
        return "newest_first"
    if all([item.action == KEEP or item.unit.omission for item in items]):
        return "keep_all"
    return "relevance" if intent.name == GENERIC else "intent_aware"


def _decision_id(decision: Decision) -> str:
    """Return a digest of the decision with its texts."""
    from hashlib import sha256

    return sha256(msgspec.json.encode(decision)).hexdigest()[:16]


def percentage(part: int, whole: int) -> float:
    """Return the percentage of a part in a whole, with one decimal; 0.0 if the whole is 0."""
    return round(100 * part / whole, 1) if whole else 0.0


def _to_chosen(item: PackItem) -> Chosen:
    return Chosen.model_validate(
        {
            "id": item.unit.id,
            "type": item.unit.type,
            "action": item.action,
            "tokens": item.tokens,
            "original_tokens": item.original_tokens,
            "priority": item.priority,
            "reason": item.reason,
            "content": item.text,
        }
    )


def _statistics(items: Sequence[PackItem], baseline_tokens: int, final_tokens: int) -> Statistics:
    action_counts = Tally([item.action for item in items])
    assert set(action_counts) <= set(ACTIONS)
    return Statistics(
        tokens_saved=baseline_tokens - final_tokens,
        reduction_percentage=percentage(baseline_tokens - final_tokens, baseline_tokens),
        units_kept=action_counts[KEEP],
        units_summarized=action_counts[SUMMARIZE],
        units_truncated=action_counts[TRUNCATE],
        units_pruned=action_counts[PRUNE],
    )


def _savings(baseline_tokens: int, filtered_tokens: int, final_tokens: int) -> SavingsBreakdown:
    filtering_savings, shortening_savings = baseline_tokens - filtered_tokens, filtered_tokens - final_tokens
    return SavingsBreakdown(
        baseline_tokens=baseline_tokens,
        after_filter_tokens=filtered_tokens,
        after_pruning_tokens=final_tokens,
        package_filtering=Filtering(
            tokens_saved=filtering_savings, percentage_of_baseline=percentage(filtering_savings, baseline_tokens)
        ),
        pruning_and_summarization=Shortening(
            tokens_saved=shortening_savings,
            percentage_of_baseline=percentage(shortening_savings, baseline_tokens),
            percentage_of_post_filter=percentage(shortening_savings, filtered_tokens),
        ),
        overall=Filtering(
            tokens_saved=filtering_savings + shortening_savings,
            percentage_of_baseline=percentage(filtering_savings + shortening_savings, baseline_tokens),
        ),
    )
