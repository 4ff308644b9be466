"""The option to rewrite documents outside the plans that name a moved plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from execplan.cli.error_handler import printable_line
from execplan.cli.prompts import can_ask, confirm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.cli.answer import Call
    from execplan.core.archive.document_mentions import ConfirmRewrite, Mention


def links_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--rewrite-links`, for a command that moves a plan."""
    return click.option(
        "--rewrite-links/--keep-links",
        "links",
        default=None,
        help="Rewrite the old paths in documents outside the plans. Default: ask on a terminal, otherwise report them.",
    )(function)


def rewrite_decider(call: Call, links: bool | None) -> ConfirmRewrite | None:
    """Return a callback that decides whether to rewrite documents, by option or prompt; None if neither applies."""
    if links is not None:
        return lambda _: links
    return _ask_to_rewrite if can_ask() and not call.as_json else None


def _ask_to_rewrite(mentions: Sequence[Mention]) -> bool:
    """List the documents and ask whether to rewrite them."""
    documents = [mention for mention in mentions if mention.is_document]
    for document in documents:
        print(f"{printable_line(document.path)}:{document.lines[0]} refers to the old path")
    subject = "this document" if len(documents) == 1 else f"these {len(documents)} documents"
    return bool(documents) and confirm(f"Rewrite {subject}?")
