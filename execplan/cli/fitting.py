"""A text in parts that has to fit a budget of tokens: parts are shortened in turn until it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.errors import INPUT, ExecplanError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Part(NamedTuple):
    """A part of the text."""

    text: str
    rank: float = 0
    """0: it stays as it is; parts with the highest rank are shortened first, the last one of a rank before the others."""
    short: str = ""
    """What takes its place; empty to leave it out."""


def fit(parts: Sequence[Part], note: str, budget: int, count: Callable[[str], int], *, strict: bool) -> str:
    """The text; where it does not fit, parts are shortened until it does, and the note says so at its end.

    A text that can't be made to fit is as short as it gets. Strict: then ExecplanError is raised, with the smallest budget
    that is enough.
    """
    kept = list(parts)
    costs = [count(each.text) + 1 for each in kept]
    if sum(costs) > budget:
        kept.append(Part(note))
        costs.append(count(note) + 1)
    order = sorted([at for at, each in enumerate(kept) if each.rank], key=lambda at: (-kept[at].rank, -at))
    for at in order:
        if sum(costs) <= budget:
            break
        kept[at] = kept[at]._replace(text=kept[at].short)
        costs[at] = count(kept[at].text) + 1 if kept[at].text else 0
    if strict and sum(costs) > budget:
        least = sum(costs)
        raise ExecplanError(
            "budget-too-small",
            f"what may not be left out takes about {least:,} tokens, and the budget is {budget:,}",
            exit=INPUT,
            hint=f"use a larger budget: --budget {least}",
        )
    return "\n\n".join([each.text for each in kept if each.text]) + "\n"
