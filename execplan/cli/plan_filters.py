"""Options of commands that list plans: which plans they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from execplan.plan.model import ARCHIVED, STATES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def state_filter_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--all` and `--state`."""
    everything = click.option("--all", "everything", is_flag=True, help="Include archived plans.")
    states = click.option(
        "--state",
        "states",
        type=click.Choice(STATES),
        multiple=True,
        help="Show only plans in this state; can be repeated.",
    )
    return everything(states(function))


def selected_states(states: Sequence[str], *, everything: bool) -> Sequence[str]:
    """Return the states that the options select; without options, all states of plans outside the archive."""
    return states or [state for state in STATES if everything or state != ARCHIVED]
