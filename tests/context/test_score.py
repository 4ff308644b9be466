"""Relevance goes by words, names, age and kind; and every reason is true."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execplan.context.context_pack import (
    DECISION,
    DIFF,
    INSTRUCTION,
    SECTION,
    TOOL_RESULT,
    ContextPack,
    Unit,
    redact_pack,
)
from execplan.context.keywords import contains_word, count_shared_words, extract_keywords
from execplan.context.relevance import ScoredUnit, score_units
from execplan.context.task_intent import Intent, classify_intent
from execplan.context.text_search import search_texts
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.secrets.redaction import REDACTED, Redactor
from tests.context.units import NEXT, PURPOSE, file, message, pack


def scores(*units: Unit, aim: str = "code_generation") -> list[ScoredUnit]:
    """Of units beside the purpose and the next task."""
    return score_units(pack(*units), Intent(aim, 0.9))[2:]


def test_what_shares_rare_words_is_more_relevant() -> None:
    near, far, none = scores(
        file("a.py", "offsets of dates"), file("b.py", "a report"), file("c.py", "nothing of that kind")
    )
    assert near.relevance > far.relevance > none.relevance
    assert "shares dates and offsets with the task" in near.reasons
    assert "shares report with the purpose" in far.reasons
    assert none.reasons == ("shares no telling word with the task",)


def test_other_forms_of_words_count() -> None:
    (found, _) = scores(file("a.py", "parsing"), file("b.py", "x"))
    assert found.reasons == ("has words of the task in other forms",)


@pytest.mark.parametrize(
    ("unit", "reason"),
    [
        (file("src/reader.py", "x"), "the task names it"),
        (file("docs/reader.py", "x"), ""),
        (file("lib/b.py", "x"), "the task names it"),
        (file("b.py", "x"), ""),
        (file(".ci/run", "x"), "the task names it"),
        (Unit("d1", DECISION, "x", references=("src/reader.py",)), "names src/reader.py, which the task is about"),
        (Unit("d2", DECISION, "x", references=("src/other.py",)), ""),
    ],
)
def test_names(unit: Unit, reason: str) -> None:
    given = pack(unit)
    given = given._replace(task=f"{given.task} as /app/lib/b.py does, and ./.ci/run.")
    found = score_units(given, Intent("generic", 0.5))[2]
    assert (reason in found.reasons) == bool(reason)
    assert (found.relevance >= 0.85) == (reason == "the task names it")


def test_what_the_purpose_names() -> None:
    purpose = PURPOSE._replace(references=("lib/report.py",))
    given = ContextPack(
        "p", "P", NEXT.content, purpose.content, (purpose, NEXT, file("lib/report.py", "x"), file("lib/b.py", "x"))
    )
    found = score_units(given, Intent("generic", 0.5))
    assert found[2].reasons[0] == "the purpose, or what is never left out, names it"
    assert found[2].relevance > found[3].relevance


def test_newer_messages_are_more_relevant() -> None:
    found = scores(*[message(at, "Hello there") for at in range(5)])
    assert [each.relevance for each in found] == sorted([each.relevance for each in found])
    assert found[0].reasons[-1] == "older than 4 other messages"
    assert found[3].reasons[-1] == "older than 1 other message"
    assert found[4].reasons[-1] == "the newest of the messages"


def test_kinds_and_intents() -> None:
    rule, out = Unit("i", INSTRUCTION, "x"), Unit("t", TOOL_RESULT, "x")
    (first, second), (_, third) = scores(rule, out), scores(rule, out, aim="debugging")
    assert first.relevance >= 0.85
    assert third.relevance > second.relevance
    patch = Unit("d", DIFF, "x")
    (reviewed,), (written,) = scores(patch, aim="review"), scores(patch)
    assert reviewed.relevance > written.relevance


def test_what_is_pinned_has_the_highest_priorities() -> None:
    found = score_units(pack(file("src/reader.py", NEXT.content)), Intent("generic", 0.5))
    assert [each.priority >= 95 for each in found] == [True, True, False]
    assert found[0].reasons == ("the purpose",)


def test_without_a_task_the_purpose_counts() -> None:
    given = pack(file("a.py", "a report"), file("b.py", "x"))._replace(task="")
    near, far = score_units(given, classify_intent(""))[2:]
    assert near.relevance > far.relevance
    assert near.reasons == ("shares report with the purpose",)
    assert far.reasons == ("shares no telling word with the purpose",)


@settings(max_examples=50)
@given(st.lists(st.text(max_size=30), max_size=5), st.text(max_size=40), st.text(max_size=40))
def test_any_words_can_be_scored(contents: list[str], task: str, purpose: str) -> None:
    units = tuple([Unit(str(at), SECTION, content, content) for at, content in enumerate(contents)])
    found = score_units(ContextPack("p", "", task, purpose, units), classify_intent(task))
    assert [each.unit for each in found] == list(units)
    assert all(0 <= each.relevance <= 1 and each.reasons for each in found)
    assert found == score_units(ContextPack("p", "", task, purpose, units), classify_intent(task))


def test_words_of_all_scripts() -> None:
    assert extract_keywords("The Parser reads `src/a_b.py`, and the PARSER too") == ["parser", "reads"]
    assert extract_keywords("日付の解析") == list("日付の解析")
    assert contains_word("the parser's end", "parser")
    assert not contains_word("parsers", "parser")
    assert count_shared_words("Parser and date", {"parser", "date", "x"}) == 2
    (found,) = search_texts([("", "日付を読む")], {"付": 1.0})
    assert [hit.word for hit in found] == ["付"]


def test_words_that_are_operators_are_words() -> None:
    found = search_texts([("", 'or not near "quoted"'), ("", "x")], dict.fromkeys(["near", "or", "not"], 1.0))
    assert {hit.word for hit in found[0]} == {"near", "or", "not"}
    assert found[1] == []


def test_a_sqlite_without_search_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Old(sqlite3.Connection):
        def execute(self, *_: object) -> sqlite3.Cursor:
            raise sqlite3.OperationalError("no such module: fts5")

    monkeypatch.setattr(sqlite3, "connect", lambda _: Old(":memory:"))
    with pytest.raises(ExecplanError) as caught:
        score_units(pack(), classify_intent("x"))
    assert (caught.value.code, caught.value.exit) == ("no-full-text-search", ENVIRONMENT)


def test_a_clean_pack_has_no_secrets() -> None:
    secret = "hunter2-and-more"
    said = f"The password is {secret}"
    given = ContextPack("p", said, said, said, (Unit("u", SECTION, said, said),))
    found = redact_pack(given, Redactor({"DEPLOY_PASSWORD": secret}, ()).redact_text)
    assert secret not in repr(found)
    assert repr(found).count(REDACTED) == 5
