"""What a task is about, by its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.context.task_intent import INTENTS, classify_intent


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Add a flag to the parser", "code_generation"),
        ("Adding a flag", "code_generation"),
        ("Fix the crash when a date is empty", "debugging"),
        ("Reproduced the failure", "debugging"),
        ("Review what `fix.py` adds", "review"),
        ("Explain how offsets are read", "explanation"),
        ("Find where dates are compared", "search"),
        ("Draft the architecture and decide on a store", "planning"),
        ("", "generic"),
        ("Numbers, at last", "generic"),
        ("`fix` src/debug/error.py", "generic"),
    ],
)
def test_intents(words: str, name: str) -> None:
    assert classify_intent(words).name == name


def test_the_first_word_counts_most_and_doubt_lowers_confidence() -> None:
    sure, unsure = classify_intent("Fix the error"), classify_intent("Add a test for the failure, and fix it")
    assert unsure.name == "code_generation"
    assert sure.confidence > unsure.confidence


@given(st.text())
def test_any_words_have_one(text: str) -> None:
    intent = classify_intent(text)
    assert intent.name in INTENTS
    assert 0 <= intent.confidence <= 1
