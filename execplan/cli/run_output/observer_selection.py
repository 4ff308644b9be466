"""Which observer shows a run: a live view on a terminal, or a plain one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from execplan.cli.answer import Call
from execplan.cli.run_output.run_observers import plain_observer
from execplan.execution.engine.run_observer import RunObserver


@contextmanager
def observe_run(call: Call, kind: str, *, stream: bool = False) -> Iterator[RunObserver]:
    """Show a run while it goes on; `stream`: print lines of JSON."""
    is_terminal = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    if is_terminal and not (stream or call.as_json or call.quiet):
        from execplan.cli.run_output.live_observer import LiveObserver

        with LiveObserver() as observer:
            yield observer
    else:
        yield plain_observer(call, kind, stream=stream)
