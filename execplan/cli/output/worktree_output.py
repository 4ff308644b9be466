"""The table of plans that are being worked on in worktrees, which follows the table of plans."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.cli.output.text_table import format_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.worktrees.plan_location import PlanLocation


def worktree_lines(locations: Sequence[tuple[str, PlanLocation | None]]) -> list[str]:
    """Return lines with the worktrees of plans, given by name or path; none if no plan has one."""
    rows = [
        (name, os.path.relpath(location.directory or "."), location.branch_text, location.difference)
        for name, location in locations
        if location is not None
    ]
    return ["", "in worktrees:", format_table(("plan", "directory", "branch", "difference"), rows)] if rows else []
