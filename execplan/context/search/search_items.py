"""Items of a plan for the search: the title, parts of sections, tasks, entries, and the names of artifacts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.model import ParsedPlan
from execplan.core.text.markdown_blocks import FRONT, HEADING, PARAGRAPH
from execplan.core.timestamps import leading_date

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
MAX_CHARS: Final = 50_000
"""Maximum characters of an item, because SQLite takes time with the square of its length to mark matches.

A longer part of a section becomes several items. The rest of a longer line is not searched.
"""
_NO_OWNER = -1
_LIVING_STATEMENT = ("living document", "up to date", "in accordance with", "plans.md")
"""Phrases of the sentences with which nearly all plans begin; each of the sentences has one of them."""


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
    """Return the items of a plan.

    Each line with text is in exactly one, except standard section titles, template text to be replaced, the sentence
    that the plan is a living document, and the lines around front matter.
    """
    owners = _LineOwners(plan)
    _exclude_standard_lines(plan, owners)
    if plan.title_line >= 0:
        owners.claim(plan.title_line, plan.title_line + 1, _Claim(TITLE))
    for section, key in zip(plan.sections, owners.section_keys, strict=True):
        headings = [
            block
            for block in plan.blocks[section.first_block : section.block_end]
            if block.kind == HEADING and not block.depth
        ]
        ends = [*[block.start for block in headings], section.end]
        owners.claim(section.start, ends[0], _Claim(SECTION, section.title, key))
        if section.name is not None:
            owners.exclude(section.start, section.body_start)
        for block, end in zip(headings, ends[1:], strict=True):
            owners.claim(block.start, end, _Claim(SECTION, f"{section.title} › {block.text}", key))
    for kind, entries in (
        (DECISION, plan.decisions),
        (DISCOVERY, plan.discoveries),
        (OUTCOME, plan.outcomes),
        (REVISION, plan.revisions),
    ):
        for entry in entries:
            heading, key = owners.section_at(entry.start)
            claim = _Claim(kind, heading, key, author=entry.author or "", date=leading_date(entry.date or ""))
            owners.claim(entry.start, entry.end, claim)
    for task in plan.tasks:
        heading, key = owners.section_at(task.start)
        date = task.timestamp.date if task.timestamp is not None and task.timestamp.is_valid else ""
        owners.claim(task.start, task.item_end, _Claim(TASK, heading, key, task.state, date=date))
    return owners.items()


def is_living_statement(paragraph: str) -> bool:
    """Return whether a paragraph only says that the plan is a living document, and how to maintain it."""
    folded = paragraph.casefold()
    return _LIVING_STATEMENT[0] in folded and all(
        [
            any([phrase in sentence for phrase in _LIVING_STATEMENT])
            for sentence in folded.split(". ")
            if sentence.strip()
        ]
    )


def _exclude_standard_lines(plan: ParsedPlan, owners: _LineOwners) -> None:
    """Leave the lines around front matter and the living statement without owners."""
    first_section = plan.sections[0].start if plan.sections else len(plan.text.lines)
    for block in plan.blocks:
        if block.start >= first_section:
            break
        if block.kind == FRONT:
            owners.exclude(block.start, block.start + 1)
            owners.exclude(block.end - 1, block.end)
        elif block.kind == PARAGRAPH and not block.depth:
            if is_living_statement(" ".join(plan.text.lines[block.start : block.end])):
                owners.exclude(block.start, block.end)


class _Claim(NamedTuple):
    """An item without its lines; the fields are those of a `SearchItem`."""

    kind: str
    heading: str = ""
    section: str = ""
    state: str = ""
    author: str = ""
    date: str = ""


class _LineOwners:
    """The item that each line of a plan belongs to: the last one that claims it."""

    def __init__(self, plan: ParsedPlan) -> None:
        self._plan = plan
        self._owners = [0] * len(plan.text.lines)
        self._claims = [_Claim(SECTION)]
        self._section_starts = [section.start for section in plan.sections]
        self.section_keys = [outline.title_key(section.name or section.title) for section in plan.sections]

    def section_at(self, line: int) -> tuple[str, str]:
        """Return the title and the key of the section that contains a line."""
        index = bisect_right(self._section_starts, line) - 1
        return (self._plan.sections[index].title, self.section_keys[index]) if index >= 0 else ("", "")

    def claim(self, start: int, end: int, claim: _Claim) -> None:
        """Make an item the owner of a range of lines."""
        self._owners[start:end] = [len(self._claims)] * (end - start)
        self._claims.append(claim)

    def exclude(self, start: int, end: int) -> None:
        """Leave a range of lines without an owner."""
        self._owners[start:end] = [_NO_OWNER] * (end - start)

    def items(self) -> list[SearchItem]:
        """Return the items that own lines with text, in the order of their claims."""
        lines = self._plan.text.lines
        placeholder_lines = frozenset(self._plan.placeholder_lines)
        indexes_by_claim: list[list[int]] = [[] for _ in self._claims]
        for index, owner in enumerate(self._owners):
            if owner != _NO_OWNER and lines[index] and index not in placeholder_lines and not lines[index].isspace():
                indexes_by_claim[owner].append(index)
        return [
            SearchItem(
                claim.kind,
                "\n".join([lines[index][:MAX_CHARS] for index in part]),
                tuple([index + 1 for index in part]),
                *claim[1:],
            )
            for claim, indexes in zip(self._claims, indexes_by_claim, strict=True)
            for part in _split_large(indexes, lines)
        ]


def _split_large(indexes: list[int], lines: list[str]) -> Iterator[list[int]]:
    """Yield the lines of an item, in several parts if they have too many characters together."""
    part: list[int] = []
    size = 0
    for index in indexes:
        if part and size + len(lines[index]) > MAX_CHARS:
            yield part
            part, size = [], 0
        part.append(index)
        size += len(lines[index])
    if part:
        yield part


def artifact_items(names: Iterable[str]) -> list[SearchItem]:
    """Return an item for each file in a plan's artifacts directory, given by its path in it."""
    return [SearchItem(ARTIFACT, name, (), "", "") for name in names]
