"""A unit of what an agent could read: a part of the plan, a file, a message, the output of a tool."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final


def redact_pack(pack: ContextPack, redact: Callable[[str], str]) -> ContextPack:
    """The pack with every text redacted; ids and paths, which name things, stay. To be done before anything is shortened."""
    units = [unit._replace(content=redact(unit.content), title=redact(unit.title)) for unit in pack.units]
    return pack._replace(
        title=redact(pack.title), task=redact(pack.task), purpose=redact(pack.purpose), units=tuple(units)
    )


SECTION: Final = "section"
TASK: Final = "task"
DECISION: Final = "decision"
DISCOVERY: Final = "discovery"
FILE: Final = "file"
ARTIFACT: Final = "artifact"
DIFF: Final = "diff"
MESSAGE: Final = "message"
TOOL_RESULT: Final = "tool_result"
INSTRUCTION: Final = "instruction"
TYPES = (SECTION, TASK, DECISION, DISCOVERY, FILE, ARTIFACT, DIFF, MESSAGE, TOOL_RESULT, INSTRUCTION)
PLAN_TYPES = (SECTION, TASK, DECISION, DISCOVERY)
"""The parts of a plan."""

KEEP: Final = "keep"
SUMMARIZE: Final = "summarize"
TRUNCATE: Final = "truncate"
PRUNE: Final = "prune"
ACTIONS = (KEEP, SUMMARIZE, TRUNCATE, PRUNE)


class Unit(NamedTuple):
    """A unit, before anything is decided about it."""

    id: str
    """Unique among all, stable while what it is about stays: `section:purpose`, `task:t6a76z2`, `file:src/reader.py`."""
    type: str
    """One of TYPES."""
    content: str
    title: str = ""
    """What a person calls it: a heading, a path, `user, 12:03`."""
    path: str = ""
    """From the root of the repository, of a unit that comes from a file."""
    line_start: int = 0
    """From 1; 0 where it has no lines."""
    line_end: int = 0
    order: int = 0
    """Later ones are newer: of messages their place in the log, of files the time of their last change as a rank."""
    pinned: str = ""
    """Why it is never pruned, or nothing: the purpose, the next open task, one of the last decisions, asked for by name."""
    references: tuple[str, ...] = ()
    """Paths and ids that it names."""


class ContextPack(NamedTuple):
    """What units are gathered for."""

    plan_id: str
    title: str
    task: str
    """The words of the task that is up next, or that was asked for; nothing where all are done."""
    purpose: str
    """The words of the plan's purpose, for relevance."""
    units: tuple[Unit, ...]
    """In the order in which they are printed."""
    session: frozenset[str] = frozenset()
    """The ids of the units that a conversation holds; none where none was given."""
