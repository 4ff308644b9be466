"""Insertion and removal of a value in a JSON text, without changes to any other byte."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from execplan.core.named_tuple import NamedTuple
from execplan.core.text import strict_json
from execplan.core.text.fast_json import MAX_DEPTH
from execplan.core.text.strict_json import BOM, JsonFault, JsonNode

LINE_END = re.compile(r"\r\n|\r|\n")
"""Pattern for the end of a line."""
_PROBLEMS = {
    strict_json.VALUE: "expected a value",
    strict_json.NO_NUMBER: "expected a value",
    strict_json.SEPARATOR: "expected a comma or {}",
    strict_json.KEY: "expected a key in double quotes",
    strict_json.COLON: "expected a colon",
    strict_json.DEPTH: f"nested more than {MAX_DEPTH} levels deep",
    strict_json.END: "unexpected text after the end",
    strict_json.DUPLICATE: "duplicate key {} in this object",
}
"""What is said of the faults of a file that can't be extended; another fault is a value that only some readers accept."""
_INDENT = re.compile(r"[ \t]*")


class InvalidJsonError(Exception):
    """The text is not JSON that can be extended; the message has the form `:line: problem`."""


class InsertionPoint(NamedTuple):
    """A position where a value can be inserted, with the text required around it."""

    offset: int
    prefix: str
    suffix: str
    created_containers: int
    """Number of containers around the value that `prefix` and `suffix` create."""
    layout: JsonLayout
    depth: int
    """Depth of the value relative to that of `layout`."""


class JsonLayout(NamedTuple):
    """The layout of a JSON text: line ends, indentation and spaces."""

    line_end: str
    """Line end; empty if everything is on one line."""
    indent_unit: str
    """Indentation of one level."""
    indent: str
    """Indentation of the line that contains the value."""
    has_spaces: bool
    """Whether a space follows colons and commas."""

    def line_break(self, depth: int) -> str:
        """Return the text between two lines, of which the second is deeper than the value by `depth` levels."""
        return self.line_end + self.indent + self.indent_unit * depth if self.line_end else ""

    def format_value(self, value: Any, depth: int) -> str:
        """Format a value, indented by `depth` more levels."""
        colon = ": " if self.has_spaces else ":"
        if not self.line_end:
            return json.dumps(value, ensure_ascii=False, separators=("," + colon[1:], colon))
        lines = json.dumps(value, ensure_ascii=False, indent=self.indent_unit, separators=(",", colon)).split("\n")
        return self.line_break(depth).join(lines)


def parse_json(text: str) -> JsonNode | None:
    """Parse a text; return None if it is blank. Raises InvalidJsonError, also for duplicate keys in an object."""
    if not text.removeprefix(BOM).strip(" \t\r\n"):
        return None
    try:
        return strict_json.read_node(text, _raise_invalid)
    except JsonFault as fault:
        raise json_error(text, fault.position, _PROBLEMS[fault.kind].format(fault.token[:60])) from None


def _raise_invalid(fault: JsonFault) -> None:
    """Raise a fault unless programs read the text in spite of it."""
    if fault.kind in _PROBLEMS:
        raise fault


def node_value(text: str, node: JsonNode) -> Any:
    """Return the value of a node. Raises InvalidJsonError for a number with more digits than Python accepts."""
    try:
        return json.loads(text[node.start : node.end])
    except ValueError as error:
        raise json_error(text, node.start, str(error)) from None


def json_error(text: str, offset: int, problem: str) -> InvalidJsonError:
    """Return an error for a position, with its line number."""
    if text.startswith(("//", "/*"), offset):
        problem = "a comment, which JSON doesn't allow"
    return InvalidJsonError(f":{len(LINE_END.findall(text, 0, offset)) + 1}: {problem}")


def find_insertion_point(text: str, keys: Sequence[str], *, at_start: bool = False) -> InsertionPoint:
    """Find where a value can be added to the array at a path of keys. Raises InvalidJsonError.

    `at_start`: before its other items, not after them.
    """
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
    if at_start and node.items:
        return _insertion_before_items(text, root, node)
    return _insertion_in_container(text, root, node, parent, ())


def insert_value(text: str, insertion: InsertionPoint, value: Any) -> str:
    """Insert a value into a text at an insertion point."""
    inserted_text = insertion.prefix + insertion.layout.format_value(value, insertion.depth) + insertion.suffix
    return text[: insertion.offset] + inserted_text + text[insertion.offset :]


def replace_value(text: str, node: JsonNode, value: Any) -> str:
    """Replace a value in a text by another one with the same layout."""
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
    """Remove an item from a text, given by its containers and its index in each.

    Containers that would become empty are also removed, except for the first `keep_count`.
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
    """Return where to insert a value into a blank text; an object is created around it."""
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
    """Return where to add an item at the end of a container, with the missing containers around it."""
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


def _insertion_before_items(text: str, root: JsonNode, node: JsonNode) -> InsertionPoint:
    """Return where to add an item at the start of a container that has items: its layout is that of the first one."""
    gap = text[node.start + 1 : node.starts[0]]
    has_spaces, lines = _has_spaces(text, root), LINE_END.split(gap)
    layout = JsonLayout(_line_end(text) if len(lines) > 1 else "", _indent_unit(text, root), lines[-1], has_spaces)
    suffix = ", " if has_spaces and not gap else ","
    return InsertionPoint(node.start + 1, gap, suffix, 0, layout, 0)


def _item_layout(text: str, root: JsonNode, node: JsonNode, parent: JsonNode | None) -> JsonLayout:
    """Return the layout for a new item of a container: that of its last item or, if it is empty, of the container."""
    indent_unit = _indent_unit(text, root)
    layout = JsonLayout(
        _line_end(text), indent_unit, _line_indent(text, node.start) + indent_unit, _has_spaces(text, root)
    )
    if node.items:
        gap = _gap_before_last_item(text, node)
        return layout._replace(indent=LINE_END.split(gap)[-1]) if LINE_END.search(gap) else layout._replace(line_end="")
    if parent and not LINE_END.search(_gap_before_last_item(text, parent)):
        return layout._replace(line_end="")
    return layout


def _gap_before_last_item(text: str, node: JsonNode) -> str:
    """Return the text before the last item of a container."""
    if len(node.items) == 1:
        return text[node.start + 1 : node.starts[0]]
    return text[node.items[-2].end : node.starts[-1]].partition(",")[2]


def _indent_unit(text: str, root: JsonNode) -> str:
    """Return the indentation of the root's members; two spaces if it is unknown."""
    gap = text[root.start + 1 : root.starts[0]] if root.items else ""
    return (LINE_END.split(gap)[-1] if LINE_END.search(gap) else "") or "  "


def _has_spaces(text: str, root: JsonNode) -> bool:
    """Check whether a space follows the first colon."""
    return not (root.keys and text[root.items[0].start - 1] == ":")


def _line_indent(text: str, offset: int) -> str:
    """Return the indentation of the line at an offset."""
    begin = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    match = _INDENT.match(text, begin)
    return match[0] if match else ""


def _line_end(text: str) -> str:
    """Return the line end of the first line."""
    match = LINE_END.search(text)
    return match[0] if match else "\n"


def _require_kind(text: str, node: JsonNode, kind: str, keys: Sequence[str]) -> None:
    if node.kind != kind:
        expected = "an object" if kind == "{" else "an array"
        raise json_error(text, node.start, f"{'.'.join(keys) or 'the document'} is not {expected}")
