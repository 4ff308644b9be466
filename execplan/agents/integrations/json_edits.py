"""Where in a JSON text a value can be put in and taken out again, so that every other byte stays as it is."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from execplan.agents.integrations.json_nodes import BOM, LINE_END, json_error, parse_json
from execplan.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.integrations.json_nodes import JsonNode

_INDENT = re.compile(r"[ \t]*")


class InsertionPoint(NamedTuple):
    """Where a value can be put in, and what has to stand around it."""

    offset: int
    prefix: str
    suffix: str
    created_containers: int
    """How many of the containers that lead to it stand in `before` and `after`."""
    layout: JsonLayout
    depth: int
    """How much deeper the value stands than what `form` is of."""


class JsonLayout(NamedTuple):
    """How a text is laid out."""

    line_end: str
    """How a line ends; nothing: all stands in one line."""
    indent_unit: str
    """What an inner line is indented by."""
    indent: str
    """What the line is indented by in which a value stands."""
    has_spaces: bool
    """Whether a blank stands behind colons and commas."""

    def line_break(self, depth: int) -> str:
        """What stands between two lines, the second so much deeper than the value."""
        return self.line_end + self.indent + self.indent_unit * depth if self.line_end else ""

    def format_value(self, value: Any, depth: int) -> str:
        """A value, laid out so much deeper."""
        colon = ": " if self.has_spaces else ":"
        if not self.line_end:
            return json.dumps(value, ensure_ascii=False, separators=("," + colon[1:], colon))
        lines = json.dumps(value, ensure_ascii=False, indent=self.indent_unit, separators=(",", colon)).split("\n")
        return self.line_break(depth).join(lines)


def find_insertion_point(text: str, keys: Sequence[str]) -> InsertionPoint:
    """Where a value can be added to the array that keys lead to, one after the other; raises UnreadableError."""
    root = parse_json(text)
    if root is None:
        return _insertion_in_blank_text(text, keys)
    node, parent = root, None
    for depth, key in enumerate(keys):
        _require_kind(text, node, "{", keys[:depth])
        if (inner := node.get(key)) is None:
            return _insertion_in_container(text, root, node, parent, keys[depth:])
        node, parent = inner, node
    _require_kind(text, node, "[", keys)
    return _insertion_in_container(text, root, node, parent, ())


def insert_value(text: str, insertion: InsertionPoint, value: Any) -> str:
    """The text with a value at a spot of it."""
    inserted_text = insertion.prefix + insertion.layout.format_value(value, insertion.depth) + insertion.suffix
    return text[: insertion.offset] + inserted_text + text[insertion.offset :]


def replace_value(text: str, node: JsonNode, value: Any) -> str:
    """The text with another value in place of one, laid out as that is."""
    root = parse_json(text)
    assert root is not None
    is_multiline = "\n" in text[node.start : node.end] or "\r" in text[node.start : node.end]
    layout = JsonLayout(
        _line_end(text) if is_multiline else "",
        _indent_unit(text, root),
        _line_indent(text, node.start),
        _has_spaces(text, root),
    )
    return text[: node.start] + layout.format_value(value, 0) + text[node.end :]


def remove_item(text: str, ancestors: Sequence[tuple[JsonNode, int]], keep_count: int) -> str:
    """The text without an item, given by the containers that lead to it and its place in each.

    What would be empty then goes with it, but for the first `keep_count` of the containers.
    """
    ancestors = list(ancestors)
    while len(ancestors) > keep_count and len(ancestors[-1][0].items) == 1:
        ancestors.pop()
    if not ancestors:
        return ""
    node, index = ancestors[-1]
    if len(node.items) == 1:
        return text[: node.start + 1] + text[node.end - 1 :]
    if index:
        return text[: node.items[index - 1].end] + text[node.items[index].end :]
    return text[: node.starts[0]] + text[node.starts[1] :]


def _insertion_in_blank_text(text: str, keys: Sequence[str]) -> InsertionPoint:
    """Where a value goes in a blank text: it gets an object around it."""
    insertion = find_insertion_point("{}", keys)
    bom = len(BOM) if text.startswith(BOM) else 0
    line_end = _line_end(text)
    prefix, suffix = [fragment.replace("\n", line_end) for fragment in ("{" + insertion.prefix, insertion.suffix + "}")]
    suffix += "" if len(text) > bom else line_end
    return insertion._replace(
        offset=bom,
        prefix=prefix,
        suffix=suffix,
        created_containers=insertion.created_containers + 1,
        layout=insertion.layout._replace(line_end=line_end),
    )


def _insertion_in_container(
    text: str, root: JsonNode, node: JsonNode, parent: JsonNode | None, missing: Sequence[str]
) -> InsertionPoint:
    """Where an item goes behind the last of a container, with the containers that are missing around it."""
    layout = _item_layout(text, root, node, parent)
    prefix, suffix = "," if node.items else "", ""
    prefix += layout.line_break(0) or (" " if node.items and layout.has_spaces else "")
    for depth, key in enumerate(missing):
        is_last = depth == len(missing) - 1
        prefix += (
            json.dumps(key)
            + (": " if layout.has_spaces else ":")
            + ("[" if is_last else "{")
            + layout.line_break(depth + 1)
        )
        suffix = layout.line_break(depth) + ("]" if is_last else "}") + suffix
    inside = text[node.start + 1 : node.end - 1]
    if layout.line_end and not node.items and not LINE_END.search(inside):
        suffix += layout.line_end + _line_indent(text, node.start)
    offset = node.items[-1].end if node.items else node.start + 1
    return InsertionPoint(offset, prefix, suffix, len(missing), layout, len(missing))


def _item_layout(text: str, root: JsonNode, node: JsonNode, parent: JsonNode | None) -> JsonLayout:
    """How an item of a container is laid out: as the last of it, or where it is empty as the container itself."""
    indent_unit = _indent_unit(text, root)
    layout = JsonLayout(
        _line_end(text), indent_unit, _line_indent(text, node.start) + indent_unit, _has_spaces(text, root)
    )
    if node.items:
        gap = _gap_before_last_item(text, node)
        return layout._replace(indent=LINE_END.split(gap)[-1]) if LINE_END.search(gap) else layout._replace(line_end="")
    return (
        layout._replace(line_end="") if parent and not LINE_END.search(_gap_before_last_item(text, parent)) else layout
    )


def _gap_before_last_item(text: str, node: JsonNode) -> str:
    """What stands before the last item of a container."""
    if len(node.items) == 1:
        return text[node.start + 1 : node.starts[0]]
    return text[node.items[-2].end : node.starts[-1]].partition(",")[2]


def _indent_unit(text: str, root: JsonNode) -> str:
    """What the members of the whole are indented by, two blanks where that can't be told."""
    gap = text[root.start + 1 : root.starts[0]] if root.items else ""
    return (LINE_END.split(gap)[-1] if LINE_END.search(gap) else "") or "  "


def _has_spaces(text: str, root: JsonNode) -> bool:
    """Whether a blank stands behind the first colon."""
    return not (root.keys and text[root.items[0].start - 1] == ":")


def _line_indent(text: str, offset: int) -> str:
    """The white space that the line of a place begins with."""
    begin = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    match = _INDENT.match(text, begin)
    return match[0] if match else ""


def _line_end(text: str) -> str:
    """How the first line ends."""
    match = LINE_END.search(text)
    return match[0] if match else "\n"


def _require_kind(text: str, node: JsonNode, kind: str, keys: Sequence[str]) -> None:
    if node.kind != kind:
        expected = "an object" if kind == "{" else "an array"
        raise json_error(text, node.start, f"{'.'.join(keys) or 'the whole'} is not {expected}")
