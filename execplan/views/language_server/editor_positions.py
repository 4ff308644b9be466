"""Columns as editors count them: in UTF-16 units, unless the editor asked for another encoding."""

from __future__ import annotations

from typing import Final

UTF_8: Final = "utf-8"
UTF_16: Final = "utf-16"
UTF_32: Final = "utf-32"


def count_units(text: str, encoding: str) -> int:
    """Return the length of a text in the units of an encoding."""
    if encoding == UTF_32 or text.isascii():
        return len(text)
    return sum([_unit_count(char, encoding) for char in text])


def find_column(line: str, units: int, encoding: str) -> int:
    """Return the column, in characters, at a number of units from the start of a line.

    Units within a character mean its start, and units after the line mean its end.
    """
    if encoding == UTF_32 or line.isascii():
        return max(0, min(units, len(line)))
    for column, char in enumerate(line):
        units -= _unit_count(char, encoding)
        if units < 0:
            return column
    return len(line)


def _unit_count(char: str, encoding: str) -> int:
    code = ord(char)
    if encoding == UTF_16:
        return 2 if code > 0xFFFF else 1
    if code < 0x80:
        return 1
    if code < 0x800:
        return 2
    if code < 0x10000:
        return 3
    return 4
