"""Times, files and commands as the lines about a run have them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from execplan.cli.door import shown
from execplan.engine.entries import change_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.engine.entries import Change

_MOST = 3
_LINES = 20
"""Paths that a line names."""


def lasted(seconds: float) -> str:
    """A duration: `0.1 s`, `12 s`, `2 min 5 s`, `1 h 3 min`."""
    if round(seconds, 1) < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def counted(count: int, what: str) -> str:
    """`1 step`, `2 steps`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def changed(changes: Sequence[Change]) -> str:
    """What became of which file; nothing for none."""
    kinds = ("created", "modified", "deleted")
    by_kind = {kind: [each.path for each in changes if change_kind(each) == kind] for kind in kinds}
    return ", ".join([f"{kind} {some(paths)}" for kind, paths in by_kind.items() if paths])


def some(paths: Sequence[str]) -> str:
    """The first ones of some paths, and how many more there are."""
    more = f" and {len(paths) - _MOST} more" if len(paths) > _MOST else ""
    return shown(", ".join(paths[:_MOST])) + more


def listed(lines: Sequence[str]) -> list[str]:
    """The first lines of a list that has one for each file, and how many more there are."""
    more = len(lines) - _LINES
    return [*lines[:_LINES], f"  and {more} more: the run's journal names them"] if more > 0 else list(lines)


def command(verb: str, run: str, plan: str, *more: str) -> str:
    """A command about a run, as it can be typed; the plan is quoted already."""
    return " ".join(["execplan", verb, run, "-p", plan, *map(shlex.quote, more)])
