"""Every rule finds its bad example and not its good one; the examples are those of its page."""

from __future__ import annotations

from collections import Counter

import pytest

from execplan.edits.plan_writer import apply_change
from execplan.linter.autofix import build_fix_change
from execplan.linter.rule import HINT, NO_FIX
from execplan.linter.rule_selection import RuleSelection
from execplan.linter.runner import MAX_FINDINGS, RULES, RuleContext, lint_bytes
from execplan.plan.placeholder_text import is_placeholder_text
from tests.lint.pages import examples, found, whole
from tests.plans import CLEAN, from_template, with_sections

ALONE = ("EP101", "EP102", "EP103", "EP104")
"""Their examples are whole plans that lack something."""


def test_the_clean_plan_is_clean() -> None:
    assert lint_bytes(CLEAN.encode()) == []


@pytest.mark.parametrize("code", RULES)
def test_bad_example_is_found(code: str) -> None:
    example = examples(code, "Bad")
    assert code in found(example, example.text.encode() if code in ALONE else whole(example))


@pytest.mark.parametrize("code", RULES)
def test_good_example_is_not_found(code: str) -> None:
    example = examples(code, "Good")
    assert code not in found(example, example.text.encode() if code in ALONE else whole(example))


@pytest.mark.parametrize("code", RULES)
def test_page_has_a_sentence_and_a_why(code: str) -> None:
    page = RULES[code].help_text
    assert RULES[code].summary.endswith(".")
    assert page.split("\n\n")[1][0].isupper()
    assert page.count("Bad") == page.count("Good") == 1
    assert ("\nMended" in page) == (RULES[code].fix != "none")


@pytest.mark.parametrize("code", [code for code in RULES if code > "EP105"])
def test_bad_example_in_a_whole_plan_is_the_only_finding(code: str) -> None:
    example = examples(code, "Bad")
    others = {each for each, rule in RULES.items() if rule.level == HINT} - {code}
    assert set(found(example, whole(example))) - others == {code}


def test_findings_of_one_rule_are_capped() -> None:
    tasks = "".join(f"- [x] Task {at}.\n" for at in range(MAX_FINDINGS + 20))
    text = with_sections(f"## Progress\n\n{tasks}")
    findings = [each for each in lint_bytes(text.encode()) if each.code == "EP202"]
    assert len(findings) == MAX_FINDINGS + 1
    assert findings[-1].message == "and 20 more"


def test_draft_is_relaxed_only_where_asked() -> None:
    data = from_template("plan").encode()
    strict = {each.code: each.level for each in lint_bytes(data, levels=RuleSelection("ci").active_levels())}
    plain = {each.code: each.level for each in lint_bytes(data)}
    relaxed = {each.code: each.level for each in lint_bytes(data, RuleContext(allows_draft=True))}
    assert strict == {"EP109": "error", "EP201": "error"}
    assert plain == {"EP109": "warning", "EP201": "error"}
    assert relaxed == {"EP109": "warning", "EP201": "warning"}


def test_placeholder_text_is_an_error_when_all_tasks_are_done() -> None:
    left = (
        "## Plan of Work\n\n"
        + next(line for line in from_template("plan").splitlines() if is_placeholder_text(line))
        + "\n"
    )
    first = with_sections(left).replace("- [ ]", "- [x]", 1)
    done = first.replace("- [ ]", "- [x]")
    assert "- [ ]" in first
    given = RuleContext(allows_draft=True)
    for text, facts, profile, level in (
        (first, RuleContext(), "default", "warning"),
        (first, given, "default", "warning"),
        (first, RuleContext(), "ci", "error"),
        (first, RuleContext(), "strict", "error"),
        (done, RuleContext(), "default", "error"),
        (done, given, "default", "error"),
    ):
        levels = RuleSelection(profile).active_levels()
        found = [each for each in lint_bytes(text.encode(), facts, levels) if each.code == "EP109"]
        assert [each.level for each in found] == [level], (facts, profile)
    own = RuleSelection(levels=(("EP109", "error"),)).active_levels()
    assert [each.level for each in lint_bytes(first.encode(), levels=own) if each.code == "EP109"] == ["error"]


def test_a_hook_accepts_a_complete_plan_without_an_outcome() -> None:
    text = with_sections("## Outcomes & Retrospective\n\nNone yet.\n").replace("- [ ]", "- [x] (2026-01-01 00:00Z)")
    for given, level in (RuleContext(), "error"), (RuleContext(allows_draft=True), "warning"):
        assert [each.level for each in lint_bytes(text.encode(), given) if each.code == "EP501"] == [level]


def test_a_forced_archive_turns_errors_into_warnings() -> None:
    text = CLEAN + "\nPlan revision note: 2026-01-01 00:00Z - Archived by force: the customer left.\n"
    findings = lint_bytes(text.encode(), RuleContext(is_archived=True))
    assert [(each.code, each.level) for each in findings] == [("EP502", "warning")]


def test_none_yet_is_fine_until_the_plan_is_complete() -> None:
    text = with_sections("## Surprises & Discoveries\n\nNone yet.\n")
    assert lint_bytes(text.encode()) == []
    done = text.replace("- [ ]", "- [x] (2026-01-01 00:00Z)")
    assert [each.code for each in lint_bytes(done.encode())] == ["EP109"]
    final = done.replace("None yet.", "None.")
    assert lint_bytes(final.encode()) == []


def test_a_homoglyph_heading_is_named() -> None:
    text = CLEAN.replace("## Progress", "## Рrogress")  # a Cyrillic letter
    message = next(each.message for each in lint_bytes(text.encode()) if each.code == "EP104")
    assert message == "no section Progress; is `## Рrogress` meant?"
    many = [each.message for each in lint_bytes(("# A\n" + "## Own\n\n" * 99 + "## Рrogress\n").encode())]
    assert "no section Progress; is `## Рrogress` meant?" in many
    many = [each.message for each in lint_bytes(("# A\n" + "## Own\n\n" * 100 + "## Рrogress\n").encode())]
    assert "no section Progress" in many  # a search among so many would take its time


@pytest.mark.parametrize("code", [code for code, rule in RULES.items() if rule.fix != NO_FIX])
def test_bad_example_is_mended_as_the_page_says(code: str) -> None:
    bad, mended = examples(code, "Bad"), examples(code, "Mended")
    levels = {each: rule.level for each, rule in RULES.items() if rule.fix == NO_FIX or each == code}
    made: Counter[str] = Counter()
    data, _ = apply_change(whole(bad), build_fix_change(bad.given, levels, unsafe=True, fix_counts=made))
    assert data.decode() == whole(mended).decode()
    assert list(made) == [code]
    assert code not in found(mended, data)
    assert apply_change(data, build_fix_change(bad.given, levels, unsafe=True, fix_counts=made))[0] == data
