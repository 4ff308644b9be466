"""Timestamps in plans: reading, validation, and output in the format of another timestamp."""

from __future__ import annotations

from execplan.core.clock import format_utc_timestamp, now
from execplan.core.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

_DATE_SHAPE = "0000-00-00"


_DIGITS_TO_ZEROS = str.maketrans("123456789", "000000000")


_DELIMITERS = (":", "：", " -", " –", " —", ",")


class Timestamp(NamedTuple):
    """A date, or a date and a time, at the start of the text of a task or an entry."""

    text: str
    """Timestamp as written, parentheses included."""
    separator: str
    """Separator between the timestamp and the text, such as a space, or a colon and a space."""
    date: str
    """Date in the form YYYY-MM-DD."""
    time: str
    """Time in the form HH:MM or HH:MM:SS; empty for a date alone."""
    time_separator: str
    """`T` or a space between date and time; empty for a date alone."""
    zone: str
    """`Z`, an offset or a zone name as written, with the space before it if there is one; empty if none is written."""
    is_valid: bool
    """False for a date or a time that does not exist."""

    @property
    def date_time(self) -> str:
        """Return the date with its time and zone as written, without any other text in the parentheses."""
        return self.date + self.time_separator + self.time + self.zone

    @property
    def is_bare(self) -> bool:
        """Return whether the timestamp has no parentheses."""
        return not self.text.startswith("(")


DEFAULT_TIMESTAMP = Timestamp("(2000-01-01 00:00Z)", " ", "2000-01-01", "00:00", " ", "Z", True)
"""Timestamp format to use where no neighboring task or entry sets one."""


def parse_utc_timestamp(text: str) -> int:
    """Return a timestamp of the form `2000-01-01T00:00:00Z` in seconds since 1970; the text must be valid."""
    minutes = (
        _days_since_epoch(int(text[:4]), int(text[5:7]), int(text[8:10])) * 1440
        + int(text[11:13]) * 60
        + int(text[14:16])
    )
    return minutes * 60 + int(text[17:19])


def format_minute(seconds: int) -> str:
    """Format a time in seconds since 1970 to the minute, as in `2000-01-01 00:00Z`."""
    from datetime import UTC, datetime

    return write_timestamp(datetime.fromtimestamp(seconds, UTC), DEFAULT_TIMESTAMP).strip("()")


def seconds_since(timestamp: str) -> float:
    """Return the seconds from a timestamp of the form `2000-01-01T00:00:00Z` until now; 0 if it is in the future."""
    return max(0.0, now().timestamp() - parse_utc_timestamp(timestamp))


def is_utc_timestamp(text: str) -> bool:
    """Return whether a text has the form `2000-01-01T00:00:00Z` and is a date and time that exist."""
    return _digit_shape(text) == "0000-00-00T00:00:00Z" and text.isascii() and _is_valid(text[:10], text[11:19], "Z")


def read_timestamp(text: str) -> Timestamp | None:
    """Return the timestamp at the start of a text, or None."""
    first_char = text[:1]
    if not first_char.isdigit() and first_char != "(":
        return None
    if first_char == "(":
        close_index = text.find(")")
        if close_index < 0 or _digit_shape(text[1:11]) != _DATE_SHAPE:
            return None
        return _make_timestamp(text[1:close_index], text[: close_index + 1], text[close_index + 1 :], is_bare=False)
    if _digit_shape(text[:10]) != _DATE_SHAPE:
        return None
    end = 10
    if text[10:11] in ("T", " ") and _digit_shape(text[11:16]) == "00:00":
        end = 16
        if _digit_shape(text[16:19]) == ":00":
            end = 19
            if text[19:20] == ".":
                end = 20
                while text[end : end + 1].isdigit():
                    end += 1
        end += _zone_length(text[end:])
    following_text = text[end:]
    if following_text and following_text[0] != " " and not following_text.startswith(_DELIMITERS):
        return None
    return _make_timestamp(text[:end], text[:end], following_text, is_bare=True)


def leading_date(text: str) -> str:
    """Return the valid date in the form YYYY-MM-DD at the start of a text, or an empty string."""
    timestamp = read_timestamp(text[:10])
    return timestamp.date if timestamp is not None and timestamp.is_valid else ""


def minute_bounds(timestamp: Timestamp) -> tuple[int, int] | None:
    """Return the first and the last minute since 1970 in UTC that a timestamp may mean, or None if it is invalid.

    A date alone may mean any minute of that day. Without an offset, or with only the name of a zone, the day and the
    minute may be those of any place on earth, from UTC+14 to UTC-12.
    """
    if not timestamp.is_valid:
        return None
    first_minute = (
        _days_since_epoch(int(timestamp.date[:4]), int(timestamp.date[5:7]), int(timestamp.date[8:10])) * 1440
    )
    if timestamp.time:
        first_minute += int(timestamp.time[:2]) * 60 + int(timestamp.time[3:5])
    last_minute = first_minute if timestamp.time else first_minute + 1439
    offset = _utc_offset(timestamp.zone.strip()) if timestamp.zone else None
    if offset is None:
        return (first_minute - 14 * 60, last_minute + 12 * 60)
    return (first_minute - offset, last_minute - offset)


