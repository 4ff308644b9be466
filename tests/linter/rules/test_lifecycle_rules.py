"""Does the plan's state fit what it says: near misses of the rules, in both directions."""

from __future__ import annotations

import pytest

from execplan.core.plan import reader
from execplan.core.text.text_lines import digest
from execplan.core.timestamps import minute_bounds, read_timestamp
from execplan.linter.plan_paths import find_named_paths
from execplan.linter.plan_source import PlanSource
from execplan.linter.rule import RuleContext
from execplan.linter.rule_facts import Clock, GitHistory, RepositoryTree
from execplan.linter.runner import RULES, lint_bytes
from tests.plans import CLEAN, with_sections

COMPLETE_PLAN = CLEAN.replace("- [ ]", "- [x] (2026-01-01 12:00Z)")


def codes(text: str, context: RuleContext, *rule_codes: str) -> list[str]:
    """The codes of some rules that find something."""
    return [
        finding.code for finding in lint_bytes(text.encode(), context, {code: RULES[code].level for code in rule_codes})
    ]


def clock_at(moment: str) -> Clock:
    """A clock that shows a moment."""
    stamp = read_timestamp(moment)
    span = minute_bounds(stamp) if stamp is not None else None
    assert span is not None
    return Clock(span[0])


@pytest.mark.parametrize(
    ("text", "now", "found"),
    [
        (COMPLETE_PLAN, "2026-01-02 12:00Z", False),
        (COMPLETE_PLAN, "2026-01-02 12:01Z", True),
        (
            COMPLETE_PLAN.replace("2026-01-01 12:00Z)", "2026-01-01)"),
            "2026-01-02 12:01Z",
            False,
        ),  # it may have been at 23:59, somewhere
        (
            COMPLETE_PLAN.replace(" (2026-01-01 12:00Z)", "").replace(" (2025-12-30 09:15Z)", ""),
            "2026-03-01 12:00Z",
            False,
        ),
        (COMPLETE_PLAN.replace("(2026-01-01 12:00Z)", "(2026-02-30 12:00Z)"), "2026-01-02 12:00Z", True),
        (CLEAN, "2026-03-01 12:00Z", False),
        (COMPLETE_PLAN.replace("Lines can be read.", "None yet."), "2026-03-01 12:00Z", False),
        (COMPLETE_PLAN.replace("- [x] (2026-01-01 12:00Z) Build", "- [~] Build"), "2026-03-01 12:00Z", False),
        (COMPLETE_PLAN.replace("- [x] (2026-01-01 12:00Z) Build", "- [-] Build"), "2026-03-01 12:00Z", True),
    ],
)
def test_complete_and_not_archived(text: str, now: str, found: bool) -> None:
    assert codes(text, RuleContext(in_project=True, clock=clock_at(now)), "EP503") == ["EP503"] * found
    assert codes(text, RuleContext(clock=clock_at(now)), "EP503") == []


@pytest.mark.parametrize(("mark", "found"), [("x", True), ("X", True), ("~", False), ("/", False), (" ", False)])
def test_no_outcome_is_missed_before_every_box_is_done(mark: str, found: bool) -> None:
    text = COMPLETE_PLAN.replace("Lines can be read.", "None yet.").replace(
        "- [x] (2026-01-01 12:00Z) Build", f"- [{mark}] Build"
    )
    assert f"- [{mark}] Build" in text
    assert codes(text, RuleContext(), "EP501") == ["EP501"] * found


@pytest.mark.parametrize(
    "line",
    [
        "Status: done",
        "**Status:** Completed 2026-03-29.",
        "**Status**: Complete — all of it",
        "- Status: Shipped in #12",
        "> status:   `done`",
        "Status: Closed (2026-03-29)",
    ],
)
def test_a_status_that_says_done(line: str) -> None:
    text = CLEAN.replace("This ExecPlan is a living document.", line)
    finding = lint_bytes(text.encode(), None, {"EP504": "warning"})[0]
    status_text = text.split("\n")[finding.line - 1][finding.column - 1 : finding.end_column]
    assert status_text == line.partition(":")[2].strip(" *`")
    assert finding.message == f"the status says `{status_text}`, but task 2 is open and 1 more"
    assert codes(text.replace("- [ ]", "- [x]"), RuleContext(), "EP504") == []
    assert codes(text, RuleContext(is_archived=True), "EP504") == []
    assert codes(text, RuleContext(is_superseded=True), "EP504") == []
    assert codes(f"---\nstatus: done\n---\n{CLEAN}", RuleContext(), "EP504") == ["EP504"]


