"""Records for a parsed plan; line numbers count from 0 and ends are exclusive, until they are shown to the user."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.outline import PROGRESS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.core.text.markdown_blocks import Block
    from execplan.core.text.text_lines import Text
    from execplan.core.timestamps import Timestamp

OPEN: Final = "open"
DONE: Final = "done"
OTHER: Final = "other"

BROKEN: Final = "broken"
ARCHIVED: Final = "archived"
COMPLETE: Final = "complete"
DRAFT: Final = "draft"
ACTIVE: Final = "active"
DOCUMENT: Final = "document"
STATES = (BROKEN, ACTIVE, DRAFT, COMPLETE, ARCHIVED, DOCUMENT)
"""All plan states, in the order in which to list them for people."""


FORCED_PREFIX: Final = "Archived by force"
SUPERSEDED_PREFIX: Final = "Superseded by"
ABANDONED_PREFIX: Final = "Archived as abandoned"
RESTORED_PREFIX: Final = "Restored from the archive"
"""Prefixes of the revision notes that record why an unfinished plan was archived, or that it was restored."""


def task_state(mark: str, text: str) -> str:
    """Return the task state (open, done or other) for the character in a checkbox and the text after it."""
    if mark == " ":
        return OTHER if is_struck_through(text) else OPEN
    return DONE if mark in "xX" else OTHER


def is_unfinished(mark: str, text: str) -> bool:
    """Return whether a task still needs work: it is neither done nor dropped. Only `x` and `X` mean done."""
    return mark not in "xX-" and not is_struck_through(text)


def is_struck_through(text: str) -> bool:
    """Return whether a task's text is struck through, apart from a note in parentheses: `~~text~~ (why)`."""
    if not text.startswith("~~") or text.startswith("~~~"):
        return False
    struck_text, end_mark, note = text[2:].partition("~~")
    note = note.strip(" .")
    has_text = bool(end_mark and struck_text.strip())
    return has_text and (not note or (note.startswith("(") and note.endswith(")")))


class Section(NamedTuple):
    """An H2 heading and the text below it, up to the next H1 or H2."""

    title: str
    """Title as written in the plan."""
    name: str | None
    """Name among the twelve standard sections, or None."""
    is_living: bool
    start: int
    body_start: int
    """First line after the heading."""
    notes_start: int
    """Start of the revision notes at the end of the section, or `end`."""
    content_end: int
    """Start of a final horizontal rule before the next section, or `notes_start`; new content goes before it."""
    end: int
    first_block: int
    """Index of the first block after the heading."""
    block_end: int
    """Index one past the last block."""


class TaskStatus(NamedTuple):
    """A status that tells how far a task is in place of a checkbox."""

    form: str
    """`line` below a heading, `cell` of a table, or `start` or `end` of an item's text."""
    column: int
    """Where its text starts, in characters."""
    text: str
    """The status as written, in an item with what separates it from the text; or empty."""
    is_exact: bool
    """Whether it is nothing but a known word or symbol, so that another one can replace it."""


class Task(NamedTuple):
    """A list item with a checkbox, or a heading, table row or list item with a status."""

    number: int
    """Position among the plan's tasks, from 1."""
    mark: str
    """Character in the checkbox, or one that means the same as the status."""
    text: str
    """Text without checkbox and timestamp, wrapped lines joined."""
    timestamp: Timestamp | None
    depth: int
    """Number of items that contain the task."""
    start: int
    end: int
    """Line after the task's own text; nested items come after it."""
    item_end: int
    """Line after the whole item."""
    box_line: int
    """Line of the checkbox or the status."""
    item_block: Block
    heading: str
    """Sub-heading above the task, or empty."""
    status: TaskStatus | None = None

    @property
    def state(self) -> str:
        """Return the task state: open, done or other."""
        return task_state(self.mark, self.text)

    @property
    def is_dropped(self) -> bool:
        """Whether the task was given up: its mark is `-`, or its text is struck through. Then it is neither open nor done."""
        return self.state == OTHER and not self.is_unfinished

    @property
    def is_unfinished(self) -> bool:
        """Whether the task still needs work, also if it has another mark, such as `[~]`."""
        return is_unfinished(self.mark, self.text)

    @property
    def state_label(self) -> str:
        """The state for people: `open`, `done`, `dropped`, or what says another state, such as `marked [~]`."""
        if self.state != OTHER:
            return self.state
        if self.is_dropped:
            return "dropped"
        return f"marked [{self.mark}]" if self.status is None else self.status.text.strip(" *_`()[]:—–-")


