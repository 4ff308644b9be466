"""The info string of a fence: its language, and behind it attributes in the style of Pandoc, `sh {#build needs=fetch}`."""

from __future__ import annotations

from execplan.execution.attributes import ATTRIBUTES_BY_NAME, EXAMPLE, EXECUTION, EXPECT
from execplan.named_tuple import NamedTuple

_KNOWN_ATTRIBUTES = ATTRIBUTES_BY_NAME.keys() - {"id"}
_QUOTES = "\"'"
_MAX_WORDS = 100
"""Words between braces that anybody has written."""


class FenceAttribute(NamedTuple):
    """One attribute as it is written; columns count from 0 within the info string and ends are exclusive."""

    name: str
    value: str
    """Quotes taken off; a bare word has `true`."""
    start: int
    end: int
    is_bare: bool = False


class SyntaxFlaw(NamedTuple):
    """What can't be read, and where."""

    start: int
    end: int
    message: str


class InfoString(NamedTuple):
    """What an info string with attributes says."""

    language: str
    id: FenceAttribute | None
    mark: str
    """`example`, `expect`, `execution`, or nothing."""
    attributes: tuple[FenceAttribute, ...]
    """The attributes, known or not, in their order; without the id and the marks."""
    flaws: tuple[SyntaxFlaw, ...]

    def get(self, name: str) -> FenceAttribute | None:
        """The attribute of that name."""
        return next((attribute for attribute in self.attributes if attribute.name == name), None)


def parse_info_string(info: str) -> InfoString | None:
    """The attributes of an info string, or None where it has none that are ours: other tools write braces there too.

    Ours hold an `#id`, a mark, or an attribute that we know and nothing foreign before it.
    """
    at = info.find("{")
    language = (info[:at].split() or [""])[0] if at >= 0 else ""
    while at >= 0:
        attributes, flaws, end = _read_group(info, at)
        if _is_attribute_group(attributes):
            return _build_info_string(info, language, attributes, flaws, end)
        at = info.find("{", max(end, at + 1))
    return None


def _is_attribute_group(attributes: list[FenceAttribute]) -> bool:
    if any([attribute.name == "#" or _find_mark(attribute) for attribute in attributes]):
        return True
    is_foreign = not attributes or (attributes[0].is_bare and attributes[0].name not in _KNOWN_ATTRIBUTES)
    return not is_foreign and any([attribute.name in _KNOWN_ATTRIBUTES for attribute in attributes])


def _find_mark(attribute: FenceAttribute) -> str:
    """The mark that a word is: a bare one, or a class."""
    if attribute.name == EXAMPLE:
        return EXAMPLE
    if attribute.name in (EXPECT, EXECUTION) and attribute.is_bare:
        return attribute.name
    return attribute.value if attribute.name == "." and attribute.value in (EXAMPLE, EXPECT, EXECUTION) else ""


def _build_info_string(
    info: str, language: str, group: list[FenceAttribute], flaws: list[SyntaxFlaw], end: int
) -> InfoString:
    id_attribute: FenceAttribute | None = None
    mark = ""
    attributes: list[FenceAttribute] = []
    for attribute in group:
        if attribute.name == "#":
            if id_attribute is not None:
                flaws.append(SyntaxFlaw(attribute.start, attribute.end, f"a second id, beside #{id_attribute.value}"))
            id_attribute = id_attribute or attribute
        elif _find_mark(attribute):
            mark = EXAMPLE if EXAMPLE in (mark, _find_mark(attribute)) else mark or _find_mark(attribute)
        elif _is_name(attribute.name):
            if any([previous.name == attribute.name for previous in attributes]):
                flaws.append(SyntaxFlaw(attribute.start, attribute.end, f"{attribute.name} is given twice"))
            attributes.append(attribute)
        elif attribute.name == "." and not language:
            language = attribute.value
    trailing_text = info[end:].strip()
    if trailing_text and not flaws:
        start = info.index(trailing_text, end)
        flaws.append(
            SyntaxFlaw(
                start, start + len(trailing_text), f"nothing stands behind the closing brace, not {trailing_text!r}"
            )
        )
    return InfoString(language, id_attribute, mark, tuple(attributes), tuple(flaws))


def _read_group(info: str, at: int) -> tuple[list[FenceAttribute], list[SyntaxFlaw], int]:
    """The words between a brace and the one that closes it, what can't be read, and where that ends."""
    attributes: list[FenceAttribute] = []
    flaws: list[SyntaxFlaw] = []
    end = at + 1
    while True:
        while info[end : end + 1].isspace():
            end += 1
        if end >= len(info):
            if not flaws or flaws[-1].end < end:
                flaws.append(SyntaxFlaw(at, len(info), "the brace is never closed"))
            return attributes, flaws, end
        if len(attributes) == _MAX_WORDS:
            flaws.append(SyntaxFlaw(at, len(info), f"more than {_MAX_WORDS} words between the braces"))
            return attributes, flaws, len(info)
        if info[end] == "}":
            return attributes, flaws, end + 1
        attribute, end, message = _read_attribute(info, end)
        if message:
            flaws.append(SyntaxFlaw(attribute.start, end, message))
        if attribute.name:
            attributes.append(attribute)


def _read_attribute(info: str, start: int) -> tuple[FenceAttribute, int, str]:
    """The word that begins at a column, where it ends, and what is wrong with it."""
    if info[start] in "#.":
        end = _find_end(info, start + 1, "}")
        value = info[start + 1 : end]
        return (
            FenceAttribute(info[start], value, start, end),
            end,
            "" if value else f"{info[start]} with no name behind it",
        )
    equal = _find_end(info, start, "}=")
    name = info[start:equal]
    if info[equal : equal + 1] != "=":
        message = "" if _is_name(name) else f"{name!r} is no attribute: write name=value"
        return FenceAttribute(name, "true", start, equal, True), equal, message
    if info[equal + 1 : equal + 2] and info[equal + 1] in _QUOTES:
        value, end, message = _read_quoted(info, equal + 1)
    else:
        end = _find_end(info, equal + 1, "}")
        value, message = info[equal + 1 : end], ""
    if not _is_name(name):
        message = f"{info[start:end]!r} is no attribute: write name=value"
    return FenceAttribute(name, value, start, end), end, message


def _find_end(info: str, at: int, stops: str) -> int:
    """Where white space or one of some characters comes next."""
    while at < len(info) and not info[at].isspace() and info[at] not in stops:
        at += 1
    return at


def _read_quoted(info: str, at: int) -> tuple[str, int, str]:
    """The value that begins with a quote, in which a backslash keeps a quote or a backslash from being one."""
    quote = info[at]
    chars: list[str] = []
    end = at + 1
    while end < len(info) and info[end] != quote:
        if info[end] == "\\" and info[end + 1 : end + 2] in (quote, "\\"):
            end += 1
        chars.append(info[end])
        end += 1
    if end >= len(info):
        return "".join(chars), len(info), "the quote is never closed"
    end += 1
    value_end = _find_end(info, end, "}")
    message = f"{info[end:value_end]!r} directly behind a closing quote" if value_end > end else ""
    return "".join(chars), value_end, message


def _is_name(name: str) -> bool:
    return name[:1].isalpha() and name.replace("-", "").replace("_", "").isalnum()
