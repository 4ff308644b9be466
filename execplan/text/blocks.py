"""Where each markdown block starts and ends, to the line: the block structure of CommonMark, and front matter.

One pass, one function. Containers (quotes and list items) live on a stack; the one leaf that can be open lives in the
deepest of them. A line first says which containers go on, then opens blocks, then is text. A row is written when its
block opens and gets its end when the block closes, so rows stand in the order of their first lines, outer before inner.
"""

from __future__ import annotations

from execplan.record import NamedTuple
from execplan.text.html import html_ends
from execplan.text.reference import definition_lines

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

NESTING = 50
"""Containers deeper than this are text: without a limit, `- ` repeated 50,000 times takes 25 seconds."""

_STARTS = frozenset("#>`~<*-_+=0123456789")
_END, _CLOSED = 2, 9


class Block(NamedTuple):
    """One block; lines count from 0 and `end` is exclusive, columns count from 0 with tabs expanded to stops of four."""

    kind: str
    start: int
    end: int
    depth: int
    """How many quotes and list items it stands in."""
    level: int
    """Of a heading 1 to 6; of a fence the length of its mark."""
    column: int
    """Where its mark, or its text, begins."""
    content: int
    """Of a list item, the column where its content begins."""
    mark: str
    """`#`, `=` or `-` of a heading; the character of a fence; the bullet of an item, or its number with the delimiter."""
    text: str
    """Of a heading its words; of a fence its info string; of an item or a paragraph the rest of its first line."""
    closed: bool
    """False for a fence, or for HTML with an end mark, that runs to the end of its container."""


