"""Overview of a plan at a moment: everything that someone without context needs to continue it."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.message_parts import format_count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan


class WorkingTree(NamedTuple):
    """State of the working tree according to git; paths are relative to the repository root."""

    branch: str
    """Short name of the branch; empty if none is checked out."""
    head: str
    """ID of the checked-out commit; empty before the first commit."""
    subject: str
    """First line of the commit message."""
    staged: tuple[str, ...]
    changed: tuple[str, ...]
    """Files that differ from the staged version."""
    untracked: tuple[str, ...]
    """Untracked files, and directories without tracked files."""
    pending_operation: str = ""
    """Unfinished merge, rebase or similar operation."""


class PlanDrift(NamedTuple):
    """Changes in the repository since the plan was last written."""

    commits: int
    has_more_commits: bool
    """Whether there are more commits than were inspected."""
    paths: tuple[str, ...]
    """Files that these commits change, and files with newer uncommitted changes."""

    @property
    def description(self) -> str:
        """Return the drift in one line, without the paths; empty if nothing has changed."""
        if self.commits:
            commits = f"{format_count(self.commits, 'commit')}{' or more' if self.has_more_commits else ''}"
        else:
            commits = ""
        files = format_count(len(self.paths), "file") if self.paths else ""
        if not commits and not files:
            return ""
        return (
            f"{' and '.join([phrase for phrase in (commits, files) if phrase])} changed since the plan was last written"
        )


class PlanOverview(NamedTuple):
    """State of a plan, its working tree, and the commands to continue with."""

    id: str
    path: str
    digest: str
    """Digest of the plan's bytes."""
    state: str
    plan: ParsedPlan
    next_task_id: str
    """ID of the task that the current author has claimed, else of the first unclaimed task; empty if there is none."""
    claimed_tasks: tuple[tuple[str, str], ...]
    """IDs of the other claimed tasks, each with its claimant."""
    stalled: bool
    lint_errors: tuple[str, ...]
    """Lint findings that are errors, each with its line, code and message."""
    steps_status: str
    """Status of the execution plan and its last run, or why it is unknown; empty if no execution plan was compiled."""
    working_tree: WorkingTree | None
    """State of the working tree; None without git."""
    drift: PlanDrift | None
    commands: tuple[str, ...]
    """Commands that make sense now, most urgent first."""
    claimed_until: str = ""
    """Expiry of the current author's claim on the next task; empty if it is not claimed."""
    completion_command: str = ""
    """Command to run when the next task is done; empty if something else comes before that task."""
    claim_command: str = ""
    """Command that claims the next task; empty if the author has claimed it, or if something else comes before it."""
    urgency_reason: str = ""
    """Reason why the first command is urgent."""
    open_comments: tuple[str, ...] = ()
    """Review comments that are not resolved, the oldest first, each with its ID, author and text."""
    blockers: str = ""
    """What blocks the plan or its first blocked task; empty if nothing does."""
    unknown_dependencies: tuple[str, ...] = ()
    """Dependencies in projects that are not known on this machine, as written; they block nothing."""
    git_error: tuple[str, str] | None = None
    """Reason why git could not be used, with a hint; None if it could."""
