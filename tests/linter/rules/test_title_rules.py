"""What a plan is called: by its file, its title, its id and its front matter."""

from __future__ import annotations

import pytest

from execplan.linter.rule import RuleContext
from execplan.linter.rule_facts import RepositoryTree
from tests.linter.single_rule import findings, lines
from tests.plans import CLEAN, with_sections


def context_at(
    path: str, form: str = "{date}_{slug}", *, archived: bool = False, name: str = "", same_id_path: str = ""
) -> RuleContext:
    return RuleContext(
        path=path,
        name_format=form,
        is_archived=archived,
        id=name,
        tree=RepositoryTree(lambda kind, subject: same_id_path),
    )


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (context_at("plans/2026-01-01_parser.md"), False),
        (context_at("plans/2026-01-01_Local VAF, twice.md"), False),
        (context_at("plans/2026-01-01-parser.md"), True),
        (context_at("plans/2026-13-01_parser.md"), True),
        (context_at("plans/parser.md"), True),
        (context_at("parser.md", archived=True), False),
        (context_at(""), False),
        (context_at("plans/parser.md", ""), False),
        (context_at("plans/parser.md", "{slug}"), False),
        (context_at("plans/0012-parser.md", "{number:04}-{slug}"), False),
        (context_at("plans/12-parser.md", "{number:04}-{slug}"), True),
        (context_at("epics/parser/ExecPlan.md", "{slug}", name="parser"), False),
        (context_at("epics/parser/ExecPlan.md", "{date}-{slug}", name="parser"), True),
        (context_at("epics/2026-01-01-parser/ExecPlan.md", "{date}-{slug}", name="2026-01-01-parser"), False),
    ],
)
def test_name(given: RuleContext, found: bool) -> None:
    assert lines("EP111", CLEAN, given) == [1][: int(found)]


def test_name_and_form_are_told() -> None:
    name_findings = findings("EP111", CLEAN, context_at("plans/parser.md"))
    assert name_findings[0].message == "the plan's name parser doesn't match the format {date}_{slug}"


@pytest.mark.parametrize(
    "title",
    [
        "ExecPlan",
        "Plan",
        "Execution Plan: Draft",
        "ExecPlan 0001",
        "EP-0012",
        "FP-0112:",
        "TODO",
        "<title>",
        "[Feature name]",
        "{{title}}",
        "Progress",
        "Purpose / Big Picture",
        "ExecPlan: Parser",
        "Refactoring",
        "Title of the plan",
        "**Implementation plan**",
        "...",
    ],
)
def test_hollow_titles(title: str) -> None:
    assert lines("EP112", f"# {title}\n") == [1]


@pytest.mark.parametrize(
    "title",
    [
        "Build the parser",
        "Single-file deploy",
        "Chain Restart",
        "Release 2.0",
        "Fix #12",
        "Document API",
        "Plan migrations",
        "EP-0012 - Parser rewrite",
        "ExecPlan 0006：Keyboard-interactive and OTP",
        "파서를 만든다",
        "解析器",
        "Performance Improvements Plan",
        "`lint` reads stdin",
        "[sandbox] settings",
        "Add `<template>` support",
        "Dark-mode",
        "v2.0",
    ],
)
def test_titles_that_may_say_something(title: str) -> None:
    assert lines("EP112", f"# {title}\n") == []


def test_the_template_title_is_told_once() -> None:
    text = "# <Short, action-oriented description>\n"
    assert lines("EP112", text) == []
    assert lines("EP109", text) == [1]


def test_each_further_title_is_found() -> None:
    text = with_sections("## Plan of Work\n\n# Part one\n\nx\n\nPart two\n========\n\n```sh\n# comment\n```\n")
    first_line = text.split("\n").index("# Part one") + 1
    assert lines("EP113", text) == [first_line, first_line + 4]
    assert [finding.message for finding in findings("EP113", text)] == [
        "a second title; the plan's title is on line 1"
    ] * 2


@pytest.mark.parametrize(
    "words", ["# Progress", "> # Quoted", "- # item", "    # code", "#tag", "####### seven", "<!--\n# no\n-->"]
)
def test_what_is_no_title(words: str) -> None:
    assert lines("EP113", f"# A\n\n## Plan of Work\n\n{words}\n") == []


def test_a_title_at_level_two_is_the_only_one() -> None:
    assert lines("EP113", "## Build it\n\nwords\n\n## Progress\n") == []


