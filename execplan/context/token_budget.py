"""Split of a token budget between the system prompt, the context, and the response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import INPUT, ExecplanError
from execplan.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from typing import Final

MIN_BUDGET: Final = 200
"""Minimum budget in tokens."""
_MAX_RESERVED_SHARE: Final = 0.9
"""Maximum part of a budget that is not for context."""


class BudgetShares(NamedTuple):
    """Parts of a budget that are not for context."""

    system_prompt: float = 1 / 16
    response_reserve: float = 1 / 8


DEFAULT_SHARES: Final = BudgetShares()


class Allocation(NamedTuple):
    """A budget that is split, in tokens."""

    system_prompt: int
    context: int
    """Tokens that a pack may take."""
    response_reserve: int
    shares: BudgetShares = DEFAULT_SHARES


def allocate_budget(total: int, shares: BudgetShares = DEFAULT_SHARES) -> Allocation:
    """Split a budget of `total` tokens. Raises ExecplanError for shares that leave too little for context."""
    if min(shares) < 0 or not sum(shares) <= _MAX_RESERVED_SHARE:
        message = f"context.shares: {shares.system_prompt:g} and {shares.response_reserve:g} leave too little to read"
        hint = f"use values of at least 0 that add up to at most {_MAX_RESERVED_SHARE:g} of the budget"
        raise ExecplanError("bad-setting", message, exit=INPUT, hint=hint)
    # The sum is rounded, not each share: otherwise a larger budget could leave one token less to read.
    reserved = round(total * sum(shares))
    response = round(total * shares.response_reserve)
    return Allocation(reserved - response, total - reserved, response, shares)


def smallest_budget(needed_tokens: int, shares: BudgetShares = DEFAULT_SHARES) -> int:
    """Return the smallest budget that leaves `needed_tokens` for context."""
    total = max(needed_tokens, MIN_BUDGET)
    while allocate_budget(total, shares).context < needed_tokens:
        total += 1
    return total
