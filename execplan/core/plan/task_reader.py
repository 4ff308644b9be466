"""Parser for tasks: items with a checkbox in a section, or anywhere in a plan without Progress."""

from __future__ import annotations

from bisect import bisect_right

from execplan.core.plan import outline
from execplan.core.plan.line_grammar import Checkbox, read_checkbox, read_number
from execplan.core.plan.model import ParsedPlan, Section, Task
from execplan.core.text.markdown_blocks import HEADING, ITEM, PARAGRAPH, QUOTE, Block


def document_section(plan: ParsedPlan) -> Section:
    """Return the whole text as one section, for a plan whose tasks are not in Progress."""
    end = len(plan.text.lines)
    return Section(plan.title or "", None, False, 0, 0, end, end, end, 0, len(plan.blocks))


def read_tasks_elsewhere(
    lines: list[str], blocks: list[Block], plan: ParsedPlan, section_checklists: list[tuple[str, Task]]
) -> tuple[list[Task], list[tuple[str, Task]]]:
    """Return the tasks of a plan without Progress, which are all items with a checkbox, and the checklists.

    Without any, they are what has a status in another form.

    Checklists are those below a heading about validation, such as acceptance criteria, unless there are no others; if an
    item there is numbered as a part, such as `2.1` or `T012`, all of them are tasks. In a list of numbered groups, as in
    OpenSpec, there are no checklists. If a title is a misspelled Progress, nothing is a task, so that the author notices.
    """
    boxes = [
        box
        for box in read_tasks(lines, blocks, document_section(plan))
        if box.mark in "xX" or not box.mark.isalpha()  # the notes of spec-kit's template explain `[P]` in an item
    ]
    keys = [outline.title_key(section.title) for section in plan.sections]
    other_titles = [key for key in keys if "progress" not in key.split()]  # a `Progress Log` is spelled correctly
    if outline.closest_title(outline.PROGRESS, other_titles) is not None:
        return [], section_checklists
    if not boxes:
        from execplan.core.plan.status_tasks import read_status_tasks  # most plans have checkboxes

        return read_status_tasks(plan), section_checklists
    heading_starts, titles = ([], [None]) if _has_only_groups(plan, boxes) else _checklist_headings(plan)
    positions = [bisect_right(heading_starts, box.start) for box in boxes]
    numbered = {position for position, box in zip(positions, boxes, strict=True) if read_number(box.text)}
    tasks: list[Task] = []
    checklists = []
    for position, box in zip(positions, boxes, strict=True):
        title = titles[position]
        if title is None or position in numbered:
            tasks.append(box._replace(number=len(tasks) + 1))
        else:
            checklists.append((title, box))
    return (tasks, checklists) if tasks else ([box._replace(number=at) for at, box in enumerate(boxes, 1)], [])


def _has_only_groups(plan: ParsedPlan, boxes: list[Task]) -> bool:
    """Return whether each section is a numbered group with checkboxes, such as `2. Verification`."""
    from execplan.core.plan.section_roles import part_number

    starts = [section.start for section in plan.sections]
    groups = {bisect_right(starts, box.start) for box in boxes}
    return groups == {*range(1, len(starts) + 1)} and all([part_number(section.title) for section in plan.sections])


def _checklist_headings(plan: ParsedPlan) -> tuple[list[int], list[str | None]]:
    """Return the lines of the headings, and for the text before the first and below each of them, what a checklist is.

    That is the title of the section below a heading about validation, at any depth, and None elsewhere.
    """
    from execplan.core.plan.section_roles import VALIDATION, find_role

    starts: list[int] = []
    titles: list[str | None] = [None]
    section_title, validation_level = "", 0
    for block in plan.blocks:
        if block.kind != HEADING or block.depth:
            continue
        if block.level < 3:
            section_title = block.text
        if block.level <= validation_level:
            validation_level = 0
        if not validation_level and find_role(block.text, plan.text.titles) == VALIDATION:
            validation_level = block.level
        starts.append(block.start)
        titles.append(section_title if validation_level else None)
    return starts, titles


def read_tasks(lines: list[str], blocks: list[Block], section: Section, first_number: int = 1) -> list[Task]:
    """Return the items with a checkbox in a section, numbered, except those in quotes."""
    section_blocks = blocks[section.first_block : section.block_end]
    if not any([block.kind == ITEM and block.text[:1] in ("", "[") for block in section_blocks]):
        return []
    tasks: list[Task] = []
    heading = ""
    quote_end = -1
    for index, block in enumerate(section_blocks, section.first_block):
        if block.kind == ITEM:
            item_checkbox = (
                _read_item_checkbox(lines, blocks, index, section.block_end) if block.start >= quote_end else None
            )
            if item_checkbox is not None:
                checkbox, text, box_line, end = item_checkbox
                location_fields = (block.depth, block.start, end, block.end, box_line, block, heading)
                tasks.append(Task(first_number + len(tasks), checkbox.mark, text, checkbox.timestamp, *location_fields))
        elif block.kind == HEADING:
            heading = heading if block.depth else block.text
        elif block.kind == QUOTE:
            quote_end = max(quote_end, block.end)
    return tasks


def _read_item_checkbox(
    lines: list[str], blocks: list[Block], index: int, block_end: int
) -> tuple[Checkbox, str, int, int] | None:
    """Return an item's checkbox, text, checkbox line and text end, or None.

    The item has a checkbox if its first block is a paragraph that starts with one.
    """
    item = blocks[index]
    if index + 1 >= block_end:
        return None
    paragraph = blocks[index + 1]
    if paragraph.kind != PARAGRAPH or paragraph.depth != item.depth + 1 or paragraph.start >= item.end:
        return None
    checkbox = read_checkbox(paragraph.text.rstrip())
    if checkbox is None:
        return None
    text_parts = [checkbox.text, *[line.strip() for line in lines[paragraph.start + 1 : paragraph.end]]]
    return checkbox, " ".join([text_part for text_part in text_parts if text_part]), paragraph.start, paragraph.end
