"""JSON that means one thing only: what readers differ on is a violation, told with its place.

The standard reader keeps the last of two equal keys, takes NaN, lone surrogates and integers of any length, and ends in a
RecursionError when there are too many brackets. This one reads on behind what it refuses, so that all of it is told at once.
"""

from __future__ import annotations

import json
import re
from typing import Final

from execplan.execution.documents.violation import Violation, pointer
from execplan.record import NamedTuple

LIMIT: Final = 5 * 1024 * 1024
"""Bytes of a document."""
DEPTH: Final = 64
DIGITS: Final = 19
"""Of an integer: as many as 64 bits take."""
MOST: Final = 100
"""Violations that are told; the rest is counted."""
_NUMBER_LENGTH: Final = 64

_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?")
_WORD = re.compile(r"-?[A-Za-z]++")
_CONSTANTS = {"true": True, "false": False, "null": None}
_NO_NUMBERS = ("NaN", "Infinity", "-Infinity")


class Read(NamedTuple):
    """What a document holds."""

    value: object
    """With something harmless in place of what was refused; None where nothing could be read."""
    violations: tuple[Violation, ...]
    more: int = 0
    """How many violations are not told."""
    whole: bool = True
    """Whether it was read to its end."""


def read(data: bytes) -> Read:
    """Read a document, with all that is wrong with how it is written."""
    if len(data) > LIMIT:
        return _stopped(f"larger than {LIMIT // 1024 // 1024} MiB")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _stopped("UTF-16; convert it to UTF-8")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return _stopped(f"no UTF-8 at byte {error.start + 1}")
    reader = _Reader(text)
    try:
        value = reader.run()
    except _StopError as stop:
        return Read(None, (*reader.violations, stop.violation), reader.more, whole=False)
    return Read(value, tuple(reader.violations), reader.more)


def _stopped(why: str) -> Read:
    return Read(None, (Violation("", why),), whole=False)


class _StopError(Exception):
    """Behind this there is no telling what is meant."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(violation)
        self.violation = violation


class _Reader:
    """Goes through a text once; what is open stands in a stack, so that depth costs nothing."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.violations: list[Violation] = []
        self.more = 0
        self.open: list[dict[str, object] | list[object]] = []
        self.path: list[str | int] = []

    def run(self) -> object:
        """The value of the text."""
        if self.text.startswith("\ufeff"):
            self._note("", 0, "a byte order mark before it")
            self.at = 1
        while True:
            value = self._value()
            if isinstance(value, dict | list) and self._enter(value):
                continue
            while self.open:
                if self._next(value):
                    break
                value = self.open.pop()
            if not self.open:
                break
        if self._peek():
            raise self._stop("something follows the end of the document")
        return value

    def _enter(self, value: dict[str, object] | list[object]) -> bool:
        """Whether a value just opened has something in it; then what comes next is read."""
        if self._peek() == ("}" if isinstance(value, dict) else "]"):
            self.at += 1
            return False
        if len(self.open) == DEPTH:
            raise self._stop(f"nested deeper than {DEPTH}")
        self.open.append(value)
        self.path.append(0)
        if isinstance(value, dict):
            self._key(value)
        return True

    def _next(self, value: object) -> bool:
        """Put a value where it belongs; whether another follows in the same object or array."""
        into = self.open[-1]
        step = self.path[-1]
        if isinstance(into, dict):
            into[str(step)] = value
            end = "}"
        else:
            into.append(value)
            end = "]"
        mark = self._peek()
        if mark == end:
            self.at += 1
            self.path.pop()
            return False
        if mark != ",":
            what = f"`,` or `{end}` is missing" if mark else f"it ends where `,` or `{end}` should stand"
            raise self._stop(what, inside=True)
        self.at += 1
        if isinstance(into, dict):
            self._key(into)
        else:
            self.path[-1] = len(into)
        return True

    def _key(self, into: dict[str, object]) -> None:
        """Read a name and its colon."""
        start = self.at
        if self._peek() != '"':
            raise self._stop("a name in double quotes should stand here", inside=True)
        start = self.at
        name = self._string(inside=True)
        self.path[-1] = name
        if name in into:
            self._note(pointer(self.path), start, "the key stands here twice")
        if self._peek() != ":":
            raise self._stop("`:` is missing behind a name")
        self.at += 1

    def _value(self) -> object:
        """Read a value; of an object or an array the opening bracket."""
        mark = self._peek()
        if mark == '"':
            return self._string()
        if mark in ("{", "["):
            self.at += 1
            return {} if mark == "{" else []
        word = _WORD.match(self.text, self.at)
        if word and word[0] in _CONSTANTS:
            self.at = word.end()
            return _CONSTANTS[word[0]]
        if word and word[0] in _NO_NUMBERS:
            self._note(pointer(self.path), self.at, f"{word[0]} is no number of JSON")
            self.at = word.end()
            return 0
        number = _NUMBER.match(self.text, self.at)
        if number:
            return self._number(number)
        raise self._stop("a value should stand here" if mark else "it ends where a value should stand")

    def _number(self, found: re.Match[str]) -> int | float:
        start, self.at = self.at, found.end()
        length = found.end() - start
        whole = found[1] is None and found[2] is None
        digits = length - found[0].startswith("-")
        if whole and digits <= DIGITS:
            return int(found[0])
        if whole:
            self._note(pointer(self.path), start, f"an integer of {digits} digits; {DIGITS} are the most")
            return 0
        value = float(found[0]) if length <= _NUMBER_LENGTH else float("inf")
        if value in (float("inf"), float("-inf")):
            self._note(pointer(self.path), start, "a number that is too large or too long")
            return 0
        return value

    def _string(self, *, inside: bool = False) -> str:
        """Read a string; `inside`: the name of what is open."""
        start = self.at
        found = _STRING.match(self.text, start)
        assert found is not None  # it begins with a quote
        self.at = found.end()
        mark = self.text[self.at : self.at + 1]
        if mark != '"':
            what = "a string that is never closed"
            if mark == "\\":
                what = "an escape that JSON does not have"
            elif mark:
                what = f"a control character in a string: {mark!r}"
            raise self._stop(what, inside=inside)
        self.at += 1
        if "\\" not in found[0]:
            return found[0][1:]
        value: str = json.loads(found[0] + '"')
        if any(["\ud800" <= char <= "\udfff" for char in value]):
            where = pointer(self.path[:-1] if inside else self.path)
            self._note(where, start, "half of a surrogate pair, which is no character")
            value = value.encode("utf-8", "replace").decode()
        return value

    def _peek(self) -> str:
        """The next character that is no space."""
        found = _SPACE.match(self.text, self.at)
        assert found is not None  # it matches nothing, too
        self.at = found.end()
        return self.text[self.at : self.at + 1]

    def _note(self, where: str, at: int, message: str) -> None:
        if len(self.violations) < MOST:
            self.violations.append(Violation(where, f"{message} ({self._place(at)})"))
        else:
            self.more += 1

    def _stop(self, message: str, *, inside: bool = False) -> _StopError:
        """What is wrong with a value; `inside`: with the object or array that is open."""
        where = pointer(self.path[:-1] if inside else self.path)
        return _StopError(Violation(where, f"{message} ({self._place(self.at)})"))

    def _place(self, at: int) -> str:
        line = self.text.count("\n", 0, at) + 1
        return f"line {line}, column {at - self.text.rfind(chr(10), 0, at)}"
