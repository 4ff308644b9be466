"""Words handed in: as an argument, from a file (`@FILE`) or from standard input (`-`)."""

from __future__ import annotations

import sys
from contextlib import nullcontext

from execplan.errors import USAGE, About, ExecplanError
from execplan.plan import reader
from execplan.plan.change import lines_of, words_of
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
    text, source = _text(given, what)
    with About(place(source)) if source else nullcontext():
        return words_of(text, what)


def body(given: str, what: str) -> list[str]:
    """Lines as they are, of an argument, of `@FILE` or of `-`, without the blank ones around them; raises ExecplanError."""
    text, source = _text(given, what)
    with About(place(source)) if source else nullcontext():
        return lines_of(text, what)


def _text(given: str, what: str) -> tuple[str, str]:
    """The text that is meant, and the file it comes from, `-` for standard input, or nothing."""
    if given != "-" and (not given.startswith("@") or given.startswith("@@")):
        return given[1:] if given.startswith("@@") else given, ""
    source = given.removeprefix("@")
    try:
        data = given_bytes(source)
    except ExecplanError as error:
        error.hint += "" if source == "-" else f"; for words that begin with an at sign write two: @@{source}"
        raise
    if len(data) > LIMIT:
        raise ExecplanError("too-many-words", f"{what} has more than {LIMIT:,} bytes", exit=USAGE, hint="say less")
    with About(place(source)):
        return reader.decode(data).to_str() if data.strip() else "", source
