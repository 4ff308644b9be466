"""Where the links of a plan lead, and the anchors that its headings make."""

from __future__ import annotations

from execplan.lint.words import Span, paragraph
from execplan.text.blocks import HEADING, PARAGRAPH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from execplan.lint.rule import Given
    from execplan.plan.model import Plan

_MARK = "]("
_WIDEST = 400
_ODD = frozenset("<>{}*$ |`")


def links(plan: Plan, given: Given) -> Iterator[Span]:
    """The destinations of inline links, images and definitions, as they are written; outside of code."""
    words = given.words
    if _MARK in words.source:
        for line, column in words.find(_MARK):
            if not words.inert[line]:
                yield from _destination(plan.text.lines[line], line, column + len(_MARK))
    if "]: " in words.source:
        for block in plan.blocks:
            if block.kind == PARAGRAPH and block.text[:1] == "[":
                for line in range(block.start, block.end):
                    label, mark, _ = plan.text.lines[line].partition("]: ")
                    if mark and label.lstrip(" >")[:1] == "[" and label.lstrip(" >")[:2] != "[^":
                        yield from _destination(plan.text.lines[line], line, len(label) + len(mark))


def _destination(text: str, line: int, at: int) -> Iterator[Span]:
    """What stands at a place of a line up to the end of the destination."""
    while text[at : at + 1] == " ":
        at += 1
    if text[at : at + 1] == "<":
        end = text.find(">", at)
        if end > at + 1:
            yield Span(line, at + 1, text[at + 1 : end])
        return
    depth = 0
    end = at
    while end < len(text) and end - at < _WIDEST and text[end] not in " \t":
        depth += (text[end] == "(") - (text[end] == ")")
        if depth < 0:
            break
        end += 1
    if end > at:
        yield Span(line, at, text[at:end])


def is_link(plan: Plan, span: Span) -> bool:
    """Whether a renderer makes a link of it; loads it, so this is asked just before a report."""
    from execplan.text.inline import links as rendered

    text = paragraph(plan, span.line)
    return (text.lstrip(" >").startswith("[") and "]: " in text) or unquoted(span.text) in [
        unquoted(each) for each in rendered(text)
    ]


def anchors(plan: Plan, plain: Callable[[str], str]) -> set[str]:
    """What GitHub calls the headings of a plan, and the names that its HTML gives; `plain` takes the markup away."""
    found: set[str] = set()
    counts: dict[str, int] = {}
    for block in plan.blocks:
        if block.kind == HEADING:
            said = plain(block.text).strip().lower()
            slug = "".join([char for char in said if char.isalnum() or char in "-_ "]).replace(" ", "-")
            count = counts.get(slug, 0)
            counts[slug] = count + 1
            found.add(f"{slug}-{count}" if count else slug)
    for line in plan.text.lines:
        if "<" in line:
            for mark in ('id="', 'name="', "id='", "name='"):
                for piece in line.split(mark)[1:]:
                    found.add(piece.partition(mark[-1])[0].lower())
    return found


def is_anchor(plan: Plan, name: str, known: set[str]) -> bool:
    """Whether the plan makes an anchor; `known` gets what was found, with the markup read by a renderer only when needed."""
    if not known:
        known |= anchors(plan, lambda words: words.replace("`", "").replace("*", "")) | {""}
    if name not in known and "\0" not in known:
        from execplan.text.inline import plain

        known |= anchors(plan, plain) | {"\0"}
    return name in known


def anchor(target: str) -> str:
    """The name of an anchor, or nothing for one that a browser or GitHub makes."""
    name = unquoted(target[1:]).lower().removeprefix("user-content-")
    is_line = name[:1] == "l" and name[1:2].isdigit()
    return "" if is_line or name.startswith(":~:") or name == "top" else name


def relative_path(target: str) -> str:
    """The path of a link that leads to a file beside the plan or above; nothing for addresses, anchors and patterns."""
    path = target.partition("#")[0].partition("?")[0]
    head = path.partition("/")[0]
    return "" if not path or path[0] in "/\\~@" or ":" in head or _ODD.intersection(path) else unquoted(path)


def unquoted(address: str) -> str:
    """An address with the characters that `%20` and its kin stand for."""
    if "%" not in address:
        return address
    from urllib.parse import unquote

    return unquote(address)


def joined(folder: str, path: str) -> str | None:
    """A relative path counted from the root; None for one that leads out of the repository."""
    parts = folder.split("/") if folder else []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
