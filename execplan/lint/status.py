"""Where a plan says of itself that it is done: `Status: done` below the title or in the front matter, or `## Status`."""

from __future__ import annotations

from execplan.lint.words import Span
from execplan.plan import outline
from execplan.text.blocks import FRONT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.lint.words import Words
    from execplan.plan.model import Plan

_LONG = 1000
_DEEP = 60
"""Lines below the title in which a status is looked for."""

_KEYS = frozenset(("status", "state"))
_AROUND = " \t*_`\"'"
_DONE = frozenset(
    "done complete completed finished closed shipped implemented merged archived delivered landed released".split()
)
_NOT = frozenset("not partially partly mostly except but remaining remains pending awaiting until open unless".split())


def done_said(plan: Plan, words: Words) -> Iterator[Span]:
    """The words of each status that says that the plan is done, without emphasis and quotes around them."""
    lines = plan.text.lines
    front = plan.blocks[0].end if plan.blocks and plan.blocks[0].kind == FRONT else 0
    first = max(plan.title_line + 1, front)
    stop = plan.sections[0].start if plan.sections else len(lines)
    for at in (*range(front), *range(first, min(stop, first + _DEEP))):
        key, colon, value = lines[at][:_LONG].partition(":")
        if colon and key.strip("->+ \t*_").lower() in _KEYS and (at < front or not words.inert[at]) and _is_done(value):
            yield _span(at, lines[at], value)
    for section in plan.sections:
        if outline.key(section.title) in _KEYS and section.first < section.last:
            at = plan.blocks[section.first].start
            if at < section.end and not words.inert[at] and _is_done(lines[at][:_LONG]):
                yield _span(at, lines[at], lines[at][:_LONG])


def _span(at: int, line: str, value: str) -> Span:
    bare = value.strip(_AROUND)
    return Span(at, line.index(bare, line.index(value)), bare)


def _is_done(value: str) -> bool:
    """Whether the first word says so, and no other takes it back; a choice of words is a template's."""
    said = [word.strip(_AROUND + ".,;:!?()—–-") for word in value.lower().split()]
    said = [word for word in said if word]
    return bool(said) and said[0] in _DONE and not _NOT & set(said) and not set("|[<{/") & set(value)
