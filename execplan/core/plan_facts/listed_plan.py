"""Plans with their facts: what lists, the board and other plans need of a plan, without parsing it again."""

from __future__ import annotations

import marshal
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.plan.model import ARCHIVED, BROKEN, DOCUMENT, PlanMention, task_state
from execplan.core.project.plan_dialects import dialect_of

if TYPE_CHECKING:
    from typing import Any

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


class TaskCounts(NamedTuple):
    """The number of tasks in each state."""

    open: int
    done: int
    other: int
    total: int


class OpenTask(NamedTuple):
    """A task of a plan that still needs work: an open one, or one marked otherwise, such as `[~]`."""

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

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form of the task, as `plan_json.tasks_json` does; lines count from 1."""
        return {
            "id": self.id,
            "number": self.number,
            "state": task_state(self.mark, self.text),
            "mark": self.mark,
            "text": self.text,
            "stamp": self.stamp,
            "depth": self.depth,
            "line_start": self.start + 1,
            "line_end": self.end,
            "check": self.check,
        }


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
    """The command that a complete plan needs first: `merge`, `outcome`, `set`, `lint` or `archive`; `restore` for one that is
    archived with open tasks, and doesn't say why; empty for others."""
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

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form of the plan for lists, as `plan_json.plan_json` does."""
        facts = self.facts
        plan_fields: dict[str, Any] = {
            "id": self.ref.id,
            "path": self.display_path,
            "dialect": dialect_of(self.display_path, self.project.settings.dialects).name,
            "title": facts.title,
            "state": self.state,
            "counts": facts.counts._asdict() if facts.counts is not None else None,
            "digest": facts.digest or None,
        }
        if facts.error:
            plan_fields["error"] = facts.error
        if facts.why_document:
            plan_fields["why"] = facts.why_document
        return plan_fields


def broken_facts(message: str) -> PlanFacts:
    """Return the facts of a plan that can't be read, for the reason in the message."""
    return PlanFacts("", None, BROKEN, None, (), (), "", "", False, 0, "", message, "")


def encode_facts(facts: PlanFacts) -> bytes:
    """Encode facts, for the index and for other processes."""
    return marshal.dumps(_to_plain_tuple(facts))


def decode_facts(encoded: bytes) -> PlanFacts:
    """Decode the bytes of `encode_facts`. Raises ValueError, EOFError or TypeError for other bytes."""
    facts = PlanFacts._make(marshal.loads(encoded))  # noqa: S302 (from our own index or process)
    return facts._replace(
        counts=TaskCounts._make(facts.counts) if facts.counts is not None else None,
        open_tasks=tuple([OpenTask._make(task) for task in facts.open_tasks]),
        dependencies=tuple([PlanMention._make(mention) for mention in facts.dependencies]),
    )


def _to_plain_tuple(value: Any) -> Any:
    """Return a value with plain tuples, the only ones that `marshal` writes."""
    return tuple([_to_plain_tuple(part) for part in value]) if isinstance(value, tuple) else value
