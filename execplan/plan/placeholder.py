"""Guidance: the lines of a template that an author is meant to replace."""

from __future__ import annotations

from binascii import crc32

from execplan.plan.guidance import LINES

_REFERENCE: dict[int, frozenset[int]] = {
    11: frozenset((0x4335672b,)),
    12: frozenset((0x91beefcd,)),
    13: frozenset((0xeb048bec,)),
    14: frozenset((0x108bda1a,)),
    16: frozenset((0x7016b6,)),
    22: frozenset((0x8015e62e,)),
    38: frozenset((0x52740931,)),
    45: frozenset((0xfd6eae78,)),
    67: frozenset((0xcbb464c3,)),
    68: frozenset((0xb40754d7,)),
    74: frozenset((0xbe9108f8,)),
    77: frozenset((0x4e034fa4,)),
    79: frozenset((0xd1a2e173,)),
    80: frozenset((0xa3a9dd08,)),
    84: frozenset((0xd3b3a6c8,)),
    87: frozenset((0x2613d21c, 0xf033b247,)),
    90: frozenset((0xbd3fb6a8,)),
    94: frozenset((0x12918869,)),
}
"""Lines of the reference skeleton: CRC-32 of each by its length, white space folded (reference/execplans.md)."""


def is_guidance(line: str) -> bool:
    """Whether the line is one that a template left, white space folded."""
    folded = " ".join(line.split())
    if folded in LINES:
        return True
    size = len(folded)
    return size in _REFERENCE and crc32(folded.encode("utf-8")) in _REFERENCE[size]
