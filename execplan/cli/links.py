"""Documents outside the plans that name a plan which moves: whether they are rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from execplan.cli.door import shown
from execplan.cli.prompts import agrees, can_ask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.cli.answer import Call
    from execplan.repo.moving.documents import Agrees, Mention


def links_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--rewrite-links`, for a command that moves a plan."""
    return click.option(
        "--rewrite-links/--keep-links",
        "links",
        default=None,
        help="Rewrite the old paths in documents outside the plans. Default: ask on a terminal, else report them.",
    )(function)


def agreement(call: Call, links: bool | None) -> Agrees | None:
    """Who decides whether documents are rewritten: the option, or the person at the terminal; None for nobody."""
    if links is not None:
        return lambda _: links
    return _ask if can_ask() and not call.as_json else None


def _ask(found: Sequence[Mention]) -> bool:
    """Name the files and ask about them."""
    documents = [each for each in found if each.is_document]
    for each in documents:
        print(f"{shown(each.path)}:{each.lines[0]} names the old path")
    which = "this document" if len(documents) == 1 else f"these {len(documents)} documents"
    return bool(documents) and agrees(f"Rewrite {which}?")
