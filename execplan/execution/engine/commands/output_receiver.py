"""What receives the output of a command while it runs: a transcript, or a buffer on a worker."""

from __future__ import annotations

from typing import Protocol


class OutputReceiver(Protocol):
    """A receiver of both output streams."""

    limit: int
    """Number of bytes of the standard output that are kept to compare them with the expected output."""

    def out(self, data: bytes) -> None:
        """Append data of the standard output. Raises ExecplanError."""

    def err(self, data: bytes) -> None:
        """Append data of the standard error. Raises ExecplanError."""

    def note(self, message: str) -> None:
        """Append a message of execplan after the output so far. Raises ExecplanError."""
