"""Parser from markdown text to a `Plan`."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.plan import outline
from execplan.core.plan.entry_reader import read_entries, read_revision_notes
from execplan.core.plan.line_grammar import is_revision_note
from execplan.core.plan.model import Entry, ParsedPlan, Section, Task
from execplan.core.plan.placeholder_text import find_placeholder_lines
from execplan.core.plan.task_reader import read_tasks, read_tasks_elsewhere
from execplan.core.text.markdown_blocks import CODE, FENCE, FRONT, HEADING, HTML, PARAGRAPH, RULE, Block, scan_blocks
from execplan.core.text.text_lines import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BYTES = 5 * 1024 * 1024
"""Maximum size of a plan in bytes; larger files are rejected before they are read completely."""

_MARKER_STARTS = frozenset(("<<<<<<<", "|||||||", "=======", ">>>>>>>"))
_MARKER_SIZE = 7


def decode(data: bytes) -> Text:
    """Decode the bytes of a plan; raises ExecplanError with the position of the first byte that is not valid text."""
    if len(data) > MAX_BYTES:
        raise too_large_error(len(data))
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _unreadable_error("not-utf-8", "the file is UTF-16", "convert it to UTF-8: iconv -f UTF-16 -t UTF-8", 1)
    nul_offset = data.find(b"\0")
    if nul_offset >= 0:
        message = f"a NUL byte at offset {nul_offset}"
        raise _unreadable_error(
            "nul-byte", message, "remove the byte, or convert the file to UTF-8", _line_number(data, nul_offset)
        )
    try:
        text = Text.from_bytes(data)
    except UnicodeDecodeError as error:
        message = f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8"
        raise _unreadable_error(
            "not-utf-8", message, "convert the file to UTF-8", _line_number(data, error.start)
        ) from None
    if not any([line.strip() for line in text.lines]):
        raise _unreadable_error("empty-file", "the file is empty", "write the plan, or remove the file", 1)
    return text


def too_large_error(size: int) -> ExecplanError:
    """Return the error for a plan file of this size in bytes."""
    message = f"the file has {size:,} bytes; a plan has at most {MAX_BYTES:,}"
    return _unreadable_error("too-large", message, "move transcripts and logs into the plan's artifacts directory", 0)


def parse(text: str | bytes) -> ParsedPlan:
    """Parse the text of a plan; raises ExecplanError for bytes that are not text."""
    return read(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))


def read(data: bytes, titles: Mapping[str, str] | None = None) -> ParsedPlan:
    """Parse the bytes of a plan; raises ExecplanError if they are not text.

    `titles` are those to which the repository has given a role; `Project.parse` passes them.
    """
    text = decode(data)
    if titles:
        text.titles = titles
    return read_text(text)


def read_or_none(data: bytes, titles: Mapping[str, str] | None = None) -> ParsedPlan | None:
    """Parse the bytes of a plan like `read`; return None if they are not text."""
    try:
        return read(data, titles)
    except ExecplanError:
        return None


def read_text(text: Text) -> ParsedPlan:
    """Parse a text as a plan; every text is a valid plan."""
    plan = read_structure(text)
    lines, blocks = _lines_without_markers(text, plan.conflict_lines), plan.blocks
    tasks: list[Task] = []
    checklists: list[tuple[str, Task]] = []
    entries: dict[str, list[Entry]] = {}
    revisions: list[Entry] = []
    seen_names = set()
    for section in plan.sections:
        name = section.name
        # the two sides of a conflict may each have the section
        is_read = name is not None and (name not in seen_names or bool(plan.conflict_lines))
        seen_names.add(name)
        if is_read and name == outline.PROGRESS:
            tasks += read_tasks(lines, blocks, section, len(tasks) + 1)
        else:
            checklists += [(section.title, task) for task in read_tasks(lines, blocks, section)]
        if is_read and name in (outline.SURPRISES, outline.DECISIONS, outline.OUTCOMES):
            entries.setdefault(name, []).extend(read_entries(lines, blocks, section, plan.placeholder_lines))
        if section.notes_start < section.end or is_revision_note(section.title):
            revisions += read_revision_notes(lines, blocks, section, plan.placeholder_lines)
    has_only_progress = seen_names.intersection(outline.LIVING) == {outline.PROGRESS}
    if not tasks and (outline.PROGRESS not in seen_names or has_only_progress):
        tasks, other_checklists = read_tasks_elsewhere(lines, blocks, plan, checklists)
        if tasks and has_only_progress:  # it reports what was done, or its tasks have no checkboxes
            plan = plan._replace(sections=[_without_name(section, outline.PROGRESS) for section in plan.sections])
        checklists = other_checklists
        from execplan.core.plan.section_roles import name_logs  # most plans have the sections of the format

        plan = plan._replace(sections=name_logs(plan.sections, tasks, text.titles))
        for section in plan.sections:
            if section.is_living and section.name is not None and section.name not in entries:
                entries[section.name] = read_entries(lines, blocks, section, plan.placeholder_lines)
    return _recognize(
        ParsedPlan(
            text,
            blocks,
            plan.title,
            plan.title_line,
            plan.sections,
            tasks,
            checklists,
            entries.get(outline.DECISIONS, []),
            entries.get(outline.SURPRISES, []),
            entries.get(outline.OUTCOMES, []),
            revisions,
            plan.conflict_lines,
            plan.placeholder_lines,
        )
    )


def _recognize(parsed_plan: ParsedPlan) -> ParsedPlan:
    """Return a plan with what it says about itself: whether it is one, and whether it is done without any tasks."""
    if parsed_plan.tasks:
        return parsed_plan
    from execplan.core.plan.plan_recognition import is_plan  # most plans have tasks
    from execplan.core.plan.stated_status import find_done_status

    if not is_plan(parsed_plan):
        return parsed_plan._replace(is_document=True)
    return parsed_plan._replace(is_stated_done=next(find_done_status(parsed_plan), None) is not None)


def read_structure(text: Text) -> ParsedPlan:
    """Parse the title and the sections of a plan, without its tasks and entries, which takes most of the time."""
    conflicts = find_conflict_markers(text.lines)
    lines = _lines_without_markers(text, conflicts)
    blocks = scan_blocks(lines, has_tabs=text.tabs)
    title, title_line, sections = _read_sections(lines, blocks, text.titles)
    placeholder_lines = _placeholder_lines(lines, blocks)
    return ParsedPlan(text, blocks, title, title_line, sections, [], [], [], [], [], [], conflicts, placeholder_lines)


def _lines_without_markers(text: Text, conflicts: list[int]) -> list[str]:
    """Return the lines of a text, with blank lines in place of conflict markers."""
    if not conflicts:
        return text.lines
    lines = list(text.lines)
    for index in conflicts:
        lines[index] = ""
    return lines


def _read_sections(
    lines: list[str], blocks: list[Block], titles: Mapping[str, str]
) -> tuple[str | None, int, list[Section]]:
    """Return the title, its line, and the sections."""
    heading_indexes = [
        index for index, block in enumerate(blocks) if block.kind == HEADING and block.level < 3 and not block.depth
    ]
    title_index = next((index for index in heading_indexes if blocks[index].level == 1), -1)
    if title_index < 0 or title_index != heading_indexes[0]:
        front_title, front_line = _front_matter_title(lines, blocks)
        title_index = -1 if front_title is not None else title_index
    else:
        front_title, front_line = None, -1
    if (
        title_index < 0
        and front_title is None
        and heading_indexes
        and _can_be_title(blocks[heading_indexes[0]].text, titles)
    ):
        title_index = heading_indexes[0]
    sections = []
    for position, index in enumerate(heading_indexes):
        heading = blocks[index]
        if heading.level == 1 or index == title_index:
            continue
        block_end = heading_indexes[position + 1] if position + 1 < len(heading_indexes) else len(blocks)
        end = blocks[block_end].start if block_end < len(blocks) else len(lines)
        name = outline.canonical_name(heading.text)
        is_living = name in outline.LIVING
        notes_start, content_end = _section_ends(blocks, index + 1, block_end, end)
        sections.append(
            Section(
                heading.text,
                name,
                is_living,
                heading.start,
                heading.end,
                notes_start,
                content_end,
                end,
                index + 1,
                block_end,
            )
        )
    title = blocks[title_index] if title_index >= 0 else None
    sections = _prefer_canonical_titles(sections)
    return (title.text or None, title.start, sections) if title else (front_title, front_line, sections)


def _front_matter_title(lines: list[str], blocks: list[Block]) -> tuple[str | None, int]:
    """Return the title in the front matter, on one line, and where it is; None and -1 if there is none."""
    if not blocks or blocks[0].kind != FRONT:
        return None, -1
    from execplan.core.plan.front_matter import key_lines, parse_front_matter  # most plans have an H1

    title = parse_front_matter(lines).fields.get("title")
    start, _ = key_lines(lines, blocks[0].end, "title")
    return (" ".join(title.split()), start) if isinstance(title, str) and title.strip() and start else (None, -1)


def _can_be_title(text: str, titles: Mapping[str, str]) -> bool:
    """Return whether the first heading can be the plan's title, although it is not an H1: it is no section of a plan."""
    from execplan.core.plan.section_roles import find_role  # most plans have an H1

    number = text.partition(" ")[0]
    is_numbered = number[-1:] in (".", ")") and number[:-1].isdecimal()
    return outline.canonical_name(text) is None and not is_numbered and find_role(text, titles) is None


