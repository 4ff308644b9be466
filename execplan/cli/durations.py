"""Durations as options take them and as the output of runs shows them."""

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


def format_duration(seconds: float) -> str:
    """Format a duration, as in `0.1 s`, `12 s`, `2 min 5 s`, `1 h 3 min`."""
    if round(seconds, 1) < 10:
        return f"{seconds:.1f} s"
    whole_seconds = round(seconds)
    if whole_seconds < 60:
        return f"{whole_seconds} s"
    if whole_seconds < 3600:
        return f"{whole_seconds // 60} min {whole_seconds % 60} s"
    return f"{whole_seconds // 3600} h {whole_seconds % 3600 // 60} min"
