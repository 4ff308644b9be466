"""Context packs and their units: plan parts, files, messages and tool outputs that an agent could read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final


def redact_pack(pack: ContextPack, redact: Callable[[str], str]) -> ContextPack:
    """Redact every text of a pack.

    IDs and paths stay, because they identify things. Redact before anything is shortened.
    """
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
"""Unit types that are parts of the plan."""

KEEP: Final = "keep"
SUMMARIZE: Final = "summarize"
TRUNCATE: Final = "truncate"
PRUNE: Final = "prune"
ACTIONS = (KEEP, SUMMARIZE, TRUNCATE, PRUNE)


class Unit(NamedTuple):
    """A unit of context before an action is chosen for it."""

    id: str
    """Unique ID, stable as long as its subject exists: `section:purpose`, `task:t6a76z2`, `file:src/reader.py`."""
    type: str
    """Unit type, one of `TYPES`."""
    content: str
    title: str = ""
    """Human-readable name: a heading, a path, or `user, 12:03`."""
    path: str = ""
    """Path from the repository root, for a unit that comes from a file."""
    line_start: int = 0
    """First line, counted from 1; 0 if the unit has no lines."""
    line_end: int = 0
    order: int = 0
    """Age order; higher is newer. Messages use their position in the log, files the rank of their modification time."""
    pinned: str = ""
    """Reason why the unit is never pruned, or empty.

    Such units are the purpose, the next open task, the last decisions, and anything requested by name.
    """
    references: tuple[str, ...] = ()
    """Paths and IDs that the unit mentions."""


class ContextPack(NamedTuple):
    """A plan's units, with the text that they are scored against."""

    plan_id: str
    title: str
    task: str
    """Text of the next task or the requested task; empty if all tasks are done."""
    purpose: str
    """Text of the plan's purpose, used to score relevance."""
    units: tuple[Unit, ...]
    """Units in the order in which they are printed."""
    session: frozenset[str] = frozenset()
    """IDs of the units that belong to a conversation; empty if no conversation was supplied."""
