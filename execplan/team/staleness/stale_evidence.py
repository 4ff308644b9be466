"""Evidence that a plan is not what it says: facts, sentences with the commits, and the commands that settle it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from shlex import quote
from typing import NamedTuple

from execplan.core.archive.archive_blockers import unfinished_reasons
from execplan.core.clock import epoch_seconds, now
from execplan.core.errors import ExecplanError
from execplan.core.git.main_branch import CommitMessage
from execplan.core.plan.log_edits import add_outcome
from execplan.core.plan.model import ParsedPlan, Task
from execplan.core.plan.outline import OUTCOMES
from execplan.core.plan.plan_change import ChangeBuilder
from execplan.core.plan.plan_dates import day_start, latest_timestamp_date
from execplan.core.plan.plan_metadata import read_metadata
from execplan.core.plan.plan_recognition import lacks_outcome
from execplan.core.plan.reader import read_text
from execplan.core.plan.task_edits import complete_tasks
from execplan.core.plan_store.plan_store import StoredPlan
from execplan.core.text.message_parts import format_excess, join_first
from execplan.core.text.text_lines import apply_edits
from execplan.core.timestamps import format_minute
from execplan.linter.plan_source import PlanSource
from execplan.linter.rules.lifecycle_rules import defers_archiving
from execplan.team.staleness.claimed_status import ClaimedStatus, read_claimed_status
from execplan.team.staleness.plan_timeline import Drift, PlanTimeline

MAX_TASKS = 12
"""Maximum number of tasks in a command that checks them off."""
_MAX_LISTED = 3
_OUTCOME_TEXT = "What was achieved."
_MAX_NAMES = 3
"""Maximum number of files and references in a sentence."""
_SECONDS_PER_DAY = 24 * 60 * 60


def _archive_reason(facts: StalenessFacts) -> str:
    """Return the reason for the archive of a plan that is done, although its tasks don't show it."""
    labels = [reference.label for reference in facts.merged]
    if labels or facts.plan.tasks or facts.status is None:
        return f"The work is done: {join_first(labels, _MAX_LISTED) if labels else 'the files exist'}."
    return f"The work is done: the status says {facts.status.text}."


class ArchiveSteps(NamedTuple):
    """What settles a plan whose work is done."""

    commands: str
    """Commands that check off the open tasks, record an outcome, correct the plan if necessary, and archive it."""
    errors: tuple[str, ...] = ()
    """Errors that must be corrected before `archive` accepts the plan."""


def archive_steps(facts: StalenessFacts, tasks: list[Task]) -> ArchiveSteps:
    """Return how to archive a plan with these open tasks; one without tasks or with many is archived as it is."""
    name, plan = facts.name, facts.plan
    if not plan.tasks or len(tasks) > MAX_TASKS:
        return ArchiveSteps(f"execplan archive {name} --force --reason {quote(_archive_reason(facts))}")
    commands, changes = [], []
    if tasks:
        numbers = [str(task.number) for task in tasks]
        commands.append(f"execplan done {' '.join(numbers)} -p {name}")
        changes.append(complete_tasks(numbers, now()))
    if lacks_outcome(plan):
        lacks_section = plan.section(OUTCOMES) is None
        create_option = " --create" if lacks_section else ""
        commands.append(f"execplan outcome {quote(_OUTCOME_TEXT)} -p {name}{create_option}")
        changes.append(add_outcome(_OUTCOME_TEXT, create=lacks_section))
    archive = f"execplan archive {name}"
    errors = _remaining_errors(plan, changes)
    if not errors:
        return ArchiveSteps(join_commands([*commands, archive]))
    corrected = join_commands([*commands, f"execplan edit {name}", archive])
    return ArchiveSteps(f"{corrected}; to archive it with its errors: {archive} --force --reason 'WHY'", errors)


def _remaining_errors(plan: ParsedPlan, changes: Iterable[ChangeBuilder]) -> tuple[str, ...]:
    """Return why a plan can't be archived after changes, or why it can't be changed."""
    try:
        for change in changes:
            plan = read_text(apply_edits(plan.text, change(plan).edits))
    except ExecplanError as error:
        return (error.message,)
    return tuple(unfinished_reasons(plan))


def join_commands(commands: list[str]) -> str:
    """Return commands to run one after the other, in one line."""
    return ", then: ".join(commands)


def status_evidence(facts: StalenessFacts, meaning: str) -> list[str]:
    """Return a sentence about the status, unless it has this meaning and all tasks are done."""
    status = facts.status
    if status is None or (status.meaning == meaning and facts.plan.tasks and not facts.open_tasks):
        return []
    return [f"the status on line {status.line + 1} says `{status.text}`"]


def merge_evidence(facts: StalenessFacts) -> list[str]:
    """Return a sentence about the merged pull requests or closed issues of a plan, with the commits that say so."""
    references = [
        f"{reference.label} ({cite_commit(reference.message.commit, reference.message.subject)})"
        for reference in facts.merged
    ]
    return [join_first(references, _MAX_NAMES)] if references else []


def missing_evidence(facts: StalenessFacts) -> list[str]:
    """Return a sentence about files that a plan promises and that don't exist."""
    missing = facts.timeline.missing
    return [f"but these files that it promises don't exist: {join_first(missing, _MAX_NAMES)}"] if missing else []


def error_evidence(errors: Sequence[str]) -> list[str]:
    """Return a sentence about what must be fixed before a plan can be archived."""
    return [f"before it can be archived, correct {join_first(errors, _MAX_NAMES)}"] if errors else []


def file_evidence(facts: StalenessFacts) -> list[str]:
    """Return sentences about when the promised files were created, and when the plan was last edited."""
    timeline = facts.timeline
    if timeline.shipped is None or timeline.changed is None:
        return []
    files = f"{join_first(timeline.existing, _MAX_NAMES)} exist{'s' if len(timeline.existing) == 1 else ''}"
    commit = cite_commit(timeline.shipped.commit, timeline.shipped.subject)
    return [f"{files} since {commit}", f"the plan's last edit is of {format_minute(timeline.changed.time)[:10]}"]


def cite_commit(commit: str, subject: str) -> str:
    """Return a commit as a sentence names it: its ID and its subject."""
    return f"{commit[:10]} {subject}".rstrip()


def drift_evidence(drifts: Sequence[Drift]) -> list[str]:
    """Return a sentence for each of the first files that have changed too much, with the commit."""
    sentences = [
        f"{drift.path} was {_drift_verb(drift)} by {cite_commit(drift.step.commit, drift.step.subject)}"
        for drift in drifts[:_MAX_NAMES]
    ]
    excess = format_excess(len(drifts), _MAX_NAMES, "")
    return [*sentences, *([f"{excess} files"] if excess else [])]


def _drift_verb(drift: Drift) -> str:
    if not drift.is_deleted:
        return "largely rewritten"
    return f"moved to {drift.new_path}" if drift.new_path else "deleted"


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