def _prefer_canonical_titles(sections: list[Section]) -> list[Section]:
    """Drop the standard name of a section with an alias as its title if another has the standard title."""
    names = [section.name for section in sections if section.name is not None]
    if len(set(names)) == len(names):
        return sections
    canonical_names = {
        section.name
        for section in sections
        if section.name is not None and outline.is_canonical_title(section.title, section.name)
    }
    return [
        section._replace(name=None, is_living=False)
        if section.name in canonical_names and not outline.is_canonical_title(section.title, section.name)
        else section
        for section in sections
    ]


def _without_name(section: Section, name: str) -> Section:
    """Return a section without its standard name if that is `name`."""
    return section._replace(name=None, is_living=False) if section.name == name else section


def _section_ends(blocks: list[Block], first_block: int, block_end: int, end: int) -> tuple[int, int]:
    """Return the start of a section's final revision notes, including a rule above them, and of its final rule."""
    previous_block = None
    for index in range(first_block, block_end):
        block = blocks[index]
        if block.depth:
            continue
        if block.kind == PARAGRAPH and is_revision_note(block.text):
            notes_start = (
                previous_block.start if previous_block is not None and previous_block.kind == RULE else block.start
            )
            return notes_start, notes_start
        previous_block = block
    return end, previous_block.start if previous_block is not None and previous_block.kind == RULE else end


