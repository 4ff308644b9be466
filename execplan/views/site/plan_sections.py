"""The sections of a plan as HTML: tasks and decisions with their fields, everything else as rendered markdown."""

from __future__ import annotations

from bisect import bisect_left
from itertools import takewhile
from textwrap import dedent
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from execplan.core.plan.outline import DECISIONS, PROGRESS
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.text.block_rules import heading_anchor
from execplan.core.text.markdown_blocks import FRONT, HEADING, PARAGRAPH
from execplan.core.text.markdown_html import MarkdownHtml
from execplan.execution.annotations.info_string import parse_info_string
from execplan.execution.attributes import EXAMPLE, EXECUTION, EXPECT
from execplan.views.site.decision_items import DecisionWriter
from execplan.views.site.link_resolver import anchor_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from execplan.core.plan.model import ParsedPlan, Section, Task
    from execplan.core.text.markdown_html import NameAnchor, ResolveLink
    from execplan.views.board.board_cards import TaskClaim
    from execplan.views.site.decision_items import DecisionItem


_MARKS = {EXAMPLE: "Example", EXPECT: "Expected output", EXECUTION: "Settings of runs"}
"""Captions of the code blocks that are no steps, by mark."""


def describe_code(info: str) -> Sequence[tuple[str, str]]:
    """Return the facts in a code block's info string, such as `sh {#build timeout=60}`, as labels and values.

    A value may be empty. There are no facts if the attributes are those of another program or are not valid.
    """
    parsed = parse_info_string(info)
    if parsed is None or parsed.flaws:
        return ()
    step = "Step", parsed.id.value if parsed.id is not None else ""
    facts = [(_MARKS[parsed.mark], "")] if parsed.mark else [step]
    attributes = [attribute for attribute in parsed.attributes if attribute.name != "id"]
    return [
        *facts,
        *[(attribute.name.replace("-", " "), "" if attribute.is_bare else attribute.value) for attribute in attributes],
    ]


class TaskItem(NamedTuple):
    """A task of Progress."""

    number: int
    id: str
    state: str
    """State of the task: open, done or other."""
    state_label: str
    """State for people: open, done, dropped, or the mark."""
    is_unfinished: bool
    mark: str
    """Character in the checkbox."""
    text: Markup
    timestamp: str
    """Date and time as written; empty if there is none."""
    depth: int
    notes: Markup
    """What follows the task's text in its item, such as a link to a transcript."""
    heading: str
    """Sub-heading above the task, if it is another one than above the previous task; else empty."""
    claimed_by: str
    claimed_until: str


class SectionHtml(NamedTuple):
    """A section of a plan, ready to be shown."""

    title: Markup
    anchor: str
    """ID of the section on the page."""
    tasks: tuple[TaskItem, ...]
    """Tasks, if this is the Progress section."""
    decisions: tuple[DecisionItem, ...]
    """Decisions, if this is the Decision Log."""
    body: Markup
    """Everything else in the section."""


class RenderedPlan(NamedTuple):
    """The content of a plan as HTML."""

    front_matter: str
    """Lines of the front matter, without its marks; empty if there is none."""
    introduction: Markup
    """Text between the title and the first section."""
    sections: tuple[SectionHtml, ...]


def render_content(plan: ParsedPlan, resolve_link: ResolveLink, claims: Mapping[str, TaskClaim]) -> RenderedPlan:
    """Convert a plan to HTML; `claims` are the claims on its tasks by task ID."""
    writer = _ContentWriter(plan, resolve_link, claims)
    introduction = writer.introduction()
    sections = tuple([writer.section(section) for section in plan.sections])
    return RenderedPlan(writer.front_matter(), introduction, sections)


