"""Destinations of a plan's links, and the anchors of its headings."""

from __future__ import annotations

from execplan.core.text.block_rules import definition_line_count, heading_anchor
from execplan.core.text.markdown_blocks import HEADING, PARAGRAPH
from execplan.linter.plan_source import TextSpan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.text.markdown_blocks import Block
    from execplan.linter.rule import RuleContext


_POINTER_WORDS = frozenset(
    "see read refer consult follow check visit described documented defined specified explained details detail according".split()
)
_STOP_WORDS = frozenset(
    (
        "a about additional all also and are as at background below by can complete context design documentation docs document "
        "documents everything for found from full further here how in information is it link links more of on or our overview page "
        "please reference requirements spec specification that the their there these this to under we what which why with you"
    ).split()
)
_MAX_CONTENT_WORDS = 2
"""Maximum number of other words in a paragraph that only points to a link."""


def is_pointer(text: str) -> bool:
    """Return whether a paragraph with a URL only points the reader there."""
    words = _text_words(text)
    if not any([word in _POINTER_WORDS for word in words]):
        return False
    return len([word for word in words if word not in _POINTER_WORDS and word not in _STOP_WORDS]) <= _MAX_CONTENT_WORDS


def is_link_only(text: str) -> bool:
    """Return whether a paragraph consists only of a URL or a link."""
    return "://" in text and not _text_words(text)


def _text_words(text: str) -> list[str]:
    """Return the words of a paragraph in lower case, without its links."""
    words = [word.strip(".,;:()[]<>*_`'\"!?-+") for word in _strip_links(text).casefold().split()]
    return [word for word in words if word]


def _strip_links(text: str) -> str:
    """Return a text without its links, their text, and bare URLs."""
    segments: list[str] = []
    at = 0
    while at < len(text):
        close = text.find("](", at)
        begin = text.rfind("[", at, close) if close >= 0 else -1
        end = text.find(")", close) if close >= 0 else -1
        if begin < 0 or end < 0:
            break
        segments.append(text[at:begin])
        at = end + 1
    segments.append(text[at:])
    return " ".join([word for word in " ".join(segments).split() if "://" not in word])


_LINK_MARK = "]("
_MAX_LINK_LENGTH = 400
_NON_PATH_CHARACTERS = frozenset("<>{}*$|`")


def find_links(plan: ParsedPlan, context: RuleContext) -> Iterator[tuple[TextSpan, bool]]:
    """Yield each possible destination of links, images and definitions, as written, and whether it is certain."""
    source = context.source
    if _LINK_MARK in source.text:
        for line, column in source.find_all(_LINK_MARK):
            if not source.inert_lines[line]:
                for span in _link_destination(plan.text.lines[line], line, column + len(_LINK_MARK)):
                    yield span, False
    if "]: " in source.text:
        for block in plan.blocks:
            if block.kind == PARAGRAPH and block.text[:1] == "[" and block.text[:2] != "[^":
                for span in _definition_links(plan, block):
                    yield span, True


def _definition_links(plan: ParsedPlan, block: Block) -> Iterator[TextSpan]:
    """Yield the destinations of the link definitions at the start of a paragraph."""
    lines = [line.lstrip(" \t>") for line in plan.text.lines[block.start : block.end]]
    for at in range(definition_line_count(lines)):
        line = plan.text.lines[block.start + at]
        label, mark, _ = line.partition("]: ")
        if mark and lines[at].startswith("["):
            yield from _link_destination(line, block.start + at, len(label) + len(mark), is_definition=True)


def _link_destination(text: str, line: int, at: int, *, is_definition: bool = False) -> Iterator[TextSpan]:
    """Yield the link destination at a position of a line; a bare one may contain balanced parentheses."""
    while text[at : at + 1] == " ":
        at += 1
    if text[at : at + 1] == "<":
        end = text.find(">", at)
        if end > at + 1:
            yield TextSpan(line, at + 1, text[at + 1 : end])
        return
    if is_definition:
        if text[at:].strip():
            yield TextSpan(line, at, text[at:].split(maxsplit=1)[0])
        return
    end = at
    while end < at + _MAX_LINK_LENGTH:
        end = text.find(")", end, at + _MAX_LINK_LENGTH)
        if end < 0:
            break
        if text.count("(", at, end) == text.count(")", at, end):
            target = text[at:end].split(" ", maxsplit=1)[0]
            if target:
                yield TextSpan(line, at, target)
            return
        end += 1


def collect_anchors(plan: ParsedPlan, plain: Callable[[str], str]) -> set[str]:
    """Return the anchors that GitHub gives a plan's headings, and those in its HTML; `plain` removes markup."""
    anchor_names: set[str] = set()
    counts: dict[str, int] = {}
    for block in plan.blocks:
        if block.kind == HEADING:
            anchor_names.add(heading_anchor(plain(block.text), counts))
    for line in plan.text.lines:
        if "<" in line:
            for mark in ('id="', 'name="', "id='", "name='"):
                for segment in line.split(mark)[1:]:
                    anchor_names.add(segment.partition(mark[-1])[0].lower())
    return anchor_names


def has_anchor(plan: ParsedPlan, name: str, known_anchors: set[str]) -> bool:
    """Return whether a plan has an anchor.

    `known_anchors` caches the anchors; a Markdown renderer is only used if needed.
    """
    if not known_anchors:
        known_anchors |= collect_anchors(plan, lambda text: text.replace("`", "").replace("*", "")) | {""}
    if name not in known_anchors and "\0" not in known_anchors:
        from execplan.core.text.inline_markdown import plain_text

        known_anchors |= collect_anchors(plan, plain_text) | {"\0"}
    return name in known_anchors


def anchor_name(target: str) -> str:
    """Return the name of an anchor; empty if a browser or GitHub provides it."""
    name = unquote_address(target[1:]).lower().removeprefix("user-content-")
    is_line = name[:1] == "l" and name[1:2].isdigit()
    return "" if is_line or name.startswith(":~:") or name == "top" else name


def relative_path(target: str) -> str:
    """Return the path of a link to a relative file; empty for URLs, anchors and patterns."""
    path = target.partition("#")[0].partition("?")[0]
    head = path.partition("/")[0]
    if not path or path[0] in "/\\~@" or ":" in head or _NON_PATH_CHARACTERS.intersection(path):
        return ""
    return unquote_address(path)


def unquote_address(address: str) -> str:
    """Return an address with escapes such as `%20` decoded."""
    if "%" not in address:
        return address
    from urllib.parse import unquote

    return unquote(address)
