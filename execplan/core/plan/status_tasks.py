"""Parser for tasks without checkboxes: phases with a status line, rows of a table, and items with a status word."""

from __future__ import annotations

from itertools import pairwise

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ParsedPlan, Task, TaskStatus
from execplan.core.plan.role_table import COLUMNS
from execplan.core.plan.section_roles import OUTCOMES, STATUS, TASKS, VALIDATION, find_role, has_role, part_number
from execplan.core.plan.status_words import read_status
from execplan.core.text.markdown_blocks import HEADING, ITEM, PARAGRAPH, Block, flag_inert_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_EMPHASIS = " \t*_`"
_SEPARATION = " \t:—–-"
_MARKUP = _EMPHASIS + _SEPARATION
_MAX_KEY_LENGTH = 20
_SEPARATORS = (" — ", " – ", " - ", ": ", " (", " [", " **", " *", " `", " ")
"""What may be before a status at the end of an item; after a space alone, a word could end a sentence."""


class Heading(NamedTuple):
    """A heading, and what is below it up to the next one."""

    block: Block
    end: int
    is_work: bool
    """Whether it names tasks, or a section that does contains it."""
    parent: str


def read_status_tasks(plan: ParsedPlan) -> list[Task]:
    """Return the tasks of a plan without checkboxes, in the first of the three forms that it has."""
    headings = read_headings(plan)
    for read in (_read_phases, _read_rows, _read_items):
        tasks = list(read(plan, headings))
        if len(tasks) > 1 or (tasks and read == _read_rows):  # a single other status may be that of the whole plan
            return [task._replace(number=number) for number, task in enumerate(tasks, 1)]
    return []


def read_headings(plan: ParsedPlan) -> list[Heading]:
    """Return the headings of a plan, except its title."""
    blocks = [block for block in plan.blocks if block.kind == HEADING and not block.depth]
    ends = [block.start for block in blocks[1:]] + [len(plan.text.lines)]
    headings: list[Heading] = []
    parents: list[Block] = []
    for block, end in zip(blocks, ends, strict=False):
        parents = [parent for parent in parents if parent.level < block.level]
        chain = [*parents, block]
        is_work = any([find_role(other.text, plan.text.titles) == TASKS for other in chain])
        if block.start != plan.title_line:
            headings.append(Heading(block, end, is_work, parents[-1].text if parents else ""))
            parents = chain
    return headings


def find_phases(plan: ParsedPlan, headings: list[Heading]) -> list[tuple[Heading, int, TaskStatus]]:
    """Return the headings with a status line below them, with this line and its status."""
    lines = plan.text.lines
    inert_lines = flag_inert_lines(plan.blocks, len(lines))
    phases = []
    for heading in headings:
        for at in range(heading.block.end, heading.end):
            key, colon, value = lines[at].replace("：", ":").partition(":")
            if colon and len(key) <= _MAX_KEY_LENGTH and not inert_lines[at]:
                text = value.strip(_EMPHASIS)
                text += "**" if text.count("**") % 2 and value.rstrip().endswith("**") else ""
                if text and find_role(key.lstrip(" \t-+*_").rstrip(_EMPHASIS), plan.text.titles) == STATUS:
                    phases.append(
                        (heading, at, TaskStatus("line", lines[at].index(text, len(key)), text, _is_exact(text)))
                    )
                    break
    return phases


def _read_phases(plan: ParsedPlan, headings: list[Heading]) -> Iterator[Task]:
    """Yield a task for each numbered heading with a status line, or each one in a section with tasks."""
    parts = [heading for heading in headings if heading.is_work or part_number(heading.block.text)]
    phases = find_phases(plan, parts)
    for heading, line, status in phases if _are_known([status.text for _, _, status in phases]) else ():
        block = heading.block
        location = (block.depth, block.start, block.end, line + 1, line, block, heading.parent, status)
        yield Task(0, status_mark(status.text), block.text, None, *location)


def _read_rows(plan: ParsedPlan, headings: list[Heading]) -> Iterator[Task]:
    """Yield the rows of tables with a column for the status, and one for the task or below a heading about tasks."""
    for heading, block in _blocks_below(plan, headings):
        start = _table_start(plan.text.lines, block) if block.kind == PARAGRAPH else -1
        if start < 0 or (not heading.is_work and _is_about_results(heading, plan.text.titles)):
            continue
        titles = [text.strip(_EMPHASIS).casefold() for _, text in split_cells(plan.text.lines[start])]
        at = next((index for index, title in enumerate(titles) if find_role(title, plan.text.titles) == STATUS), -1)
        if at < 0 or len(titles) < 2 or not (heading.is_work or set(titles).intersection(COLUMNS["work"])):
            continue
        rows = [(line, split_cells(plan.text.lines[line])) for line in range(start + 2, block.end)]
        rows = [(line, cells) for line, cells in rows if len(cells) >= len(titles)]  # GitHub ignores additional cells
        kinds = [COLUMNS[kind] for kind in ("id", "work", "text")]
        columns = {next((index for index, title in enumerate(titles) if title in kind), at) for kind in kinds} - {at}
        for line, cells in rows if _are_known([cells[at][1] for _, cells in rows if cells[at][1]]) else ():
            texts = [cells[index][1] for index in sorted(columns) or [0 if at else 1]]
            text = ": ".join([text for text in texts if text and not text.strip("#*.").isdecimal()] or texts[:1])
            column, word = cells[at]
            status = TaskStatus("cell", column, word, not word or _is_exact(word))
            yield Task(
                0, status_mark(word), text, None, 0, line, line + 1, line + 1, line, block, heading.block.text, status
            )


