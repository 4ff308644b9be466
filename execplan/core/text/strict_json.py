"""Strict JSON reader: anything that JSON readers interpret differently is a fault with its position.

The standard reader keeps the last of two equal keys, accepts NaN, lone surrogates and integers of any length, and fails
with a RecursionError if brackets are nested too deeply. This one continues after a fault, to report all at once.
`fast_json` applies the same rules, without positions, where a text is only accepted or refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.fast_json import MAX_DEPTH, parse_float, parse_integer
from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.core.text.violation import Violation, json_pointer

MAX_BYTES: Final = 5 * 1024 * 1024
"""Maximum size of a document, in bytes."""
MAX_VIOLATIONS: Final = 100
"""Maximum number of violations that are reported; the rest is only counted."""
BOM = "\ufeff"
DUPLICATE, NO_NUMBER, NUMBER, SURROGATE, BYTE_ORDER_MARK = "duplicate", "no number", "number", "surrogate", "BOM"
"""Kinds of faults after which reading continues."""
VALUE, SEPARATOR, KEY, COLON, DEPTH, END = "value", "separator", "key", "colon", "depth", "end"
"""Kinds of faults at which reading ends."""

_SPACE = lazy_pattern(r"[ \t\n\r]*+")
_STRING = lazy_pattern(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*')
_NUMBER = lazy_pattern(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?")
_LITERAL = lazy_pattern(r"-?[A-Za-z]++")
_CONSTANTS = {"true": True, "false": False, "null": None}
_NON_JSON_NUMBERS = ("NaN", "Infinity", "-Infinity")


class ParsedJson(NamedTuple):
    """The content of a JSON document, with its violations."""

    value: object
    """Parsed value, with a harmless one in place of each rejected value; None if nothing could be read."""
    violations: tuple[Violation, ...]
    omitted: int = 0
    """Number of violations that are not reported."""
    is_complete: bool = True
    """Whether the document was read to its end."""


class JsonFault(Exception):  # noqa: N818 - most are reported and not raised
    """A fault in a JSON text; raised if the rest of the text can't be interpreted."""

    def __init__(self, kind: str, message: str, pointer: str, position: int, token: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.pointer = pointer
        self.position = position
        self.token = token
        """What the fault is about: the closing bracket that could stand there, or the key that stands there twice."""


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


def read(data: bytes) -> ParsedJson:
    """Read a JSON document and collect all violations of its syntax."""
    if len(data) > MAX_BYTES:
        return _failed_read(f"larger than {MAX_BYTES // 1024 // 1024} MiB")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _failed_read("UTF-16; convert it to UTF-8")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return _failed_read(f"invalid UTF-8 at byte {error.start + 1}")
    violations: list[Violation] = []
    omitted = 0

    def add_violation(fault: JsonFault) -> None:
        nonlocal omitted
        if len(violations) < MAX_VIOLATIONS:
            violations.append(_located_violation(text, fault))
        else:
            omitted += 1

    value, is_complete = None, False
    try:
        value = _Reader(text, add_violation).read()
        is_complete = True
    except JsonFault as fault:
        violations.append(_located_violation(text, fault))
    return ParsedJson(value, tuple(violations), omitted, is_complete)


def _located_violation(text: str, fault: JsonFault) -> Violation:
    line = text.count("\n", 0, fault.position) + 1
    column = fault.position - text.rfind("\n", 0, fault.position)
    return Violation(fault.pointer, f"{fault.message} (line {line}, column {column})")


def _failed_read(message: str) -> ParsedJson:
    return ParsedJson(None, (Violation("", message),), is_complete=False)


def read_node(text: str, report: Callable[[JsonFault], None]) -> JsonNode:
    """Return the node of a text's value, with the nodes in it; `report` gets the faults and may raise them.

    Raises JsonFault where the text can't be read.
    """
    reader = _Reader(text, report, with_nodes=True)
    reader.read()
    return reader.node


class _Reader:
    """Reads a text in one pass; the limit of nesting is far below that of recursion."""

    def __init__(self, text: str, report: Callable[[JsonFault], None], *, with_nodes: bool = False) -> None:
        self.text = text
        self.position = 0
        self.report = report
        self.with_nodes = with_nodes
        self.node = JsonNode("", 0, 0)
        """Node of the last value, if nodes are wanted."""
        self.path: list[str | int] = []

    def read(self) -> object:
        """Return the value of the text."""
        if self.text.startswith(BOM):
            self._report(BYTE_ORDER_MARK, 0, "begins with a byte order mark")
            self.position = 1
        value = self._read_value()
        if self._peek():
            raise self._fatal_fault(END, "unexpected text after the end of the document")
        return value

    def _read_value(self) -> object:
        char = self._peek()
        if char == "{" or char == "[":
            return self._read_container({} if char == "{" else [])
        start = self.position
        value = self._read_string() if char == '"' else self._read_scalar(char)
        if self.with_nodes:
            self.node = JsonNode("", start, self.position)
        return value

    def _read_container(self, container: dict[str, object] | list[object]) -> object:
        opener, closer = ("{", "}") if isinstance(container, dict) else ("[", "]")
        start = self.position
        items: list[JsonNode] = []
        item_starts: list[int] = []
        self.position += 1
        char = self._peek()
        if char != closer and len(self.path) == MAX_DEPTH:
            raise self._fatal_fault(DEPTH, f"nested more than {MAX_DEPTH} levels deep")
        self.path.append(0)
        while char != closer or items:
            item_start = self.position
            if isinstance(container, dict):
                name = self.path[-1] = self._read_key(container)
                container[name] = self._read_value()
            else:
                self.path[-1] = len(container)
                container.append(self._read_value())
            items.append(self.node)
            item_starts.append(item_start)
            char = self._peek()
            if char == closer:
                break
            if char != ",":
                message = f"`,` or `{closer}` is missing" if char else f"it ends where `,` or `{closer}` is expected"
                raise self._fatal_fault(SEPARATOR, message, closer, in_container=True)
            self.position += 1
            self._peek()
        self.position += 1
        self.path.pop()
        if self.with_nodes:
            keys = tuple(container) if isinstance(container, dict) else ()
            self.node = JsonNode(opener, start, self.position, tuple(items), keys, tuple(item_starts))
        return container

    def _read_key(self, container: dict[str, object]) -> str:
        """Read the key of an object's next item, and its colon."""
        if self._peek() != '"':
            raise self._fatal_fault(KEY, "expected a name in double quotes", in_container=True)
        start = self.position
        name = self.path[-1] = self._read_string(is_key=True)
        if name in container:
            self._report(DUPLICATE, start, "duplicate key", self.text[start : self.position])
        if self._peek() != ":":
            raise self._fatal_fault(COLON, "`:` is missing after a name")
        self.position += 1
        return name

    def _read_scalar(self, char: str) -> object:
        """Read a number or a constant that begins with a character."""
        literal = _LITERAL.match(self.text, self.position)
        if literal and literal[0] in _CONSTANTS:
            self.position = literal.end()
            return _CONSTANTS[literal[0]]
        if literal and literal[0] in _NON_JSON_NUMBERS:
            self._report(NO_NUMBER, self.position, f"{literal[0]} is not a JSON number")
            self.position = literal.end()
            return 0
        number = _NUMBER.match(self.text, self.position)
        if number is None:
            message = "expected a value" if char else "it ends where a value is expected"
            raise self._fatal_fault(VALUE, message)
        start, self.position = self.position, number.end()
        try:
            return (parse_integer if number[1] is None and number[2] is None else parse_float)(number[0])
        except ValueError as error:
            self._report(NUMBER, start, str(error))
            return 0

    def _read_string(self, *, is_key: bool = False) -> str:
        """Read a string; `is_key` means that it is a key of the open object."""
        start = self.position
        match = _STRING.match(self.text, start)
        assert match is not None  # it starts with a quote
        self.position = match.end()
        char = self.text[self.position : self.position + 1]
        if char != '"':
            message = "a string that is not closed"
            if char == "\\":
                message = "an invalid escape"
            elif char:
                message = f"a control character in a string: {char!r}"
            raise self._fatal_fault(KEY if is_key else VALUE, message, in_container=is_key)
        self.position += 1
        if "\\" not in match[0]:
            return match[0][1:]
        value: str = json.loads(match[0] + '"')
        if any(["\ud800" <= char <= "\udfff" for char in value]):
            message = "half of a surrogate pair, which is not a character"
            self._report(SURROGATE, start, message, in_container=is_key)
            value = value.encode("utf-8", "replace").decode()
        return value

    def _peek(self) -> str:
        """Skip white space and return the next character, or an empty string."""
        char = self.text[self.position : self.position + 1]
        if char > " ":
            return char
        match = _SPACE.match(self.text, self.position)
        assert match is not None  # it also matches an empty string
        self.position = match.end()
        return self.text[self.position : self.position + 1]

    def _report(self, kind: str, position: int, message: str, token: str = "", *, in_container: bool = False) -> None:
        self.report(JsonFault(kind, message, self._pointer(in_container=in_container), position, token))

    def _fatal_fault(self, kind: str, message: str, token: str = "", *, in_container: bool = False) -> JsonFault:
        """Return a fault of a value, or of the open object or array if `in_container`."""
        pointer = self._pointer(in_container=in_container)
        return JsonFault(kind, message, pointer, self.position, token)

    def _pointer(self, *, in_container: bool) -> str:
        return json_pointer(self.path[:-1] if in_container else self.path)
