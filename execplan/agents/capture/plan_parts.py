"""The parts of a native plan: each heading with the text below it, and what is in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from execplan.core.plan import outline, section_roles
from execplan.core.plan.line_grammar import read_checkbox
from execplan.core.text.markdown_blocks import FENCE, HEADING, ITEM, PARAGRAPH, Block, scan_blocks

TASKS = "tasks"
"""Label of headings above a list of tasks, which belongs to Progress if it has checkboxes."""
MAX_WORDS = 6
"""Maximum number of words of a heading that is taken as a label: a longer one names a piece of work."""

_SECTIONS = {
    section_roles.VALIDATION: outline.VALIDATION,
    section_roles.RECOVERY: outline.RECOVERY,
    section_roles.INTERFACES: outline.INTERFACES,
    section_roles.COMMANDS: outline.STEPS,
    section_roles.PURPOSE: outline.PURPOSE,
    section_roles.OUTCOMES: outline.PURPOSE,  # of work that has not started
    section_roles.TASKS: TASKS,
    section_roles.APPROACH: outline.WORK,
}
"""Sections by the role of a heading; all other roles belong to the context."""
_SECTIONS_BY_KEY = {outline.title_key(name): name for name in outline.NAMES if name not in outline.LIVING}
"""Sections by their own names, in the form in which headings are compared."""
_PRECEDENCE = (
    (("implement", "implementation"), ("plan", "step", "steps", "approach", "strategy"), outline.WORK),
    (("test", "testing", "verification"), ("plan", "strategy", "steps"), outline.VALIDATION),
)
"""Pairs of words that decide together."""
_MAX_NUMBER_LENGTH = 40
_PART_WORDS = "|".join((*section_roles.STEP_WORDS, "part"))
_NUMBERED = re.compile(
    rf"^[\W_]*(?:(?:{_PART_WORDS}|pr|第)\W*\d+"
    r"|\d+(?:\.\d+)*\s*[.):\-–—]|\d+(?:\.\d+)+\s|[a-z]\))",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    rf"^[\W_]*(?:{_PART_WORDS})?\W{{0,3}}\d+(?:\.\d+)*\W+",
    re.IGNORECASE,
)


def find_label(heading: str) -> str:
    """Return the section that a heading stands for, or `TASKS`; empty if it says nothing about that."""
    if standard_name := _SECTIONS_BY_KEY.get(outline.title_key(heading)):
        return standard_name
    words = section_roles.title_words(heading)
    if not words or len(words) > MAX_WORDS or is_numbered(heading):
        return ""
    for first_words, second_words, section in _PRECEDENCE:
        if set(first_words).intersection(words) and set(second_words).intersection(words):
            return section
    role = section_roles.guess_role(heading)
    return _SECTIONS.get(role, outline.CONTEXT) if role is not None else ""


def is_numbered(heading: str) -> bool:
    """Return whether a heading has a number, such as `Step 2: Write the reader`, `1. Read` or `Phase 3`."""
    return _NUMBERED.match(heading[:_MAX_NUMBER_LENGTH]) is not None


def without_number(heading: str) -> str:
    """Return a heading without the number at its start, if anything remains."""
    if match := _NUMBER.match(heading[:_MAX_NUMBER_LENGTH]):
        return heading[match.end() :].strip() or heading
    return heading


_MAX_LEAD = 60
"""Maximum length of bold text that is taken as a heading, in characters."""


class HeadingPart(NamedTuple):
    """A heading with the lines below it, up to the next heading; or a paragraph that starts with a label."""

    level: int
    """Level of the heading; 0 for the text before the first one."""
    heading: str
    """Text of the heading; empty if the part has none."""
    lines: list[str]
    label: str
    """What the heading or the label says about the content, as returned by `find_label`."""

    @property
    def blocks(self) -> list[Block]:
        """The markdown blocks of its lines."""
        return scan_blocks(self.lines, allow_front_matter=False)


class Item(NamedTuple):
    """A list item of a native plan."""

    text: str
    """Its own text, without checkbox, in one line."""
    mark: str
    """Character in its checkbox; empty without a checkbox."""
    depth: int
    """Number of items that contain it."""
    is_ordered: bool
    start: int
    text_end: int
    """Line after its own text."""


def split_parts(lines: list[str]) -> list[HeadingPart]:
    """Split lines at headings, and at paragraphs that start with a label in bold letters."""
    headings = [block for block in scan_blocks(lines, allow_front_matter=False) if _is_heading(block)]
    parts = _split_labels(HeadingPart(0, "", lines[: headings[0].start if headings else len(lines)], ""))
    ends = [block.start for block in headings[1:]] + [len(lines)]
    for block, end in zip(headings, ends, strict=False):
        text = " ".join(block.text.split())
        parts += _split_labels(HeadingPart(block.level, text, lines[block.end : end], find_label(text)))
    return [part for part in parts if part.heading or any([line.strip() for line in part.lines])]


def _is_heading(block: Block) -> bool:
    return block.kind == HEADING and not block.depth and bool(block.text.strip())


def _split_labels(part: HeadingPart) -> list[HeadingPart]:
    """Split a part before each paragraph that starts with a known label in bold letters."""
    starts: list[tuple[int, str]] = []
    pending_end = -1
    for block in part.blocks:
        if block.depth or block.start < pending_end:
            continue
        lead, rest = _bold_lead(part.lines[block.start]) if block.kind == PARAGRAPH else ("", "")
        label = find_label(lead) if lead else ""
        if label:
            starts.append((block.start, label))
            # a label above text is for this paragraph only, one that stands alone is for all that follows
            if rest or block.end - block.start > 1:
                starts.append((block.end, ""))
    if not starts:
        return [part]
    ends = [start for start, _ in starts[1:]] + [len(part.lines)]
    pieces = [part._replace(lines=part.lines[: starts[0][0]])]
    for (start, label), end in zip(starts, ends, strict=True):
        pieces.append(HeadingPart(part.level + 1, "", part.lines[start:end], label))
    return pieces


def _bold_lead(line: str) -> tuple[str, str]:
    """Return the bold text at the start of a line, and the text after it; empty texts if there is none."""
    text = line.strip()
    for mark in ("**", "__"):
        end = text.find(mark, 2, _MAX_LEAD) if text.startswith(mark) else -1
        if end > 0:
            lead, rest = text[2:end], text[end + 2 :].strip()
            if not rest or rest[0] in ":：" or lead.rstrip()[-1:] in (":", "："):
                return lead.strip(" :："), rest.strip(" :：")
    return "", ""


def list_items(part: HeadingPart) -> list[Item]:
    """Return the list items of a part outside of quotes and code blocks."""
    return list(_iter_items(part.lines, part.blocks))


def _iter_items(lines: list[str], blocks: list[Block]) -> Iterator[Item]:
    open_ends: list[int] = []
    quote_end = 0
    for index, block in enumerate(blocks):
        while open_ends and block.start >= open_ends[-1]:
            open_ends.pop()
        if block.kind == "quote":
            quote_end = max(quote_end, block.end)
        if block.kind != ITEM or block.start < quote_end:
            continue
        depth = len(open_ends)
        open_ends.append(block.end)
        first = blocks[index + 1] if index + 1 < len(blocks) else None
        has_text = first is not None and first.kind == PARAGRAPH and first.start == block.start
        text_end = first.end if first is not None and has_text else block.start + 1
        text = " ".join([block.text, *lines[block.start + 1 : text_end]])
        checkbox = read_checkbox(block.text)
        if checkbox is not None:
            text = text[3:]
        is_text = has_text or checkbox is not None
        yield Item(
            " ".join(text.split()) if is_text else "",
            checkbox.mark if checkbox is not None else "",
            depth,
            block.mark[:1].isdigit(),
            block.start,
            text_end,
        )


def has_only_commands(part: HeadingPart) -> bool:
    """Return whether a part is mainly code blocks with commands for a shell."""
    fences = [block for block in part.blocks if block.kind == FENCE and not block.depth]
    shell = [block for block in fences if _is_shell(part, block)]
    prose = [line for line in part.lines if line.strip()]
    code_count = sum([block.end - block.start for block in shell])
    return bool(shell) and len(shell) == len(fences) and code_count * 2 >= len(prose)


def _is_shell(part: HeadingPart, block: Block) -> bool:
    language = block.text.split()[0].lower() if block.text.split() else ""
    body = [line for line in part.lines[block.start + 1 : block.end - 1] if line.strip()]
    if language:
        return language in ("sh", "bash", "zsh", "shell", "console", "shell-session", "fish", "powershell")
    return bool(body) and body[0].lstrip().startswith("$ ")


def lists_files(part: HeadingPart) -> bool:
    """Return whether most items or table rows of a part are paths of files, with few words about each."""
    rows = [line.strip().strip("|").strip() for line in part.lines if line.lstrip().startswith("|")]
    items = [item.text for item in list_items(part) if not item.depth]
    if not items and len(rows) > 2:
        return _count_paths(rows[2:]) * 2 > len(rows) - 2
    brief_items = [text for text in items if len(text.split()) <= 4]
    return bool(items) and _count_paths(brief_items) * 2 > len(items)


def _count_paths(texts: list[str]) -> int:
    return sum([_starts_with_path(text) for text in texts])


def _starts_with_path(text: str) -> bool:
    """Return whether a text starts with a path, usually in a code span."""
    word = text.lstrip("*_[").split(" ", 1)[0].split("|", 1)[0]
    bare_word = word.strip("`*_:,;()[]")
    name = bare_word.rpartition("/")[2]
    return ("/" in bare_word.strip("/") or "`" in word) and ("." in name[1:-1] or bare_word.endswith("/"))
