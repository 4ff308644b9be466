"""`convert`: an ExecPlan of a plan in another form, with all of its text and the same tasks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from execplan.core.errors import ExecplanError
from execplan.core.plan import outline, reader
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_recognition import follows_format
from execplan.core.project import project_discovery
from execplan.core.scaffold.plan_conversion import convert_plan
from execplan.core.scaffold.plan_draft import render_plan
from execplan.core.scaffold.plan_templates import BUILT_IN
from execplan.core.text.markdown_blocks import HEADING
from execplan.linter.runner import ERROR, RuleContext, lint_plan
from tests.conftest import Folder

WILD = Path(__file__).parents[3].parent / "shared" / "wild"
NAME = "2026-01-01_parser"
PATH = f".agent/execplans/{NAME}.md"
SKELETON = "".join(
    [
        "# Title\n\nThis ExecPlan is a living document.\n",
        *[f"\n## {name}\n\nThe skeleton's text.\n" for name in outline.NAMES],
    ]
).encode()
PLAN = """---
owner: ann
---
# Parser plan

Status: In progress

**Goal:** A plan can be read, see [the tasks](#tasks) and [tests](#testing).

---

## Goals

Read plans.

## Tasks

### Task 1: Reader

- [x] Write it
- [ ] Test it

  ```sh
  make test
  ```

#### Acceptance criteria

- [ ] It is fast

### Task 2: Writer

- [ ] Write it

## Data model

Some text.

### Fields

A name.

## Key Decisions

- Decision: Use a table.
  Rationale: It is fast.

Transcript
----------

```
1 passed
```

## Risks

It may fail.

## Testing

- [ ] The tests pass
"""


def convert(text: str | bytes) -> ParsedPlan:
    """The plan after conversion."""
    return reader.read_text(convert_plan(reader.parse(text), SKELETON, "parser").text)


def body(plan: ParsedPlan, name: str) -> str:
    """The text of a section."""
    section = plan.section(name)
    assert section is not None
    return "\n".join(plan.text.lines[section.body_start : section.end]).strip("\n")


def texts(plan: ParsedPlan) -> Counter[str]:
    """The lines of a plan without the levels of headings, rules and blank lines."""
    lines = [line.strip().lstrip("#").strip() for line in plan.text.lines]
    return Counter([line for line in lines if line and set(line) - set("-=*_ ")])


def test_each_section_goes_where_its_role_says() -> None:
    """Tasks keep their groups, checklists are not tasks, and the rest goes to the context or the artifacts."""
    plan = convert(PLAN)
    assert [section.title for section in plan.sections] == list(outline.NAMES)
    assert plan.text.lines[:9] == [
        *("---", "owner: ann", "---", "", "# Parser plan", ""),
        *("This ExecPlan is a living document.", "", "Status: In progress"),
    ]
    assert body(plan, outline.PURPOSE) == (
        "**Goal:** A plan can be read, see [the tasks](#progress) and [tests](#testing).\n\nRead plans."
    )
    assert body(plan, outline.PROGRESS) == (
        "### Task 1: Reader\n\n- [x] Write it\n- [ ] Test it\n\n  ```sh\n  make test\n  ```\n\n"
        "### Task 2: Writer\n\n- [ ] Write it"
    )
    assert body(plan, outline.VALIDATION) == (
        "### Task 1: Reader\n\n#### Acceptance criteria\n\n- [ ] It is fast\n\n### Testing\n\n- [ ] The tests pass"
    )
    assert body(plan, outline.CONTEXT) == (
        "### Data model\n\nSome text.\n\n#### Fields\n\nA name.\n\n### Risks\n\nIt may fail."
    )
    assert body(plan, outline.ARTIFACTS) == "### Transcript\n\n```\n1 passed\n```"
    assert [decision.rationale for decision in plan.decisions] == ["It is fast."]
    assert body(plan, outline.STEPS) == "The skeleton's text."


@pytest.mark.parametrize(
    ("heading", "section", "is_kept"),
    [
        ("Tasks", outline.PROGRESS, False),
        ("Task 1: Target resolver (no rendering yet)", outline.PROGRESS, True),
        ("3. Testing", outline.VALIDATION, False),
        ("Verification (by hand)", outline.VALIDATION, True),
        ("Self-review", outline.VALIDATION, True),
        ("検証 (Validation Strategy)", outline.VALIDATION, True),
        ("Goals", outline.PURPOSE, False),
        ("Goals / Non-Goals", outline.PURPOSE, True),
        ("Decision Log (2026)", outline.DECISIONS, True),
    ],
)
def test_only_a_heading_that_says_no_more_than_the_new_one_is_replaced(
    heading: str, section: str, *, is_kept: bool
) -> None:
    content = "- [ ] One" if section == outline.PROGRESS else "It works."
    plan = convert(f"# Plan\n\n## {heading}\n\n{content}\n\n---\n\n## Steps\n\n- [ ] Two\n")
    assert f"### {heading}\n\n" * is_kept + content in body(plan, section)
    assert (f"### {heading}" in plan.text.lines) == is_kept


def test_a_plan_without_headings_or_title() -> None:
    """Its boxes are the tasks, and its ID is the title."""
    plan = convert("Do this:\n\n- [ ] One\n- [x] Two\n")
    assert plan.title == "parser"
    assert body(plan, outline.PROGRESS) == "Do this:\n\n- [ ] One\n- [x] Two"


def test_line_ends_are_kept() -> None:
    """A plan with CRLF has only CRLF afterward."""
    plan = convert(PLAN.replace("\n", "\r\n"))
    assert set(plan.text.ends) == {"\r\n"}


@pytest.mark.skipif(not WILD.is_dir(), reason="no plans in other forms in ../shared/wild")
def test_plans_of_other_repositories(tmp_path: Path) -> None:
    """Every line of text is kept except replaced headings, the tasks are the same, and no error is new but EP301."""
    skeleton, _ = render_plan(project_discovery.find(str(tmp_path)), f"{BUILT_IN}plan", "plan", "Plan", "", ())
    converted_count = 0
    for path in sorted(WILD.rglob("*.md")):
        plan = reader.read_or_none(path.read_bytes())
        if plan is None or plan.is_document or follows_format(plan):
            continue
        converted = reader.read_text(convert_plan(plan, skeleton, "plan").text)
        headings = {block.text for block in plan.blocks if block.kind == HEADING and not block.depth}
        lost = [line for line in texts(plan) - texts(converted) if line.rstrip("# ") not in headings]
        old_lines = [line for line in lost if "](#" not in line]
        assert not old_lines, path
        assert [(task.mark, task.text) for task in converted.tasks] == [(task.mark, task.text) for task in plan.tasks]
        assert follows_format(converted)
        context = RuleContext(allows_draft=True)
        old_errors, errors = [
            {finding.code for finding in lint_plan(each, context) if finding.level == ERROR}
            for each in (plan, converted)
        ]
        assert errors - old_errors <= {"EP109", "EP301"} | (set() if plan.tasks else {"EP201"}), path
        converted_count += 1
    assert converted_count > 200


def test_undo_restores_the_bytes(repo: Folder) -> None:
    """The command converts once, names what has no role, and `undo` takes it back."""
    file = repo.plan(PLAN)
    dry = repo.ok("convert", "parser", "--dry-run")
    assert "+### Data model" in dry["diff"]
    assert file.read_text(encoding="utf-8") == PLAN
    said = repo.ok("convert", "parser")["said"]
    assert said == [
        f"converted to an ExecPlan: {NAME}",
        "moved to Context and Orientation: Data model",
        "moved to Artifacts and Notes: Transcript",
    ]
    after = file.read_bytes()
    again = repo.ok("convert", "parser")
    assert (again["changed"], again["said"]) == (False, [f"already an ExecPlan: {NAME}"])
    assert file.read_bytes() == after
    errors = [finding for finding in repo.run("lint", "--json").json["data"]["findings"] if finding["level"] == "error"]
    assert {finding["code"] for finding in errors} <= {"EP109"}
    repo.ok("undo")
    assert file.read_text(encoding="utf-8") == PLAN


def test_all_open_plans_are_one_operation(repo: Folder) -> None:
    """One commit and one `undo` for all; documents and ExecPlans stay."""
    plans = [repo.plan(PLAN.replace("Parser", title), f"2026-01-0{day}_x") for day, title in ((2, "A"), (3, "B"))]
    document = repo.plan("# Notes\n\n## Risks\n\nNone.\n", "notes")
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Plans")
    answer = repo.ok("convert", "--all", "--commit")
    assert [plan["changed"] for plan in answer["plans"]] == [True, True]
    assert len(repo.git("log", "--format=%s", "HEAD~1..").splitlines()) == 1
    assert document.read_text(encoding="utf-8") == "# Notes\n\n## Risks\n\nNone.\n"
    assert repo.run("convert", "--all").out == "no plans in another form\n"
    repo.ok("undo")
    assert [plan.read_text(encoding="utf-8") for plan in plans] == [
        PLAN.replace("Parser", "A"),
        PLAN.replace("Parser", "B"),
    ]


def test_what_is_not_converted(repo: Folder) -> None:
    """A document, an archived plan, and a plan with an unclosed code block are errors, and nothing is written."""
    repo.plan("# Notes\n\n## Risks\n\nNone.\n", "notes")
    repo.plan("# Plan\n\n- [ ] One\n\n```\n", "open")
    assert repo.run("convert", "notes", "--json").json["error"]["code"] == "not-a-plan"
    assert repo.run("convert", "open", "--json").json["error"]["code"] == "unclosed-fence"
    assert repo.run("convert", "open", "--all").exit == 2


def test_tasks_that_would_change_are_an_error() -> None:
    """A checklist that has numbered tasks, too, can't be told apart in Progress."""
    text = "# Plan\n\n## Tasks\n\n- [ ] One\n\n## Testing\n\n### A\n\n- [ ] 2.1 Write\n\n### B\n\n- [ ] Fast\n"
    with pytest.raises(ExecplanError) as raised:
        convert(text)
    assert raised.value.code == "would-break"
