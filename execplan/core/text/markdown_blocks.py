"""Scanner for the block structure of markdown: the line ranges of CommonMark blocks, and front matter.

One function scans the lines in one pass. Containers (quotes and list items) are on a stack; the only leaf that can be
open is in the deepest of them. Each line first determines which containers continue, then opens blocks, and the rest is
text. A row is added when its block opens and gets its end when the block closes, so rows are in the order of their
first lines, with outer blocks before inner ones.
"""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.block_rules import definition_line_count, html_end_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

FRONT: Final = "front"
HEADING: Final = "heading"
PARAGRAPH: Final = "paragraph"
FENCE: Final = "fence"
CODE: Final = "code"
HTML: Final = "html"
RULE: Final = "rule"
QUOTE: Final = "quote"
ITEM: Final = "item"

MAX_NESTING = 50
"""Maximum depth of containers, deeper ones are text: without a limit, `- ` repeated 50,000 times takes 25 seconds."""

_BLOCK_STARTS = frozenset("#>`~<*-_+=0123456789")
_END_FIELD, _CLOSED_FIELD = 2, 9


class Block(NamedTuple):
    """A markdown block; lines count from 0 and `end` is exclusive.

    Columns count from 0, with tabs expanded to stops of four.
    """

    kind: str
    start: int
    end: int
    depth: int
    """Number of quotes and list items that contain the block."""
    level: int
    """Level of a heading, 1 to 6; length of a fenced code block's mark."""
    column: int
    """Column of the block's mark, or of its text."""
    content_column: int
    """For a list item, the column of its content."""
    mark: str
    """`#`, `=` or `-` of a heading; character of a code block's mark; bullet of an item, or number with delimiter."""
    text: str
    """Text of a heading; info string of a fenced code block; rest of the first line of an item or a paragraph."""
    is_closed: bool
    """False for a fenced code block, or HTML with an end mark, that runs to the end of its container."""


def flag_inert_lines(blocks: list[Block], count: int) -> bytearray:
    """Return flags for a number of lines: 1 for code, comments and front matter, which contain no Markdown."""
    flags = bytearray(count)
    for block in blocks:
        if block.kind in (FENCE, CODE, HTML, FRONT):
            flags[block.start : block.end] = b"\1" * (block.end - block.start)
    return flags


