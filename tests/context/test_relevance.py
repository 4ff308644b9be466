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
from execplan.context.relevance import ScoredUnit, score_units
from execplan.context.task_intent import TaskIntent, classify_intent
from execplan.context.text_search import contains_word, count_shared_words, extract_keywords, search_texts
from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.core.secrets.redaction import REDACTED, Redactor
from tests.context.units import NEXT_TASK, PURPOSE, file, message, pack


def scores(*units: Unit, aim: str = "code_generation") -> list[ScoredUnit]:
    """Of units beside the purpose and the next task."""
    return score_units(pack(*units), TaskIntent(aim, 0.9))[2:]


def test_what_shares_rare_words_is_more_relevant() -> None:
    task_match, purpose_match, no_match = scores(
        file("a.py", "offsets of dates"), file("b.py", "a report"), file("c.py", "nothing of that kind")
    )
    assert task_match.relevance > purpose_match.relevance > no_match.relevance
    assert "shares the words 'dates' and 'offsets' with the task" in task_match.reasons
    assert "shares the word 'report' with the purpose" in purpose_match.reasons
    assert no_match.reasons == ("shares no distinctive word with the task",)


def test_other_forms_of_words_count() -> None:
    (scored, _) = scores(file("a.py", "parsing"), file("b.py", "x"))
    assert scored.reasons == ("has other forms of words in the task",)


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
    context_pack = pack(unit)
    context_pack = context_pack._replace(task=f"{context_pack.task} as /app/lib/b.py does, and ./.ci/run.")
    scored = score_units(context_pack, TaskIntent("generic", 0.5))[2]
    assert (reason in scored.reasons) == bool(reason)
    assert (scored.relevance >= 0.85) == (reason == "the task names it")


def test_what_the_purpose_names() -> None:
    purpose = PURPOSE._replace(references=("lib/report.py",))
    context_pack = ContextPack(
        "p",
        "P",
        NEXT_TASK.content,
        purpose.content,
        (purpose, NEXT_TASK, file("lib/report.py", "x"), file("lib/b.py", "x")),
    )
    scored = score_units(context_pack, TaskIntent("generic", 0.5))
    assert scored[2].reasons[0] == "the purpose or an item that is never left out names it"
    assert scored[2].relevance > scored[3].relevance


def test_newer_messages_are_more_relevant() -> None:
    scored = scores(*[message(at, "Hello there") for at in range(5)])
    assert [scored_unit.relevance for scored_unit in scored] == sorted(
        [scored_unit.relevance for scored_unit in scored]
    )
    assert scored[0].reasons[-1] == "older than 4 other messages"
    assert scored[3].reasons[-1] == "older than 1 other message"
    assert scored[4].reasons[-1] == "the newest of the messages"


def test_kinds_and_intents() -> None:
    rule, out = Unit("i", INSTRUCTION, "x"), Unit("t", TOOL_RESULT, "x")
    (first, second), (_, third) = scores(rule, out), scores(rule, out, aim="debugging")
    assert first.relevance >= 0.85
    assert third.relevance > second.relevance
    patch = Unit("d", DIFF, "x")
    (reviewed,), (generated,) = scores(patch, aim="review"), scores(patch)
    assert reviewed.relevance > generated.relevance


def test_what_is_pinned_has_the_highest_priorities() -> None:
    scored = score_units(pack(file("src/reader.py", NEXT_TASK.content)), TaskIntent("generic", 0.5))
    assert [scored_unit.priority >= 95 for scored_unit in scored] == [True, True, False]
    assert scored[0].reasons == ("the purpose",)


def test_without_a_task_the_purpose_counts() -> None:
    context_pack = pack(file("a.py", "a report"), file("b.py", "x"))._replace(task="")
    purpose_match, no_match = score_units(context_pack, classify_intent(""))[2:]
    assert purpose_match.relevance > no_match.relevance
    assert purpose_match.reasons == ("shares the word 'report' with the purpose",)
    assert no_match.reasons == ("shares no distinctive word with the purpose",)


@settings(max_examples=50)
@given(st.lists(st.text(max_size=30), max_size=5), st.text(max_size=40), st.text(max_size=40))
def test_any_words_can_be_scored(contents: list[str], task: str, purpose: str) -> None:
    units = tuple([Unit(str(at), SECTION, content, content) for at, content in enumerate(contents)])
    scored = score_units(ContextPack("p", "", task, purpose, units), classify_intent(task))
    assert [scored_unit.unit for scored_unit in scored] == list(units)
    assert all(0 <= scored_unit.relevance <= 1 and scored_unit.reasons for scored_unit in scored)
    assert scored == score_units(ContextPack("p", "", task, purpose, units), classify_intent(task))


def test_words_of_all_scripts() -> None:
    assert extract_keywords("The Parser reads `src/a_b.py`, and the PARSER too") == ["parser", "reads"]
    assert extract_keywords("日付の解析") == list("日付の解析")
    assert contains_word("the parser's end", "parser")
    assert not contains_word("parsers", "parser")
    assert count_shared_words("Parser and date", {"parser", "date", "x"}) == 2
    (hits,) = search_texts([("", "日付を読む")], {"付": 1.0})
    assert [hit.word for hit in hits] == ["付"]


def test_words_that_are_operators_are_words() -> None:
    hits_by_text = search_texts([("", 'or not near "quoted"'), ("", "x")], dict.fromkeys(["near", "or", "not"], 1.0))
    assert {hit.word for hit in hits_by_text[0]} == {"near", "or", "not"}
    assert hits_by_text[1] == []


def test_a_sqlite_without_search_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Old(sqlite3.Connection):
        def execute(self, *_: object) -> sqlite3.Cursor:
            raise sqlite3.OperationalError("no such module: fts5")

    monkeypatch.setattr(sqlite3, "connect", lambda _: Old(":memory:"))
    with pytest.raises(ExecplanError) as caught:
        score_units(pack(), classify_intent("x"))
    assert (caught.value.code, caught.value.exit) == ("no-full-text-search", ENVIRONMENT)


def test_a_clean_pack_has_no_secrets() -> None:
    secret = "hunter2-and-more"
    text = f"The password is {secret}"
    context_pack = ContextPack("p", text, text, text, (Unit("u", SECTION, text, text),))
    redacted = redact_pack(context_pack, Redactor({"DEPLOY_PASSWORD": secret}, ()).redact_text)
    assert secret not in repr(redacted)
    assert repr(redacted).count(REDACTED) == 5