def test_another_plan_of_the_same_id() -> None:
    id_findings = findings("EP114", CLEAN, context_at("plans/a.md", same_id_path="plans/archive/a.md"))
    assert [(finding.line, finding.message) for finding in id_findings] == [(1, "plans/archive/a.md has the same ID")]
    assert lines("EP114", CLEAN, context_at("plans/a.md")) == []
    assert lines("EP114", CLEAN, context_at("", same_id_path="plans/archive/a.md")) == []
    assert lines("EP114", CLEAN, RuleContext(path="plans/a.md")) == []


@pytest.mark.parametrize(
    ("field", "path", "message"),
    [
        ("title: Write the lexer", "", "differs from the title on line 5"),
        ("title: 'build the PARSER'", "", ""),
        ("title: Build the parser for markdown", "", ""),
        ("title: parser", "", ""),
        ("title: >", "", ""),
        ("  title: Write the lexer", "", ""),
        ("id: 2026-01-02_lexer", "plans/2026-01-01_parser.md", "differs from the plan's name, 2026-01-01_parser"),
        ("id: 2026-01-02_parser", "plans/2026-01-01_parser.md", "differs from the plan's name, 2026-01-01_parser"),
        ("id: other-plan", "plans/2026-01-01_parser.md", "differs from the plan's name, 2026-01-01_parser"),
        ("id: other-plan", "plans/this-plan.md", "differs from the plan's name, this-plan"),
        ("id: other-plan", "plans/PLAN.md", ""),
        ("id: 2026-01-01-parser", "plans/2026-01-01_parser.md", ""),
        ("id: parser-rework", "plans/2026-01-01_parser.md", ""),
        ("id: EP-12", "plans/2026-01-01_parser.md", ""),
        ("id: 4f6c2a1e-77aa-4d0b-9c1e-0a1b2c3d4e5f", "plans/2026-01-01_parser.md", ""),
        ("plan_id: 2026-01-02_lexer", "plans/2026-01-01_parser.md", "differs from the plan's name, 2026-01-01_parser"),
        ("plan_id: 2026-01-01_parser", "plans/2026-01-01_parser.md", ""),
        ("plan-id: parser", "plans/2026-01-01_parser.md", ""),
        ("id: EP-0001", "plans/EP-0002_parser.md", "differs from the plan's name, EP-0002_parser"),
        ("id: EP-0002", "plans/EP-0002_parser.md", ""),
        ("id: EP-0001", "plans/EP-00023_parser.md", ""),
        ("id: 12", "plans/0012-parser.md", ""),
        ("id: PROJ-7", "plans/parser.md", ""),
        ("created: 2026-03-09\nupdated: '2026-03-01'", "", "2026-03-09 is after updated (2026-03-01)"),
        ("created: 2026-03-01\nupdated: 2026-03-09", "", ""),
        (
            "created: 2026-03-01T10:00Z\nclosed: 2026-03-01T09:00Z",
            "",
            "2026-03-01T10:00Z is after closed (2026-03-01T09:00Z)",
        ),
        ("created: 2026-03-02\nupdated: 2026-03-01", "", ""),
        ("created: soon\nupdated: 2026-03-01", "", ""),
        ("created: 2026-99-01\nupdated: 2026-03-01", "", ""),
        ("created: 2026-03-09", "plans/2026-03-01_a.md", "differs from the date in the plan's name, 2026-03-01"),
        ("created: 2026-03-02", "plans/2026-03-01_a.md", ""),
        ("owner: ann\nstatus: done", "plans/a.md", ""),
    ],
)
def test_front_matter(field: str, path: str, message: str) -> None:
    lead = "---\n" if field.startswith(("title", "  ")) else "---\nx: 1\n"
    text = f"{lead}{field}\n---\n\n{CLEAN}" if field[0] != " " else f"---\nx: 1\n{field}\n---\n\n{CLEAN}"
    field_findings = findings("EP115", text, RuleContext(path=path))
    assert [finding.message for finding in field_findings] == ([message] if message else [])
    assert not field_findings or field_findings[0].line == len(lead.split("\n"))


def test_front_matter_and_a_numbered_title() -> None:
    text = "---\nid: EP-0001\n---\n\n# EP-0002 - Build the parser\n"
    assert [finding.message for finding in findings("EP115", text)] == ["differs from the start of the title, EP-0002"]
    assert lines("EP115", text.replace("EP-0002", "EP-0001")) == []
    assert lines("EP115", "# A\n\n---\n\ntitle: B\n\n---\n") == []


@pytest.mark.parametrize(
    "text", ["# " + "a" * 100_000, "# " + "a " * 50_000, "# " + "<" * 100_000, "---\n" + "a: b\n" * 20_000 + "---\n"]
)
def test_much_of_one_character_is_no_work_without_end(text: str) -> None:
    for code in ("EP112", "EP113", "EP115"):
        assert len(findings(code, text)) <= 101
