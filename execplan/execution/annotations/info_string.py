"""Parser for code block info strings: the language, then attributes in Pandoc style, `sh {#build needs=fetch}`."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.execution.attributes import ATTRIBUTES_BY_NAME, EXAMPLE, EXECUTION, EXPECT

_KNOWN_ATTRIBUTES = ATTRIBUTES_BY_NAME.keys() - {"id"}
_QUOTES = "\"'"
_MAX_WORDS = 100
"""Limit on words between braces; no hand-written info string has more."""


class FenceAttribute(NamedTuple):
    """An attribute as written; columns count from 0 within the info string and ends are exclusive."""

    name: str
    value: str
    """Value without quotes; a bare word has the value `true`."""
    start: int
    end: int
    is_bare: bool = False


class SyntaxFlaw(NamedTuple):
    """A syntax error in an info string, with its columns."""

    start: int
    end: int
    message: str


class InfoString(NamedTuple):
    """A parsed info string with attributes."""

    language: str
    id: FenceAttribute | None
    mark: str
    """`example`, `expect`, `execution`, or an empty string."""
    attributes: tuple[FenceAttribute, ...]
    """Known and unknown attributes in order, without the ID and the marks."""
    flaws: tuple[SyntaxFlaw, ...]

    def get(self, name: str) -> FenceAttribute | None:
        """Return the attribute with the given name, or None."""
        return next((attribute for attribute in self.attributes if attribute.name == name), None)


def parse_info_string(info: str) -> InfoString | None:
    """Parse the attributes of an info string, or return None if it has none of ExecPlan's: other tools use braces too.

    A group in braces belongs to ExecPlan if it has an `#id`, a mark, or a known attribute with no foreign word before.
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
    """Return the mark that a word represents, as a bare word or a class, or an empty string."""
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
                flaws.append(
                    SyntaxFlaw(attribute.start, attribute.end, f"a second ID, in addition to #{id_attribute.value}")
                )
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
            SyntaxFlaw(start, start + len(trailing_text), f"unexpected text after the closing brace: {trailing_text!r}")
        )
    return InfoString(language, id_attribute, mark, tuple(attributes), tuple(flaws))


def _read_group(info: str, at: int) -> tuple[list[FenceAttribute], list[SyntaxFlaw], int]:
    """Return the words from an opening brace to its closing brace, the syntax errors, and the end column."""
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
    """Return the word at a column, its end, and an error message or an empty string."""
    if info[start] in "#.":
        end = _find_end(info, start + 1, "}")
        value = info[start + 1 : end]
        return (
            FenceAttribute(info[start], value, start, end),
            end,
            "" if value else f"{info[start]} without a name after it",
        )
    equal = _find_end(info, start, "}=")
    name = info[start:equal]
    if info[equal : equal + 1] != "=":
        message = "" if _is_name(name) else f"{name!r} is not an attribute: write name=value"
        return FenceAttribute(name, "true", start, equal, True), equal, message
    if info[equal + 1 : equal + 2] and info[equal + 1] in _QUOTES:
        value, end, message = _read_quoted(info, equal + 1)
    else:
        end = _find_end(info, equal + 1, "}")
        value, message = info[equal + 1 : end], ""
    if not _is_name(name):
        message = f"{info[start:end]!r} is not an attribute: write name=value"
    return FenceAttribute(name, value, start, end), end, message


def _find_end(info: str, at: int, stops: str) -> int:
    """Return the column of the next white space or stop character."""
    while at < len(info) and not info[at].isspace() and info[at] not in stops:
        at += 1
    return at


def _read_quoted(info: str, at: int) -> tuple[str, int, str]:
    """Read a quoted value and return it with its end and any error; a backslash escapes the quote and itself."""
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
    message = f"{info[end:value_end]!r} directly after a closing quote" if value_end > end else ""
    return "".join(chars), value_end, message


def _is_name(name: str) -> bool:
    return name[:1].isalpha() and name.replace("-", "").replace("_", "").isalnum()
