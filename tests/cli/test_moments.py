"""Moments are dates in UTC, with or without a time, and durations before now."""

from __future__ import annotations

import pytest

from execplan.cli.time_options import parse_moment, require_moment
from execplan.core.errors import ExecplanError
from tests.conftest import CLOCK

DAY = 86_400


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-01", CLOCK),
        (" 2026-01-01 ", CLOCK),
        ("2026-01-01 00:01", CLOCK + 60),
        ("2026-01-01 00:01Z", CLOCK + 60),
        ("2026-01-01T00:01:02Z", CLOCK + 62),
        ("30m", CLOCK - 1800),
        ("24h", CLOCK - DAY),
        ("7d", CLOCK - 7 * DAY),
        ("3650d", CLOCK - 3650 * DAY),
    ],
)
def test_forms(monkeypatch: pytest.MonkeyPatch, text: str, expected: int) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(CLOCK))
    assert parse_moment(text) == expected


def test_the_end_of_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(CLOCK))
    assert parse_moment("2026-01-01", is_end=True) == CLOCK + DAY
    assert parse_moment("2026-01-01 00:00", is_end=True) == CLOCK
    assert parse_moment("7d", is_end=True) == CLOCK - 7 * DAY


@pytest.mark.parametrize(
    "text", ["", "yesterday", "7", "0d", "-7d", "7w", "99999d", "2026-02-30", "2026-1-1", "2026-01-01 25:00", "٣d"]
)
def test_other_texts_are_usage_errors(text: str) -> None:
    assert parse_moment(text) is None
    with pytest.raises(ExecplanError, match="--since requires a date or a duration") as error:
        require_moment(text, "--since")
    assert error.value.exit == 2
