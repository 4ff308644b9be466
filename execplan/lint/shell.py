"""Commands that stand in a plan: which lines of its code, and which of its code spans, somebody is to type."""

from __future__ import annotations

from execplan.execution.command.typed import STANDALONE_PROGRAMS, UNAMBIGUOUS_PROGRAMS, PLAIN_TEXT_LANGUAGES, PROMPTS, SHELL_LANGUAGES, looks_like_command
from execplan.lint.words import Span
from execplan.text.blocks import CODE, FENCE, PARAGRAPH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.lint.rule import Given
    from execplan.plan.model import Plan, Section
    from execplan.text.blocks import Block


def fences(plan: Plan, section: Section) -> Iterator[tuple[Block, int, int]]:
    """The blocks of code of a section, each with the lines within it; those of an example are typed by nobody."""
    for block in plan.blocks[section.first : section.last]:
        if block.kind == FENCE and "{" in block.text and _is_example(block.text):
            continue
        if block.kind == FENCE:
            yield block, block.start + 1, block.end - block.closed
        elif block.kind == CODE:
            yield block, block.start, block.end


def _is_example(info: str) -> bool:
    from execplan.execution.attributes import EXAMPLE
    from execplan.execution.written.fence import parse_info_string

    said = parse_info_string(info)
    return said is not None and said.mark == EXAMPLE


def commands(plan: Plan, given: Given, section: Section) -> Iterator[Span]:
    """The commands of a section, those in blocks of code first."""
    for block, start, end in fences(plan, section):
        language = block.text.strip("{}").split(" ")[0].lstrip(".").lower() if block.kind == FENCE else ""
        if language not in SHELL_LANGUAGES and language not in PLAIN_TEXT_LANGUAGES:
            continue
        sure = language in SHELL_LANGUAGES and not any(
            [each.lstrip().startswith(PROMPTS) for each in plan.text.lines[start:end]]
        )
        goes_on = False
        for at in range(start, end):
            line = plan.text.lines[at].strip()
            if line and not goes_on and line[0] != "#" and (sure or looks_like_command(line)):
                yield Span(at, plan.text.lines[at].index(line), line)
            goes_on = line.endswith("\\")
    for span in given.words.codes_in(section.body, section.end):
        if (" " in span.text or "/" in span.text or span.text in STANDALONE_PROGRAMS) and looks_like_command(span.text):
            yield span
    for block in plan.blocks[section.first : section.last]:
        if block.kind == PARAGRAPH:
            yield from _in_prose(plan.text.lines, block)


def _in_prose(lines: list[str], block: Block) -> Iterator[Span]:
    """Lines of a paragraph that are a command and stand bare, as below an item that indents them too little."""
    for at in range(block.start, block.end):
        line = lines[at].lstrip(" \t-*+0123456789.)")
        word = line.partition(" ")[0]
        if (word in UNAMBIGUOUS_PROGRAMS or "=" in word) and "`" not in line and looks_like_command(line):
            yield Span(at, lines[at].index(line), line.rstrip())
