"""Guidance: the lines of a template that an author is meant to replace."""

from __future__ import annotations

from binascii import crc32

from execplan.plan.guidance import LINES

_REFERENCE: dict[int, frozenset[int]] = {
    11: frozenset((0x4335672B,)),
    12: frozenset((0x91BEEFCD,)),
    13: frozenset((0xEB048BEC,)),
    14: frozenset((0x108BDA1A,)),
    16: frozenset((0x7016B6,)),
    22: frozenset((0x8015E62E,)),
    38: frozenset((0x52740931,)),
    45: frozenset((0xFD6EAE78,)),
    67: frozenset((0xCBB464C3,)),
    68: frozenset((0xB40754D7,)),
    74: frozenset((0xBE9108F8,)),
    77: frozenset((0x4E034FA4,)),
    79: frozenset((0xD1A2E173,)),
    80: frozenset((0xA3A9DD08,)),
    84: frozenset((0xD3B3A6C8,)),
    87: frozenset(
        (
            0x2613D21C,
            0xF033B247,
        )
    ),
    90: frozenset((0xBD3FB6A8,)),
    94: frozenset((0x12918869,)),
}
"""Lines of the reference skeleton: CRC-32 of each by its length, white space folded (reference/execplans.md)."""


_SIZES = frozenset([*_REFERENCE, *[len(line) for line in LINES]])


def is_guidance(line: str) -> bool:
    """Whether the line is one that a template left, white space folded."""
    folded = line.strip()
    if "  " in folded or "\t" in folded:
        folded = " ".join(folded.split())
    size = len(folded)
    if size not in _SIZES:
        return False
    return folded in LINES or (size in _REFERENCE and crc32(folded.encode("utf-8")) in _REFERENCE[size])
