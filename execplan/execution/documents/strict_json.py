"""Strict JSON reader: anything that JSON readers interpret differently is a violation with its position.

The standard reader keeps the last of two equal keys, accepts NaN, lone surrogates and integers of any length, and fails
with a RecursionError if brackets are nested too deeply. This one continues after a violation, to report all at once.
"""

from __future__ import annotations

import json
import re
from typing import Final

from execplan.execution.documents.violation import Violation, json_pointer
from execplan.named_tuple import NamedTuple

MAX_BYTES: Final = 5 * 1024 * 1024
"""Maximum size of a document, in bytes."""
MAX_DEPTH: Final = 64
MAX_DIGITS: Final = 19
"""Maximum number of digits of an integer: as many as 64 bits allow."""
MAX_VIOLATIONS: Final = 100
"""Maximum number of violations that are reported; the rest is only counted."""
_MAX_NUMBER_LENGTH: Final = 64

_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?")
_LITERAL = re.compile(r"-?[A-Za-z]++")
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


def read(data: bytes) -> ParsedJson:
    """Read a JSON document and collect all violations of its syntax."""
    if len(data) > MAX_BYTES:
        return _failed_read(f"larger than {MAX_BYTES // 1024 // 1024} MiB")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _failed_read("UTF-16; convert it to UTF-8")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return _failed_read(f"no UTF-8 at byte {error.start + 1}")
    reader = _Reader(text)
    try:
        value = reader.parse()
    except _UnreadableError as unreadable:
        return ParsedJson(None, (*reader.violations, unreadable.violation), reader.omitted, is_complete=False)
    return ParsedJson(value, tuple(reader.violations), reader.omitted)


def _failed_read(message: str) -> ParsedJson:
    return ParsedJson(None, (Violation("", message),), is_complete=False)


