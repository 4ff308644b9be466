"""A progress bar on a terminal, for work that takes more than a blink; nothing elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from execplan.cli.answer import Call

T = TypeVar("T")

_MANY = 200
"""Plans that take about a quarter of a second."""


def tracked(items: Sequence[T], call: Call) -> Iterable[T]:
    """The items, with a bar that shows how many have been taken."""
    if len(items) < _MANY or call.quiet or call.as_json or not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track

    return track(items, description="lint", console=Console(stderr=True), transient=True)
