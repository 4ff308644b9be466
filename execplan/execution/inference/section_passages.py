"""Passages of a section that may contain commands: code blocks, bare command lines, and code spans in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ParsedPlan, Section
from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.core.text.markdown_blocks import CODE, FENCE, HEADING, HTML, ITEM, PARAGRAPH, QUOTE, Block
from execplan.execution.inference.prose_cues import split_sentences
from execplan.execution.shell.shell_vocabulary import PROMPTS, UNAMBIGUOUS_PROGRAMS, looks_like_command

COMMAND_LINES: Final = "lines"
PROSE: Final = "words"
_ENGLISH_LIKE_COMMAND = lazy_pattern(
    r"(?:make|just|rake|invoke|task|mix|turbo)(?: [a-z0-9][\w.:/-]*){1,3}|go (?:test|vet|build|run|mod|generate|fmt|install|tool|list|work)\b.*|"
    r"(?:node|perl|ruby|cat|find|test|head|tail|export|source|env|time|curl|cut|ruff|tree|stat|sleep|touch|echo) (?:[-./'\"$]|\S*[/.=:]\S|check|format).*|"
    r"(?:poetry|pip|meson|ninja|helm|heroku|flutter|swift|firebase|nox|forge|black|buf) (?:run|install|test|build|compile|setup|check|lint|-)\b.*"
)
"""Commands whose first word is also an English word."""
_CHECKBOX = lazy_pattern(r"^\[.\]\s+")


class Passage(NamedTuple):
    """A code block, lines of commands, or a paragraph."""

    kind: str
    """`lines` for code, `words` for a paragraph."""
    start: int
    end: int
    """End of the passage, including the markers of a code block."""
    lines: tuple[tuple[int, str], ...]
    """Lines with their numbers; those of a paragraph without its leading checkbox."""
    language: str
    context: tuple[str, ...]
    """Introductory texts, nearest first: the paragraph above, those above the enclosing items, the headings."""
    following_text: str
    """Paragraph that follows the passage."""
    item_line: int
    """Line of the outermost list item that contains the passage, or -1."""
    starts_item: bool
    """Whether the passage starts a list item."""
    item_end: int
    """End of the innermost list item that contains the passage, or -1."""
    indent: int = 0
    """Column where the content of that item starts."""
    fence: Block | None = None
    """Code block that contains the lines, if any."""
    heading_lines: tuple[int, ...] = ()
    """Lines of the headings within the section that contain the passage."""


class CodeSpan(NamedTuple):
    """A code span of a paragraph."""

    start: int
    end: int
    """End of the lines, exclusive."""
    code: str


class PassageSentence(NamedTuple):
    """A sentence with its code spans."""

    text: str
    shape: str
    """Text with `\\x01` in place of each code span."""
    spans: tuple[CodeSpan, ...]


class _Frame:
    """An open section or list item, with its text so far."""

    def __init__(self, block: Block | None, context: tuple[str, ...]) -> None:
        self.block = block
        self.context = context
        self.last_text = ""
        self.has_begun = False
        self.open_passages: list[int] = []
        """Indexes of passages that wait for the paragraph after them."""


def find_passages(plan: ParsedPlan, section: Section) -> list[Passage]:
    """Return the passages of a section, in the order of their lines."""
    passages: list[Passage] = []
    headings: list[Block] = []
    frames = [_Frame(None, ())]
    skipped_until = section.body_start
    for block in plan.blocks[section.first_block : section.block_end]:
        if block.start >= section.notes_start:
            break
        if block.start < skipped_until:
            continue
        while frames[-1].block is not None and block.start >= frames[-1].block.end:
            frames.pop()
        frame = frames[-1]
        if block.kind in (QUOTE, HTML):
            skipped_until = block.end
        elif block.kind == HEADING:
            headings = [heading for heading in headings if heading.level < block.level]
            headings.append(block)
            frame.last_text, frame.open_passages = "", []
        elif block.kind == ITEM:
            frames.append(_Frame(block, (frame.last_text, *frame.context)))
            frame.has_begun = True
        elif block.kind in (FENCE, CODE, PARAGRAPH):
            _add_passages(plan, block, frames, headings, passages)
    return passages


def _add_passages(
    plan: ParsedPlan, block: Block, frames: list[_Frame], headings: list[Block], passages: list[Passage]
) -> None:
    frame = frames[-1]
    item_line = frames[1].block.start if len(frames) > 1 and frames[1].block is not None else -1
    item_end, indent = (frame.block.end, frame.block.content_column) if frame.block is not None else (-1, 0)
    fence = block if block.kind == FENCE else None
    starts_item, frame.has_begun = frame.block is not None and not frame.has_begun, True
    lines = plan.text.lines
    heading_texts = [heading.text for heading in reversed(headings)]
    heading_lines = tuple([heading.start for heading in headings])

    def add(kind: str, start: int, end: int, passage_lines: list[tuple[int, str]], language: str = "") -> None:
        context = tuple([lead for lead in (frame.last_text, *frame.context, *heading_texts) if lead])
        location = (item_line, starts_item, item_end, indent, fence, heading_lines)
        passages.append(Passage(kind, start, end, tuple(passage_lines), language, context, "", *location))

    if block.kind == PARAGRAPH:
        paragraph_lines = [(at, lines[at].strip(" \t")) for at in range(block.start, block.end)]
        paragraph_lines[0] = (block.start, _CHECKBOX.sub("", block.text.strip(" \t")))
        bare_start = _first_bare_line(paragraph_lines)
        paragraph_text = " ".join([line for _, line in paragraph_lines[:bare_start]])
        if bare_start:
            for at in frame.open_passages:
                passages[at] = passages[at]._replace(following_text=paragraph_text)
            frame.open_passages = []
            add(PROSE, block.start, paragraph_lines[bare_start - 1][0] + 1, paragraph_lines[:bare_start])
            frame.last_text = paragraph_text
        if bare_start < len(paragraph_lines):
            frame.open_passages.append(len(passages))
            add(COMMAND_LINES, paragraph_lines[bare_start][0], block.end, paragraph_lines[bare_start:])
        return
    is_fenced = block.kind == FENCE
    line_numbers = range(block.start + is_fenced, block.end - (is_fenced and block.is_closed))
    language = block.text.strip("{}").split(" ")[0].lstrip(".").lower() if is_fenced else ""
    frame.open_passages.append(len(passages))
    add(COMMAND_LINES, block.start, block.end, [(at, lines[at].strip(" \t")) for at in line_numbers], language)


def _first_bare_line(numbered_lines: list[tuple[int, str]]) -> int:
    """Return the index from which a paragraph's lines are bare commands, as in an item with wrong indentation."""
    at = len(numbered_lines)
    while at and _is_bare_command(numbered_lines[at - 1][1], numbered_lines[at - 2][1] if at > 1 else ""):
        at -= 1
    if at and at < len(numbered_lines) and not numbered_lines[at - 1][1].endswith((":", "：")):
        return len(numbered_lines)
    return at


