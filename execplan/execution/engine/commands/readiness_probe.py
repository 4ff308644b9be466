"""A process that waits until a port of this machine is free, or until a program serves it.

It runs in the network of the service. Its standard input is a pipe from execplan: its end means that nobody waits.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from execplan.execution.engine.commands.command_spec import python_argv
from execplan.execution.engine.commands.process_start import join_namespaces

if TYPE_CHECKING:
    from collections.abc import Sequence

FREE, SERVED = "free", "served"
_ADDRESSES = ("127.0.0.1", "::1")
"""Servers for `localhost` use one of these, or both."""
_PAUSE = 0.05
"""Seconds between two attempts."""
_CONNECT_SECONDS, _ANSWER_SECONDS = 1.0, 5.0
_FREE_SECONDS = 2.0
"""Seconds in which a service of an interrupted session may end, before its port counts as used by another program."""


def start_probe(port_state: str, port: int, path: str, handles: Sequence[int]) -> subprocess.Popen[bytes]:
    """Start a probe that exits with 0 once a port is `free` or `served`, in the network with these handles.

    With a path, a port is served once it answers a request for that path with a status below 400.
    """
    return subprocess.Popen(  # noqa: S603 - our own
        [*python_argv("readiness_probe"), port_state, str(port), path, *map(str, handles)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=handles,
        cwd="/",
    )


def main() -> None:
    """Wait for the state of the port in the arguments."""
    port_state, port, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    join_namespaces([int(handle) for handle in sys.argv[4:]])
    deadline = time.monotonic() + _FREE_SECONDS
    while True:
        if port_state == FREE and not any([_serves(address, port, "") for address in _ADDRESSES]):
            sys.exit(0)
        if port_state == SERVED and any([_serves(address, port, path) for address in _ADDRESSES]):
            sys.exit(0)
        if port_state == FREE and time.monotonic() > deadline:
            sys.exit(1)
        if select.select([0], [], [], _PAUSE)[0] and not os.read(0, 1):
            sys.exit(1)


def _serves(address: str, port: int, path: str) -> bool:
    """Return whether a program accepts connections, and answers a request if there is a path."""
    try:
        with socket.create_connection((address, port), _CONNECT_SECONDS) as connection:
            if not path:
                return True
            connection.settimeout(_ANSWER_SECONDS)
            host = f"[{address}]" if ":" in address else address
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
            status_line = connection.makefile("rb").readline(200).split()
    except OSError:
        return False
    return len(status_line) > 1 and status_line[0].startswith(b"HTTP/") and status_line[1][:1] in (b"1", b"2", b"3")
