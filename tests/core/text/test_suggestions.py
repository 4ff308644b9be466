"""Names are suggested if they are similar, most similar first; none is suggested at random."""

from __future__ import annotations

import pytest

from execplan.core.text.suggestions import closest_names, did_you_mean

NAMES = ("plans", "archive", "artifacts", "archive_artifacts")


@pytest.mark.parametrize(
    ("name", "similar"),
    [("plan", ["plans"]), ("archiv", ["archive", "archive_artifacts"]), ("zebra", []), ("", [])],
)
def test_similar_names(name: str, similar: list[str]) -> None:
    assert closest_names(name, NAMES) == similar
    assert did_you_mean(name, NAMES) == (f"did you mean {similar[0]}?" if similar else "")


@pytest.mark.parametrize(
    ("name", "known_name"),
    [
        ("biuld", "build"),  # swapped
        ("timout", "timeout"),  # missing
        ("stattus", "status"),  # doubled
        ("lost", "list"),  # replaced
        ("lsit", "list"),
        ("odne", "done"),  # swapped at the beginning
        ("rchive", "archive"),  # the first letter is missing
        ("aedit", "edit"),  # an added first letter
        ("jsno", "json"),
        ("nome", "name"),
        ("nots", "notes"),
        ("greeting", "greet"),
        ("relese", "release"),
        ("desc", "description"),  # the beginning
        ("stall", "stalled"),
        ("hooks", "git-hooks"),  # a word
        ("parser", "write the parser tests"),
        ("write parser test", "write the parser tests"),
        ("surprises and discovery", "surprises & discoveries"),
        ("2026-01-01_parsr", "2026-01-01_parser"),
    ],
)
def test_a_typo_an_abbreviation_and_a_word_are_similar(name: str, known_name: str) -> None:
    assert closest_names(name, [known_name]) == [known_name]


@pytest.mark.parametrize(
    ("name", "known_name"),
    [
        ("task", "as"),
        ("all", "stalled"),
        ("nope", "rope"),
        ("nope", "open"),
        ("hooks", "books"),
        ("hooks", "agents"),
        ("nmae", "number"),
        ("a", "at"),
        ("since", "site"),
        ("state", "stats-file"),
        ("open", "deep"),
        ("format", "from"),
        ("lint", "plan"),
        ("me", "message"),
        ("plan", "explanation"),
        ("parser", "2026-01-01_lexer"),
        ("the wrong thing", "2026-01-01_the-rope"),
    ],
)
def test_a_likeness_by_chance_is_not(name: str, known_name: str) -> None:
    assert closest_names(name, [known_name]) == []


def test_a_plural_is_like_its_singular() -> None:
    assert closest_names("merges", ["agents", "merge-driver"]) == ["merge-driver"]


def test_at_most_three_unless_asked_for() -> None:
    names = [f"step{number}" for number in range(9)]
    assert len(closest_names("step", names)) == 3
    assert len(closest_names("step", names, limit=8)) == 8
