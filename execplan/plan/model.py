"""Records for a parsed plan; line numbers count from 0 and ends are exclusive, until they are shown to the user."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.clock import Timestamp
    from execplan.text.markdown_blocks import Block
    from execplan.text.text_lines import Text

OPEN: Final = "open"
DONE: Final = "done"
OTHER: Final = "other"

BROKEN: Final = "broken"
ARCHIVED: Final = "archived"
COMPLETE: Final = "complete"
DRAFT: Final = "draft"
ACTIVE: Final = "active"
STATES = (BROKEN, ACTIVE, DRAFT, COMPLETE, ARCHIVED)
"""All plan states, in the order in which to list them for people."""


FORCED_PREFIX: Final = "Archived by force"
SUPERSEDED_PREFIX: Final = "Superseded by"
ABANDONED_PREFIX: Final = "Archived as abandoned"
RESTORED_PREFIX: Final = "Restored from the archive"
"""Prefixes of the revision notes that record why an unfinished plan was archived, or that it was restored."""


def task_state(mark: str) -> str:
    """Return the task state (open, done or other) for the character in a checkbox."""
    if mark == " ":
        return OPEN
    return DONE if mark in "xX" else OTHER


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


class Task(NamedTuple):
    """A list item with a checkbox."""

    number: int
    """Position among the plan's tasks, from 1."""
    mark: str
    """Character in the checkbox."""
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
    """Line of the checkbox."""
    item_block: Block
    heading: str
    """Sub-heading above the task, or empty."""

    @property
    def state(self) -> str:
        """Return the task state: open, done or other."""
        return task_state(self.mark)


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
    """Checkbox items outside Progress, each with the title of its section."""
    decisions: list[Entry]
    discoveries: list[Entry]
    outcomes: list[Entry]
    revisions: list[Entry]
    conflict_lines: list[int]
    """Lines that contain a conflict marker."""
    placeholder_lines: list[int]
    """Lines of template text still to be replaced."""

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
    def is_archived_unfinished(self) -> bool:
        """Return whether the plan records why it was archived unfinished, and does not record a later restore."""
        notes = [
            entry.text
            for entry in self.revisions
            if entry.text.startswith((FORCED_PREFIX, SUPERSEDED_PREFIX, ABANDONED_PREFIX, RESTORED_PREFIX))
        ]
        return bool(notes) and not notes[-1].startswith(RESTORED_PREFIX)

    def state(self, *, archived: bool = False) -> str:
        """Return the plan state: archived, complete, draft or active.

        A plan with tasks, none of them open, is complete; one with no done task and with template text is a draft.
        """
        if archived:
            return ARCHIVED
        states = {task.state for task in self.tasks}
        if states and OPEN not in states:
            return COMPLETE
        return DRAFT if DONE not in states and self.placeholder_lines else ACTIVE
