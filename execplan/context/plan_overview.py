"""Where a plan stands at a moment: what somebody has to know who takes it up cold."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import ParsedPlan


class WorkingTree(NamedTuple):
    """What git says of the working tree; paths count from the root of the repository."""

    branch: str
    """Its short name; nothing where none is checked out."""
    head: str
    """The commit that is checked out; nothing before the first."""
    subject: str
    """The first line of its message."""
    staged: tuple[str, ...]
    changed: tuple[str, ...]
    """What differs from what is staged."""
    untracked: tuple[str, ...]
    """Files, and folders of which git tracks nothing."""
    pending_operation: str = ""
    """The merge, rebase or the like that waits to be finished."""


class PlanDrift(NamedTuple):
    """What has changed in the repository since the plan was last written."""

    commits: int
    has_more_commits: bool
    """Whether there are more commits than were looked at."""
    paths: tuple[str, ...]
    """The files of these commits, and those that were changed on disk and not committed."""

    @property
    def description(self) -> str:
        """In one line, without the paths; nothing where nothing has changed."""
        commits = (
            f"{_format_count(self.commits, 'commit')}{' or more' if self.has_more_commits else ''}"
            if self.commits
            else ""
        )
        files = _format_count(len(self.paths), "file") if self.paths else ""
        if not commits and not files:
            return ""
        return (
            f"{' and '.join([phrase for phrase in (commits, files) if phrase])} changed since the plan was last written"
        )


class PlanOverview(NamedTuple):
    """All of it."""

    id: str
    path: str
    digest: str
    """Of the plan's bytes."""
    state: str
    plan: ParsedPlan
    next_task_id: str
    """The id of the task that whoever acts has claimed, else of the first one without a claim; empty for none."""
    claimed_tasks: tuple[tuple[str, str], ...]
    """The ids of the other claimed tasks, each with who has claimed it."""
    stalled: bool
    lint_errors: tuple[str, ...]
    """What of lint is an error: its line, its code and its words."""
    steps_status: str
    """How the execution plan and its last run stand, or why that can't be told; nothing where nothing was compiled."""
    working_tree: WorkingTree | None
    """None without git."""
    drift: PlanDrift | None
    commands: tuple[str, ...]
    """What makes sense now, the most urgent first."""
    claimed_until: str = ""
    """Until when `next` is claimed by whoever acts; empty where it is not."""
    completion_command: str = ""
    """The command for when `next` is done; empty where something else comes before that task."""
    urgency_reason: str = ""
    """What makes the first command urgent."""
    git_error: tuple[str, str] | None = None
    """Why git could not be asked, where it could not, and what helps."""


def _format_count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
