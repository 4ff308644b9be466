"""Moments and durations as options take them: a date, a date with a time, or a duration before now."""

from __future__ import annotations

from execplan.core.clock import epoch_seconds
from execplan.core.errors import usage_error
from execplan.core.timestamps import is_utc_timestamp, minute_bounds, parse_utc_timestamp, read_timestamp

_UNITS = {"m": 60, "h": 3600, "d": 86_400}
_MAX_SECONDS = 30 * 86_400
_DAY_SECONDS = 86_400
_DATE_LENGTH = len("2026-01-01")
MAX_SECONDS = 100 * 366 * _DAY_SECONDS
"""Longest duration before now, about a century."""
MOMENT_FORMS = "7d, 2026-10-31 or 2026-10-31T14:30Z"


def parse_duration(text: str, max_seconds: int = _MAX_SECONDS) -> int | None:
    """Convert `30m`, `24h` or `7d` to seconds; return None if it is invalid, zero, or more than 30 days or the maximum."""
    count, unit = text[:-1], text[-1:]
    if unit not in _UNITS or not count.isascii() or not count.isdigit() or len(count) > 5:
        return None
    seconds = int(count) * _UNITS[unit]
    return seconds if 0 < seconds <= max_seconds else None


def parse_moment(text: str, *, is_end: bool = False) -> int | None:
    """Return a moment in seconds since 1970, or None for a text of another form.

    A date means its start in UTC or, with `is_end`, its end; `30m`, `24h` and `7d` are so long before now.
    """
    text = text.strip()
    duration = parse_duration(text, MAX_SECONDS)
    if duration is not None:
        return int(epoch_seconds()) - duration
    if is_utc_timestamp(f"{text}T00:00:00Z"):
        return parse_utc_timestamp(f"{text}T00:00:00Z") + (_DAY_SECONDS if is_end else 0)
    timestamp = text.removesuffix("Z").replace(" ", "T", 1)
    for seconds in ("", ":00"):
        if is_utc_timestamp(f"{timestamp}{seconds}Z"):
            return parse_utc_timestamp(f"{timestamp}{seconds}Z")
    return None


def parse_entry_date(text: str) -> tuple[int, bool] | None:
    """Return the moment of an entry's date in seconds since 1970, and whether it includes a time; None if it is invalid.

    A time counts in UTC if no zone is written. In a zone that is known only by its name, only the date counts.
    """
    moment = parse_moment(text)
    if moment is not None:
        return moment, len(text) > _DATE_LENGTH
    timestamp = read_timestamp(text)
    bounds = minute_bounds(timestamp) if timestamp is not None else None
    if timestamp is None or bounds is None:
        return None
    if bounds[0] == bounds[1]:
        return bounds[0] * 60, True
    return parse_utc_timestamp(f"{timestamp.date}T00:00:00Z"), False


def is_date_shaped(text: str) -> bool:
    """Return whether a text is digits and hyphens in the form of a date, which may be impossible, such as 2026-02-30."""
    return [len(part) for part in text.split("-")] == [4, 2, 2] and text.replace("-", "").isdigit()


def require_moment(text: str, option: str, *, is_end: bool = False) -> int:
    """Return the moment that an option names, in seconds since 1970; raises ExecplanError."""
    moment = parse_moment(text, is_end=is_end)
    if moment is None:
        message = f"{option} requires a date or a duration, not {text!r}"
        raise usage_error(message, f"for example: {MOMENT_FORMS}")
    return moment
