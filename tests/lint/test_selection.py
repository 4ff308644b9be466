"""Which rules run: profiles, codes and how codes begin, the settings under what was asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.lint.rule import ERROR, GRADUAL, OF_GIT, RULES, WARNING
from execplan.lint.runner import DEFAULT
from execplan.lint.selection import CI, PROFILES, STRICT, Selection, at_least, unknown

NAMES = st.sampled_from([*RULES, "EP", "EP1", "EP2", "EP20", "EP3"])
LISTS = st.lists(NAMES, max_size=3).map(tuple)


def test_the_default_is_every_rule_that_is_on() -> None:
    assert (
        Selection().active()
        == DEFAULT
        == {code: GRADUAL if rule.unfinished else rule.level for code, rule in RULES.items() if rule.on}
    )


def test_strict_runs_what_is_off_and_fails_on_a_warning() -> None:
    assert set(Selection(STRICT).active()) == set(RULES)
    assert (Selection(STRICT).fails, Selection(CI).fails, Selection().fails) == (WARNING, ERROR, ERROR)


@pytest.mark.parametrize(
    ("selection", "runs", "runs_not"),
    [
        (Selection(select=("EP2",)), ["EP201", "EP203"], ["EP101", "EP301"]),
        (Selection(select=("EP2",), ignore=("EP202",)), ["EP201"], ["EP202"]),
        (Selection(select=("EP202",), ignore=("EP2",)), ["EP202"], ["EP201"]),
        (Selection(select=("EP202",), ignore=("EP202",)), [], ["EP202"]),
        (Selection(ignore=("EP2", "EP301")), ["EP101", "EP302"], ["EP201", "EP301"]),
        (Selection(select=("EP202",)).over(Selection(ignore=("EP202",))), ["EP202"], ["EP201"]),
        (Selection(select=("EP202",)).over(Selection(ignore=("EP2",))), ["EP202"], ["EP201"]),
        (Selection(select=("EP2",)).over(Selection(ignore=("EP202",))), ["EP201"], ["EP202"]),
        (Selection(ignore=("EP101",)).over(Selection(select=("EP1",))), ["EP102"], ["EP101", "EP201"]),
        (Selection(select=("EP2",)).over(Selection(select=("EP1",))), ["EP201"], ["EP101"]),
    ],
)
def test_the_longer_name_decides(selection: Selection, runs: list[str], runs_not: list[str]) -> None:
    active = selection.active()
    assert set(runs) <= set(active)
    assert not set(runs_not) & set(active)


def test_levels_of_the_one_over_those_of_the_other() -> None:
    under = Selection(levels=(("EP201", "hint"), ("EP202", "error")))
    active = Selection(levels=(("EP201", "warning"),)).over(under).active()
    assert (active["EP201"], active["EP202"], active["EP203"]) == ("warning", "error", "error")


def test_history_is_asked_when_a_rule_of_it_is() -> None:
    own = next((code for code, rule in RULES.items() if rule.needs in OF_GIT), "")
    assert not Selection().asks_history
    assert Selection(CI).asks_history
    assert not own or Selection(select=(own,)).asks_history


def test_unknown_names_and_levels() -> None:
    assert unknown(["EP1", "EP101", "EP9", "", "ep101"]) == ["EP9", "", "ep101"]
    assert at_least("warning") == ("error", "warning")


@given(LISTS, LISTS, st.sampled_from(["", *PROFILES]), LISTS, LISTS)
def test_what_is_ignored_exactly_never_runs(
    select: tuple[str, ...], ignore: tuple[str, ...], profile: str, below: tuple[str, ...], off: tuple[str, ...]
) -> None:
    active = Selection(profile, select, ignore).over(Selection("", below, off)).active()
    assert not [code for code in ignore if code in active and code in RULES]
    for code in active:
        if select:
            assert any(code.startswith(name) for name in select)
