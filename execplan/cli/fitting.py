"""A text in parts that has to fit a budget of tokens: parts are shortened in turn until it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.errors import INPUT, ExecplanError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class TextPart(NamedTuple):
    """A part of the text."""

    text: str
    rank: float = 0
    """0: it stays as it is; parts with the highest rank are shortened first, the last one of a rank before the others."""
    short: str = ""
    """What takes its place; empty to leave it out."""


def fit_to_budget(parts: Sequence[TextPart], note: str, budget: int, count: Callable[[str], int], *, strict: bool) -> str:
    """The text; where it does not fit, parts are shortened until it does, and the note says so at its end.

    A text that can't be made to fit is as short as it gets. Strict: then ExecplanError is raised, with the smallest budget
    that is enough.
    """
    fitted_parts = list(parts)
    costs = [count(part.text) + 1 for part in fitted_parts]
    if sum(costs) > budget:
        fitted_parts.append(TextPart(note))
        costs.append(count(note) + 1)
    order = sorted([at for at, part in enumerate(fitted_parts) if part.rank], key=lambda at: (-fitted_parts[at].rank, -at))
    for at in order:
        if sum(costs) <= budget:
            break
        fitted_parts[at] = fitted_parts[at]._replace(text=fitted_parts[at].short)
        costs[at] = count(fitted_parts[at].text) + 1 if fitted_parts[at].text else 0
    if strict and sum(costs) > budget:
        required_tokens = sum(costs)
        raise ExecplanError(
            "budget-too-small",
            f"what may not be left out takes about {required_tokens:,} tokens, and the budget is {budget:,}",
            exit=INPUT,
            hint=f"use a larger budget: --budget {required_tokens}",
        )
    return "\n\n".join([part.text for part in fitted_parts if part.text]) + "\n"
