"""The status that a plan states in words, as opposed to the state that its tasks have."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.linter.plan_source import PlanSource
from execplan.linter.rules.lifecycle_rules import find_done_status
from execplan.plan.metadata_values import normalize_key
from execplan.text.markdown_blocks import FRONT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

    from execplan.plan.model import ParsedPlan

DONE: Final = "done"
OPEN: Final = "open"
GIVEN_UP: Final = "given up"

_OPEN_STATUSES = (
    *("in progress", "in-progress", "active", "open", "draft", "proposed", "planned", "planning", "not started"),
    *("todo", "to do", "wip", "ready", "pending", "started", "ongoing", "approved", "accepted"),
)
_GIVEN_UP_STATUSES = (
    "superseded",
    "abandoned",
    "cancelled",
    "canceled",
    "rejected",
    "obsolete",
    "dropped",
    "withdrawn",
)
_EMPHASIS = " \t*_`\"'🟡🟢🔴🚧⏳"
_MAX_STATUS_LENGTH = 60
"""Maximum characters of a status; a longer one explains several."""
_MAX_HEADER_LINES = 40
_ALTERNATIVES = frozenset("|[<{/")
"""Characters of a list of alternatives, which comes from a template."""


class ClaimedStatus(NamedTuple):
    """A status as the plan states it."""

    meaning: str
    """One of DONE, OPEN and GIVEN_UP."""
    text: str
    """Its words."""
    line: int
    """Its line, from 0."""


def read_claimed_status(plan: ParsedPlan) -> ClaimedStatus | None:
    """Return the first status of a plan whose meaning is certain, or None."""
    done = next(find_done_status(plan, PlanSource(plan)), None)
    statuses = [ClaimedStatus(DONE, done.text, done.line)] if done is not None else []
    for line, value in _status_values(plan):
        words = value.lower()
        if len(value) > _MAX_STATUS_LENGTH or _ALTERNATIVES.intersection(value):
            continue
        if words.startswith(_GIVEN_UP_STATUSES):
            statuses.append(ClaimedStatus(GIVEN_UP, value, line))
        elif _starts_with_word(words, _OPEN_STATUSES):
            statuses.append(ClaimedStatus(OPEN, value, line))
    return min(statuses, key=lambda status: status.line, default=None)


def _starts_with_word(words: str, statuses: tuple[str, ...]) -> bool:
    return any([words.startswith(status) and not words[len(status) :][:1].isalnum() for status in statuses])


def _status_values(plan: ParsedPlan) -> Iterator[tuple[int, str]]:
    """Yield line and value of each status in the front matter, below the title, and in a section about the status."""
    lines = plan.text.lines
    front_end = plan.blocks[0].end if plan.blocks and plan.blocks[0].kind == FRONT else 0
    start = max(plan.title_line + 1, front_end)
    stop = plan.sections[0].start if plan.sections else len(lines)
    for at in (*range(front_end), *range(start, min(stop, start + _MAX_HEADER_LINES))):
        key, colon, value = lines[at].partition(":")
        if colon and normalize_key(key.strip("->+ \t*_")) == "status":
            yield at, value.strip(_EMPHASIS)
    for section in plan.sections:
        if normalize_key(section.title) == "status" and section.first_block < section.block_end:
            at = plan.blocks[section.first_block].start
            if at < section.end:
                yield at, lines[at].strip(_EMPHASIS + "->+")
