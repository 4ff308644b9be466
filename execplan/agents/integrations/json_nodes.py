"""A JSON text read strictly, with where each value stands in it."""

from __future__ import annotations

import json
import re
from typing import Any

from execplan.named_tuple import NamedTuple

BOM = "\ufeff"
LINE_END = re.compile(r"\r\n|\r|\n")
"""How a line ends."""
_MAX_DEPTH = 64
_CLOSERS = {"{": "}", "[": "]"}
_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*"')
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")


class InvalidJsonError(Exception):
    """The text is no JSON to which a value can be added: `:line: what is wrong`."""


class JsonNode(NamedTuple):
    """A value where it stands, in characters."""

    kind: str
    """`{` or `[`; nothing for what holds no others."""
    start: int
    end: int
    items: tuple[JsonNode, ...] = ()
    keys: tuple[str, ...] = ()
    """Of an object: one an item."""
    starts: tuple[int, ...] = ()
    """Where each item begins; in an object with its key."""

    def get(self, key: str) -> JsonNode | None:
        """The value of a key, None where there is none."""
        return self.items[self.keys.index(key)] if key in self.keys else None


def parse_json(text: str) -> JsonNode | None:
    """The value of a text, None where it is blank; raises UnreadableError. No key may stand twice in an object."""
    offset = _skip_space(text, len(BOM) if text.startswith(BOM) else 0)
    if offset == len(text):
        return None
    node = _parse_value(text, offset, 0)
    if (end := _skip_space(text, node.end)) != len(text):
        raise json_error(text, end, "something stands behind the end")
    return node


def node_value(text: str, node: JsonNode) -> Any:
    """What a node says; raises UnreadableError for a number with more digits than Python reads."""
    try:
        return json.loads(text[node.start : node.end])
    except ValueError as error:
        raise json_error(text, node.start, str(error)) from None


def json_error(text: str, offset: int, problem: str) -> InvalidJsonError:
    """What is wrong at a place, with its line."""
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
    """The object or array that begins at a place."""
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
    """Read a key and its colon; where the value begins."""
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
