"""Every rule finds its bad example and not its good one; the examples are those of its page."""

from __future__ import annotations

from collections import Counter

import pytest

from execplan.core.edits.plan_writer import apply_change
from execplan.core.plan.placeholder_text import is_placeholder_text
from execplan.linter.checking.plan_fix import build_fix_change
from execplan.linter.rule import HINT, NO_FIX, PROJECT
from execplan.linter.rule_selection import RuleSelection
from execplan.linter.runner import MAX_FINDINGS, RULES, RuleContext, lint_bytes
from tests.linter.rule_pages import examples, finding_codes, plan_bytes
from tests.plans import CLEAN, from_template, with_sections

ALONE = ("EP101", "EP102", "EP103", "EP104", "EP215")
"""Their examples are whole plans that lack something, or have another form."""
FIXABLE = [code for code, rule in RULES.items() if rule.fix != NO_FIX and rule.needs != PROJECT]
"""Rules that change a plan; the tests of the plan index fix what a rule about a project finds."""


def test_the_clean_plan_is_clean() -> None:
    assert lint_bytes(CLEAN.encode()) == []


@pytest.mark.parametrize("code", RULES)
def test_bad_example_is_found(code: str) -> None:
    example = examples(code, "Bad")
    assert code in finding_codes(example, example.text.encode() if code in ALONE else plan_bytes(example))


@pytest.mark.parametrize("code", RULES)
def test_good_example_is_not_found(code: str) -> None:
    example = examples(code, "Good")
    assert code not in finding_codes(example, example.text.encode() if code in ALONE else plan_bytes(example))


@pytest.mark.parametrize("code", RULES)
def test_page_has_a_sentence_and_a_why(code: str) -> None:
    page = RULES[code].help_text
    assert RULES[code].summary.endswith(".")
    assert page.split("\n\n")[1][0].isupper()
    assert page.count("Bad") == page.count("Good") == 1
    assert ("\nFixed" in page) == (code in FIXABLE)


@pytest.mark.parametrize("code", [code for code in RULES if code > "EP105" and code not in ALONE])
def test_bad_example_in_a_whole_plan_is_the_only_finding(code: str) -> None:
    example = examples(code, "Bad")
    other_hints = {other_code for other_code, rule in RULES.items() if rule.level == HINT} - {code}
    assert set(finding_codes(example, plan_bytes(example))) - other_hints == {code}


def test_findings_of_one_rule_are_capped() -> None:
    tasks = "".join(f"- [x] Task {at}.\n" for at in range(MAX_FINDINGS + 20))
    text = with_sections(f"## Progress\n\n{tasks}")
    findings = [finding for finding in lint_bytes(text.encode()) if finding.code == "EP202"]
    assert len(findings) == MAX_FINDINGS + 1
    assert findings[-1].message == "and 20 more"


def test_draft_is_relaxed_only_where_asked() -> None:
    template = from_template("plan")
    assert {finding.code: finding.level for finding in lint_bytes(template.encode())} == {"EP109": "warning"}
    data = "".join([line for line in template.splitlines(keepends=True) if not line.startswith("- [ ]")]).encode()
    strict = {finding.code: finding.level for finding in lint_bytes(data, levels=RuleSelection("ci").active_levels())}
    default = {finding.code: finding.level for finding in lint_bytes(data)}
    relaxed = {finding.code: finding.level for finding in lint_bytes(data, RuleContext(allows_draft=True))}
    assert strict == {"EP109": "error", "EP201": "error"}
    assert default == {"EP109": "warning", "EP201": "error"}
    assert relaxed == {"EP109": "warning", "EP201": "warning"}