def scan_blocks(lines: list[str], *, has_tabs: bool = True, allow_front_matter: bool = True) -> list[Block]:
    """Return all blocks of the lines.

    `has_tabs` may be False if no line has a tab; `allow_front_matter` controls the search for front matter.
    """
    rows: list[list[Any]] = []
    add = rows.append
    widths: list[int] = []  # for each open container, the column of its content within its parent's, or -1 for a quote
    open_rows: list[list[Any]] = []  # the row of each open container
    quote_count = 0
    deepest_column = 0  # column of the deepest content, valid while no quote is open
    leaf: list[Any] = []  # row of the open leaf
    open_kind = ""  # kind of the open leaf, or empty
    fence_marker = ""
    end_marks: tuple[str, ...] = ()  # marks that end the open HTML block; if empty, a blank line ends it
    empty_item_line = -2  # line of the last item with nothing after its mark
    filled = first_line = (
        front_matter_length(lines) if allow_front_matter else 0
    )  # `filled` is one past the last line that is not blank
    if first_line:
        add([FRONT, 0, first_line, 0, 0, 0, 0, "---", "", True])

    for index in range(first_line, len(lines)):
        line = lines[index]
        if has_tabs and "\t" in line:
            line = line.expandtabs(4)
        line_text = line.lstrip(" ")
        column = len(line) - len(line_text)
        container_count = len(widths)
        base_column = matched = 0

        if container_count:
            if column >= deepest_column and line_text and not quote_count:
                base_column = deepest_column
                matched = container_count
            else:
                for width in widths:
                    if width < 0:
                        if not line_text or line_text[0] != ">" or column - base_column > 3:
                            break
                        base_column = column + 2 if line[column + 1 : column + 2] == " " else column + 1
                        line_text = line[column + 1 :].lstrip(" ")
                        column = len(line) - len(line_text)
                    elif not line_text or column - base_column >= width:
                        base_column += width
                    else:
                        break
                    matched += 1

        if not line_text:
            if matched < container_count:
                for row in open_rows[matched:]:
                    row[_END_FIELD] = filled
                quote_count -= widths[matched:].count(-1)
                del widths[matched:], open_rows[matched:]
                deepest_column = sum(widths)
                if open_kind:
                    leaf[_END_FIELD] = filled
                    open_kind = ""
            elif open_kind is PARAGRAPH or (open_kind is HTML and not end_marks):
                leaf[_END_FIELD] = filled
                open_kind = ""
            elif empty_item_line == index - 1 and container_count:
                open_rows.pop()[_END_FIELD] = index
                deepest_column -= widths.pop()
            if quote_count:
                filled = index + 1
            continue

        if matched == container_count:
            if open_kind is FENCE:
                filled = index + 1
                if (
                    line_text.startswith(fence_marker)
                    and column - base_column < 4
                    and not line_text.strip(" ").strip(fence_marker[0])
                ):
                    leaf[_END_FIELD] = filled
                    leaf[_CLOSED_FIELD] = True
                    open_kind = ""
                continue
            if open_kind is HTML:
                filled = index + 1
                if end_marks and _has_end_mark(line_text, end_marks):
                    leaf[_END_FIELD] = filled
                    leaf[_CLOSED_FIELD] = True
                    open_kind = ""
                continue

        while True:
            # Find the block that begins here.
            kind = ""
            indent = column - base_column
            first_char = line_text[0]
            if indent < 4 and first_char in _BLOCK_STARTS:
                is_direct = open_kind is PARAGRAPH and matched == len(widths)  # otherwise a lazy continuation
                if first_char == "#":
                    block_text = line_text.lstrip("#")
                    level = len(line_text) - len(block_text)
                    if level < 7 and (not block_text or block_text[0] == " "):
                        kind = HEADING
                elif first_char == ">":
                    if matched < MAX_NESTING:
                        kind = QUOTE
                elif first_char == "`" or first_char == "~":
                    block_text = line_text.lstrip(first_char)
                    level = len(line_text) - len(block_text)
                    if level > 2 and (first_char == "~" or "`" not in block_text):
                        kind = FENCE
                elif first_char == "<":
                    html_marks = html_end_marks(line_text, in_paragraph=open_kind is PARAGRAPH)
                    if html_marks is not None:
                        kind = HTML
                else:
                    if (
                        is_direct
                        and (first_char == "-" or first_char == "=")
                        and not line_text.rstrip(" ").strip(first_char)
                    ):
                        definition_count = 0
                        if leaf[8][:1] == "[":
                            paragraph_lines = [
                                text_line.lstrip(" \t>" if quote_count else " \t")
                                for text_line in lines[leaf[1] + 1 : filled]
                            ]
                            definition_count = definition_line_count([leaf[8], *paragraph_lines])
                        if leaf[1] + definition_count < filled:
                            if definition_count:
                                leaf[_END_FIELD] = leaf[1] + definition_count
                                leaf = [
                                    PARAGRAPH,
                                    leaf[_END_FIELD],
                                    0,
                                    matched,
                                    0,
                                    column,
                                    0,
                                    "",
                                    paragraph_lines[definition_count - 1],
                                    True,
                                ]
                                add(leaf)
                            level = 1 if first_char == "=" else 2
                            block_text = " ".join(
                                [leaf[8], *[text_line.strip() for text_line in lines[leaf[1] + 1 : filled]]]
                            ).strip()
                            filled = index + 1
                            leaf[:] = [
                                HEADING,
                                leaf[1],
                                filled,
                                matched,
                                level,
                                leaf[5],
                                0,
                                first_char,
                                block_text,
                                True,
                            ]
                            open_kind = ""
                            break
                        leaf[_END_FIELD] = filled
                        open_kind = ""
                        is_direct = False
                    if first_char == "-" or first_char == "*" or first_char == "_":
                        block_text = line_text.replace(" ", "")
                        if len(block_text) > 2 and not block_text.strip(first_char):
                            kind = RULE
                    if not kind and matched < MAX_NESTING:
                        if first_char == "-" or first_char == "*" or first_char == "+":
                            mark = first_char
                        elif first_char == "=" or first_char == "_":
                            mark = ""
                        else:
                            digits = len(line_text) - len(line_text.lstrip("0123456789"))
                            if digits < 10 and line_text[digits : digits + 1] in (".", ")"):
                                mark = line_text[: digits + 1]
                            else:
                                mark = ""
                            if is_direct and mark[:-1].lstrip("0") != "1":
                                mark = ""
                        if mark:
                            block_text = line_text[len(mark) :]
                            if not block_text or block_text[0] == " ":
                                level = len(block_text)
                                block_text = block_text.lstrip(" ")
                                level -= len(block_text)
                                if block_text or not is_direct:
                                    kind = ITEM

            if not kind and open_kind is PARAGRAPH:
                filled = index + 1
                break

            # Close the blocks that do not continue.
            if matched < len(widths):
                for row in open_rows[matched:]:
                    row[_END_FIELD] = filled
                quote_count -= widths[matched:].count(-1)
                del widths[matched:], open_rows[matched:]
                deepest_column = sum(widths)
                if open_kind:
                    leaf[_END_FIELD] = filled
                    open_kind = ""
            elif open_kind and (kind or indent < 4):
                leaf[_END_FIELD] = filled
                open_kind = ""

            if kind is ITEM:
                content_column = column + len(mark) + (level if block_text and level < 5 else 1)
                row = [ITEM, index, 0, matched, 0, column, content_column, mark, block_text, True]
                add(row)
                open_rows.append(row)
                widths.append(content_column - base_column)
                matched += 1
                base_column = deepest_column = content_column
                if block_text:
                    column = len(line) - len(block_text)
                    line_text = block_text
                    continue
                empty_item_line = index
            elif kind is QUOTE:
                row = [QUOTE, index, 0, matched, 0, column, 0, ">", "", True]
                add(row)
                open_rows.append(row)
                widths.append(-1)
                matched += 1
                quote_count += 1
                base_column = column + 2 if line[column + 1 : column + 2] == " " else column + 1
                line_text = line[column + 1 :].lstrip(" ")
                column = len(line) - len(line_text)
                if line_text:
                    continue
            elif kind is HEADING:
                add([HEADING, index, index + 1, matched, level, column, 0, "#", _heading_text(block_text), True])
            elif kind is FENCE:
                leaf = [FENCE, index, 0, matched, level, column, 0, first_char, block_text.strip(" "), False]
                add(leaf)
                open_kind = FENCE
                fence_marker = first_char * level
            elif kind is HTML:
                leaf = [HTML, index, index + 1, matched, 0, column, 0, "<", line_text, True]
                add(leaf)
                end_marks = html_marks or ()
                if not end_marks or not _has_end_mark(line_text, end_marks):
                    leaf[_CLOSED_FIELD] = not end_marks
                    open_kind = HTML
            elif kind is RULE:
                add([RULE, index, index + 1, matched, 0, column, 0, first_char, "", True])
            elif indent < 4:
                leaf = [PARAGRAPH, index, 0, matched, 0, column, 0, "", line_text, True]
                add(leaf)
                open_kind = PARAGRAPH
            elif not open_kind:
                leaf = [CODE, index, 0, matched, 0, column, 0, "", line_text, True]
                add(leaf)
                open_kind = CODE
            filled = index + 1
            break

    for row in open_rows:
        row[_END_FIELD] = filled
    if open_kind:
        leaf[_END_FIELD] = filled
    return [Block._make(row) for row in rows]


