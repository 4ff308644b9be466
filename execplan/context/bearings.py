"""Where a plan stands at a moment: what somebody has to know who takes it up cold."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import Plan


class Tree(NamedTuple):
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
    doing: str = ""
    """The merge, rebase or the like that waits to be finished."""


class Drift(NamedTuple):
    """What has changed in the repository since the plan was last written."""

    commits: int
    more: bool
    """Whether there are more commits than were looked at."""
    paths: tuple[str, ...]
    """The files of these commits, and those that were changed on disk and not committed."""

    @property
    def words(self) -> str:
        """In one line, without the paths; nothing where nothing has changed."""
        commits = f"{_some(self.commits, 'commit')}{' or more' if self.more else ''}" if self.commits else ""
        files = _some(len(self.paths), "file") if self.paths else ""
        if not commits and not files:
            return ""
        return f"{' and '.join([each for each in (commits, files) if each])} changed since the plan was last written"


class Bearings(NamedTuple):
    """All of it."""

    id: str
    path: str
    digest: str
    """Of the plan's bytes."""
    state: str
    plan: Plan
    next: str
    """The id of the task that whoever acts has claimed, else of the first one without a claim; empty for none."""
    taken: tuple[tuple[str, str], ...]
    """The ids of the other claimed tasks, each with who has claimed it."""
    stalled: bool
    findings: tuple[str, ...]
    """What of lint is an error: its line, its code and its words."""
    steps: str
    """How the execution plan and its last run stand, or why that can't be told; nothing where nothing was compiled."""
    tree: Tree | None
    """None without git."""
    drift: Drift | None
    commands: tuple[str, ...]
    """What makes sense now, the most urgent first."""
    yours: str = ""
    """Until when `next` is claimed by whoever acts; empty where it is not."""
    then: str = ""
    """The command for when `next` is done; empty where something else comes before that task."""
    why: str = ""
    """What makes the first command urgent."""
    without_git: tuple[str, str] | None = None
    """Why git could not be asked, where it could not, and what helps."""


def _some(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
