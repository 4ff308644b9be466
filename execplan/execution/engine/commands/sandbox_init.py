"""The first process of a sandbox: starts the program, waits for it, ends leftover processes and reports the result."""

from __future__ import annotations

import marshal
import os
import resource
import sys

from execplan.execution.engine.commands import processes
from execplan.execution.engine.commands.process_start import KILL, TERM, deny_inspection, start_program
from execplan.execution.engine.commands.supervisor import BRIEF, PATIENCE


def main() -> None:
    """Run the specification from one file descriptor and write a report to another."""
    handle, report_handle = int(sys.argv[1]), int(sys.argv[2])
    os.set_inheritable(report_handle, False)
    with open(handle, "rb") as file:
        spec = marshal.loads(file.read())  # noqa: S302 - from the supervisor
    deny_inspection()
    child, error = start_program(spec)
    if error:
        os.write(report_handle, marshal.dumps({"failed": error}))
        return
    ended: dict[int, int] = {}
    while child not in ended:
        pid, status = os.waitpid(-1, 0)
        ended[pid] = status
    leftovers = [] if processes.reap_children(ended.__setitem__) else processes.descendants(os.getpid())
    if leftovers:
        processes.send_signal(-1, TERM)
        processes.wait_for_children(ended.__setitem__, BRIEF)
        processes.send_signal(-1, KILL)
        processes.wait_for_children(ended.__setitem__, PATIENCE)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
    outcome = {"status": ended[child], "left": [process.name for process in leftovers][:20], "cpu": cpu, "peak": peak}
    os.write(report_handle, marshal.dumps(outcome))
