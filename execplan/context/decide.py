"""The decision that a choice of items comes to: its sums, its strategy, and an id that no other one has."""

from __future__ import annotations

from collections import Counter as Tally
from typing import TYPE_CHECKING

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
    Recommendations,
    SavingsBreakdown,
    Shortening,
    Statistics,
    TokenCounter,
    Validation,
)
from execplan.context.experiment import CONTROL
from execplan.context.intent import GENERIC
from execplan.context.unit import ACTIONS, KEEP, PRUNE, SUMMARIZE, TRUNCATE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.context.budget import Allocation
    from execplan.context.decision import ModelChoice, SessionHygiene, Strategy
    from execplan.context.intent import Intent
    from execplan.context.printing import Item
    from execplan.context.tokens import Counter
    from execplan.context.unit import Pack


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
    experiment = experiment or Experiment()
    baseline = sum([each.original_tokens for each in items])
    filtered = sum([each.original_tokens for each in items if not each.filtered])
    final = sum([each.tokens for each in items])
    decision = Decision(
        plan_id=pack.plan_id,
        decision_id="-",
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
        experiment=experiment,
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
            strategy_used=strategy(items, intent, experiment.variant),
            intent_confidence=intent.confidence,
            pruning_threshold=threshold,
            counter=TokenCounter(name=counter.name, exact=counter.exact),
        ),
        validation=Validation(
            total_tokens=final, within_budget=final <= allocation.context, budget_remaining=allocation.context - final
        ),
    )
    return decision.model_copy(update={"decision_id": _id(decision, items)})


def strategy(items: Sequence[Item], intent: Intent, variant: str | None = None) -> Strategy:
    """How the items were chosen."""
    if variant == CONTROL:
        return "newest_first"
    if all([each.action == KEEP for each in items]):
        return "keep_all"
    return "relevance" if intent.name == GENERIC else "intent_aware"


def _id(decision: Decision, items: Sequence[Item]) -> str:
    """A digest of the decision and of all that is printed."""
    from hashlib import sha256

    found = sha256(decision.model_dump_json().encode())
    for each in items:
        found.update(b"\0" + each.text.encode("utf-8", "backslashreplace"))
    return found.hexdigest()[:16]


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
