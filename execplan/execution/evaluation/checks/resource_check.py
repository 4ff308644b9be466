"""Check that the machine has enough disk space and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution.evaluation.checks.check_registry import ERROR, WARNING, CheckContext, Finding, check

if TYPE_CHECKING:
    from collections.abc import Iterator

_MB = 1 << 20
_MIN_FREE_DISK = 100 * _MB
"""Disk space to keep free for journals and for output of commands, in bytes."""
_MIN_FREE_MEMORY = 256 * _MB


@check("resources")
def resources(context: CheckContext) -> Iterator[Finding]:
    """The disk has enough space for written files and backups, and there is enough memory for commands."""
    changes = [change for trial in context.trials for change in trial.changes]
    needed_bytes = sum([len(change.before or b"") + 2 * len(change.after or b"") for change in changes])
    free_bytes, memory_bytes = context.world.free_bytes(), context.world.memory_bytes()
    if 0 <= free_bytes < needed_bytes:
        yield Finding(
            ERROR,
            f"the disk has {free_bytes // _MB:,} MB left, but {needed_bytes // _MB:,} MB are needed",
            "free some space",
        )
    elif 0 <= free_bytes < needed_bytes + _MIN_FREE_DISK:
        yield Finding(WARNING, f"the disk has only {free_bytes // _MB:,} MB left", "free some space")
    if 0 <= memory_bytes < _MIN_FREE_MEMORY and any([trial.step.command is not None for trial in context.trials]):
        yield Finding(
            WARNING, f"only {memory_bytes // _MB:,} MB of memory are available", "close programs that you don't need"
        )
