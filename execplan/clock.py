"""The one clock, and the shapes of a stamp: read, checked, and written anew in the shape of another."""

from __future__ import annotations

import os
from time import time

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

_DATE = "0000-00-00"
_ZEROS = str.maketrans("123456789", "000000000")
_DELIMITERS = (":", "：", " -", " –", " —", ",")


class Stamp(NamedTuple):
    """A date, or a date and a time, as it stands before the words of a task or an entry."""

    text: str
    """As written, parentheses included."""
    after: str
    """What stands between it and the words: a space, or a colon and a space, and the like."""
    date: str
    """YYYY-MM-DD."""
    time: str
    """HH:MM or HH:MM:SS, or nothing."""
    joint: str
    """`T` or a space between date and time."""
    zone: str
    """`Z`, an offset or a name as written, with the space before it if there is one; or nothing."""
    possible: bool
    """False for a date or a time that no calendar has."""

    @property
    def moment(self) -> str:
        """The date with its time and zone, as written, and nothing else that stands in the parentheses."""
        return self.date + self.joint + self.time + self.zone

    @property
    def bare(self) -> bool:
        """Whether it stands without parentheses."""
        return not self.text.startswith("(")


PLAIN = Stamp("(2000-01-01 00:00Z)", " ", "2000-01-01", "00:00", " ", "Z", True)
"""The shape that is written where no neighbour shows another."""


def now() -> datetime:
    """The time in UTC; `SOURCE_DATE_EPOCH`, in seconds, stands in for the clock so that a run can be repeated."""
    from datetime import UTC, datetime

    fixed = _fixed()
    return datetime.now(UTC) if fixed is None else datetime.fromtimestamp(fixed, UTC)


def seconds() -> float:
    """The time in seconds since 1970 in UTC, by the same clock."""
    fixed = _fixed()
    return time() if fixed is None else float(fixed)


def utc() -> str:
    """The time in UTC, to the second, as entries and documents hold it: `2000-01-01T00:00:00Z`; by the same clock."""
    from time import gmtime, strftime

    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(seconds()))


def from_utc(text: str) -> int:
    """Such a time in seconds since 1970; the text is one."""
    minutes = _days(int(text[:4]), int(text[5:7]), int(text[8:10])) * 1440 + int(text[11:13]) * 60 + int(text[14:16])
    return minutes * 60 + int(text[17:19])


def is_utc(text: str) -> bool:
    """Whether a text is such a time, and one that a calendar and a clock have."""
    return _shape(text) == "0000-00-00T00:00:00Z" and text.isascii() and _possible(text[:10], text[11:19], "Z")


def this_minute() -> int:
    """The time in minutes since 1970 in UTC, by the same clock."""
    fixed = _fixed()
    return (int(time()) if fixed is None else fixed) // 60


