"""Where a plan says of itself that it is done: `Status: done` below the title or in the front matter, or `## Status`."""

from __future__ import annotations

from execplan.lint.words import Span
from execplan.plan import outline
from execplan.text.blocks import FRONT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.lint.words import PlanSource
    from execplan.plan.model import Plan

_MAX_LINE_LENGTH = 1000
_MAX_STATUS_DISTANCE = 60
"""Lines below the title in which a status is looked for."""

_STATUS_KEYS = frozenset(("status", "state"))
_EMPHASIS = " \t*_`\"'"
_DONE_WORDS = frozenset(
    "done complete completed finished closed shipped implemented merged archived delivered landed released".split()
)
_NEGATIONS = frozenset("not partially partly mostly except but remaining remains pending awaiting until open unless".split())


def find_done_status(plan: Plan, source: PlanSource) -> Iterator[Span]:
    """The words of each status that says that the plan is done, without emphasis and quotes around them."""
    lines = plan.text.lines
    front = plan.blocks[0].end if plan.blocks and plan.blocks[0].kind == FRONT else 0
    start = max(plan.title_line + 1, front)
    stop = plan.sections[0].start if plan.sections else len(lines)
    for at in (*range(front), *range(start, min(stop, start + _MAX_STATUS_DISTANCE))):
        key, colon, value = lines[at][:_MAX_LINE_LENGTH].partition(":")
        if colon and key.strip("->+ \t*_").lower() in _STATUS_KEYS and (at < front or not source.inert_lines[at]) and _is_done(value):
            yield _status_span(at, lines[at], value)
    for section in plan.sections:
        if outline.title_key(section.title) in _STATUS_KEYS and section.first_block < section.block_end:
            at = plan.blocks[section.first_block].start
            if at < section.end and not source.inert_lines[at] and _is_done(lines[at][:_MAX_LINE_LENGTH]):
                yield _status_span(at, lines[at], lines[at][:_MAX_LINE_LENGTH])


def _status_span(at: int, line: str, value: str) -> Span:
    bare = value.strip(_EMPHASIS)
    return Span(at, line.index(bare, line.index(value)), bare)


def _is_done(value: str) -> bool:
    """Whether the first word says so, and no other takes it back; a choice of words is a template's."""
    status_words = [word.strip(_EMPHASIS + ".,;:!?()—–-") for word in value.lower().split()]
    status_words = [word for word in status_words if word]
    return bool(status_words) and status_words[0] in _DONE_WORDS and not _NEGATIONS & set(status_words) and not set("|[<{/") & set(value)