def front_matter_length(lines: list[str]) -> int:
    """Return the number of front matter lines at the top: `---`, at least one `key:` line, and `---` or `...`.

    Backlog.md can leave the first heading on the line that ends front matter, as in `---## Description`.
    """
    if not lines or lines[0].rstrip() != "---":
        return 0
    has_key = False
    for index in range(1, len(lines)):
        line = lines[index].rstrip()
        if line == "---" or line == "..." or line.startswith("---#"):
            return index + 1 if has_key else 0
        if not line:
            if not has_key:
                return 0
        elif not has_key:
            name = line.partition(":")[0]
            if name == line and line[0] != "#":
                return 0
            key = name[1:-1] if name[:1] in ("'", '"') and name[:1] == name[-1:] else name
            has_key = name != line and key.replace("-", "").replace("_", "").isalnum()
    return 0


def _heading_text(text: str) -> str:
    """Return the text of an ATX heading, without an optional closing sequence."""
    text = text.strip(" ")
    bare_text = text.rstrip("#")
    if not bare_text:
        return ""
    return bare_text.rstrip(" ") if bare_text[-1] == " " else text


def _has_end_mark(line: str, end_marks: tuple[str, ...]) -> bool:
    """Return whether a line contains one of the end marks of an HTML block."""
    lowered = line.lower()
    return any([mark in lowered for mark in end_marks])
