"""The machine can carry it."""

from __future__ import annotations

from execplan.execution.evaluation.checks.check import ERROR, WARNING, Case, Finding, check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MB = 1 << 20
_DISK = 100 * _MB
"""What should be left for journals and for what commands write."""
_MEMORY = 256 * _MB


@check("resources")
def resources(case: Case) -> Iterator[Finding]:
    """The disk has room for what is written and for the backups, and there is memory for commands."""
    changes = [change for trial in case.trials for change in trial.changes]
    needed = sum([len(change.before or b"") + 2 * len(change.after or b"") for change in changes])
    free, memory = case.world.free_bytes(), case.world.memory_bytes()
    if 0 <= free < needed:
        yield Finding(
            ERROR, f"the disk has {free // _MB:,} MB left, and {needed // _MB:,} are needed", "free some space"
        )
    elif 0 <= free < needed + _DISK:
        yield Finding(WARNING, f"the disk has only {free // _MB:,} MB left", "free some space")
    if 0 <= memory < _MEMORY and any([trial.step.command is not None for trial in case.trials]):
        yield Finding(WARNING, f"only {memory // _MB:,} MB of memory can be had", "end what is not needed")