def _placeholder_lines(lines: list[str], blocks: list[Block]) -> list[int]:
    """Return the placeholder lines outside code and HTML blocks."""
    if line_indexes := find_placeholder_lines(lines):
        for block in blocks:
            if block.kind in (FENCE, CODE, HTML):
                line_indexes = [index for index in line_indexes if not block.start <= index < block.end]
    return line_indexes


def find_conflict_markers(lines: list[str]) -> list[int]:
    """Return the lines with Git conflict markers: seven equal characters, then a space or the end of the line.

    `=======` alone underlines a heading, and `>>>>>>>` alone is a nested quote. Longer markers, which Git writes for
    conflicts inside conflicts, count only as part of a complete conflict.
    """
    candidates = [index for index, line in enumerate(lines) if line[:7] in _MARKER_STARTS]
    return _confirm_markers(lines, candidates) if candidates else []


def parse_conflict_marker(line: str) -> tuple[str, int]:
    """Return the character and the size of a possible conflict marker, or an empty string and 0."""
    if line[:7] not in _MARKER_STARTS:
        return "", 0
    kind = line[0]
    size = len(line) - len(line.lstrip(kind))
    return (kind, size) if line[size : size + 1] in ("", " ") else ("", 0)


def _confirm_markers(lines: list[str], candidates: list[int]) -> list[int]:
    """Return the candidate lines that are conflict markers."""
    by_size: dict[int, list[tuple[str, int]]] = {}
    for index in candidates:
        kind, size = parse_conflict_marker(lines[index])
        if kind:
            by_size.setdefault(size, []).append((kind, index))
    marker_lines: list[int] = []
    for size, size_markers in by_size.items():
        kinds = {kind for kind, _ in size_markers}
        if size == _MARKER_SIZE:
            marker_lines += [index for _, index in size_markers] if "<" in kinds or kinds >= {">", "="} else []
            continue
        open_markers: list[int] = []
        seen_kinds = ""
        for kind, index in size_markers:
            if kind == "<":
                open_markers, seen_kinds = [index], "<"
            elif seen_kinds and (seen_kinds[-1] + kind in ("<|", "<=", "|=", "=>")):
                open_markers.append(index)
                seen_kinds += kind
                if kind == ">":
                    marker_lines += open_markers
                    open_markers, seen_kinds = [], ""
    return sorted(marker_lines)


def _line_number(data: bytes, offset: int) -> int:
    """Return the line number of a byte offset, from 1."""
    return len((data[:offset] + b".").splitlines())


def _unreadable_error(code: str, message: str, hint: str, line: int) -> ExecplanError:
    return ExecplanError(code, message, hint=hint, line=line)
