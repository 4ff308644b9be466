"""What a plan says, as records; lines count from 0 and ends are exclusive until they are shown to somebody."""

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
"""Every state, in the order in which a person wants to see them."""


FORCED_PREFIX: Final = "Archived by force"
SUPERSEDED_PREFIX: Final = "Superseded by"
ABANDONED_PREFIX: Final = "Archived as abandoned"
RESTORED_PREFIX: Final = "Restored from the archive"
"""How the revision notes begin that record why an unfinished plan was archived, and that it is no longer."""


def task_state(mark: str) -> str:
    """Open, done or other, by the character in a box."""
    if mark == " ":
        return OPEN
    return DONE if mark in "xX" else OTHER


class Section(NamedTuple):
    """An H2 and what stands below it, to the next H1 or H2."""

    title: str
    """As written."""
    name: str | None
    """Which of the twelve it is, or None."""
    is_living: bool
    start: int
    body_start: int
    """First line behind the heading."""
    notes_start: int
    """Where revision notes begin that stand at its end, or `end`."""
    content_end: int
    """Where a rule begins that closes it off from the next section, or `notes`: what is new goes above."""
    end: int
    first_block: int
    """Its first block behind the heading."""
    block_end: int
    """One past its last block."""


class Task(NamedTuple):
    """A list item with a box."""

    number: int
    """Its place among the plan's tasks, from 1."""
    mark: str
    """The character in the box."""
    text: str
    """Its words, without box and stamp, wraps joined."""
    timestamp: Timestamp | None
    depth: int
    """How many items it is nested in."""
    start: int
    end: int
    """One past its own words; nested items come behind."""
    item_end: int
    """One past the whole item."""
    box_line: int
    """Line of its box."""
    item_block: Block
    heading: str
    """The sub-heading above it, or nothing."""

    @property
    def state(self) -> str:
        """Open, done or other."""
        return task_state(self.mark)


class Entry(NamedTuple):
    """A decision, a discovery, an outcome or a revision note."""

    text: str
    start: int
    end: int
    rationale: str | None = None
    date: str | None = None
    author: str | None = None
    supersedes: str | None = None
    evidence: str | None = None
    is_labeled: bool = False
    """Whether its words stand behind their label."""


class ParsedPlan(NamedTuple):
    """All of it."""

    text: Text
    blocks: list[Block]
    title: str | None
    title_line: int
    """Line of the title, or -1."""
    sections: list[Section]
    tasks: list[Task]
    checklists: list[tuple[str, Task]]
    """Boxes outside Progress, each with the title of its section."""
    decisions: list[Entry]
    discoveries: list[Entry]
    outcomes: list[Entry]
    revisions: list[Entry]
    conflict_lines: list[int]
    """Lines that hold a conflict marker."""
    placeholder_lines: list[int]
    """Lines that a template left to be replaced."""

    def section(self, name: str) -> Section | None:
        """The first section that is the one of the twelve with this name."""
        for section in self.sections:
            if section.name == name:
                return section
        return None

    def counts(self) -> dict[str, int]:
        """How many tasks are open, done, other, and in all."""
        states = [task.state for task in self.tasks]
        return {
            "open": states.count(OPEN),
            "done": states.count(DONE),
            "other": states.count(OTHER),
            "total": len(states),
        }

    @property
    def is_archived_unfinished(self) -> bool:
        """Whether the plan records why it was archived unfinished, and not that it was restored since."""
        notes = [
            entry.text
            for entry in self.revisions
            if entry.text.startswith((FORCED_PREFIX, SUPERSEDED_PREFIX, ABANDONED_PREFIX, RESTORED_PREFIX))
        ]
        return bool(notes) and not notes[-1].startswith(RESTORED_PREFIX)

    def state(self, *, archived: bool = False) -> str:
        """Archived, complete (tasks, and none open), draft (none done, and guidance left), else active."""
        if archived:
            return ARCHIVED
        states = {task.state for task in self.tasks}
        if states and OPEN not in states:
            return COMPLETE
        return DRAFT if DONE not in states and self.placeholder_lines else ACTIVE