def test_a_status_is_shown_without_markup() -> None:
    text = CLEAN.replace("This ExecPlan is a living document.", "**Status:** **Done** (2026-01-01)")
    (finding,) = lint_bytes(text.encode(), None, {"EP504": "warning"})
    assert finding.message.startswith("the status says `Done (2026-01-01)`, but task 2 is open")


@pytest.mark.parametrize(
    "line",
    [
        "Status: in progress",
        "Status: Partially done",
        "Status: done, except the tests",
        "Status: Completed locally. The remaining steps follow.",
        "Status: draft | active | done",
        "Status: [done]",
        "Status: <done>",
        "Status: not done",
        "Status: abandoned",
        "Status:",
        "Status of the parser: done",
        "When the status: done is reached",
        "    Status: done",
        "<!-- Status: done -->",
        "Done.",
    ],
)
def test_a_status_that_does_not(line: str) -> None:
    assert codes(CLEAN.replace("This ExecPlan is a living document.", f"Text.\n\n{line}"), RuleContext(), "EP504") == []


def test_a_status_of_a_milestone_is_its_own() -> None:
    text = with_sections("## Plan of Work\n\n### Milestone 1\n\nStatus: done\n\nWrite the scanner.\n")
    assert codes(text, RuleContext(), "EP504") == []


def test_an_archived_plan_is_what_its_evidence_says() -> None:
    def make_context(evidence: str, *, archived: bool = False, given_up: bool = False) -> RuleContext:
        return RuleContext(archived, given_up, path="archive/a.md", tree=RepositoryTree(lambda kind, subject: evidence))

    right, wrong = digest(COMPLETE_PLAN.encode()), "0" * 64
    assert codes(COMPLETE_PLAN, make_context(wrong, archived=True), "EP506") == ["EP506"]
    assert codes(COMPLETE_PLAN, make_context(wrong, given_up=True), "EP506") == ["EP506"]
    assert codes(COMPLETE_PLAN, make_context(wrong), "EP506") == []
    assert codes(COMPLETE_PLAN, make_context(right, archived=True), "EP506") == []
    assert codes(COMPLETE_PLAN.replace("\n", "\r\n"), make_context(right, archived=True), "EP506") == []
    history = GitHistory(reader.read(CLEAN.encode()), "archive/a.md", was_archived=True)
    assert codes(COMPLETE_PLAN, make_context("", archived=True)._replace(history=history), "EP506") == ["EP506"]
    assert codes(COMPLETE_PLAN, make_context(right, archived=True)._replace(history=history), "EP506") == []
    elsewhere = history._replace(committed_path="a.md", was_archived=False)
    assert codes(COMPLETE_PLAN, make_context("", archived=True)._replace(history=elsewhere), "EP506") == []


def test_which_code_spans_are_paths() -> None:
    spans = "`src/a.py` `./src/b.py:12` `src/c.py:3-9` `tests/t.py::test` `Makefile` `setup.cfg` `docs/x.md#there`"
    other_spans = (
        "`make test` `src/` `/etc/passwd` `read(data)` `word` `--flag` `https://example.org/a.py` `*.py` `src/*.py`"
    )
    text = with_sections(
        f"## Context and Orientation\n\n{spans}\n{other_spans}\n\n## Decision Log\n\n- Decision: `src/z.py`.\n"
    )
    plan = reader.read(text.encode())
    named_paths = set(find_named_paths(plan, PlanSource(plan)))
    assert {"src/a.py", "src/b.py", "src/c.py", "tests/t.py", "Makefile", "setup.cfg", "docs/x.md"} <= named_paths
    assert not {"src/", "src", "/etc/passwd", "word", "src/z.py", "make test"} & named_paths
