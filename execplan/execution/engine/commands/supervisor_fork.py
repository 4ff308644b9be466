"""The process that forks a supervisor for each command of a run, so that Python starts only once.

It gets the handles of each supervisor through a socket. The end of the socket means that no command follows, or that
execplan has died: then it waits for its supervisors, which notice that themselves. If it is killed, they die with it,
and their commands with them.
"""

from __future__ import annotations

import os
import socket
import sys

from execplan.execution.engine.commands import processes
from execplan.execution.engine.commands.process_start import die_with_parent, ignore_stop_signals
from execplan.execution.engine.commands.supervisor import supervise

_MAX_HANDLES = 16


def main() -> None:
    """Fork a supervisor for each message until there are no more, then wait for all of them."""
    ignore_stop_signals()
    parent_pid = os.getpid()
    with socket.socket(fileno=int(sys.argv[1])) as messages:
        while handles := socket.recv_fds(messages, 1, _MAX_HANDLES)[1]:
            if os.fork() == 0:
                messages.close()
                _become_supervisor(handles, parent_pid)
                return
            for handle in handles:
                os.close(handle)
            processes.reap_children(_forget)
    while not processes.wait_for_children(_forget, 60.0):
        pass


def _forget(pid: int, status: int) -> None:
    """Ignore how a supervisor has ended: execplan reads its report."""


def _become_supervisor(handles: list[int], parent_pid: int) -> None:
    """Turn this process into a supervisor with a session of its own."""
    os.setsid()
    die_with_parent(parent_pid)
    for number, handle in enumerate(handles[:3]):
        os.dup2(handle, number)
        os.close(handle)
    for handle in handles[3:]:
        os.set_inheritable(handle, False)
    supervise(handles[3], handles[4:])
    os._exit(0)  # there is nothing to clean up
