"""Prose, code blocks and commands in a plan's sections."""

from __future__ import annotations

from execplan.core.text.markdown_blocks import CODE, FENCE, PARAGRAPH
from execplan.execution.shell.shell_vocabulary import (
    PLAIN_TEXT_LANGUAGES,
    PROMPTS,
    SHELL_LANGUAGES,
    STANDALONE_PROGRAMS,
    UNAMBIGUOUS_PROGRAMS,
    looks_like_command,
)
from execplan.linter.plan_source import TextSpan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan, Section
    from execplan.core.text.markdown_blocks import Block
    from execplan.linter.rule import RuleContext


_ENGLISH_WORDS = frozenset("a and are as for from in is it of on or run the then this to when with".split())
_MIN_WORDS = 12


def section_prose(plan: ParsedPlan, context: RuleContext, section: Section) -> str:
    """Return the text of a section in lower case, without code spans and code blocks."""
    inert = context.source.inert_lines
    lines = [
        plan.text.lines[at]
        for at in range(section.body_start, section.end)
        if not inert[at] and plan.text.lines[at].strip()
    ]
    return "\n".join([" ".join(line.split("`")[::2]) if "`" in line else line for line in lines]).casefold()


def is_foreign_language(text: str) -> bool:
    """Return whether a text appears to be in a language whose expressions the rules don't know."""
    words = text.split()
    if not text.isascii() and any([char > "ɏ" and char.isalpha() for char in text]):
        return True
    return len(words) > _MIN_WORDS and not _ENGLISH_WORDS.intersection(words)


def find_code_blocks(plan: ParsedPlan, section: Section) -> Iterator[tuple[Block, int, int]]:
    """Yield the code blocks of a section with their inner line range, except examples and contents of files."""
    for block in plan.blocks[section.first_block : section.block_end]:
        if block.kind == FENCE and "{" in block.text and not _can_be_run(block.text):
            continue
        if block.kind == FENCE:
            yield block, block.start + 1, block.end - block.is_closed
        elif block.kind == CODE:
            yield block, block.start, block.end


def _can_be_run(info: str) -> bool:
    from execplan.execution.annotations.info_string import parse_info_string
    from execplan.execution.attributes import EXAMPLE, FILE_TYPES

    parsed = parse_info_string(info)
    step_type = parsed.get("type") if parsed is not None else None
    return parsed is None or (parsed.mark != EXAMPLE and (step_type is None or step_type.value not in FILE_TYPES))


def find_commands(plan: ParsedPlan, context: RuleContext, section: Section) -> Iterator[TextSpan]:
    """Yield the commands of a section, those in code blocks first."""
    for block, start, end in find_code_blocks(plan, section):
        language = block.text.strip("{}").split(" ")[0].lstrip(".").lower() if block.kind == FENCE else ""
        if language not in SHELL_LANGUAGES and language not in PLAIN_TEXT_LANGUAGES:
            continue
        is_shell = language in SHELL_LANGUAGES and not any(
            [text_line.lstrip().startswith(PROMPTS) for text_line in plan.text.lines[start:end]]
        )
        is_continuation = False
        for at in range(start, end):
            line = plan.text.lines[at].strip()
            if line and not is_continuation and line[0] != "#" and (is_shell or looks_like_command(line)):
                yield TextSpan(at, plan.text.lines[at].index(line), line)
            is_continuation = line.endswith("\\")
    for span in context.source.code_spans_in(section.body_start, section.end):
        if (" " in span.text or "/" in span.text or span.text in STANDALONE_PROGRAMS) and looks_like_command(span.text):
            yield span
    for block in plan.blocks[section.first_block : section.block_end]:
        if block.kind == PARAGRAPH:
            yield from _commands_in_paragraph(plan.text.lines, block)


def _commands_in_paragraph(lines: list[str], block: Block) -> Iterator[TextSpan]:
    """Yield lines of a paragraph that are unquoted commands, as under a list item with too little indentation."""
    for at in range(block.start, block.end):
        line = lines[at].lstrip(" \t-*+0123456789.)")
        word = line.partition(" ")[0]
        if (word in UNAMBIGUOUS_PROGRAMS or "=" in word) and "`" not in line and looks_like_command(line):
            yield TextSpan(at, lines[at].index(line), line.rstrip())