def test_placeholder_text_is_an_error_when_all_tasks_are_done() -> None:
    placeholder_section = (
        "## Plan of Work\n\n"
        + next(line for line in from_template("plan").splitlines() if is_placeholder_text(line))
        + "\n"
    )
    open_plan = with_sections(placeholder_section).replace("- [ ]", "- [x]", 1)
    complete_plan = open_plan.replace("- [ ]", "- [x]")
    assert "- [ ]" in open_plan
    draft_context = RuleContext(allows_draft=True)
    for text, context, profile, level in (
        (open_plan, RuleContext(), "default", "warning"),
        (open_plan, draft_context, "default", "warning"),
        (open_plan, RuleContext(), "ci", "error"),
        (open_plan, RuleContext(), "strict", "error"),
        (complete_plan, RuleContext(), "default", "error"),
        (complete_plan, draft_context, "default", "error"),
    ):
        levels = RuleSelection(profile).active_levels()
        findings = [finding for finding in lint_bytes(text.encode(), context, levels) if finding.code == "EP109"]
        assert [finding.level for finding in findings] == [level], (context, profile)
    custom_levels = RuleSelection(levels=(("EP109", "error"),)).active_levels()
    assert [
        finding.level for finding in lint_bytes(open_plan.encode(), levels=custom_levels) if finding.code == "EP109"
    ] == ["error"]


def test_a_hook_accepts_a_complete_plan_without_an_outcome() -> None:
    text = with_sections("## Outcomes & Retrospective\n\nNone yet.\n").replace("- [ ]", "- [x] (2026-01-01 00:00Z)")
    for context, level in (RuleContext(), "error"), (RuleContext(allows_draft=True), "warning"):
        assert [finding.level for finding in lint_bytes(text.encode(), context) if finding.code == "EP501"] == [level]


def test_a_forced_archive_allows_open_tasks_and_turns_errors_into_warnings() -> None:
    text = (
        CLEAN.replace("## Decision Log", "## Other")
        + "\nPlan revision note: 2026-01-01 00:00Z - Archived by force: the customer left.\n"
    )
    findings = lint_bytes(text.encode(), RuleContext(is_archived=True))
    assert [(finding.code, finding.level) for finding in findings] == [("EP104", "warning")]


@pytest.mark.parametrize(
    ("body", "codes_when_complete"),
    [
        ("None yet.", []),
        ("None.", []),
        ("- None so far", []),
        ("TBD", ["EP109"]),
        ("*To be filled in*", ["EP109"]),
        ("What turned out otherwise than expected, each with the output or the file that shows it.", []),
        (
            "What turned out otherwise than expected, each with the output or the file that shows it.\n\nIt is slow.",
            ["EP109"],
        ),
    ],
)
def test_a_section_without_entries(body: str, codes_when_complete: list[str]) -> None:
    text = with_sections(f"## Surprises & Discoveries\n\n{body}\n")
    assert lint_bytes(text.encode()) == []
    complete = text.replace("- [ ]", "- [x] (2026-01-01 00:00Z)")
    assert [finding.code for finding in lint_bytes(complete.encode())] == codes_when_complete


def test_a_homoglyph_heading_is_named() -> None:
    text = CLEAN.replace("## Progress", "## Рrogress")  # a Cyrillic letter
    message = next(finding.message for finding in lint_bytes(text.encode()) if finding.code == "EP104")
    assert message == "missing section Progress; rename `## Рrogress`?"
    messages = [finding.message for finding in lint_bytes(("# A\n" + "## Own\n\n" * 99 + "## Рrogress\n").encode())]
    assert "missing section Progress; rename `## Рrogress`?" in messages
    messages = [finding.message for finding in lint_bytes(("# A\n" + "## Own\n\n" * 100 + "## Рrogress\n").encode())]
    assert "missing section Progress" in messages  # a search among so many would take its time


@pytest.mark.parametrize("code", FIXABLE)
def test_bad_example_is_fixed_as_the_help_topic_says(code: str) -> None:
    bad, fixed = examples(code, "Bad"), examples(code, "Fixed")
    levels = {other_code: rule.level for other_code, rule in RULES.items() if rule.fix == NO_FIX or other_code == code}
    fix_counts: Counter[str] = Counter()
    data, _ = apply_change(plan_bytes(bad), build_fix_change(bad.context, levels, unsafe=True, fix_counts=fix_counts))
    assert data.decode() == plan_bytes(fixed).decode()
    assert list(fix_counts) == [code]
    assert code not in finding_codes(fixed, data)
    assert apply_change(data, build_fix_change(bad.context, levels, unsafe=True, fix_counts=fix_counts))[0] == data
