"""The status that a plan states in words, as opposed to the state that its tasks have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from execplan.core.plan.metadata_values import normalize_key
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.section_roles import STATUS, find_role
from execplan.core.plan.stated_status import find_done_status, plain_status
from execplan.core.text.inline_markdown import link_targets, plain_text
from execplan.core.text.markdown_blocks import FRONT

DONE: Final = "done"
OPEN: Final = "open"
GIVEN_UP: Final = "given up"

_OPEN_STATUSES = (
    *("in progress", "in-progress", "active", "open", "draft", "proposed", "planned", "planning", "not started"),
    *("todo", "to do", "wip", "ready", "pending", "started", "ongoing", "approved", "accepted"),
)
_SUPERSEDED = "superseded"
_GIVEN_UP_STATUSES = (
    _SUPERSEDED,
    "abandoned",
    "cancelled",
    "canceled",
    "rejected",
    "obsolete",
    "dropped",
    "withdrawn",
)
_SYMBOLS = " \t🟡🟢🔴🚧⏳"
_MAX_STATUS_LENGTH = 60
"""Maximum characters of a status; a longer one explains several."""
_MAX_HEADER_LINES = 40
_ALTERNATIVES = frozenset("|<{")
"""Characters of a list of alternatives, which comes from a template."""
_NO_VALUES = frozenset({"", "null", "none", "~", "n/a", "[]"})
"""Values of `superseded_by` that name no plan."""


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
    done = next(find_done_status(plan), None)
    statuses = [ClaimedStatus(DONE, plain_status(plan.text.lines[done.line]), done.line)] if done is not None else []
    for line, value in _status_values(plan):
        words = value.lower()
        if len(value) > _MAX_STATUS_LENGTH or _is_list_of_statuses(words):
            continue
        if words.startswith(_GIVEN_UP_STATUSES):
            statuses.append(ClaimedStatus(GIVEN_UP, value, line))
        elif _starts_with_word(words, _OPEN_STATUSES):
            statuses.append(ClaimedStatus(OPEN, value, line))
    return min(statuses, key=lambda status: status.line, default=None)


def find_successor_names(plan: ParsedPlan) -> list[str]:
    """Return the words and link targets of the statuses that say that a plan is superseded, as IDs of plans.

    Most of them name no plan, such as the word "by".
    """
    names = []
    for at, value in _status_values(plan):
        if value.lower().startswith(_SUPERSEDED):
            names += [target.partition("#")[0] for target in link_targets(plan.text.lines[at])]
            names += value[len(_SUPERSEDED) :].split()
    ids = [name.strip("()[].,;:\"'`").rpartition("/")[2].removesuffix(".md") for name in names]
    return [plan_id for plan_id in ids if plan_id]


def _is_list_of_statuses(words: str) -> bool:
    """Return whether a status lists alternatives, as templates do: `draft | done`, `draft / done`."""
    first, slash, second = words.partition("/")
    is_pair = first.strip() in _GIVEN_UP_STATUSES + _OPEN_STATUSES and slash != ""
    return bool(_ALTERNATIVES.intersection(words)) or (
        is_pair and _starts_with_word(second.strip(), (*_OPEN_STATUSES, *_GIVEN_UP_STATUSES, "done", "complete"))
    )


def _starts_with_word(words: str, statuses: tuple[str, ...]) -> bool:
    return any([words.startswith(status) and not words[len(status) :][:1].isalnum() for status in statuses])


def _status_values(plan: ParsedPlan) -> Iterator[tuple[int, str]]:
    """Yield line and value of each status in the front matter, below the title, and in a section about the status.

    A value of `superseded_by` counts as the status "Superseded by".
    """
    lines = plan.text.lines
    front_end = plan.blocks[0].end if plan.blocks and plan.blocks[0].kind == FRONT else 0
    start = max(plan.title_line + 1, front_end)
    stop = plan.sections[0].start if plan.sections else len(lines)
    for at in (*range(front_end), *range(start, min(stop, start + _MAX_HEADER_LINES))):
        label, colon, _ = lines[at].partition(":")
        key = normalize_key(label.strip("->+ \t*_")) if colon else ""
        if key == "status":
            yield at, plain_status(lines[at]).strip(_SYMBOLS)
        elif key == "superseded_by":
            name = plain_text(lines[at]).partition(":")[2].strip(" \t*_`\"'")
            if name.lower() not in _NO_VALUES:
                yield at, f"Superseded by {name.strip('[]')}"
    for section in plan.sections:
        if find_role(section.title, plan.text.titles) == STATUS and section.first_block < section.block_end:
            at = plan.blocks[section.first_block].start
            if at < section.end:
                yield at, plain_status(lines[at]).strip(_SYMBOLS)
