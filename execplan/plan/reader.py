"""Text → Plan."""

from __future__ import annotations

from execplan.errors import INPUT, ExecplanError
from execplan.plan import outline
from execplan.plan.entries import read_entries, read_notes
from execplan.plan.grammar import Box, is_note, read_box
from execplan.plan.guidance import guidance_in
from execplan.plan.model import Entry, Plan, Section, Task
from execplan.text.blocks import CODE, FENCE, HEADING, HTML, ITEM, PARAGRAPH, QUOTE, RULE, Block, scan
from execplan.text.lines import Text

MAX_BYTES = 5 * 1024 * 1024
"""Larger files are refused before they are read whole."""

_MARKERS = frozenset(("<<<<<<<", "|||||||", "=======", ">>>>>>>"))
_SIZE = 7


def decode(data: bytes) -> Text:
    """The bytes as a text, or a refusal that says where they stop being one."""
    if len(data) > MAX_BYTES:
        raise too_large(len(data))
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _unreadable("not-utf-8", "the file is UTF-16", "convert it to UTF-8: iconv -f UTF-16 -t UTF-8", 1)
    zero = data.find(b"\0")
    if zero >= 0:
        where = f"a NUL byte at offset {zero}"
        raise _unreadable("nul-byte", where, "remove the byte, or convert the file to UTF-8", _line(data, zero))
    try:
        text = Text.from_bytes(data)
    except UnicodeDecodeError as error:
        where = f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8"
        raise _unreadable("not-utf-8", where, "convert the file to UTF-8", _line(data, error.start)) from None
    if not any([line.strip() for line in text.lines]):
        raise _unreadable("empty-file", "the file is empty", "write the plan, or remove the file", 1)
    return text


def too_large(size: int) -> ExecplanError:
    """The refusal of a file of so many bytes."""
    why = f"the file has {size:,} bytes; a plan has at most {MAX_BYTES:,}"
    return _unreadable("too-large", why, "move transcripts and logs into the plan's artifacts folder", 0)


def read(data: bytes) -> Plan:
    """The plan that the bytes hold; raises ExecplanError when they are no text."""
    return read_text(decode(data))


def read_text(text: Text) -> Plan:
    """The plan that a text holds; every text is some plan."""
    lines = text.lines
    conflicts = conflicts_in(lines)
    if conflicts:
        lines = list(lines)
        for at in conflicts:
            lines[at] = ""
    blocks = scan(lines, tabs=text.tabs)
    title, title_line, sections = _sections(lines, blocks)
    guidance = _guidance(lines, blocks)
    tasks: list[Task] = []
    checklists: list[tuple[str, Task]] = []
    entries: dict[str, list[Entry]] = {}
    revisions: list[Entry] = []
    seen = set()
    for section in sections:
        name = section.name
        first = name is not None and name not in seen
        seen.add(name)
        if first and name == outline.PROGRESS:
            tasks = _tasks(lines, blocks, section)
        else:
            checklists += [(section.title, task) for task in _tasks(lines, blocks, section)]
        if first and name in (outline.SURPRISES, outline.DECISIONS, outline.OUTCOMES):
            entries[name] = read_entries(lines, blocks, section, guidance)
        if section.notes < section.end or is_note(section.title):
            revisions += read_notes(lines, blocks, section, guidance)
    return Plan(
        text,
        blocks,
        title,
        title_line,
        sections,
        tasks,
        checklists,
        entries.get(outline.DECISIONS, []),
        entries.get(outline.SURPRISES, []),
        entries.get(outline.OUTCOMES, []),
        revisions,
        conflicts,
        guidance,
    )


def _sections(lines: list[str], blocks: list[Block]) -> tuple[str | None, int, list[Section]]:
    """Title, its line, and the sections."""
    heads = [at for at, block in enumerate(blocks) if block.kind == HEADING and block.level < 3 and not block.depth]
    title_at = next((at for at in heads if blocks[at].level == 1), -1)
    if title_at < 0 and heads and outline.canonical(blocks[heads[0]].text) is None:
        title_at = heads[0]
    sections = []
    for place, at in enumerate(heads):
        head = blocks[at]
        if head.level == 1 or at == title_at:
            continue
        last = heads[place + 1] if place + 1 < len(heads) else len(blocks)
        end = blocks[last].start if last < len(blocks) else len(lines)
        name = outline.canonical(head.text)
        living = name in outline.LIVING
        notes, room = _notes(blocks, at + 1, last, end)
        sections.append(Section(head.text, name, living, head.start, head.end, notes, room, end, at + 1, last))
    title = blocks[title_at] if title_at >= 0 else None
    sections = _by_full_name(sections)
    return (title.text or None, title.start, sections) if title else (None, -1, sections)


