"""How a call compares with one step."""

from __future__ import annotations

from execplan.record import NamedTuple


class StepComparison(NamedTuple):
    """Whether it is of the step, or how near it comes."""

    reason: str = ""
    """Why it is not of the step; nothing: it is."""
    similarity: int = 0
    """How like the step it is, from 0 to 100."""
    is_further: bool = False
    """Whether the call is not the step's own, but one that its `allow` permits besides."""


EXACT_MATCH = StepComparison(similarity=100)
ALLOWED_EXTRA = StepComparison(similarity=100, is_further=True)
