"""Which rules run: profiles, codes and how codes begin, the settings under what was asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.linter.rule import ERROR, GIT_NEEDS, GRADUAL, RULES, WARNING
from execplan.linter.rule_selection import CI, PROFILES, STRICT, RuleSelection, levels_at_least, unknown_names
from execplan.linter.runner import DEFAULT_LEVELS

NAMES = st.sampled_from([*RULES, "EP", "EP1", "EP2", "EP20", "EP3"])
LISTS = st.lists(NAMES, max_size=3).map(tuple)


def test_the_default_is_every_rule_that_is_on() -> None:
    assert (
        RuleSelection().active_levels()
        == DEFAULT_LEVELS
        == {code: GRADUAL if rule.unfinished else rule.level for code, rule in RULES.items() if rule.on}
    )


def test_strict_runs_what_is_off_and_fails_on_a_warning() -> None:
    assert set(RuleSelection(STRICT).active_levels()) == set(RULES)
    assert (RuleSelection(STRICT).failure_level, RuleSelection(CI).failure_level, RuleSelection().failure_level) == (
        WARNING,
        ERROR,
        ERROR,
    )


@pytest.mark.parametrize(
    ("selection", "runs", "runs_not"),
    [
        (RuleSelection(select=("EP2",)), ["EP201", "EP203"], ["EP101", "EP301"]),
        (RuleSelection(select=("EP2",), ignore=("EP202",)), ["EP201"], ["EP202"]),
        (RuleSelection(select=("EP202",), ignore=("EP2",)), ["EP202"], ["EP201"]),
        (RuleSelection(select=("EP202",), ignore=("EP202",)), [], ["EP202"]),
        (RuleSelection(ignore=("EP2", "EP301")), ["EP101", "EP302"], ["EP201", "EP301"]),
        (RuleSelection(select=("EP202",)).overlay(RuleSelection(ignore=("EP202",))), ["EP202"], ["EP201"]),
        (RuleSelection(select=("EP202",)).overlay(RuleSelection(ignore=("EP2",))), ["EP202"], ["EP201"]),
        (RuleSelection(select=("EP2",)).overlay(RuleSelection(ignore=("EP202",))), ["EP201"], ["EP202"]),
        (RuleSelection(ignore=("EP101",)).overlay(RuleSelection(select=("EP1",))), ["EP102"], ["EP101", "EP201"]),
        (RuleSelection(select=("EP2",)).overlay(RuleSelection(select=("EP1",))), ["EP201"], ["EP101"]),
    ],
)
def test_the_longer_name_decides(selection: RuleSelection, runs: list[str], runs_not: list[str]) -> None:
    active = selection.active_levels()
    assert set(runs) <= set(active)
    assert not set(runs_not) & set(active)


def test_levels_of_the_one_over_those_of_the_other() -> None:
    under = RuleSelection(levels=(("EP201", "hint"), ("EP202", "error")))
    active = RuleSelection(levels=(("EP201", "warning"),)).overlay(under).active_levels()
    assert (active["EP201"], active["EP202"], active["EP203"]) == ("warning", "error", "error")


def test_history_is_asked_when_a_rule_of_it_is() -> None:
    history_rule = next((code for code, rule in RULES.items() if rule.needs in GIT_NEEDS), "")
    assert not RuleSelection().needs_history
    assert RuleSelection(CI).needs_history
    assert not history_rule or RuleSelection(select=(history_rule,)).needs_history


def test_unknown_names_and_levels() -> None:
    assert unknown_names(["EP1", "EP101", "EP9", "", "ep101"]) == ["EP9", "", "ep101"]
    assert levels_at_least("warning") == ("error", "warning")


@given(LISTS, LISTS, st.sampled_from(["", *PROFILES]), LISTS, LISTS)
def test_what_is_ignored_exactly_never_runs(
    select: tuple[str, ...], ignore: tuple[str, ...], profile: str, below: tuple[str, ...], off: tuple[str, ...]
) -> None:
    active = RuleSelection(profile, select, ignore).overlay(RuleSelection("", below, off)).active_levels()
    assert not [code for code in ignore if code in active and code in RULES]
    for code in active:
        if select:
            assert any(code.startswith(name) for name in select)
