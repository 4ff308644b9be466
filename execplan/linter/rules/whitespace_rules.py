"""EP0 rules about invisible text: line endings, trailing spaces and hidden characters."""

from __future__ import annotations

from execplan.core.text.invisible_characters import (
    DIRECTION_CONTROLS,
    describe_characters,
    find_hidden,
    may_have_hidden,
)
from execplan.core.text.markdown_blocks import HEADING, PARAGRAPH
from execplan.core.text.text_lines import Edit
from execplan.linter.rule import HINT, SAFE, WARNING, RuleContext, RuleMatch, on_line, rule
from execplan.linter.rules.markdown_rules import find_nested_fences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan

_LINE_ENDING_NAMES = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
_CONTROL_CHARACTERS = "\x08\x1b\x7f"
"""ASCII characters that a terminal interprets instead of displaying them."""


@rule("EP005", HINT, fix=SAFE)
def mixed_line_endings(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    r"""The file starts with a byte order mark, or has mixed line endings.

    Some tools read the mark as text, so that the title is not a heading. With mixed line endings, a diff shows
    changed lines that look the same. The fix changes the less common line endings to the most common one; it keeps
    a byte order mark.

    Bad:
        ## Plan of Work

        Write the scanner,\r
        then the reader.
    Good:
        ## Plan of Work

        Write the scanner,
        then the reader.
    Fixed:
        ## Plan of Work

        Write the scanner,
        then the reader.
    """
    if plan.text.bom:
        yield on_line(plan, 0, "the file starts with a byte order mark; save it as UTF-8 without one")
    kinds = set(plan.text.ends) - {""}
    if len(kinds) > 1:
        ends = plan.text.ends
        common = max(sorted(kinds), key=ends.count)
        rare = [at for at, end in enumerate(ends) if end and end != common]
        edits = tuple([Edit(at, at + 1, (plan.text.lines[at],), (common,)) for at in rare])
        names = " or ".join([_LINE_ENDING_NAMES[kind] for kind in sorted(kinds - {common})])
        count = f"{len(rare)} lines end" if len(rare) > 1 else "a line ends"
        yield on_line(plan, rare[0], f"{count} with {names}, the others with {_LINE_ENDING_NAMES[common]}", edits)


@rule("EP006", HINT, fix=SAFE)
def trailing_whitespace(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    r"""A line ends with spaces that mean nothing, or the last line has no newline.

    The spaces are invisible and editors remove them, so the diff of a checked-off task also shows unrelated lines.
    Two spaces that break a line of a paragraph stay, and so do spaces in code, comments and front matter.

    Bad:
        ## Plan of Work

        Write the scanner.\x20
    Good:
        ## Plan of Work

        Write the scanner.
    Fixed:
        ## Plan of Work

        Write the scanner.
    """
    lines = plan.text.lines
    last = len(lines) - 1
    lines_with_spaces = [at for at, line in enumerate(lines) if line.rstrip() != line]
    if lines_with_spaces and _has_reliable_fences(plan):
        inert, breaks = context.source.inert_lines, _continued_lines(plan)
        for at in lines_with_spaces:
            line = lines[at]
            bare = line.rstrip(" \t")
            is_kept = inert[at] or (breaks[at] and line.endswith("  ")) or bare.endswith("\\")
            if bare != line and not is_kept:
                edit = Edit(at, at + 1, (bare,))
                yield RuleMatch("spaces at the end of the line", at, len(bare), at + 1, len(line), (edit,))
    if lines and not plan.text.ends[last]:
        ends = plan.text.ends[:last]
        end = max(sorted(set(ends)), key=ends.count) if ends else "\n"
        line = lines[last]
        edit = Edit(last, last + 1, (line,), (end,))
        yield RuleMatch("no newline at the end of the file", last, max(len(line) - 1, 0), last + 1, len(line), (edit,))


@rule("EP009", WARNING)
def hidden_characters(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    r"""A character is invisible, or changes the direction of the text.

    The reader doesn't see what a tool or a shell receives: a command with a zero-width space fails, and one with a
    direction override does something other than it shows. Joiners in emoji, and in writing systems that need them, are
    fine.

    Bad:
        ## Plan of Work

        Write the scan\u200bner.
    Good:
        ## Plan of Work

        Write the scanner.
    """
    if any([mark in context.source.text for mark in _CONTROL_CHARACTERS]):
        suspect_lines = [at for at, line in enumerate(plan.text.lines) if may_have_hidden(line)]
    elif context.source.text.isascii():
        return
    else:
        suspect_lines = [at for at, line in enumerate(plan.text.lines) if not line.isascii() and may_have_hidden(line)]
    for at in suspect_lines:
        line = plan.text.lines[at]
        for column, end in find_hidden(line):
            chars = line[column:end]
            effect = "changes the direction of the text" if DIRECTION_CONTROLS.intersection(chars) else "can't be seen"
            yield RuleMatch(f"{describe_characters(chars)} {effect}", at, column, at + 1, end)


def _has_reliable_fences(plan: ParsedPlan) -> bool:
    """Return whether all code blocks have clear limits; otherwise spaces in code would be taken for spaces in text."""
    return all([block.is_closed for block in plan.blocks]) and not list(find_nested_fences(plan))


def _continued_lines(plan: ParsedPlan) -> bytearray:
    """Return, for each line, whether its paragraph continues below, so that trailing spaces may break the line."""
    is_continued = bytearray(len(plan.text.lines) + 1)
    for block in plan.blocks:
        if block.kind in (PARAGRAPH, HEADING) and block.end - block.start > 1:
            is_continued[block.start : block.end - 1] = b"\1" * (block.end - block.start - 1)
    return is_continued
