"""Die as a process does that is killed, at an entry of a journal or at a time.

`EXECPLAN_KILL=before:7` or `after:7` names the entry, `at:0.25` the seconds.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from execplan.execution.engine.journal.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from execplan.execution.engine.journal.journal import RunEntry

KILL = "EXECPLAN_KILL"
"""The variable; `tests.fork_server` calls `arm` where it is set. Nothing of the product knows it."""


def arm(kill_point: str) -> None:
    """Let this process be killed at the entry of that number, before it is written or when it is on disk; or at a time."""
    when, _, number = kill_point.partition(":")
    if when == "at":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # the kernel ends it, and Python is not asked
        signal.setitimer(signal.ITIMER_REAL, float(number))
        return
    Journal.append_entry = _dying(Journal.append_entry, when, int(number))  # type: ignore[method-assign]  # that is the test


def _dying(append: Callable[..., RunEntry], when: str, number: int) -> Callable[..., RunEntry]:
    def dying_append(journal: Journal, kind: str, fields: dict[str, Any], *, durable: bool) -> RunEntry:
        at = len(journal.entries) + 1 == number
        if at and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        entry = append(journal, kind, fields, durable=durable)
        if at:
            os.kill(os.getpid(), signal.SIGKILL)
        return entry

    return dying_append