def _read_items(plan: ParsedPlan, headings: list[Heading]) -> Iterator[Task]:
    """Yield the items below a heading about tasks, numbered or beginning with a bracket, if most of them have a status word.

    Other items begin or end with one in reports of what works.
    """
    items: dict[int, list[tuple[Block, Block, str, str]]] = {}
    work = [heading for heading in headings if heading.is_work]
    for item, paragraph in pairwise(plan.blocks):
        is_listed = item.mark[:1].isdecimal() or paragraph.text.startswith("[")
        is_top = item.kind == ITEM and not item.depth and paragraph.kind == PARAGRAPH
        if is_top and paragraph.start == item.start and is_listed:
            at = next((at for at, heading in enumerate(work) if heading.block.start < item.start < heading.end), -1)
            items.setdefault(at, []).append((item, paragraph, *_read_item_status(plan.text.lines, paragraph)))
    for at, group in items.items():
        forms = [form for *_, form, _ in group if form]
        if at < 0 or 2 * len(forms) <= len(group):  # a sentence that ends like that by chance
            continue
        for item, paragraph, own_form, word in group:
            own_lines = plan.text.lines[paragraph.start + 1 : paragraph.end]
            text = " ".join([paragraph.text, *[line.strip() for line in own_lines]]).rstrip()
            form = own_form or max(forms, key=forms.count)
            line = paragraph.start if form == "start" else paragraph.end - 1
            line_text = plan.text.lines[line].rstrip()
            if form == "start":
                own_text = line_text.lstrip(" \t")[len(item.mark) :].lstrip(" \t")
                column, text = len(line_text) - len(own_text), text[len(word) :]
            else:
                column, text = len(line_text) - len(word), text[: len(text) - len(word)]
            has_tab = line_text[column : column + len(word)] != word  # which the parser has expanded
            status = TaskStatus(form, column, word, is_exact=not has_tab)
            location = (0, item.start, paragraph.end, item.end, line, item, work[at].block.text, status)
            yield Task(0, status_mark(word), text.strip(), None, *location)


def _read_item_status(lines: list[str], paragraph: Block) -> tuple[str, str]:
    """Return the form and the text of the status at the start or the end of an item, with what separates it from the rest.

    Both are empty if there is none.
    """
    text, last = paragraph.text.rstrip(), lines[paragraph.end - 1].rstrip()
    for end in _head_ends(text):
        rest = text[end:].lstrip(_SEPARATION)
        if rest and text[end] in _SEPARATION and _is_status_word(text[:end]):
            return "start", text[: len(text) - len(rest)]
    for separator in _SEPARATORS:
        at = last.rfind(separator)
        if at > 0 and _is_status_word(last[at:]) and (separator != " " or last[at + 1 :] > "\x7f"):
            return "end", last[at:]
    return "", ""


def _head_ends(text: str) -> Iterator[int]:
    """Yield where a status at the start of a text may end: after a symbol, brackets, emphasis or a colon."""
    if text[:1] > "\x7f" and not text[0].isalnum():
        yield len(text.split(" ", 1)[0])
    for mark, end in (("(", ")"), ("[", "]"), ("**", "**")):
        if text.startswith(mark):
            yield text.find(end, len(mark)) + len(end)
    yield text.find(":", 0, _MAX_KEY_LENGTH) + 1


def _blocks_below(plan: ParsedPlan, headings: list[Heading]) -> Iterator[tuple[Heading, Block]]:
    """Yield the blocks outside of lists and quotes, each with its heading; those above the first have an empty one."""
    heading = Heading(Block(HEADING, 0, 0, 0, 1, 0, 0, "#", "", is_closed=True), 0, is_work=False, parent="")
    by_start = {other.block.start: other for other in headings}
    for block in plan.blocks:
        heading = by_start.get(block.start, heading)
        if not block.depth:
            yield heading, block


def _is_about_results(heading: Heading, titles: Mapping[str, str]) -> bool:
    return has_role(heading.block.text, VALIDATION, titles) or has_role(heading.block.text, OUTCOMES, titles)


def _table_start(lines: list[str], block: Block) -> int:
    """Return the line with the titles of the columns of a table in a paragraph, or -1."""
    for line in range(block.start + 1, block.end):
        if "-" in lines[line] and "|" in lines[line] and not lines[line].strip(" \t|:-"):
            same_size = len(split_cells(lines[line])) == len(split_cells(lines[line - 1]))
            return line - 1 if same_size else -1
    return -1


def split_cells(line: str) -> list[tuple[int, str]]:
    """Return the text of each cell of a table's row without the space around it, and its column."""
    bounds = [at for at, char in enumerate(line) if char == "|" and line[at - 1 : at] != "\\"]
    if not line.lstrip().startswith("|"):
        bounds.insert(0, -1)
    if bounds and line[bounds[-1] + 1 :].strip():
        bounds.append(len(line))
    cells = []
    for start, end in pairwise(bounds):
        text = line[start + 1 : end]
        blank = len(text) - len(text.lstrip())
        cells.append((start + 1 + (blank if text.strip() else min(1, len(text))), text.strip()))
    return cells


def status_mark(text: str) -> str:
    """Return the mark of a checkbox that means the same as a status; that of a text without one is a question mark."""
    status = read_status(text.strip(_MARKUP))
    if status is not None:
        return status.mark
    return "?" if text.strip() else " "


def _is_status_word(text: str) -> bool:
    """Return whether a part of an item is a status with complete markup, so that it can be copied."""
    return text.count("**") % 2 == text.count("`") % 2 == 0 and _is_exact(text.strip(_MARKUP))


def _are_known(texts: list[str]) -> bool:
    """Return whether most of some texts are statuses."""
    return 2 * len([text for text in texts if read_status(text) is not None]) > len(texts)


def _is_exact(text: str) -> bool:
    status = read_status(text)
    return status is not None and status.is_exact