def _is_bare_command(line: str, previous_line: str) -> bool:
    if "`" in line:
        return False
    if previous_line.endswith("\\"):
        return True
    if line.startswith(PROMPTS[:2]):
        return True
    word = line.partition(" ")[0]
    is_unambiguous = word in UNAMBIGUOUS_PROGRAMS or "=" in word or line.startswith("cd ") or word.endswith("\\")
    is_local_script = word.startswith(("./", ".venv/")) and " " in line and line[-1] not in ".:,"
    return (
        (is_unambiguous and looks_like_command(line.removesuffix("\\")))
        or is_local_script
        or _ENGLISH_LIKE_COMMAND.fullmatch(line) is not None
    )


def read_sentences(passage: Passage) -> Iterator[PassageSentence]:
    """Yield the sentences of a paragraph."""
    text = ""
    line_offsets: list[tuple[int, int]] = []
    for at, line in passage.lines:
        line_offsets.append((len(text), at))
        text += f"{line} "
    text = text.rstrip()
    offset = 0
    for sentence_text in split_sentences(text):
        begin = text.index(sentence_text, offset)
        offset = begin + len(sentence_text)
        spans: list[CodeSpan] = []
        shape = ""
        copied_to = 0
        for match in re.finditer(r"(`+)((?:(?!\1).)+?)\1(?!`)", sentence_text):
            shape += sentence_text[copied_to : match.start()] + "\x01"
            copied_to = match.end()
            lines = [
                max([line for at, line in line_offsets if at <= begin + position])
                for position in (match.start(), match.end() - 1)
            ]
            spans.append(CodeSpan(lines[0], lines[1] + 1, match.group(2).strip()))
        yield PassageSentence(sentence_text, shape + sentence_text[copied_to:], tuple(spans))


def hide_commands(sentence: PassageSentence) -> str:
    """Return the text of a sentence with its multi-word code spans hidden, except a `cd` on its own."""
    text = sentence.text
    for span in sentence.spans:
        if " " in span.code and (not span.code.startswith("cd ") or "&" in span.code):
            text = text.replace(f"`{span.code}`", "`command`")
    return text
