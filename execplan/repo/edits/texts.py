"""The texts before and after an edit, as the journal stores them: whole, or as the difference from the entry before."""

from __future__ import annotations

import zlib
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64

WHOLE, DIFFERENCE = "w", "d"
"""The first character of stored texts; those of older versions have none and are whole."""


def pack(data: bytes) -> str:
    """Bytes on one line: compressed, in base64."""
    return b2a_base64(zlib.compress(data, 6), newline=False).decode()


def unpack(words: str) -> bytes:
    """The bytes that `pack` stored; raises ValueError where they are damaged."""
    try:
        return zlib.decompress(a2b_base64(words))
    except (Base64Error, zlib.error) as error:
        raise ValueError(str(error)) from None


def quote(text: str) -> str:
    """Text on one line without spaces, in base64."""
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = text.encode("utf-8", "backslashreplace")
    return b2a_base64(data, newline=False).decode() or "="


def unquote(words: str) -> str:
    """The text that `quote` stored; empty where it is damaged."""
    try:
        return a2b_base64(words).decode("utf-8", "surrogateescape")
    except (Base64Error, UnicodeDecodeError):
        return ""


def whole(old: bytes, new: bytes) -> str:
    """Both texts; no text holds NUL."""
    above, below = _common(old, new)
    return WHOLE + pack(b"%d %d\0" % (above, below) + old + b"\0" + new[above : len(new) - below])


def difference(old: bytes, new: bytes) -> str:
    """Both texts for a reader that has the old one."""
    above, below = _common(old, new)
    removed, added = old[above : len(old) - below], new[above : len(new) - below]
    return DIFFERENCE + pack(b"%d %d\0" % (above, below) + removed + b"\0" + added)


def read(stored: str, base: bytes | None) -> tuple[bytes, bytes]:
    """The texts before and after; `base` is the text before, which a difference needs. Raises ValueError."""
    is_difference = stored.startswith(DIFFERENCE)
    spans, old, middle = unpack(stored[1:] if is_difference or stored.startswith(WHOLE) else stored).split(b"\0", 2)
    above, below = [int(each) for each in spans.split()]
    if is_difference:
        if base is None or base[above : len(base) - below] != old:
            raise ValueError("the entry before it is damaged")
        old = base
    return old, old[:above] + middle + old[len(old) - below :]


def _common(old: bytes, new: bytes) -> tuple[int, int]:
    """How many bytes at the beginning and how many of the rest at the end are the same."""
    above = _alike(old, new)
    return above, _alike(old[above:][::-1], new[above:][::-1])


def _alike(one: bytes, two: bytes) -> int:
    """How many bytes at the beginning are the same."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == two[:middle] else (low, middle - 1)
    return low
