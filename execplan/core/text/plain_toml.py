"""Readers of TOML: one of plain TOML, and one that leaves everything else to `tomllib`, including all errors.

Plain TOML is tables with strings, whole numbers, booleans and lists, each on one line. Most settings are that plain, and
importing `tomllib` takes longer than checking a plan.
"""

from __future__ import annotations

_MAX_DIGITS = 18


_MAX_KEY_PARTS = 32
"""Maximum number of parts in a dotted key: the time that `tomllib` takes grows with its square."""


def parse_toml(data: bytes) -> dict[str, object]:
    """Parse a TOML document; raises ValueError, and RecursionError if it is nested too deeply."""
    document = parse_plain(data)
    if document is not None:
        return document
    import re
    import tomllib

    text = data.decode("utf-8")
    part = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
    long_key = re.search(rf"(?<![\w-]){part}(?:[ \t]*+\.[ \t]*+{part}){{{_MAX_KEY_PARTS}}}", text)
    if long_key is not None:
        line = text.count("\n", 0, long_key.start()) + 1
        raise ValueError(f"a key has more than {_MAX_KEY_PARTS} parts (at line {line})")
    return tomllib.loads(text)


class _NotPlainError(Exception):
    """The text has something that this reader does not know, or an error."""


def parse_plain(data: bytes) -> dict[str, object] | None:
    """Return what `tomllib` returns for a document, or None if the document is not plain."""
    if not data.isascii():
        return None
    document: dict[str, object] = {}
    table = document
    try:
        for raw in data.decode("ascii").split("\n"):
            line = raw.strip(" ")
            if not line.isprintable():
                return None
            if not line or line.startswith("#"):
                continue
            if line.startswith("["):
                table = {}
                _set(document, line[1:-1], table)
                if line[-1] != "]":
                    return None
                continue
            key, equals, text = line.partition("=")
            value, end = _parse_value(text, _skip_spaces(text, 0))
            if not equals or text[end:].strip(" "):
                return None
            _set(table, key.rstrip(" "), value)
    except _NotPlainError:
        return None
    return document


def _set(table: dict[str, object], key: str, value: object) -> None:
    letters = key.replace("_", "").replace("-", "")
    if key in table or not key or (letters and not letters.isalnum()):
        raise _NotPlainError
    table[key] = value


def _skip_spaces(text: str, at: int) -> int:
    while text[at : at + 1] == " ":
        at += 1
    return at


def _parse_value(text: str, at: int) -> tuple[object, int]:
    """Return the value at a position, and the position after it. Raises _NotPlainError."""
    first = text[at : at + 1]
    if first == "[":
        return _parse_list(text, at + 1)
    if first in ('"', "'"):
        end = text.find(first, at + 1)
        value = text[at + 1 : end]
        if end < 0 or (first == '"' and "\\" in value) or (not value and text[end + 1 : end + 2] == first):
            raise _NotPlainError
        return value, end + 1
    end = at
    while end < len(text) and text[end] not in " ,]":
        end += 1
    return _parse_word(text[at:end]), end


def _parse_word(word: str) -> object:
    if word in ("true", "false"):
        return word == "true"
    digits = word.removeprefix("-")
    if not digits.isdigit() or len(digits) > _MAX_DIGITS or (digits[0] == "0" and len(digits) > 1):
        raise _NotPlainError
    return int(word)


def _parse_list(text: str, at: int) -> tuple[list[object], int]:
    """Return the list whose bracket is before a position, and the position after it."""
    values: list[object] = []
    while True:
        at = _skip_spaces(text, at)
        if text[at : at + 1] == "]":
            return values, at + 1
        if text[at : at + 1] == "[":  # lists of lists would need a limit of their depth
            raise _NotPlainError
        value, at = _parse_value(text, at)
        values.append(value)
        at = _skip_spaces(text, at)
        if text[at : at + 1] == ",":
            at += 1
        elif text[at : at + 1] != "]":
            raise _NotPlainError
