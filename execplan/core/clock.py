"""The current time; `SOURCE_DATE_EPOCH` replaces the clock."""

from __future__ import annotations

import os
from time import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime


def now() -> datetime:
    """Return the current time in UTC; `SOURCE_DATE_EPOCH`, in seconds, replaces the clock for reproducible output."""
    from datetime import UTC, datetime

    fixed_seconds = _source_date_epoch()
    return datetime.now(UTC) if fixed_seconds is None else datetime.fromtimestamp(fixed_seconds, UTC)


def epoch_seconds() -> float:
    """Return the current time in seconds since 1970 in UTC; `SOURCE_DATE_EPOCH` replaces the clock."""
    fixed_seconds = _source_date_epoch()
    return time() if fixed_seconds is None else float(fixed_seconds)


def utc_timestamp() -> str:
    """Return the current time in UTC to the second, as in journal entries and documents: `2000-01-01T00:00:00Z`.

    `SOURCE_DATE_EPOCH` replaces the clock.
    """
    return format_utc_timestamp(epoch_seconds())


def format_utc_timestamp(seconds: float) -> str:
    """Format a time in seconds since 1970, as in `2000-01-01T00:00:00Z`."""
    from time import gmtime, strftime

    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(seconds))


def current_minute() -> int:
    """Return the current time in minutes since 1970 in UTC; `SOURCE_DATE_EPOCH` replaces the clock."""
    fixed_seconds = _source_date_epoch()
    return (int(time()) if fixed_seconds is None else fixed_seconds) // 60


def _source_date_epoch() -> int | None:
    """Return the seconds since 1970 in `SOURCE_DATE_EPOCH`, or None if it is not set to a valid number."""
    epoch_text = os.environ.get("SOURCE_DATE_EPOCH", "")
    return int(epoch_text) if epoch_text.isascii() and epoch_text.isdigit() and len(epoch_text) < 12 else None
