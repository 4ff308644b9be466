"""The first process of a sandbox: starts the program, waits for it, ends what it leaves behind, tells the supervisor."""

from __future__ import annotations

import marshal
import os
import resource
import sys

from execplan.engine.commands import processes
from execplan.engine.commands.starting import KILL, TERM, shut, start
from execplan.engine.commands.supervisor import BRIEF, PATIENCE


def main() -> None:
    """Carry out the order that lies in one descriptor, and tell how it ended in another."""
    handle, report = int(sys.argv[1]), int(sys.argv[2])
    os.set_inheritable(report, False)
    with open(handle, "rb") as file:
        order = marshal.loads(file.read())  # noqa: S302 - from the supervisor
    shut()
    child, error = start(order)
    if error:
        os.write(report, marshal.dumps({"failed": error}))
        return
    ended: dict[int, int] = {}
    while child not in ended:
        pid, status = os.waitpid(-1, 0)
        ended[pid] = status
    left = [] if processes.reaped(ended.__setitem__) else processes.family(os.getpid())
    if left:
        processes.send(-1, TERM)
        processes.all_gone(ended.__setitem__, BRIEF)
        processes.send(-1, KILL)
        processes.all_gone(ended.__setitem__, PATIENCE)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
    told = {"status": ended[child], "left": [each.name for each in left][:20], "cpu": cpu, "peak": peak}
    os.write(report, marshal.dumps(told))