def _fixed() -> int | None:
    """The seconds since 1970 that stand in for the clock, if any do."""
    said = os.environ.get("SOURCE_DATE_EPOCH", "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 12 else None


def read_stamp(words: str) -> Stamp | None:
    """The stamp that the words begin with, or None."""
    first = words[:1]
    if not first.isdigit() and first != "(":
        return None
    if first == "(":
        close = words.find(")")
        if close < 0 or _shape(words[1:11]) != _DATE:
            return None
        return _parse(words[1:close], words[: close + 1], words[close + 1 :], bare=False)
    if _shape(words[:10]) != _DATE:
        return None
    end = 10
    if words[10:11] in ("T", " ") and _shape(words[11:16]) == "00:00":
        end = 16
        if _shape(words[16:19]) == ":00":
            end = 19
            if words[19:20] == ".":
                end = 20
                while words[end : end + 1].isdigit():
                    end += 1
        end += _zone(words[end:])
    rest = words[end:]
    if rest and rest[0] != " " and not rest.startswith(_DELIMITERS):
        return None
    return _parse(words[:end], words[:end], rest, bare=True)


def minutes(stamp: Stamp) -> tuple[int, int] | None:
    """The first and the last minute since 1970 in UTC that a possible stamp may mean, None for an impossible one.

    A date alone is any minute of that day; without an offset, or with the name of a zone, the day and the minute are
    those of some place on earth, from 14 hours ahead of UTC to 12 behind.
    """
    if not stamp.possible:
        return None
    first = _days(int(stamp.date[:4]), int(stamp.date[5:7]), int(stamp.date[8:10])) * 1440
    if stamp.time:
        first += int(stamp.time[:2]) * 60 + int(stamp.time[3:5])
    last = first if stamp.time else first + 1439
    offset = _offset(stamp.zone.strip()) if stamp.zone else None
    return (first - 14 * 60, last + 12 * 60) if offset is None else (first - offset, last - offset)


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970 of a date in the Gregorian calendar; years begin in March so that the leap day comes last."""
    years = year - (month < 3)
    return years * 365 + years // 4 - years // 100 + years // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day - 719469


def placeholder(words: str) -> int:
    """How many characters at the start of the words are a template's `(YYYY-MM-DD HH:MM)` and the space behind it."""
    if words.startswith("(YYYY-MM-DD"):
        end = words.find(")") + 1
    elif words.startswith("YYYY-MM-DD"):
        end = len("YYYY-MM-DD")
        if words[end + 1 : end + 6] == "HH:MM":
            end += 6 + (words[end + 6 : end + 7] == "Z")
    else:
        return 0
    while end and words[end : end + 1] == " ":
        end += 1
    return end


def write_stamp(moment: datetime, shape: Stamp) -> str:
    """The moment in the shape of another stamp; a zone known only by its name is written as `Z`."""
    zone = shape.zone
    offset = _offset(zone.strip())
    if offset is None:
        zone, offset = "Z", 0
    if offset:
        from datetime import timedelta

        moment += timedelta(minutes=offset)
    text = f"{moment:%Y-%m-%d}"
    if shape.time:
        text += shape.joint + f"{moment:%H:%M:%S}"[: 8 if len(shape.time) > 5 else 5] + zone
    return text if shape.bare else f"({text})"


def _parse(inner: str, text: str, rest: str, *, bare: bool) -> Stamp:
    date, time, joint, zone = inner[:10], "", "", ""
    if inner[10:11] in ("T", " ") and _shape(inner[11:16]) == "00:00":
        joint = inner[10]
        end = 19 if _shape(inner[16:19]) == ":00" else 16
        time = inner[11:end]
        while inner[end : end + 1] == "." or (end > 19 and inner[end : end + 1].isdigit()):
            end += 1
        zone = inner[end : end + _zone(inner[end:])]
        if not zone and not bare and len(inner[end:].split()) == 1:
            zone = inner[end:]
    after = ""
    if bare:
        for delimiter in _DELIMITERS:
            if rest.startswith(delimiter):
                after = delimiter
                break
    while rest[len(after) : len(after) + 1] == " ":
        after += " "
    return Stamp(text, after, date, time, joint, zone, _possible(date, time, zone))


def _possible(date: str, time: str, zone: str) -> bool:
    """Whether a calendar and a clock have it."""
    year, month, day = int(date[:4]), int(date[5:7]), int(date[8:10])
    if not 1 <= month <= 12 or not year:
        return False
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= day <= (29 if leap and month == 2 else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]):
        return False
    if time and (int(time[:2]) > 23 or int(time[3:5]) > 59 or int(time[6:8] or 0) > 60):
        return False
    offset = _offset(zone.strip())
    return offset is None or -14 * 60 <= offset <= 14 * 60


def _zone(text: str) -> int:
    """How many characters of a zone (`Z`, `+08`, `+0800`, ` +08:00`) the text begins with."""
    if text[:1] == "Z":
        return 1
    lead = 1 if text[:1] == " " else 0
    if text[lead : lead + 1] not in ("+", "-"):
        return 0
    for shape in ("00:00", "0000", "00"):
        if _shape(text[lead + 1 : lead + 1 + len(shape)]) == shape:
            return lead + 1 + len(shape)
    return 0


def _offset(zone: str) -> int | None:
    """Minutes east of UTC; nothing and `Z` are 0, a name is None."""
    if zone in ("", "Z"):
        return 0
    digits = zone[1:].replace(":", "")
    if zone[0] not in "+-" or not (digits.isascii() and digits.isdigit()):
        return None
    minutes = int(digits[:2]) * 60 + int(digits[2:4] or 0)
    return -minutes if zone[0] == "-" else minutes


def _shape(text: str) -> str:
    """The text with every digit as 0."""
    return text.translate(_ZEROS)
