"""Why a unit is printed, shortened or left out, in a sentence for people."""

from __future__ import annotations

from execplan.context.unit import PRUNE, SUMMARIZE, TRUNCATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.context.score import ScoredUnit

_ACTION_REASONS = {
    SUMMARIZE: "shortened: no room for all of it",
    TRUNCATE: "cut: no room for all of it",
    PRUNE: "left out: others need the room more",
}


def explain_action(candidate: ScoredUnit, action: str, *, is_filtered: bool) -> str:
    """What makes a unit relevant, the strongest first, and why it is not printed whole, where it is not."""
    clauses = list(candidate.reasons[:2])
    if is_filtered:
        clauses = [
            f"shares only {clause[7:]}" if clause.startswith("shares ") and "shares no " not in clause else clause
            for clause in clauses
        ]
    elif action in _ACTION_REASONS:
        clauses.append(_ACTION_REASONS[action])
    explanation = "; ".join(clauses)
    return explanation[:1].upper() + explanation[1:]
