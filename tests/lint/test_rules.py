"""Every rule finds its bad example and not its good one; the examples are those of its page."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

import pytest

from execplan.lint.runner import MOST, RULES, Given, lint_bytes
from tests.plans import CLEAN, from_template, with_sections

CODES = (
    "EP001 EP002 EP003 EP004 EP101 EP102 EP103 EP104 EP105 EP109 "
    "EP201 EP202 EP203 EP301 EP302 EP303 EP501 EP502"
).split()  # fmt: skip
WARNINGS = {"EP102", "EP103", "EP202", "EP302", "EP303"}


class Example(NamedTuple):
    """An example of a page."""

    text: str
    archived: bool


def examples(code: str, kind: str) -> Example:
    """The `Bad:` or the `Good:` example of a rule's page."""
    lines = RULES[code].page.split("\n")
    start = next(at for at, line in enumerate(lines) if line.startswith(kind))
    end = next(
        (at for at in range(start + 1, len(lines)) if lines[at].startswith(("Bad", "Good", "Mended"))), len(lines)
    )
    text = textwrap.dedent("\n".join(lines[start + 1 : end])).strip("\n") + "\n"
    return Example(text.replace("\\0", "\0"), "(archived)" in lines[start])


def whole(example: Example) -> bytes:
    """A plan that holds the example: its sections in place of the clean plan's own, or the example alone."""
    text = example.text if not example.text.startswith("## ") else with_sections(example.text)
    return text.encode()


def found(example: Example, data: bytes) -> list[str]:
    """The codes of what is found."""
    return [finding.code for finding in lint_bytes(data, Given(archived=example.archived))]


def test_the_clean_plan_is_clean() -> None:
    assert lint_bytes(CLEAN.encode()) == []


def test_the_rules_are_those_of_the_issue() -> None:
    assert sorted(RULES) == CODES
    assert {code for code, rule in RULES.items() if rule.level == "warning"} == WARNINGS


@pytest.mark.parametrize("code", CODES)
def test_bad_example_is_found(code: str) -> None:
    example = examples(code, "Bad")
    data = example.text.encode() if code in ("EP101", "EP102", "EP103", "EP104") else whole(example)
    assert code in found(example, data)


@pytest.mark.parametrize("code", CODES)
def test_good_example_is_not_found(code: str) -> None:
    example = examples(code, "Good")
    data = example.text.encode() if code in ("EP101", "EP102", "EP103", "EP104") else whole(example)
    assert code not in found(example, data)


@pytest.mark.parametrize("code", CODES)
def test_page_has_a_sentence_and_a_why(code: str) -> None:
    page = RULES[code].page
    assert RULES[code].sentence.endswith(".")
    assert page.split("\n\n")[1][0].isupper()
    assert page.count("Bad") == page.count("Good") == 1


@pytest.mark.parametrize("code", [code for code in CODES if code > "EP105"])
def test_bad_example_in_a_whole_plan_is_the_only_finding(code: str) -> None:
    example = examples(code, "Bad")
    assert set(found(example, whole(example))) == {code}


def test_findings_of_one_rule_are_capped() -> None:
    tasks = "".join(f"- [x] Task {at}.\n" for at in range(MOST + 20))
    text = with_sections(f"## Progress\n\n{tasks}")
    findings = [each for each in lint_bytes(text.encode()) if each.code == "EP202"]
    assert len(findings) == MOST + 1
    assert findings[-1].message == "and 20 more"


def test_draft_is_relaxed_only_where_asked() -> None:
    data = from_template("plan").encode()
    strict = {each.code: each.level for each in lint_bytes(data)}
    relaxed = {each.code: each.level for each in lint_bytes(data, Given(draft_is_fine=True))}
    assert strict == {"EP109": "error", "EP201": "error"}
    assert relaxed == {"EP109": "warning", "EP201": "warning"}


def test_a_forced_archive_turns_errors_into_warnings() -> None:
    text = CLEAN + "\nPlan revision note: 2026-01-01 00:00Z - Archived by force: the customer left.\n"
    findings = lint_bytes(text.encode(), Given(archived=True))
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
