"""Names are suggested if they are similar, most similar first; none is suggested at random."""

from __future__ import annotations

import pytest

from execplan.text.suggestions import closest_names, did_you_mean

NAMES = ("plans", "archive", "artifacts", "archive_artifacts")


@pytest.mark.parametrize(
    ("name", "similar"),
    [("plan", ["plans"]), ("archiv", ["archive"]), ("zebra", []), ("", [])],
)
def test_similar_names(name: str, similar: list[str]) -> None:
    assert closest_names(name, NAMES) == similar
    assert did_you_mean(name, NAMES) == (f"did you mean {similar[0]}?" if similar else "")


def test_at_most_three_unless_asked_for() -> None:
    names = [f"step{number}" for number in range(9)]
    assert len(closest_names("step", names)) == 3
    assert len(closest_names("step", names, limit=8)) == 8
