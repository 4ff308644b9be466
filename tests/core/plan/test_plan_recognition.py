"""A file that is not a plan is skipped with a notice, unless somebody named it."""

from __future__ import annotations

import os

import pytest

from execplan.core.plan import reader
from execplan.core.plan.model import ACTIVE, DOCUMENT
from execplan.core.plan.plan_recognition import follows_format, is_plan
from tests.conftest import Folder
from tests.plans import CLEAN

DESIGN_PATH = "docs/exec-plans/parser-design.md"
DESIGN = "# Parser notes\n\n| choice | since |\n|---|---|\n| two parsers | 2025 |\n\n## Grammar\n\n- One line is one statement.\n"
NOTICE = f"{DESIGN_PATH} is not a plan and was skipped; to check it anyway, name it: execplan lint FILE"


@pytest.fixture
def design(repo: Folder) -> Folder:
    """A repository with a plan, and with a design beside the plans of another layout."""
    repo.write(".agent/execplan.toml", 'plans = "docs/exec-plans"\narchive = "docs/exec-plans/completed"\n')
    repo.write("docs/exec-plans/2026-01-01_parser.md", CLEAN)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "A plan")
    repo.write(DESIGN_PATH, DESIGN)
    return repo


def test_named_it_is_checked(design: Folder) -> None:
    for names in ([DESIGN_PATH], [DESIGN_PATH, "docs/exec-plans/2026-01-01_parser.md"], ["parser-design"]):
        result = design.run("lint", *names)
        assert (result.exit, result.err) == (1, ""), names
        assert (result.out.count(" EP104 "), "4 errors" in result.out) == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("docs",),
        ("--hook", DESIGN_PATH),
        ("--hook", DESIGN_PATH, "docs/exec-plans/2026-01-01_parser.md"),
        ("--hook", "--level", "hint", DESIGN_PATH),
        ("--fix", "--hook", DESIGN_PATH),
        ("--fix",),
        ("--since", "HEAD"),
        ("--staged",),
        ("--staged", "--hook", "-q"),
        ("--profile", "ci"),
        ("--no-cache",),
        ("--format", "concise"),
        ("--format", "sarif"),
        ("--statistics",),
    ],
)
def test_else_it_is_skipped_with_a_notice(design: Folder, arguments: tuple[str, ...]) -> None:
    design.git("add", "-A")
    result = design.run("lint", *arguments)
    assert result.exit == 0, result
    assert result.err == f"execplan: warning: {NOTICE}\n"
    assert "EP" not in result.out or arguments[:1] == ("--format",)
    assert (design.path / DESIGN_PATH).read_text() == DESIGN
    if "--format" not in arguments:
        document = design.run("lint", *arguments, "--json").json
        assert document["data"]["skipped"] == [DESIGN_PATH]
        assert document["data"]["findings"] == []
        assert document["warnings"] == [NOTICE]


def test_several_are_reported_in_one_line(design: Folder) -> None:
    for at in range(7):
        design.write(f"docs/exec-plans/notes-{at}.md", "# Notes\n")
    result = design.run("lint")
    assert result.err.startswith(
        "execplan: warning: 8 files are not plans and were skipped: docs/exec-plans/notes-0.md, "
    )
    assert result.err.endswith(" and 3 more\n")
    assert result.out == "1 plan, no findings\n"


def test_the_cache_knows_it_too(design: Folder) -> None:
    for at in range(10):
        design.write(f"docs/exec-plans/2026-01-02_plan-{at}.md", CLEAN)
    files = sorted(os.listdir(design.path / "docs/exec-plans"))
    for path in (design.path / "docs/exec-plans").iterdir():
        os.utime(path, (1, 1))
    paths = [f"docs/exec-plans/{name}" for name in files]
    skipped = [design.run("lint") for _ in range(2)]
    assert [result.err for result in skipped] == [f"execplan: warning: {NOTICE}\n"] * 2
    assert {result.out for result in skipped} == {"11 plans, no findings\n"}
    for _ in range(2):
        assert "4 errors" in design.run("lint", *paths).out
        assert design.run("lint").err == f"execplan: warning: {NOTICE}\n"
        assert design.run("lint", "--hook", *paths).err == f"execplan: warning: {NOTICE}\n"


def test_a_commit_with_the_design_passes_the_git_hook(design: Folder) -> None:
    design.ok("install", "git-hooks")
    design.git("add", "-A")
    design.git("commit", "-qm", "The design")


def test_a_plan_that_was_emptied_is_not_skipped(design: Folder) -> None:
    design.write("docs/exec-plans/2026-01-01_parser.md", "# Build the parser\n")
    design.git("add", "-A")
    result = design.run("lint", "--staged", "--hook")
    assert result.exit == 1
    assert (result.out.count(" EP104 "), "4 errors" in result.out) == (1, True)


def test_a_baseline_has_no_entry_for_it(design: Folder) -> None:
    assert design.run("lint", "--write-baseline").exit == 0
    assert "parser-design" not in (design.path / ".agent/lint-baseline.json").read_text()


