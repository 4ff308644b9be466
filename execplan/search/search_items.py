"""Items of a plan for the search: the title, parts of sections, tasks, entries, and the names of artifacts."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from execplan.named_tuple import NamedTuple
from execplan.plan import outline
from execplan.text.markdown_blocks import HEADING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

    from execplan.plan.model import Entry, ParsedPlan

TITLE: Final = "title"
SECTION: Final = "section"
TASK: Final = "task"
DECISION: Final = "decision"
DISCOVERY: Final = "discovery"
OUTCOME: Final = "outcome"
REVISION: Final = "revision"
ARTIFACT: Final = "artifact"
ITEM_KINDS = {
    TITLE: "titles",
    SECTION: "sections",
    TASK: "tasks",
    DECISION: "decisions",
    DISCOVERY: "discoveries",
    OUTCOME: "outcomes",
    REVISION: "revisions",
    ARTIFACT: "artifacts",
}
"""The kinds of items with their plurals."""
_DATE_SHAPE = "0000-00-00"
_DIGITS_TO_ZEROS = str.maketrans("123456789", "000000000")


class SearchItem(NamedTuple):
    """A part of a plan that is found as one."""

    kind: str
    text: str
    """Lines of the item as in the plan, joined; for an artifact, its path in the artifacts directory."""
    lines: tuple[int, ...]
    """Number of each line in the plan, from 1; empty for an artifact."""
    heading: str
    """Title of the section, or of the sub-heading that the item is under."""
    section: str
    """Title of the section in the form of `outline.title_key`."""
    state: str = ""
    """State of a task."""
    author: str = ""
    date: str = ""
    """Date of the task or entry, as YYYY-MM-DD."""


def plan_items(plan: ParsedPlan) -> list[SearchItem]:
    """Return the items of a plan; each line with text is in exactly one, except template text to be replaced."""
    lines = plan.text.lines
    items = [SearchItem(SECTION, "", (), "", "")]
    owners = [0] * len(lines)

    def claim(item: SearchItem, start: int, end: int) -> None:
        """Make the lines of a range the item's own."""
        owners[start:end] = [len(items)] * (end - start)
        items.append(item)

    if plan.title_line >= 0:
        claim(SearchItem(TITLE, "", (), "", ""), plan.title_line, plan.title_line + 1)
    starts = [section.start for section in plan.sections]
    titles = [(section.title, outline.title_key(section.name or section.title)) for section in plan.sections]
    for section, (title, key) in zip(plan.sections, titles, strict=True):
        headings = [
            block
            for block in plan.blocks[section.first_block : section.block_end]
            if block.kind == HEADING and not block.depth
        ]
        ends = [*[block.start for block in headings], section.end]
        claim(SearchItem(SECTION, "", (), title, key), section.start, ends[0])
        for block, end in zip(headings, ends[1:], strict=True):
            claim(SearchItem(SECTION, "", (), f"{title} › {block.text}", key), block.start, end)

    def section_at(line: int) -> tuple[str, str]:
        """Return the title and the key of the section that contains a line."""
        index = bisect_right(starts, line) - 1
        return titles[index] if index >= 0 else ("", "")

    for kind, entries in (
        (DECISION, plan.decisions),
        (DISCOVERY, plan.discoveries),
        (OUTCOME, plan.outcomes),
        (REVISION, plan.revisions),
    ):
        for entry in entries:
            date = _entry_date(entry)
            claim(
                SearchItem(kind, "", (), *section_at(entry.start), author=entry.author or "", date=date),
                entry.start,
                entry.end,
            )
    for task in plan.tasks:
        date = task.timestamp.date if task.timestamp is not None and task.timestamp.is_valid else ""
        claim(SearchItem(TASK, "", (), *section_at(task.start), state=task.state, date=date), task.start, task.item_end)
    placeholder_lines = frozenset(plan.placeholder_lines)
    item_lines: list[list[int]] = [[] for _ in items]
    for index, owner in enumerate(owners):
        if index not in placeholder_lines and lines[index].strip():
            item_lines[owner].append(index)
    return [
        item._replace(
            text="\n".join([lines[index] for index in indexes]), lines=tuple([index + 1 for index in indexes])
        )
        for item, indexes in zip(items, item_lines, strict=True)
        if indexes
    ]


def artifact_items(names: Iterable[str]) -> list[SearchItem]:
    """Return an item for each file in a plan's artifacts directory, given by its path in it."""
    return [SearchItem(ARTIFACT, name, (), "", "") for name in names]


def _entry_date(entry: Entry) -> str:
    """Return the date of an entry, or an empty string if it has none in the form YYYY-MM-DD."""
    date = (entry.date or "")[:10]
    return date if date.translate(_DIGITS_TO_ZEROS) == _DATE_SHAPE else ""
