"""A request taken apart: what is said not to be done, what is only named, and in which language it is."""

from __future__ import annotations

import pytest

from execplan.context.triage.request_parsing import find_cues, parse_request
from execplan.context.triage.triage_criteria import (
    TriageCase,
    find_named_parts,
    hours_evidence,
    scope_evidence,
    select_counted_hits,
)
from execplan.context.triage.triage_table import SMALL, load_builtin_table


def counted_words(text: str, criterion: str) -> list[str]:
    """The words of a request that count for a criterion."""
    request = parse_request(text, load_builtin_table())
    return [
        hit.text
        for hit in select_counted_hits(find_cues(request, load_builtin_table()), request)
        if hit.cue.criterion == criterion
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Rename the field, no migration needed",
        "Rename the field; a migration is not needed",
        "Rename the field without touching the database schema",
        "Rename the field and do not change the schema",
        "Rename the field, it doesn't affect permissions",
        "Don't migrate anything, rename the field",
        "Rename the field, with no authentication or encryption involved",
    ],
)
def test_what_is_not_to_be_done_counts_for_nothing(text: str) -> None:
    assert counted_words(text, "risk") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("There is no authentication; add it", "authentication"),
        ("The page has no authentication yet", "authentication"),
        ("Not only the migration but the rollback, too", "migration"),
        ("Users no longer trust our encryption", "encryption"),
        ("Move the files without losing data", "losing data"),
        ("It must not lose data", "lose data"),
        ("No tests, but a migration of all accounts", "migration"),
        ("Remove what is not used and migrate the rest", "migrate"),
    ],
)
def test_what_is_missing_or_must_not_happen_counts(text: str, words: str) -> None:
    assert words in counted_words(text, "risk")


def test_the_longest_phrase_is_taken_and_counts_once() -> None:
    assert counted_words("Set up a server", SMALL) == []  # `set` alone is a verb of small
    assert counted_words("Set up a server", "hours") == ["Set up", "server"]
    request = parse_request("Migrate, migrate and migrate", load_builtin_table())
    hits = tuple(select_counted_hits(find_cues(request, load_builtin_table()), request))
    assert len(list(hours_evidence(TriageCase(request, hits, None, (), load_builtin_table())))) == 1


def test_what_is_quoted_or_a_name_of_code_is_not_read_as_words() -> None:
    assert counted_words('Change the title to "Migrate the whole database"', "risk") == []
    assert counted_words("Rename `migrate_all` to `move_all`", "risk") == []
    assert counted_words("Reword src/auth/encryption.py", "risk") == []
    request = parse_request('See `a b`, src/x.py, f(), snake_case and "words"', load_builtin_table())
    assert (request.code_names, request.quoted) == (("a b", "src/x.py", "f()", "snake_case"), ('"words"',))
    assert request.files == ("src/x.py",)


@pytest.mark.parametrize(
    "text",
    [
        "Behebe den Tippfehler in der README",
        "Corrige la faute dans le texte",
        "Corrige el error en el texto de la página",
        "修复登录页面的按钮",
        "Исправить опечатку в тексте",
        "오타를 고쳐 주세요",
        "Zmień tekst, który się nie zgadza, na nowy i dodaj też testy",
    ],
)
def test_other_languages_are_recognized(text: str) -> None:
    assert not parse_request(text, load_builtin_table()).is_english


@pytest.mark.parametrize(
    "text", ["Fix typo README", "Café menu: fix the price", "Use per-user de facto defaults", "OK"]
)
def test_english_stays_english(text: str) -> None:
    assert parse_request(text, load_builtin_table()).is_english


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Align validation, agent contracts and the UI", "3 things"),
        ("connect, register, score submissions, or submit weights", "4 things"),
        ("Correct the unit, it is in fact kB by now and not KB", ""),
        ("Change a and b", ""),
    ],
)
def test_things_in_a_row(text: str, count: str) -> None:
    request = parse_request(text, load_builtin_table())
    counts = [
        evidence.what
        for evidence in scope_evidence(TriageCase(request, (), None, (), load_builtin_table()))
        if "thing" in evidence.what
    ]
    assert counts == ([count] if count else [])


def test_several_requests_in_one() -> None:
    request = parse_request("Please:\n- add a page\n- store it\n1. write the docs", load_builtin_table())
    assert request.sentences == 4
    assert [evidence.what for evidence in hours_evidence(TriageCase(request, (), None, (), load_builtin_table()))] == [
        "4 sentences or items"
    ]


def test_parts_of_the_repository_are_named_by_word_or_by_path() -> None:
    parts = {"reader": "src/reader", "engine": "engine", "writer": "src/writer"}
    request = parse_request("Let the reader and engine use src/writer/out.py", load_builtin_table())
    assert find_named_parts(request, parts) == ("engine", "src/reader", "src/writer")


def test_of_a_very_long_request_the_beginning_is_read() -> None:
    assert parse_request("word " * 100_000, load_builtin_table()).word_count == 10_000
