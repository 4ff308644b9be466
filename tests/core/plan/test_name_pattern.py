"""The form of names: filled, numbered, recognised, guessed."""

from __future__ import annotations

import pytest

from execplan.core.plan.name_pattern import matches_pattern
from execplan.core.project import plan_names


@pytest.mark.parametrize(
    ("form", "taken", "name"),
    [
        ("{date}_{slug}", (), "2026-01-01_parser"),
        ("{slug}", ("parser",), "parser"),
        ("{number:04}-{slug}", (), "0001-parser"),
        ("{number:04}-{slug}", ("0007-a", "0012-b", "readme"), "0013-parser"),
        ("{number:02}-{slug}", ("98-a", "99-b"), "100-parser"),
        ("{number:02}-{slug}", ("99-b", "100-c"), "101-parser"),
        ("{number}-{slug}", ("1-a", "11-b"), "12-parser"),
        ("{number:03}-{slug}", ("001-a", "2026-04-01-b", "031826-c", "20260401-d"), "002-parser"),
        ("FP-{number:04}-{slug}", ("fp-0112-a", "ep-0500-b", "0900-c"), "FP-0113-parser"),
        ("EP-{day}-{number:03}_{slug}", ("ep-20260101-002_a", "ep-20251231-009_b"), "EP-20260101-003_parser"),
        ("{slug}-{number}", ("parser-3", "lexer-9"), "parser-4"),
    ],
)
def test_the_name_of_a_new_plan(monkeypatch: pytest.MonkeyPatch, form: str, taken: tuple[str, ...], name: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    assert plan_names.assign_number(plan_names.fill(form, "parser"), taken) == name


@pytest.mark.parametrize(
    ("form", "name", "fit"),
    [
        ("{date}_{slug}", "2026-01-01_parser", True),
        ("{date}_{slug}", "2026-02-30_parser", False),
        ("{date}_{slug}", "2026-01-01-parser", False),
        ("{date}_{slug}", "2026-01-01_", False),
        ("{date}_{slug}", "2026-01-01_a b", False),
        ("{slug}", "parser", True),
        ("{slug}", "-parser", False),
        ("{slug}", "../parser", False),
        ("{slug}.plan", "parser.plan", True),
        ("{slug}.plan", "parser", False),
        ("{number:04}-{slug}", "0012-parser", True),
        ("{number:04}-{slug}", "12-parser", False),
        ("EP-{day}-{number:03}_{slug}", "EP-20260101-001_parser", True),
        ("EP-{day}-{number:03}_{slug}", "EP-20261301-001_parser", False),
        ("{slug}-{number}", "parser-3-4", True),
        ("{slug}-{number:02}", "parser-3", False),
        ("{number:02}{slug}", "0123", True),
        ("{slug}", "", False),
    ],
)
def test_fits(form: str, name: str, fit: bool) -> None:
    assert matches_pattern(form, name) is fit


def test_a_name_that_was_given_by_hand_fits_loosely() -> None:
    assert matches_pattern("{date}-{slug}", "2026-01-01-Local VAF, shuffled&more", any_slug=True)
    assert not matches_pattern("{date}-{slug}", "2026-01-01_Local VAF", any_slug=True)
    assert not matches_pattern("{date}-{slug}", "2026-01-01- x", any_slug=True)


@pytest.mark.parametrize(
    ("names", "form"),
    [
        ([], "{slug}"),
        (["parser", "a b, c"], "{slug}"),
        (["2026-01-01_a", "2026-01-02_b", "c"], "{slug}"),
        ([*[f"2026-01-0{day}_a" for day in range(1, 10)], "c"], "{date}_{slug}"),
        ([*[f"2026-01-0{day}_a" for day in range(1, 9)], "c"], "{slug}"),
        (["2026-01-01-a", "2026-01-02-b", "2026-01-02_c"], "{slug}"),
        (["2026-01-01-a", "2026-02-30-b"], "{slug}"),
        (["01-a", "18-b", "20-c"], "{number:02}-{slug}"),
        (["1-a", "9-b", "10-c"], "{number}-{slug}"),
        (["pac-1 - a", "pac-9 - b", "pac-10 - c"], "pac-{number} - {slug}"),
        (["0099-a", "0100-b", "10000-c"], "{number:04}-{slug}"),
        ([*[f"FP-000{at}-a" for at in range(9)], "EP-0001-c"], "FP-{number:04}-{slug}"),
        (["FP-0001-a", "FP-0112-b", "EP-0001-c"], "{slug}"),
        (["execplan_a", "execplan_b", "gen3d_c", "todo_d"], "{slug}"),
        (["EP-20260221-001_a", "EP-20260301-012_b"], "EP-{day}-{number:03}_{slug}"),
        (["20260221-a", "20260301-b"], "{day}-{slug}"),
        (["execplan_a", "execplan_b_c"], "execplan_{slug}"),
        (["031826-a", "031926-b"], "{slug}"),
        (["2026-01-01-a", "parser"], "{slug}"),
        (["2026-01-01-Local VAF, more", "2026-01-02-b"], "{date}-{slug}"),
    ],
)
def test_guess(names: list[str], form: str) -> None:
    assert plan_names.guess_form(names) == form
