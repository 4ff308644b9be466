"""Strict JSON parser that records the position of each value in the text."""

from __future__ import annotations

import json
import re
from typing import Any

from execplan.named_tuple import NamedTuple

BOM = "\ufeff"
LINE_END = re.compile(r"\r\n|\r|\n")
"""Pattern for the end of a line."""
_MAX_DEPTH = 64
_CLOSERS = {"{": "}", "[": "]"}
_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*"')
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")


class InvalidJsonError(Exception):
    """The text is not JSON that can be extended; the message has the form `:line: problem`."""


class JsonNode(NamedTuple):
    """A value with its position in the text, in characters."""

    kind: str
    """Opening bracket, `{` or `[`; empty for a scalar."""
    start: int
    end: int
    items: tuple[JsonNode, ...] = ()
    keys: tuple[str, ...] = ()
    """Keys of an object, one per item."""
    starts: tuple[int, ...] = ()
    """Start of each item; in an object, of its key."""

    def get(self, key: str) -> JsonNode | None:
        """Return the value of a key; None if it is missing."""
        return self.items[self.keys.index(key)] if key in self.keys else None


def parse_json(text: str) -> JsonNode | None:
    """Parse a text; return None if it is blank. Raises InvalidJsonError, also for duplicate keys in an object."""
    offset = _skip_space(text, len(BOM) if text.startswith(BOM) else 0)
    if offset == len(text):
        return None
    node = _parse_value(text, offset, 0)
    if (end := _skip_space(text, node.end)) != len(text):
        raise json_error(text, end, "something stands behind the end")
    return node


def node_value(text: str, node: JsonNode) -> Any:
    """Return the value of a node. Raises InvalidJsonError for a number with more digits than Python accepts."""
    try:
        return json.loads(text[node.start : node.end])
    except ValueError as error:
        raise json_error(text, node.start, str(error)) from None


def json_error(text: str, offset: int, problem: str) -> InvalidJsonError:
    """Return an error for a position, with its line number."""
    if text.startswith(("//", "/*"), offset):
        problem = "a comment, and JSON has none"
    return InvalidJsonError(f":{len(LINE_END.findall(text, 0, offset)) + 1}: {problem}")


def _skip_space(text: str, offset: int) -> int:
    match = _SPACE.match(text, offset)
    assert match
    return match.end()


def _parse_value(text: str, offset: int, depth: int) -> JsonNode:
    if text[offset : offset + 1] in ("{", "["):
        if depth == _MAX_DEPTH:
            raise json_error(text, offset, f"nested deeper than {_MAX_DEPTH}")
        return _parse_container(text, offset, depth)
    match = _STRING.match(text, offset) or _SCALAR.match(text, offset)
    if match is None:
        raise json_error(text, offset, "a value is wanted here")
    return JsonNode("", offset, match.end())


def _parse_container(text: str, offset: int, depth: int) -> JsonNode:
    """Parse the object or array at an offset. Raises InvalidJsonError."""
    opener = text[offset]
    items: list[JsonNode] = []
    starts: list[int] = []
    keys: dict[str, None] = {}
    position = _skip_space(text, offset + 1)
    while text[position : position + 1] != _CLOSERS[opener] or items:
        starts.append(position)
        if opener == "{":
            position = _parse_key(text, position, keys)
        items.append(_parse_value(text, position, depth + 1))
        position = _skip_space(text, items[-1].end)
        if text[position : position + 1] == _CLOSERS[opener]:
            break
        if text[position : position + 1] != ",":
            raise json_error(text, position, f"a comma or {_CLOSERS[opener]} is wanted here")
        position = _skip_space(text, position + 1)
    return JsonNode(opener, offset, position + 1, tuple(items), tuple(keys), tuple(starts))


def _parse_key(text: str, offset: int, keys: dict[str, None]) -> int:
    """Parse a key and its colon; return the offset of the value."""
    match = _STRING.match(text, offset)
    if match is None:
        raise json_error(text, offset, "a key in double quotes is wanted here")
    key = json.loads(match[0])
    if key in keys:
        raise json_error(text, offset, f"the key {match[0][:60]} stands in this object twice")
    keys[key] = None
    offset = _skip_space(text, match.end())
    if text[offset : offset + 1] != ":":
        raise json_error(text, offset, "a colon is wanted here")
    return _skip_space(text, offset + 1)
