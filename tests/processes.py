"""Processes that a test starts and that end with it, whether it passes or fails."""

from __future__ import annotations

import subprocess
from typing import Any

_started: list[subprocess.Popen[bytes]] = []


def start(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a process, as `subprocess.Popen` does, and end it after the test if it is still running."""
    process = subprocess.Popen(command, **options)
    _started.append(process)
    return process


def keep(process: subprocess.Popen[bytes]) -> None:
    """Let a process live longer than the test that has started it; a fixture ends it."""
    _started.remove(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that is still running and close its pipes."""
    if process.poll() is None:
        process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def end_all() -> None:
    """Kill what is still running and close every pipe.

    A pipe that a failed test leaves open is reported as a ResourceWarning in some later test, which fails for no reason.
    """
    while _started:
        end(_started.pop())