def scan(lines: list[str], *, tabs: bool = True, front: bool = True) -> list[Block]:
    """Every block of the lines; `tabs` may be false when no line has one, `front` is whether front matter is looked for."""
    rows: list[list[Any]] = []
    add = rows.append
    widths: list[int] = []  # of each open container: where its content begins within its parent's, or -1 for a quote
    opened: list[list[Any]] = []  # the row of each
    quotes = 0
    deep = 0  # column of the deepest content, right while no quote is open
    leaf: list[Any] = []  # the row of the open leaf
    open_kind = ""  # its kind, or nothing
    fence = ""
    marks: tuple[str, ...] = ()  # what ends the open HTML block; none: a blank line does
    bare = -2  # line of the last item that began with nothing behind its mark
    filled = first = front_matter(lines) if front else 0  # `filled` is one past the last line that is not blank
    if first:
        add([FRONT, 0, first, 0, 0, 0, 0, "---", "", True])

    for at in range(first, len(lines)):
        line = lines[at]
        if tabs and "\t" in line:
            line = line.expandtabs(4)
        rest = line.lstrip(" ")
        column = len(line) - len(rest)
        size = len(widths)
        base = matched = 0

        if size:
            if column >= deep and rest and not quotes:
                base = deep
                matched = size
            else:
                for width in widths:
                    if width < 0:
                        if not rest or rest[0] != ">" or column - base > 3:
                            break
                        base = column + 2 if line[column + 1 : column + 2] == " " else column + 1
                        rest = line[column + 1 :].lstrip(" ")
                        column = len(line) - len(rest)
                    elif not rest or column - base >= width:
                        base += width
                    else:
                        break
                    matched += 1

        if not rest:
            if matched < size:
                for row in opened[matched:]:
                    row[_END] = filled
                quotes -= widths[matched:].count(-1)
                del widths[matched:], opened[matched:]
                deep = sum(widths)
                if open_kind:
                    leaf[_END] = filled
                    open_kind = ""
            elif open_kind is PARAGRAPH or (open_kind is HTML and not marks):
                leaf[_END] = filled
                open_kind = ""
            elif bare == at - 1 and size:
                opened.pop()[_END] = at
                deep -= widths.pop()
            if quotes:
                filled = at + 1
            continue

        if matched == size:
            if open_kind is FENCE:
                filled = at + 1
                if rest.startswith(fence) and column - base < 4 and not rest.strip(" ").strip(fence[0]):
                    leaf[_END] = filled
                    leaf[_CLOSED] = True
                    open_kind = ""
                continue
            if open_kind is HTML:
                filled = at + 1
                if marks and _holds(rest, marks):
                    leaf[_END] = filled
                    leaf[_CLOSED] = True
                    open_kind = ""
                continue

        while True:
            # Which block begins here?
            kind = ""
            indent = column - base
            head = rest[0]
            if indent < 4 and head in _STARTS:
                own = open_kind is PARAGRAPH and matched == len(widths)  # else the paragraph goes on only lazily
                if head == "#":
                    words = rest.lstrip("#")
                    level = len(rest) - len(words)
                    if level < 7 and (not words or words[0] == " "):
                        kind = HEADING
                elif head == ">":
                    if matched < NESTING:
                        kind = QUOTE
                elif head == "`" or head == "~":
                    words = rest.lstrip(head)
                    level = len(rest) - len(words)
                    if level > 2 and (head == "~" or "`" not in words):
                        kind = FENCE
                elif head == "<":
                    found = html_ends(rest, interrupts=open_kind is PARAGRAPH)
                    if found is not None:
                        kind = HTML
                else:
                    if own and (head == "-" or head == "=") and not rest.rstrip(" ").strip(head):
                        defined = 0
                        if leaf[8][:1] == "[":
                            more = [each.lstrip(" \t>" if quotes else " \t") for each in lines[leaf[1] + 1 : filled]]
                            defined = definition_lines([leaf[8], *more])
                        if leaf[1] + defined < filled:
                            if defined:
                                leaf[_END] = leaf[1] + defined
                                leaf = [PARAGRAPH, leaf[_END], 0, matched, 0, column, 0, "", more[defined - 1], True]
                                add(leaf)
                            level = 1 if head == "=" else 2
                            words = " ".join([leaf[8], *[each.strip() for each in lines[leaf[1] + 1 : filled]]]).strip()
                            filled = at + 1
                            leaf[:] = [HEADING, leaf[1], filled, matched, level, leaf[5], 0, head, words, True]
                            open_kind = ""
                            break
                        leaf[_END] = filled
                        open_kind = ""
                        own = False
                    if head == "-" or head == "*" or head == "_":
                        words = rest.replace(" ", "")
                        if len(words) > 2 and not words.strip(head):
                            kind = RULE
                    if not kind and matched < NESTING:
                        if head == "-" or head == "*" or head == "+":
                            mark = head
                        elif head == "=" or head == "_":
                            mark = ""
                        else:
                            digits = len(rest) - len(rest.lstrip("0123456789"))
                            mark = rest[: digits + 1] if digits < 10 and rest[digits : digits + 1] in (".", ")") else ""
                            if own and mark[:-1].lstrip("0") != "1":
                                mark = ""
                        if mark:
                            words = rest[len(mark) :]
                            if not words or words[0] == " ":
                                level = len(words)
                                words = words.lstrip(" ")
                                level -= len(words)
                                if words or not own:
                                    kind = ITEM

            if not kind and open_kind is PARAGRAPH:
                filled = at + 1
                break

            # What did not go on is closed.
            if matched < len(widths):
                for row in opened[matched:]:
                    row[_END] = filled
                quotes -= widths[matched:].count(-1)
                del widths[matched:], opened[matched:]
                deep = sum(widths)
                if open_kind:
                    leaf[_END] = filled
                    open_kind = ""
            elif open_kind and (kind or indent < 4):
                leaf[_END] = filled
                open_kind = ""

            if kind is ITEM:
                content = column + len(mark) + (level if words and level < 5 else 1)
                row = [ITEM, at, 0, matched, 0, column, content, mark, words, True]
                add(row)
                opened.append(row)
                widths.append(content - base)
                matched += 1
                base = deep = content
                if words:
                    column = len(line) - len(words)
                    rest = words
                    continue
                bare = at
            elif kind is QUOTE:
                row = [QUOTE, at, 0, matched, 0, column, 0, ">", "", True]
                add(row)
                opened.append(row)
                widths.append(-1)
                matched += 1
                quotes += 1
                base = column + 2 if line[column + 1 : column + 2] == " " else column + 1
                rest = line[column + 1 :].lstrip(" ")
                column = len(line) - len(rest)
                if rest:
                    continue
            elif kind is HEADING:
                add([HEADING, at, at + 1, matched, level, column, 0, "#", _heading_words(words), True])
            elif kind is FENCE:
                leaf = [FENCE, at, 0, matched, level, column, 0, head, words.strip(" "), False]
                add(leaf)
                open_kind = FENCE
                fence = head * level
            elif kind is HTML:
                leaf = [HTML, at, at + 1, matched, 0, column, 0, "<", rest, True]
                add(leaf)
                marks = found or ()
                if not marks or not _holds(rest, marks):
                    leaf[_CLOSED] = not marks
                    open_kind = HTML
            elif kind is RULE:
                add([RULE, at, at + 1, matched, 0, column, 0, head, "", True])
            elif indent < 4:
                leaf = [PARAGRAPH, at, 0, matched, 0, column, 0, "", rest, True]
                add(leaf)
                open_kind = PARAGRAPH
            elif not open_kind:
                leaf = [CODE, at, 0, matched, 0, column, 0, "", rest, True]
                add(leaf)
                open_kind = CODE
            filled = at + 1
            break

    for row in opened:
        row[_END] = filled
    if open_kind:
        leaf[_END] = filled
    return [Block._make(row) for row in rows]


def front_matter(lines: list[str]) -> int:
    """How many lines at the top are front matter: `---`, at least one `key:` line, and `---` or `...`."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    keyed = False
    for at in range(1, len(lines)):
        line = lines[at].rstrip()
        if line == "---" or line == "...":
            return at + 1 if keyed else 0
        if not line:
            if not keyed:
                return 0
        elif not keyed:
            name = line.partition(":")[0]
            if name == line and line[0] != "#":
                return 0
            keyed = name != line and name.replace("-", "").replace("_", "").isalnum()
    return 0


def _heading_words(words: str) -> str:
    """What an ATX heading says, without the closing sequence that it may have."""
    words = words.strip(" ")
    bare = words.rstrip("#")
    if not bare:
        return ""
    return bare.rstrip(" ") if bare[-1] == " " else words


def _holds(line: str, marks: tuple[str, ...]) -> bool:
    """Whether one of the end marks of an HTML block stands in the line."""
    lowered = line.lower()
    return any([mark in lowered for mark in marks])
