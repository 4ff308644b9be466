"""The status that a plan states in words: in its front matter, below its title, or in a section about it."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.section_roles import STATUS, find_role
from execplan.core.plan.status_words import read_status
from execplan.core.text.markdown_blocks import FRONT, flag_inert_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from execplan.core.plan.model import ParsedPlan

_MAX_LINE_LENGTH = 1000
_MAX_STATUS_DISTANCE = 60
"""Number of lines after the title in which to look for a status."""

_MAX_LABEL_LENGTH = 20
_EMPHASIS = " \t*_`\"'"


class StatusValue(NamedTuple):
    """The value of a status, without emphasis and quotes around it."""

    line: int
    column: int
    text: str


def find_done_status(plan: ParsedPlan) -> Iterator[StatusValue]:
    """Yield each status that marks the plan as done, in the order of the file."""
    yield from [status for status in find_statuses(plan) if _read_mark(status.text) == "x"]


def find_statuses(plan: ParsedPlan) -> Iterator[StatusValue]:
    """Yield each status of the plan in known words: in the front matter, below the title, or in a section about it."""
    lines = plan.text.lines
    inert_lines = flag_inert_lines(plan.blocks, len(lines) + 1)
    front = plan.blocks[0].end if plan.blocks and plan.blocks[0].kind == FRONT else 0
    start = max(plan.title_line + 1, front)
    stop = plan.sections[0].start if plan.sections else len(lines)
    labeled_lines = [*range(front), *range(start, min(stop, start + _MAX_STATUS_DISTANCE))]
    bare_lines: list[int] = []
    for section in plan.sections:
        labeled_lines.append(section.start)
        if outline.title_key(section.title) in outline.METADATA_TITLES:
            labeled_lines += range(section.body_start, section.notes_start)
        is_status = section.name is None and find_role(section.title, plan.text.titles) == STATUS
        if is_status and section.first_block < section.block_end:
            at = plan.blocks[section.first_block].start
            bare_lines += [at] if at < section.end else []
    for at in labeled_lines:
        line = lines[at][:_MAX_LINE_LENGTH]
        label, colon, value = line.replace("：", ":").partition(":")
        is_status = bool(colon) and _is_label(label, plan.text.titles) and _read_mark(value) is not None
        if is_status and (at < front or not inert_lines[at]):
            yield _status_span(at, line, value)
    for at in bare_lines:
        line = lines[at][:_MAX_LINE_LENGTH]
        if _read_mark(line) is not None and not inert_lines[at]:
            yield _status_span(at, line, line)


def plain_status(line: str) -> str:
    """Return the status in a line as displayed, without its key, markup and quotes."""
    from execplan.core.text.inline_markdown import plain_text

    text = plain_text(line[:_MAX_LINE_LENGTH].strip())
    key, colon, value = text.partition(":")
    return (value if colon and _is_label(key, {}) else text).strip(_EMPHASIS + "->+")


def _status_span(at: int, line: str, value: str) -> StatusValue:
    bare = value.strip(_EMPHASIS)
    return StatusValue(at, line.index(bare, line.index(value)), bare)


def _is_label(text: str, titles: Mapping[str, str]) -> bool:
    """Return whether the text before a colon names the status."""
    key = text.strip("->+# \t*_")
    return len(key) <= _MAX_LABEL_LENGTH and find_role(key, titles) == STATUS


def _read_mark(value: str) -> str | None:
    """Return the mark of a status in known words. A list of alternatives does not count, because it comes from a template."""
    status = read_status(value.strip(_EMPHASIS))
    return status.mark if status is not None and not set("|[<{/") & set(value) else None
