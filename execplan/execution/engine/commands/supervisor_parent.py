"""The parent of the supervisors of a run, as execplan sees it: supervisor_fork.py is what runs in its process."""

from __future__ import annotations

import os
import socket
from threading import Lock

from execplan.execution.engine.commands.command_spec import python_argv

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence
    from types import TracebackType

_NEEDED = ("LD_LIBRARY_PATH",)
"""Variables that Python itself may need to start."""


class SupervisorParent:
    """Context manager that starts supervisors, from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def __enter__(self) -> SupervisorParent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def start(self, handles: Sequence[int]) -> int:
        """Start a supervisor with these handles, and return the ID of the parent. Raises OSError.

        The handles are its standard input, output and error, the one for its report, and those of a network.
        """
        with self._lock:
            process, messages = self._open()
            socket.send_fds(messages, [b"!"], handles)
            return process.pid

    def prepare(self) -> None:
        """Start the process without waiting until it is ready. Raises OSError."""
        with self._lock:
            self._open()

    def _open(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        """Return the process and its socket; start it if it does not run."""
        if self._process is not None and self._process.poll() is not None:
            self._close()  # a step has killed it
        if self._socket is None or self._process is None:
            self._process, self._socket = _start_process()
        return self._process, self._socket

    def _close(self) -> None:
        """End the process, after its last supervisor has ended."""
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            self._process.wait()
        self._socket = self._process = None


def _start_process() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start the process; return it and the socket that it reads."""
    import subprocess

    own_end, other_end = socket.socketpair()
    with other_end:
        process = subprocess.Popen(  # noqa: S603 - our own
            [*python_argv("supervisor_fork"), str(other_end.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[other_end.fileno()],
            start_new_session=True,
            cwd="/",
            env={name: os.environ[name] for name in _NEEDED if name in os.environ},
        )
    return process, own_end