class Entry(NamedTuple):
    """A log entry (a decision, discovery or outcome) or a revision note."""

    text: str
    start: int
    end: int
    rationale: str | None = None
    date: str | None = None
    author: str | None = None
    supersedes: str | None = None
    evidence: str | None = None
    is_labeled: bool = False
    """Whether the text follows a label."""
    body: str = ""
    """The text with its blocks, in the canonical form of `text_blocks`; `text` is the same on one line."""


class PlanMention(NamedTuple):
    """The name of a plan in the metadata."""

    name: str
    line: int
    """Line, from 0."""
    is_certain: bool
    """Whether the text can only be the name of a plan, rather than prose."""


class ParsedPlan(NamedTuple):
    """A parsed plan with its text, sections, tasks and entries."""

    text: Text
    blocks: list[Block]
    title: str | None
    title_line: int
    """Line of the title, or -1 if there is none."""
    sections: list[Section]
    tasks: list[Task]
    checklists: list[tuple[str, Task]]
    """Checkbox items that are not tasks, each with the title of its section."""
    decisions: list[Entry]
    discoveries: list[Entry]
    outcomes: list[Entry]
    revisions: list[Entry]
    conflict_lines: list[int]
    """Lines that contain a conflict marker."""
    placeholder_lines: list[int]
    """Lines of template text still to be replaced."""
    is_document: bool = False
    """Whether the file is no plan, by `plan_recognition.is_plan`."""
    is_stated_done: bool = False
    """Whether a plan without tasks says that it is done."""

    def section(self, name: str) -> Section | None:
        """Return the first section with this standard name, or None."""
        for section in self.sections:
            if section.name == name:
                return section
        return None

    def counts(self) -> dict[str, int]:
        """Count the tasks that are open, done, in another state, and in total."""
        states = [task.state for task in self.tasks]
        return {
            "open": states.count(OPEN),
            "done": states.count(DONE),
            "other": states.count(OTHER),
            "total": len(states),
        }

    @property
    def boxes(self) -> list[Task]:
        """The tasks, and the other items with a checkbox."""
        return [*self.tasks, *[box for _, box in self.checklists]]

    @property
    def has_tasks_elsewhere(self) -> bool:
        """Whether the plan has tasks, but no Progress."""
        return bool(self.tasks) and self.section(PROGRESS) is None

    @property
    def unfinished_tasks(self) -> list[Task]:
        """The tasks that still need work."""
        return [task for task in self.tasks if task.is_unfinished]

    @property
    def other_states_text(self) -> str:
        """How many tasks are neither open nor done, such as `1 dropped, 2 marked otherwise`; empty if none is."""
        other_tasks = [task for task in self.tasks if task.state == OTHER]
        dropped = len([task for task in other_tasks if task.is_dropped])
        remaining = len(other_tasks) - dropped
        parts = [f"{dropped} dropped"] if dropped else []
        return ", ".join(parts + ([f"{remaining} marked otherwise"] if remaining else []))

    @property
    def is_archived_unfinished(self) -> bool:
        """Return whether the plan records why it was archived unfinished, and does not record a later restore."""
        notes = [
            entry.text
            for entry in self.revisions
            if entry.text.startswith((FORCED_PREFIX, SUPERSEDED_PREFIX, ABANDONED_PREFIX, RESTORED_PREFIX))
        ]
        return bool(notes) and not notes[-1].startswith(RESTORED_PREFIX)

    def state(self, *, archived: bool = False) -> str:
        """Return the plan state: document, archived, complete, draft or active.

        A plan with tasks, none of them unfinished, is complete, and one without tasks whose status says so; one with no done
        task and with template text is a draft.
        A file that is no plan is a document.
        """
        if self.is_document:
            return DOCUMENT
        if archived:
            return ARCHIVED
        if (self.tasks and not self.unfinished_tasks) or self.is_stated_done:
            return COMPLETE
        is_started = any([task.state == DONE for task in self.tasks])
        return DRAFT if self.placeholder_lines and not is_started else ACTIVE