def utc_date(timestamp: Timestamp) -> str:
    """Return the date of a timestamp in UTC; the date as written if the timestamp has no offset or is invalid."""
    bounds = minute_bounds(timestamp) if timestamp.time and _utc_offset(timestamp.zone.strip()) else None
    text = format_utc_timestamp(bounds[0] * 60) if bounds is not None else ""
    return text[:10] if is_utc_timestamp(text) else timestamp.date


def _days_since_epoch(year: int, month: int, day: int) -> int:
    """Return the days since 1970 of a Gregorian date; years begin in March so that the leap day comes last."""
    years = year - (month < 3)
    return years * 365 + years // 4 - years // 100 + years // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day - 719469


def placeholder_length(text: str) -> int:
    """Return the length of a template's `(YYYY-MM-DD HH:MM)` at the start of a text, with the spaces after it."""
    if text.startswith("(YYYY-MM-DD"):
        end = text.find(")") + 1
    elif text.startswith("YYYY-MM-DD"):
        end = len("YYYY-MM-DD")
        if text[end + 1 : end + 6] == "HH:MM":
            end += 6 + (text[end + 6 : end + 7] == "Z")
    else:
        return 0
    while end and text[end : end + 1] == " ":
        end += 1
    return end


def write_timestamp(moment: datetime, example: Timestamp) -> str:
    """Format a moment like another timestamp; a zone that is known only by its name is written as `Z`."""
    zone = example.zone
    offset = _utc_offset(zone.strip())
    if offset is None:
        zone, offset = "Z", 0
    if offset:
        from datetime import timedelta

        moment += timedelta(minutes=offset)
    text = f"{moment:%Y-%m-%d}"
    if example.time:
        text += example.time_separator + f"{moment:%H:%M:%S}"[: 8 if len(example.time) > 5 else 5] + zone
    return text if example.is_bare else f"({text})"


def _make_timestamp(date_time_text: str, text: str, following_text: str, *, is_bare: bool) -> Timestamp:
    date, time, time_separator, zone = date_time_text[:10], "", "", ""
    if date_time_text[10:11] in ("T", " ") and _digit_shape(date_time_text[11:16]) == "00:00":
        time_separator = date_time_text[10]
        end = 19 if _digit_shape(date_time_text[16:19]) == ":00" else 16
        time = date_time_text[11:end]
        while date_time_text[end : end + 1] == "." or (end > 19 and date_time_text[end : end + 1].isdigit()):
            end += 1
        zone = date_time_text[end : end + _zone_length(date_time_text[end:])]
        if not zone and not is_bare and len(date_time_text[end:].split()) == 1:
            zone = date_time_text[end:]
    separator = ""
    if is_bare:
        for delimiter in _DELIMITERS:
            if following_text.startswith(delimiter):
                separator = delimiter
                break
    while following_text[len(separator) : len(separator) + 1] == " ":
        separator += " "
    return Timestamp(text, separator, date, time, time_separator, zone, _is_valid(date, time, zone))


def _is_valid(date: str, time: str, zone: str) -> bool:
    """Return whether a date, time and zone offset exist."""
    year, month, day = int(date[:4]), int(date[5:7]), int(date[8:10])
    if not 1 <= month <= 12 or not year:
        return False
    is_leap_year = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if (
        not 1
        <= day
        <= (29 if is_leap_year and month == 2 else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1])
    ):
        return False
    if time and (int(time[:2]) > 23 or int(time[3:5]) > 59 or int(time[6:8] or 0) > 60):
        return False
    offset = _utc_offset(zone.strip())
    return offset is None or -14 * 60 <= offset <= 14 * 60


def _zone_length(text: str) -> int:
    """Return the length of the zone (`Z`, `+08`, `+0800`, ` +08:00`) at the start of a text, or 0."""
    if text[:1] == "Z":
        return 1
    space_length = 1 if text[:1] == " " else 0
    if text[space_length : space_length + 1] not in ("+", "-"):
        return 0
    for shape in ("00:00", "0000", "00"):
        if _digit_shape(text[space_length + 1 : space_length + 1 + len(shape)]) == shape:
            return space_length + 1 + len(shape)
    return 0


def _utc_offset(zone: str) -> int | None:
    """Return the minutes east of UTC: 0 for an empty zone and `Z`, None for a zone name."""
    if zone in ("", "Z"):
        return 0
    digits = zone[1:].replace(":", "")
    if zone[0] not in "+-" or not (digits.isascii() and digits.isdigit()):
        return None
    minutes = int(digits[:2]) * 60 + int(digits[2:4] or 0)
    return -minutes if zone[0] == "-" else minutes


def _digit_shape(text: str) -> str:
    """Replace every ASCII digit in a text with 0."""
    return text.translate(_DIGITS_TO_ZEROS)
