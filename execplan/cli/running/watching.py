"""Who looks on while a run goes on, by how the verb was called."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from execplan.cli.running.watches import PromptingObserver, LineObserver, JsonLinesObserver
from execplan.engine.watch import RunObserver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.cli.answer import Call


@contextmanager
def observe_run(call: Call, kind: str, *, stream: bool = False, live: bool = True) -> Iterator[RunObserver]:
    """The one who looks on, while the run goes on."""
    if stream:
        yield JsonLinesObserver(kind)
    elif call.as_json:
        yield RunObserver()
    elif call.quiet:
        yield PromptingObserver()
    elif live and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        from execplan.cli.running.live import LiveObserver

        with LiveObserver() as observer:
            yield observer
    else:
        yield LineObserver()
