"""Options of commands that list plans: which plans they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from execplan.core.plan.model import ARCHIVED, DOCUMENT, STATES
from execplan.core.plan.plan_recognition import NO_WORK
from execplan.core.text.message_parts import format_count

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
    """Return the states that the options select; without options, all but those of archived plans and of documents."""
    return states or [state for state in STATES if everything or state not in (ARCHIVED, DOCUMENT)]


def documents_line(count: int, command: str) -> str:
    """Return a line about documents in the plans directory that a command does not list; empty if there are none."""
    files = format_count(count, "file")
    verb = "is not a plan" if count == 1 else "are not plans"
    return f"{files} here {verb} ({NO_WORK}): {command} --state {DOCUMENT}" if count else ""
