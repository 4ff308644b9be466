"""The facts about a plan that speak for or against what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.core.clock import epoch_seconds
from execplan.core.plan.plan_dates import day_start, latest_timestamp_date
from execplan.core.plan.plan_metadata import read_metadata
from execplan.linter.plan_source import PlanSource
from execplan.linter.rules.lifecycle_rules import defers_archiving
from execplan.team.staleness.claimed_status import read_claimed_status

if TYPE_CHECKING:
    from execplan.core.git.main_branch import CommitMessage
    from execplan.core.plan.model import ParsedPlan, Task
    from execplan.core.plan_store.plan_store import StoredPlan
    from execplan.team.staleness.claimed_status import ClaimedStatus
    from execplan.team.staleness.plan_timeline import PlanTimeline

_SECONDS_PER_DAY = 24 * 60 * 60


class MergedReference(NamedTuple):
    """A pull request that is merged, or an issue that is closed."""

    label: str
    """Its kind and number, as in `pull request #12 is merged`."""
    message: CommitMessage


class StalenessFacts(NamedTuple):
    """The facts about a plan that speak for or against what it says."""

    stored_plan: StoredPlan
    timeline: PlanTimeline
    merged: tuple[MergedReference, ...] = ()
    """The plan's pull requests, if all are merged, or else its issues, if all are closed."""
    successor: str = ""
    """Name of the plan that supersedes it."""
    is_stalled: bool = False
    is_modified: bool = False
    """Whether the plan has changes that are not committed, so that somebody works on it."""

    @property
    def plan(self) -> ParsedPlan:
        """The plan as parsed from its file."""
        return self.stored_plan.require_plan()

    @property
    def open_tasks(self) -> list[Task]:
        """The tasks that still need work."""
        return self.plan.unfinished_tasks

    @property
    def status(self) -> ClaimedStatus | None:
        """The status that the plan states."""
        return read_claimed_status(self.plan)

    @property
    def name(self) -> str:
        """The plan's name, quoted for a shell."""
        return self.stored_plan.ref.shell_name

    @property
    def is_due_for_archive(self) -> bool:
        """Whether a complete plan is so for more than a day, by its last timestamp or else its last commit.

        A plan that states a condition for archiving it never is.
        """
        if defers_archiving(PlanSource(self.plan).text.casefold()):
            return False
        minute = day_start(latest_timestamp_date(self.plan))
        if minute is not None:  # the timestamp may be of the end of its day
            return epoch_seconds() >= minute * 60 + 2 * _SECONDS_PER_DAY
        changed = self.timeline.changed
        return changed is not None and not self.is_modified and epoch_seconds() >= changed.time + _SECONDS_PER_DAY

    @property
    def is_merged_since_start(self) -> bool:
        """Whether some of the plan's work was merged after the plan began: a follow-up names what was merged before it.

        A plan begins at its first commit or, if that is earlier, at the date in its ID, its metadata or its first
        timestamp, because moving a file looks like creating it.
        """
        created = self.timeline.created
        dates = [self.stored_plan.ref.id[:10], read_metadata(self.plan).created[:10]]
        dates += [task.timestamp.date for task in self.plan.tasks if task.timestamp is not None]
        starts = [minute * 60 for date in dates if (minute := day_start(date)) is not None]
        starts += [created.time] if created is not None else []
        return bool(starts) and any([reference.message.time >= min(starts) for reference in self.merged])

    @property
    def was_edited_after_merge(self) -> bool:
        """Whether the plan was edited after its work was merged, so that work on it goes on."""
        changed = self.timeline.changed
        return changed is not None and changed.time > max([reference.message.time for reference in self.merged])
