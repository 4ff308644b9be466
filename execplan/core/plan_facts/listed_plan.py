"""Plans with their facts: what lists, the board and other plans need of a plan, without parsing it again."""

from __future__ import annotations

import marshal
from typing import TYPE_CHECKING, NamedTuple

from execplan.core import features
from execplan.core.plan.model import ARCHIVED, BROKEN, COMPLETE, DOCUMENT
from execplan.core.plan.placeholder_text import unfilled_sections
from execplan.core.plan.plan_recognition import document_reason, lacks_outcome
from execplan.core.plan_store.plan_store import plan_title

if TYPE_CHECKING:
    from typing import Any

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan.plan_dependencies import PlanMention
    from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
    from execplan.core.project.project import Project


class TaskCounts(NamedTuple):
    """The number of tasks in each state."""

    open: int
    done: int
    other: int
    total: int


class OpenTask(NamedTuple):
    """A task of a plan that still needs work: an open one, or one with another mark, such as `[~]`."""

    number: int
    """Position among the plan's tasks, from 1."""
    id: str
    text: str
    mark: str
    stamp: str | None
    """Timestamp as written."""
    depth: int
    start: int
    """First line, from 0."""
    end: int
    """Line after the task's own text."""
    box_line: int
    """Line of the checkbox."""
    check: str | None
    """Command of the task's own check; None if it has none, or one that can't be read."""


class PlanFacts(NamedTuple):
    """What the content of a plan says, independent of where the plan is and of the time."""

    digest: str
    """SHA-256 of the file, in 64 hexadecimal digits; empty if the file can't be read."""
    title: str | None
    state: str
    """State of the plan if it is not archived."""
    counts: TaskCounts | None
    """None for a broken plan."""
    open_tasks: tuple[OpenTask, ...]
    dependencies: tuple[PlanMention, ...]
    """The plans that the metadata names as dependencies."""
    written_id: str
    """ID in the front matter, or empty."""
    last_date: str
    """Latest date in the plan, such as 2026-01-31; empty if there is none."""
    is_on_hold: bool
    conflict_line: int
    """First line with a conflict marker, from 1, or 0."""
    finishing_command: str
    """The command that a complete plan needs first: `merge`, `outcome`, `set`, `lint` or `archive`; empty for others."""
    error: str
    """Why the plan is broken; empty for others."""
    why_document: str
    """Why the file is a document rather than a plan; empty for others."""


class ListedPlan(NamedTuple):
    """A plan of a project with its facts."""

    project: Project
    ref: PlanRef
    facts: PlanFacts

    @property
    def state(self) -> str:
        """Return the state of the plan, one of `model.STATES`."""
        return ARCHIVED if self.ref.archived and self.facts.state not in (BROKEN, DOCUMENT) else self.facts.state

    @property
    def display_path(self) -> str:
        """Path from the repository root."""
        return self.project.display_path(self.ref.path)


def list_stored_plan(stored_plan: StoredPlan) -> ListedPlan:
    """Return a plan that was read with its facts."""
    from execplan.core.text.text_lines import digest

    project, ref, data, plan, error = stored_plan
    if plan is None:
        return ListedPlan(project, ref, broken_facts(error.message if error is not None else ""))
    return ListedPlan(project, ref, extract_facts(project, ref, plan, digest(data)))


def broken_facts(message: str) -> PlanFacts:
    """Return the facts of a plan that can't be read, for the reason in the message."""
    return PlanFacts("", None, BROKEN, None, (), (), "", "", False, 0, "", message, "")


def extract_facts(project: Project, ref: PlanRef, plan: ParsedPlan, file_digest: str) -> PlanFacts:
    """Extract the facts from a parsed plan, given the digest of its file."""
    from execplan.core.plan.plan_dates import is_on_hold, latest_date
    from execplan.core.plan.plan_dependencies import read_dependencies
    from execplan.core.plan.plan_lookup import task_ids
    from execplan.core.plan.plan_metadata import read_metadata
    from execplan.core.plan.task_checks import find_check

    open_tasks = []
    for task, task_id in zip(plan.tasks, task_ids(plan.tasks), strict=True):
        if task.is_unfinished:
            check = find_check(plan, task)
            stamp = task.timestamp.text if task.timestamp is not None else None
            lines = task.depth, task.start, task.end, task.box_line
            command = check.command or None if check is not None else None
            open_tasks.append(OpenTask(task.number, task_id, task.text, task.mark, stamp, *lines, command))
    state = plan.state()
    return PlanFacts(
        file_digest,
        plan_title(project, ref, plan.title),
        state,
        TaskCounts(**plan.counts()),
        tuple(open_tasks),
        tuple(read_dependencies(plan)),
        read_metadata(plan).id if plan.text.lines and plan.text.lines[0].startswith("---") else "",
        latest_date(plan),
        is_on_hold(plan, project.display_path(ref.path)),
        plan.conflict_lines[0] + 1 if plan.conflict_lines else 0,
        _finishing_command(plan) if state == COMPLETE and not ref.archived else "",
        "",
        document_reason(plan) if plan.is_document else "",
    )


def _finishing_command(plan: ParsedPlan) -> str:
    """Return the command that a complete plan needs first, as `plan_advice` advises."""
    if plan.conflict_lines:
        return "merge"
    if lacks_outcome(plan):
        return "outcome"
    if unfilled_sections(plan):
        return "set"
    return "lint" if features.load(features.ARCHIVE_ERRORS)(plan) else "archive"


def encode_facts(facts: PlanFacts) -> bytes:
    """Encode facts, for the index and for other processes."""
    return marshal.dumps(_to_plain_tuple(facts))


def decode_facts(encoded: bytes) -> PlanFacts:
    """Decode the bytes of `encode_facts`. Raises ValueError, EOFError or TypeError for other bytes."""
    from execplan.core.plan.plan_dependencies import PlanMention

    facts = PlanFacts._make(marshal.loads(encoded))  # noqa: S302 (from our own index or process)
    return facts._replace(
        counts=TaskCounts._make(facts.counts) if facts.counts is not None else None,
        open_tasks=tuple([OpenTask._make(task) for task in facts.open_tasks]),
        dependencies=tuple([PlanMention._make(mention) for mention in facts.dependencies]),
    )


def _to_plain_tuple(value: Any) -> Any:
    """Return a value with plain tuples, the only ones that `marshal` writes."""
    return tuple([_to_plain_tuple(part) for part in value]) if isinstance(value, tuple) else value
