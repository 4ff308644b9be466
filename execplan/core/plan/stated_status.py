"""The status that a plan states in words: in its front matter, below its title, or in a section about it."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.section_roles import STATUS, find_role
from execplan.core.plan.status_words import read_status
from execplan.core.text.markdown_blocks import FRONT, flag_inert_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan

_MAX_LINE_LENGTH = 1000
_MAX_STATUS_DISTANCE = 60
"""Number of lines after the title in which to look for a status."""

_STATUS_KEYS = frozenset(("status", "state"))
_EMPHASIS = " \t*_`\"'"


class StatusValue(NamedTuple):
    """The value of a status, without emphasis and quotes around it."""

    line: int
    column: int
    text: str


def find_done_status(plan: ParsedPlan) -> Iterator[StatusValue]:
    """Yield the value of each status that marks the plan as done: in the front matter, below the title, or in a section."""
    lines = plan.text.lines
    inert_lines = flag_inert_lines(plan.blocks, len(lines) + 1)
    front = plan.blocks[0].end if plan.blocks and plan.blocks[0].kind == FRONT else 0
    start = max(plan.title_line + 1, front)
    stop = plan.sections[0].start if plan.sections else len(lines)
    for at in (*range(front), *range(start, min(stop, start + _MAX_STATUS_DISTANCE))):
        key, colon, value = lines[at][:_MAX_LINE_LENGTH].partition(":")
        is_status = bool(colon) and key.strip("->+ \t*_").lower() in _STATUS_KEYS
        if is_status and _is_done(value) and (at < front or not inert_lines[at]):
            yield _status_span(at, lines[at], value)
    for section in plan.sections:
        if outline.title_key(section.title) in outline.METADATA_TITLES:
            for at in range(section.start, section.notes_start):
                key, colon, value = lines[at][:_MAX_LINE_LENGTH].partition(":")
                is_status = bool(colon) and key.strip("->+ \t*_").lower() in _STATUS_KEYS
                if is_status and _is_done(value) and not inert_lines[at]:
                    yield _status_span(at, lines[at], value)
        if (
            section.name is None
            and find_role(section.title, plan.text.titles) == STATUS
            and section.first_block < section.block_end
        ):
            at = plan.blocks[section.first_block].start
            if at < section.end and _is_done(lines[at][:_MAX_LINE_LENGTH]) and not inert_lines[at]:
                yield _status_span(at, lines[at], lines[at][:_MAX_LINE_LENGTH])


def plain_status(line: str) -> str:
    """Return the status in a line as displayed, without its key, markup and quotes."""
    from execplan.core.text.inline_markdown import plain_text

    text = plain_text(line[:_MAX_LINE_LENGTH].strip())
    key, colon, value = text.partition(":")
    is_key = bool(colon) and key.strip("->+ \t*_").lower() in _STATUS_KEYS
    return (value if is_key else text).strip(_EMPHASIS + "->+")


def _status_span(at: int, line: str, value: str) -> StatusValue:
    bare = value.strip(_EMPHASIS)
    return StatusValue(at, line.index(bare, line.index(value)), bare)


def _is_done(value: str) -> bool:
    """Return whether a status means done. A list of alternatives does not count, because it comes from a template."""
    status = read_status(value.strip(_EMPHASIS))
    return status is not None and status.mark == "x" and not set("|[<{/") & set(value)