class _ContentWriter:
    """Converts the parts of a plan, in the order of the file, to HTML."""

    def __init__(self, plan: ParsedPlan, resolve_link: ResolveLink, claims: Mapping[str, TaskClaim]) -> None:
        self._plan = plan
        self._claims = claims
        self._section_starts = [section.start for section in plan.sections]
        self._anchor_counts: dict[str, int] = {}
        self._markdown = plan_markdown(plan, resolve_link, self._name_anchor)
        if plan.title is not None:
            self._name_anchor(plan.title)

    def front_matter(self) -> str:
        """Return the lines of the front matter without its marks."""
        blocks = self._plan.blocks[:1]
        if not blocks or blocks[0].kind != FRONT:
            return ""
        return "\n".join(self._plan.text.lines[1 : blocks[0].end - 1])

    def introduction(self) -> Markup:
        """Return the text before the first section, without title and front matter."""
        plan = self._plan
        excluded_lines = set(range(plan.blocks[0].end)) if self.front_matter() else set()
        excluded_lines |= self._title_lines()
        return self._remaining(0, self._next_section_start(0), excluded_lines)

    def section(self, section: Section) -> SectionHtml:
        """Return a section with its tasks, its decisions and the rest of its text."""
        anchor = self._name_anchor(section.title)
        tasks: tuple[TaskItem, ...] = ()
        decisions: tuple[DecisionItem, ...] = ()
        excluded_lines: set[int] = set()
        if section.name == PROGRESS:
            section_tasks = [task for task in self._plan.tasks if section.start <= task.start < section.end]
            tasks = tuple(self._tasks(section.start, section.end))
            excluded_lines = _lines_of([(task.start, task.item_end) for task in section_tasks])
            excluded_lines |= self._heading_lines(section, {task.heading for task in section_tasks})
        elif section.name == DECISIONS:
            decisions = DecisionWriter(self._plan, self._markdown).decisions(section.start, section.end)
            excluded_lines = _lines_of(
                [
                    (entry.start, entry.end)
                    for entry in self._plan.decisions
                    if section.start <= entry.start < section.end
                ]
            )
        title = Markup(self._markdown.inline(section.title))  # noqa: S704 (escaped)
        # Below another heading of level 1, text belongs to no section of the plan; it is shown where it is.
        end = self._next_section_start(section.end)
        if end != section.end:
            excluded_lines |= self._title_lines()
        return SectionHtml(title, anchor, tasks, decisions, self._remaining(section.body_start, end, excluded_lines))

    def _next_section_start(self, line: int) -> int:
        """Return the line of the first section at or after a line, or the end of the plan."""
        index = bisect_left(self._section_starts, line)
        return self._section_starts[index] if index < len(self._section_starts) else len(self._plan.text.lines)

    def _title_lines(self) -> set[int]:
        title_line = self._plan.title_line
        return _lines_of([(block.start, block.end) for block in self._plan.blocks if block.start == title_line])

    def _name_anchor(self, text: str) -> str:
        return anchor_id(heading_anchor(text.replace("`", "").replace("*", ""), self._anchor_counts))

    def _remaining(self, start: int, end: int, excluded_lines: set[int]) -> Markup:
        """Return the lines of a range that are not shown elsewhere."""
        lines = self._plan.text.lines[start:end]
        lines = ["" if number in excluded_lines else line for number, line in enumerate(lines, start)]
        return Markup(self._markdown.block("\n".join(lines)))  # noqa: S704 (escaped)

    def _tasks(self, start: int, end: int) -> Iterator[TaskItem]:
        """Yield the tasks between two lines."""
        heading = ""
        for task, task_id in zip(self._plan.tasks, task_ids(self._plan.tasks), strict=True):
            if not start <= task.start < end:
                continue
            claim = self._claims.get(task_id)
            yield TaskItem(
                task.number,
                task_id,
                task.state,
                task.state_label,
                task.is_unfinished,
                task.mark,
                Markup(self._markdown.inline(task.text)),  # noqa: S704 (escaped)
                task.timestamp.date_time if task.timestamp is not None else "",
                task.depth,
                self._task_notes(task),
                task.heading if task.heading != heading else "",
                claim.by if claim is not None else "",
                claim.until if claim is not None else "",
            )
            heading = task.heading

    def _task_notes(self, task: Task) -> Markup:
        """Return what follows a task's text in its item, without the tasks nested in it."""
        later_tasks = (self._plan.tasks[index] for index in range(task.number, len(self._plan.tasks)))
        nested_tasks = takewhile(lambda later_task: later_task.start < task.item_end, later_tasks)
        nested_lines = _lines_of([(nested.start, nested.item_end) for nested in nested_tasks])
        lines = self._plan.text.lines[task.end : task.item_end]
        remaining = [line for number, line in enumerate(lines, task.end) if number not in nested_lines]
        if not any([line.strip() for line in remaining]):
            return Markup()
        return Markup(self._markdown.block(dedent("\n".join(remaining))))  # noqa: S704 (escaped)

    def _heading_lines(self, section: Section, headings: set[str]) -> set[int]:
        """Return the lines of sub-headings that are shown above tasks."""
        blocks = self._plan.blocks[section.first_block : section.block_end]
        return _lines_of(
            [(block.start, block.end) for block in blocks if block.kind == HEADING and block.text in headings]
        )


def plan_markdown(plan: ParsedPlan, resolve_link: ResolveLink, name_anchor: NameAnchor) -> MarkdownHtml:
    """Return a converter that knows the link definitions of a plan."""
    markdown = MarkdownHtml(resolve_link, name_anchor, describe_code)
    blocks = [block for block in plan.blocks if block.kind == PARAGRAPH and block.text.startswith("[")]
    lines = [line.strip(" \t>") for block in blocks for line in [*plan.text.lines[block.start : block.end], ""]]
    if any(["]:" in line for line in lines]):
        markdown.add_definitions("\n".join(lines))
    return markdown


def _lines_of(ranges: Iterable[tuple[int, int]]) -> set[int]:
    """Return the lines in ranges whose end is exclusive."""
    return {line for start, end in ranges for line in range(start, end)}