def _by_full_name(sections: list[Section]) -> list[Section]:
    """The sections; where one is called by its own name, none is it that is only known by another."""
    names = [section.name for section in sections if section.name is not None]
    if len(set(names)) == len(names):
        return sections
    full = {each.name for each in sections if each.name is not None and outline.is_full(each.title, each.name)}
    return [
        each._replace(name=None, living=False)
        if each.name in full and not outline.is_full(each.title, each.name)
        else each
        for each in sections
    ]


def _notes(blocks: list[Block], first: int, last: int, end: int) -> tuple[int, int]:
    """Where the revision notes at the end of a section begin, a rule above them is theirs; and where a last rule does."""
    before = None
    for at in range(first, last):
        block = blocks[at]
        if block.depth:
            continue
        if block.kind == PARAGRAPH and is_note(block.text):
            notes = before.start if before is not None and before.kind == RULE else block.start
            return notes, notes
        before = block
    return end, before.start if before is not None and before.kind == RULE else end


def _tasks(lines: list[str], blocks: list[Block], section: Section) -> list[Task]:
    """The items with a box in a section; quotes hold none."""
    inside = blocks[section.first : section.last]
    if not any([block.kind == ITEM and block.text[:1] in ("", "[") for block in inside]):
        return []
    tasks: list[Task] = []
    heading = ""
    quoted = -1
    for at, block in enumerate(inside, section.first):
        if block.kind == ITEM:
            found = _box(lines, blocks, at, section.last) if block.start >= quoted else None
            if found is not None:
                box, words, line, end = found
                place = (block.depth, block.start, end, block.end, line, block, heading)
                tasks.append(Task(len(tasks) + 1, box.mark, words, box.stamp, *place))
        elif block.kind == HEADING:
            heading = heading if block.depth else block.text
        elif block.kind == QUOTE:
            quoted = max(quoted, block.end)
    return tasks


def _box(lines: list[str], blocks: list[Block], at: int, last: int) -> tuple[Box, str, int, int] | None:
    """The box of an item whose first block is a paragraph that begins with one, its words, its line and where they end."""
    item = blocks[at]
    if at + 1 >= last:
        return None
    words = blocks[at + 1]
    if words.kind != PARAGRAPH or words.depth != item.depth + 1 or words.start >= item.end:
        return None
    box = read_box(words.text.rstrip())
    if box is None:
        return None
    parts = [box.words, *[line.strip() for line in lines[words.start + 1 : words.end]]]
    return box, " ".join([part for part in parts if part]), words.start, words.end


def _guidance(lines: list[str], blocks: list[Block]) -> list[int]:
    """The lines that a template left, outside code and comments."""
    found = guidance_in(lines)
    if found:
        for block in blocks:
            if block.kind in (FENCE, CODE, HTML):
                found = [at for at in found if not block.start <= at < block.end]
    return found


def conflicts_in(lines: list[str]) -> list[int]:
    """The lines of conflict markers of git: seven of a kind, then a space or nothing.

    `=======` alone underlines a heading, and `>>>>>>>` alone is a quote in a quote. Longer ones, which merges of merges
    write, are markers only where a whole conflict has them.
    """
    found = [at for at, line in enumerate(lines) if line[:7] in _MARKERS]
    return _marking(lines, found) if found else []


def marker(line: str) -> tuple[str, int]:
    """The kind and the size of the conflict marker that a line may be, or nothing."""
    if line[:7] not in _MARKERS:
        return "", 0
    kind = line[0]
    size = len(line) - len(line.lstrip(kind))
    return (kind, size) if line[size : size + 1] in ("", " ") else ("", 0)


def _marking(lines: list[str], found: list[int]) -> list[int]:
    """Which of the lines are markers."""
    by_size: dict[int, list[tuple[str, int]]] = {}
    for at in found:
        kind, size = marker(lines[at])
        if kind:
            by_size.setdefault(size, []).append((kind, at))
    marking: list[int] = []
    for size, marks in by_size.items():
        kinds = {kind for kind, _ in marks}
        if size == _SIZE:
            marking += [at for _, at in marks] if "<" in kinds or kinds >= {">", "="} else []
            continue
        opened: list[int] = []
        seen = ""
        for kind, at in marks:
            if kind == "<":
                opened, seen = [at], "<"
            elif seen and (seen[-1] + kind in ("<|", "<=", "|=", "=>")):
                opened.append(at)
                seen += kind
                if kind == ">":
                    marking += opened
                    opened, seen = [], ""
    return sorted(marking)


def _line(data: bytes, offset: int) -> int:
    """The line of an offset, from 1."""
    return len((data[:offset] + b".").splitlines())


def _unreadable(code: str, message: str, hint: str, line: int) -> ExecplanError:
    return ExecplanError(code, message, exit=INPUT, hint=hint, line=line)
