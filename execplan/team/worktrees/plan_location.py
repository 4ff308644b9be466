"""Where a plan is being worked on, and how its text there differs from that of the main worktree."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.text.message_parts import format_count

if TYPE_CHECKING:
    from typing import Any


class PlanLocation(NamedTuple):
    """Where a plan is being worked on."""

    root: str
    """Root of the worktree; empty for the current one."""
    directory: str
    """Directory of the plan's project in that worktree, where commands run; empty for the current one."""
    branch: str
    """Branch of that worktree; empty for a detached HEAD."""
    main_branch: str
    """Branch of the main worktree, or its description, to which the plan is compared."""
    ahead: int = 0
    """Number of tasks that are done there and not in the main worktree."""
    lacking: int = 0
    """Number of tasks that are done in the main worktree and not there."""
    is_new: bool = False
    """Whether the main worktree does not have the plan."""

    @property
    def difference(self) -> str:
        """How the plan differs from that of the main worktree: `3 tasks ahead of main`; empty if no task differs."""
        if self.is_new:
            return f"not on {self.main_branch}"
        parts = [f"{format_count(self.ahead, 'task')} ahead of {self.main_branch}"] if self.ahead else []
        parts += [f"lacks {format_count(self.lacking, 'task')} done on {self.main_branch}"] if self.lacking else []
        return ", ".join(parts)

    def describe(self) -> str:
        """Return the location for people: `in ../x (branch plan/x, 3 tasks ahead of main)`."""
        if not self.directory:
            return f"here, {self.difference}" if self.difference else ""
        branch = f"branch {self.branch}" if self.branch else "detached HEAD"
        details = ", ".join(filter(None, [branch, self.difference]))
        return f"in {os.path.relpath(self.directory)} ({details})"

    def to_json(self) -> dict[str, Any]:
        """Return the location as a document shows it; `path` is None for the current worktree."""
        return {
            "path": self.directory or None,
            "branch": self.branch or None,
            "main": self.main_branch,
            "ahead": self.ahead,
            "lacking": self.lacking,
            "new": self.is_new,
            "text": self.describe(),
        }
