"""Lines about the worktrees of plans, which are never cut off on a terminal, because a directory is copied from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.cli.output.terminal_text import printable_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.team.worktrees.plan_versions import PlanLocation


def worktree_lines(locations: Sequence[tuple[str, PlanLocation | None]]) -> list[str]:
    """Return lines with the worktrees of plans, given by ID or path; none if no plan has one."""
    lines = [f"{name}: {location.describe()}" for name, location in locations if location is not None]
    return ["", printable_lines(lines)] if lines else []