class _UnreadableError(Exception):
    """A syntax error after which the rest of the document can't be interpreted."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(violation)
        self.violation = violation


class _Reader:
    """Reads a text in one pass, with open containers on a stack, so that nesting needs no recursion."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.violations: list[Violation] = []
        self.omitted = 0
        self.containers: list[dict[str, object] | list[object]] = []
        self.path: list[str | int] = []

    def parse(self) -> object:
        """Return the value of the text."""
        if self.text.startswith("\ufeff"):
            self._add_violation("", 0, "a byte order mark before it")
            self.position = 1
        while True:
            value = self._read_value()
            if isinstance(value, dict | list) and self._open_container(value):
                continue
            while self.containers:
                if self._store_value(value):
                    break
                value = self.containers.pop()
            if not self.containers:
                break
        if self._peek():
            raise self._fatal_error("something follows the end of the document")
        return value

    def _open_container(self, value: dict[str, object] | list[object]) -> bool:
        """Enter a container unless it is empty, and read the first key of an object; return whether it was entered."""
        if self._peek() == ("}" if isinstance(value, dict) else "]"):
            self.position += 1
            return False
        if len(self.containers) == MAX_DEPTH:
            raise self._fatal_error(f"nested deeper than {MAX_DEPTH}")
        self.containers.append(value)
        self.path.append(0)
        if isinstance(value, dict):
            self._read_key(value)
        return True

    def _store_value(self, value: object) -> bool:
        """Store a value in the open container; return whether another value follows in it."""
        container = self.containers[-1]
        key = self.path[-1]
        if isinstance(container, dict):
            container[str(key)] = value
            end = "}"
        else:
            container.append(value)
            end = "]"
        char = self._peek()
        if char == end:
            self.position += 1
            self.path.pop()
            return False
        if char != ",":
            message = f"`,` or `{end}` is missing" if char else f"it ends where `,` or `{end}` should stand"
            raise self._fatal_error(message, in_container=True)
        self.position += 1
        if isinstance(container, dict):
            self._read_key(container)
        else:
            self.path[-1] = len(container)
        return True

    def _read_key(self, container: dict[str, object]) -> None:
        """Read a key and its colon."""
        start = self.position
        if self._peek() != '"':
            raise self._fatal_error("a name in double quotes should stand here", in_container=True)
        start = self.position
        name = self._read_string(is_key=True)
        self.path[-1] = name
        if name in container:
            self._add_violation(json_pointer(self.path), start, "the key stands here twice")
        if self._peek() != ":":
            raise self._fatal_error("`:` is missing behind a name")
        self.position += 1

    def _read_value(self) -> object:
        """Read a value; for an object or an array, only the opening bracket."""
        char = self._peek()
        if char == '"':
            return self._read_string()
        if char in ("{", "["):
            self.position += 1
            return {} if char == "{" else []
        literal = _LITERAL.match(self.text, self.position)
        if literal and literal[0] in _CONSTANTS:
            self.position = literal.end()
            return _CONSTANTS[literal[0]]
        if literal and literal[0] in _NON_JSON_NUMBERS:
            self._add_violation(json_pointer(self.path), self.position, f"{literal[0]} is no number of JSON")
            self.position = literal.end()
            return 0
        number = _NUMBER.match(self.text, self.position)
        if number:
            return self._read_number(number)
        raise self._fatal_error("a value should stand here" if char else "it ends where a value should stand")

    def _read_number(self, match: re.Match[str]) -> int | float:
        start, self.position = self.position, match.end()
        length = match.end() - start
        is_integer = match[1] is None and match[2] is None
        digits = length - match[0].startswith("-")
        if is_integer and digits <= MAX_DIGITS:
            return int(match[0])
        if is_integer:
            self._add_violation(
                json_pointer(self.path), start, f"an integer of {digits} digits; {MAX_DIGITS} are the most"
            )
            return 0
        value = float(match[0]) if length <= _MAX_NUMBER_LENGTH else float("inf")
        if value in (float("inf"), float("-inf")):
            self._add_violation(json_pointer(self.path), start, "a number that is too large or too long")
            return 0
        return value

    def _read_string(self, *, is_key: bool = False) -> str:
        """Read a string; `is_key` means that it is a key of the open object."""
        start = self.position
        match = _STRING.match(self.text, start)
        assert match is not None  # it starts with a quote
        self.position = match.end()
        char = self.text[self.position : self.position + 1]
        if char != '"':
            message = "a string that is never closed"
            if char == "\\":
                message = "an escape that JSON does not have"
            elif char:
                message = f"a control character in a string: {char!r}"
            raise self._fatal_error(message, in_container=is_key)
        self.position += 1
        if "\\" not in match[0]:
            return match[0][1:]
        value: str = json.loads(match[0] + '"')
        if any(["\ud800" <= char <= "\udfff" for char in value]):
            location = json_pointer(self.path[:-1] if is_key else self.path)
            self._add_violation(location, start, "half of a surrogate pair, which is no character")
            value = value.encode("utf-8", "replace").decode()
        return value

    def _peek(self) -> str:
        """Skip white space and return the next character, or an empty string."""
        match = _SPACE.match(self.text, self.position)
        assert match is not None  # it also matches an empty string
        self.position = match.end()
        return self.text[self.position : self.position + 1]

    def _add_violation(self, location: str, position: int, message: str) -> None:
        if len(self.violations) < MAX_VIOLATIONS:
            self.violations.append(Violation(location, f"{message} ({self._position_text(position)})"))
        else:
            self.omitted += 1

    def _fatal_error(self, message: str, *, in_container: bool = False) -> _UnreadableError:
        """Return an error for a value, or for the open object or array if `in_container`."""
        location = json_pointer(self.path[:-1] if in_container else self.path)
        return _UnreadableError(Violation(location, f"{message} ({self._position_text(self.position)})"))

    def _position_text(self, position: int) -> str:
        line = self.text.count("\n", 0, position) + 1
        return f"line {line}, column {position - self.text.rfind(chr(10), 0, position)}"
