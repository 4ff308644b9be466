"""Which observer shows a run: a live view, lines, JSON lines, or only the questions."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from execplan.cli.answer import Call
from execplan.cli.run_output.run_observers import JsonLinesObserver, LineObserver, PromptingObserver
from execplan.execution.engine.run_observer import RunObserver


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
        from execplan.cli.run_output.live_observer import LiveObserver

        with LiveObserver() as observer:
            yield observer
    else:
        yield LineObserver()
