"""Encoding of the texts before and after an edit in the journal: in full, or as a difference from the last entry."""

from __future__ import annotations

import zlib
from binascii import a2b_base64, b2a_base64

FULL, DELTA = "w", "d"
"""First character of stored texts; older versions store full texts without one."""


def pack(data: bytes) -> str:
    """Encode bytes as one line: compressed, in base64."""
    return b2a_base64(zlib.compress(data, 6), newline=False).decode()


def unpack(encoded: str) -> bytes:
    """Decode bytes encoded by `pack`. Raises ValueError if they are damaged."""
    try:
        return zlib.decompress(a2b_base64(encoded))
    except (ValueError, zlib.error) as error:
        raise ValueError(str(error)) from None


def quote(text: str) -> str:
    """Encode text as one line without spaces, in base64."""
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = text.encode("utf-8", "backslashreplace")
    return b2a_base64(data, newline=False).decode() or "="


def unquote(encoded: str) -> str:
    """Decode text encoded by `quote`; empty if it is damaged."""
    try:
        return a2b_base64(encoded).decode("utf-8", "surrogateescape")
    except ValueError:
        return ""


def encode_full(old: bytes, new: bytes) -> str:
    """Encode both texts in full."""
    prefix_size, suffix_size = _common_affixes(old, new)
    return FULL + _encode(prefix_size, suffix_size, old, new[prefix_size : len(new) - suffix_size])


def encode_delta(old: bytes, new: bytes) -> str:
    """Encode both texts for a reader that has the old one."""
    prefix_size, suffix_size = _common_affixes(old, new)
    removed, added = old[prefix_size : len(old) - suffix_size], new[prefix_size : len(new) - suffix_size]
    return DELTA + _encode(prefix_size, suffix_size, removed, added)


def _encode(prefix_size: int, suffix_size: int, old: bytes, middle: bytes) -> str:
    return pack(b"%d %d %d\0" % (prefix_size, suffix_size, len(old)) + old + middle)


def decode_texts(stored: str, base: bytes | None) -> tuple[bytes, bytes]:
    """Decode the texts before and after an edit; `base` is the old text, needed for a difference.

    Raises ValueError if the texts are damaged.
    """
    is_delta = stored.startswith(DELTA)
    sizes, _, texts = unpack(stored[1:] if is_delta or stored.startswith(FULL) else stored).partition(b"\0")
    prefix_size, suffix_size, *old_size = [int(number) for number in sizes.split()]
    if old_size:
        old, middle = texts[: old_size[0]], texts[old_size[0] :]
    else:  # an older version, which separated the texts
        old, middle = texts.split(b"\0", 1)
    if is_delta:
        if base is None or base[prefix_size : len(base) - suffix_size] != old:
            raise ValueError("the entry before it is damaged")
        old = base
    return old, old[:prefix_size] + middle + old[len(old) - suffix_size :]


def _common_affixes(old: bytes, new: bytes) -> tuple[int, int]:
    """Return how many bytes two texts share at the start, and how many of the rest at the end."""
    prefix_size = _common_prefix(old, new)
    return prefix_size, _common_prefix(old[prefix_size:][::-1], new[prefix_size:][::-1])


def _common_prefix(left: bytes, right: bytes) -> int:
    """Return the number of equal bytes at the start of two texts."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if left[:middle] == right[:middle] else (low, middle - 1)
    return low