@pytest.mark.parametrize(
    "text",
    [
        CLEAN,
        "# Build the parser\n\n## Progress\n",
        "# Build the parser\n\n## Decisions\n",
        "# Build the parser\n\n### Progress\n",
        "```md\n# Build the parser\n\n## Progress\n```\n",
        "# ExecPlan: build the parser\n",
        "# Exec-Plan 12\n",
        "# Build the parser (ExecPlan)\n",
        "# Build the parser\n\nThis ExecPlan is a living document.\n",
        "# A\n\n## Plan of Work\n\n## Concrete Steps\n\n## Interfaces and Dependencies\n",
    ],
)
def test_a_plan_of_the_format(text: str) -> None:
    plan = reader.read(text.encode())
    assert (is_plan(plan), follows_format(plan), plan.state() != DOCUMENT) == (True, True, True)


@pytest.mark.parametrize(
    "text",
    [
        "# Build the parser\n\n- [ ] Read lines\n",
        "# Parser implementation plan\n\nSome words.\n",
        "# 解析器\n\n## 一、目标\n\n## 二、实施步骤\n",
        "# Parser\n\n## Goal\n\n## Task 3: Lexer\n",
        "# ExecPlan: Parser\n\n## Steps\n\n- [ ] Read lines\n\n## Decision Log\n\n- Decision: Read bytes.\n",
        "# Parser\n\n## Ziel\n\n## Akzeptanzkriterien\n\n- [ ] Es geht.\n",
        "# Parser\n\n## 3. Verification\n",
        "# Parser\n\n## Step 1: Lexer\n\n## Decision Log\n\n- Decision: Read bytes.\n",
        "# Парсер\n\n## Следующие шаги\n",
    ],
)
def test_a_plan_in_another_form(text: str) -> None:
    plan = reader.read(text.encode())
    assert (is_plan(plan), follows_format(plan), plan.state()) == (True, False, ACTIVE)


@pytest.mark.parametrize(
    "text",
    [
        DESIGN,
        "# Notes\n\nSome words.\n",
        "# ExecPlans\n\nHow we write them.\n",
        "# Parser notes\n\n## Context\n\n## Goals\n",
        "# Progress\n\nWe made some.\n",
        "# Changelog\n\n## 1.2\n\n### Added\n\n- Lines.\n",
        "# Meeting\n\n## Action items\n\n- Ann writes.\n",
        "# Meeting\n\n## Attendees\n\n## Notes\n\n```\n- [ ] not a task\n```\n",
    ],
)
def test_a_document(text: str) -> None:
    plan = reader.read(text.encode())
    assert (is_plan(plan), plan.state(), plan.state(archived=True)) == (False, DOCUMENT, DOCUMENT)


def test_all_commands_agree_on_what_a_plan_is(design: Folder) -> None:
    listed = design.ok("list")["plans"]
    assert [plan["id"] for plan in listed] == ["2026-01-01_parser"]
    assert [plan["id"] for plan in design.ok("list", "--state", "document")["plans"]] == ["parser-design"]
    design.write("docs/exec-plans/lexer-design.md", "# Design: lexer\n\n## Validation\n")
    documents = design.ok("list", "--state", "document")["plans"]
    reasons = {"lexer-design": "design without tasks", "parser-design": "no tasks, no sections of a plan"}
    assert {document["id"]: document["why"] for document in documents} == reasons
    assert design.run("list", "--state", "document").out == (
        "document  0/0  lexer-design   Design: lexer (design without tasks)\n"
        "document  0/0  parser-design  Parser notes (no tasks, no sections of a plan)\n"
    )
    listed = design.run("status", "--state", "document").out
    assert "  lexer-design   not a plan: design without tasks\n" in listed
    both = "2 files here are not plans (design without tasks; no tasks, no sections of a plan)"
    assert both in design.run("list").out
    os.remove(design.path / "docs/exec-plans/lexer-design.md")
    for command in ("list", "status"):
        assert f"1 file here is not a plan (no tasks, no sections of a plan): execplan {command}" in (
            design.run(command).out
        )
    assert "parser-design" not in design.run("index").out
    assert "parser-design" not in design.run("board").out
    status = design.ok("status")["states"]
    assert (status["document"], status["active"] + status["complete"]) == (1, 1)
    assert "next:" not in design.run("status", "--state", "document").out
    assert design.run("status", "parser-design").out.endswith("add 'First step' --create -p parser-design\n")
    design.ok("add", "First step", "--create", "-p", "parser-design")
    assert len(design.ok("list")["plans"]) == 2


def test_templates_are_no_plans_but_a_plan_may_be_about_one(design: Folder) -> None:
    design.write("docs/exec-plans/plan-template.md", CLEAN)
    design.write("docs/exec-plans/2026-01-03_add-an-email-template.md", CLEAN)
    ids = [plan["id"] for plan in design.ok("list", "--all")["plans"]]
    assert ids == ["2026-01-01_parser", "2026-01-03_add-an-email-template", "parser-design"]


def test_only_rules_that_hold_for_any_plan_check_one_in_another_form(design: Folder) -> None:
    design.write(DESIGN_PATH, "# Parser\n\n- [ ] Read lines\n")
    for command in (("lint",), ("lint", DESIGN_PATH)):
        assert design.run(*command).exit == 0
        assert "plan, no findings" in design.run(*command).out or "plans, no findings" in design.run(*command).out
    design.write(DESIGN_PATH, "# Parser\n\nStatus: Done\n\n- [ ] Read `/home/ann/lines.txt` 2026-13-01\n")
    codes = {finding["code"] for finding in design.run("lint", "--json").json["data"]["findings"]}
    assert codes == {"EP401", "EP504"}
    assert "Lint errors" not in design.run("prime", "parser-design").out
