"""A JSON text read strictly, with where each value stands in it."""

from __future__ import annotations

import json
import re
from typing import Any

from execplan.record import NamedTuple

BOM = "\ufeff"
END = re.compile(r"\r\n|\r|\n")
"""How a line ends."""
_DEPTH = 64
_CLOSERS = {"{": "}", "[": "]"}
_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*"')
_PLAIN = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")


class UnreadableError(Exception):
    """The text is no JSON to which a value can be added: `:line: what is wrong`."""


class Node(NamedTuple):
    """A value where it stands, in characters."""

    kind: str
    """`{` or `[`; nothing for what holds no others."""
    start: int
    end: int
    items: tuple[Node, ...] = ()
    keys: tuple[str, ...] = ()
    """Of an object: one an item."""
    starts: tuple[int, ...] = ()
    """Where each item begins; in an object with its key."""

    def get(self, key: str) -> Node | None:
        """The value of a key, None where there is none."""
        return self.items[self.keys.index(key)] if key in self.keys else None


def parse(text: str) -> Node | None:
    """The value of a text, None where it is blank; raises UnreadableError. No key may stand twice in an object."""
    at = _skip(text, len(BOM) if text.startswith(BOM) else 0)
    if at == len(text):
        return None
    node = _value(text, at, 0)
    if (rest := _skip(text, node.end)) != len(text):
        raise wrong(text, rest, "something stands behind the end")
    return node


def value(text: str, node: Node) -> Any:
    """What a node says; raises UnreadableError for a number with more digits than Python reads."""
    try:
        return json.loads(text[node.start : node.end])
    except ValueError as error:
        raise wrong(text, node.start, str(error)) from None


def wrong(text: str, at: int, what: str) -> UnreadableError:
    """What is wrong at a place, with its line."""
    if text.startswith(("//", "/*"), at):
        what = "a comment, and JSON has none"
    return UnreadableError(f":{len(END.findall(text, 0, at)) + 1}: {what}")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found
    return found.end()


def _value(text: str, at: int, depth: int) -> Node:
    if text[at : at + 1] in ("{", "["):
        if depth == _DEPTH:
            raise wrong(text, at, f"nested deeper than {_DEPTH}")
        return _container(text, at, depth)
    found = _STRING.match(text, at) or _PLAIN.match(text, at)
    if found is None:
        raise wrong(text, at, "a value is wanted here")
    return Node("", at, found.end())


def _container(text: str, at: int, depth: int) -> Node:
    """The object or array that begins at a place."""
    opener = text[at]
    items: list[Node] = []
    starts: list[int] = []
    keys: dict[str, None] = {}
    here = _skip(text, at + 1)
    while text[here : here + 1] != _CLOSERS[opener] or items:
        starts.append(here)
        if opener == "{":
            here = _key(text, here, keys)
        items.append(_value(text, here, depth + 1))
        here = _skip(text, items[-1].end)
        if text[here : here + 1] == _CLOSERS[opener]:
            break
        if text[here : here + 1] != ",":
            raise wrong(text, here, f"a comma or {_CLOSERS[opener]} is wanted here")
        here = _skip(text, here + 1)
    return Node(opener, at, here + 1, tuple(items), tuple(keys), tuple(starts))


def _key(text: str, at: int, keys: dict[str, None]) -> int:
    """Read a key and its colon; where the value begins."""
    found = _STRING.match(text, at)
    if found is None:
        raise wrong(text, at, "a key in double quotes is wanted here")
    key = json.loads(found[0])
    if key in keys:
        raise wrong(text, at, f"the key {found[0][:60]} stands in this object twice")
    keys[key] = None
    at = _skip(text, found.end())
    if text[at : at + 1] != ":":
        raise wrong(text, at, "a colon is wanted here")
    return _skip(text, at + 1)
