"""The estimate of tokens is near what a real tokenizer counts, and the exact counter is that tokenizer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.context.token_counter import ENCODING, ESTIMATE, estimate_tokens, make_counter
from execplan.core.errors import ENVIRONMENT, ExecplanError

ROOT = Path(__file__).parents[2]
EXACT = make_counter(exact=True)
TEXTS = [
    *[path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))],
    *[path.read_text(encoding="utf-8") for path in sorted((ROOT / "execplan" / "core" / "plan").glob("*.py"))],
]


def test_the_error_is_small_and_rather_too_high() -> None:
    errors = sorted([estimate_tokens(text) / EXACT.count(text) - 1 for text in TEXTS if text])
    sizes = sorted([abs(error) for error in errors])
    assert sizes[len(sizes) // 2] < 0.04
    assert sizes[-1] < 0.2
    assert errors[len(errors) // 2] > 0
    assert errors[len(errors) // 10] > -0.06


@pytest.mark.parametrize(
    "text",
    [
        "Быстрая лиса прыгает через собаку.",
        "敏捷的棕色狐狸跳过了懒狗，然后写了一份报告。",
        "빠른 갈색 여우가 게으른 개를 뛰어넘고 보고서를 썼다",
        "Les élèves ont préféré déjeuner à l’école.",
        "0123456789" * 20,
        '{"a": [1, 2, 3], "b": {"c": null}}',
        "f81d4fae7dec11d0a76500a0c91e6bf6",
    ],
)
def test_what_plans_hold_little_of_is_not_far_off(text: str) -> None:
    assert 0.5 < estimate_tokens(text) / EXACT.count(text) < 1.8


@given(st.text())
def test_any_text_can_be_counted(text: str) -> None:
    assert (estimate_tokens(text) > 0) == bool(text)
    assert EXACT.count(text) >= 0


def test_the_exact_counter() -> None:
    assert (EXACT.name, EXACT.exact) == (ENCODING, True)
    assert EXACT.count("hello world") == 2
    assert EXACT.count("<|endoftext|>") > 1  # words of a document, and no end of it
    assert EXACT.count("\ud800") > 0


def test_the_exact_counter_is_taken_where_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_counter(None).exact
    assert make_counter(exact=False).name == ESTIMATE
    monkeypatch.setitem(sys.modules, "bpe_openai._bindings", None)
    assert make_counter(None) == make_counter(exact=False)
    with pytest.raises(ExecplanError) as caught:
        make_counter(exact=True)
    assert (caught.value.code, caught.value.exit) == ("no-tokenizer", ENVIRONMENT)
    assert "[tokens]" in caught.value.hint


def test_the_exact_counter_loads_no_more_than_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "bpe_openai"]:
        monkeypatch.delitem(sys.modules, name)
    assert make_counter(exact=True).count("hello world") == 2
    assert "bpe_openai" not in sys.modules
    assert make_counter(exact=True).count("hello world") == 2


def test_counts_do_not_depend_on_what_was_counted_before() -> None:
    text = "What is counted? Some words, 12 numbers and a sign…"
    assert [estimate_tokens(text) for _ in range(3)] == [estimate_tokens(text)] * 3
    assert abs(estimate_tokens(text * 50) - 50 * estimate_tokens(text)) <= 50
