"""Durations as options take them."""

from __future__ import annotations

_UNITS = {"m": 60, "h": 3600, "d": 86_400}
_MAX_SECONDS = 30 * 86_400


def parse_duration(text: str, max_seconds: int = _MAX_SECONDS) -> int | None:
    """Convert `30m`, `24h` or `7d` to seconds; return None if it is invalid, zero, or more than 30 days or the maximum."""
    count, unit = text[:-1], text[-1:]
    if unit not in _UNITS or not count.isascii() or not count.isdigit() or len(count) > 5:
        return None
    seconds = int(count) * _UNITS[unit]
    return seconds if 0 < seconds <= max_seconds else None
