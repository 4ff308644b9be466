"""Words handed in: as an argument, from a file (`@FILE`) or from standard input (`-`)."""

from __future__ import annotations

import sys

from execplan.errors import USAGE, About, ExecplanError
from execplan.plan import reader
from execplan.plan.change import words_of
from execplan.text import disk

LIMIT = 1 << 20
"""Bytes that words may come to."""


def given_bytes(source: str) -> bytes:
    """The bytes of a file, or of standard input for `-`; raises ExecplanError."""
    if source == "-":
        data = sys.stdin.buffer.read(reader.MAX_BYTES + 1)
        size = len(data)
    else:
        data, size = disk.read(source, reader.MAX_BYTES)
    if size > reader.MAX_BYTES:
        with About(place(source)):
            raise reader.too_large(size)
    return data


def place(source: str) -> str:
    """What words come from, as a message names it."""
    return "standard input" if source == "-" else source


def words(given: str, what: str) -> str:
    """The words as one line: of an argument, of `@FILE` or of `-`; `@@` begins words that begin with an at sign."""
    if given == "-" or (given.startswith("@") and not given.startswith("@@")):
        source = given.removeprefix("@")
        try:
            data = given_bytes(source)
        except ExecplanError as error:
            error.hint += "" if source == "-" else f"; for words that begin with an at sign write two: @@{source}"
            raise
        if len(data) > LIMIT:
            raise ExecplanError("too-many-words", f"{what} has more than {LIMIT:,} bytes", exit=USAGE, hint="say less")
        with About(place(source)):
            return words_of(reader.decode(data).to_str() if data.strip() else "", what)
    return words_of(given[1:] if given.startswith("@@") else given, what)
