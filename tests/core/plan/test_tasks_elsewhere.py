"""Tasks of plans without Progress: all items with a checkbox, except checklists about validation."""

from __future__ import annotations

import pytest

from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan.merge.plan_merge import merge_plans
from execplan.core.plan.plan_lookup import find_task
from execplan.core.text.line_merge import merge_with_markers
from tests.conftest import Folder

PATH = ".agent/execplans/2026-01-01_parser.md"
PLAN = """# Parser Implementation Plan

**Goal:** Read lines.

## Task 1: Lexer

**Files:** `lexer.py`

- [ ] **Step 1: Write the failing test**

```python
- [ ] not a task
```

- [ ] **Step 2: Implement it**

## Task 2: Parser

- [ ] **Step 1: Write the failing test**
  1. in `test_parser.py`

### Acceptance criteria

- [ ] It is fast.

## Done

Nothing yet.
"""


@pytest.fixture
def plan(repo: Folder) -> Folder:
    repo.write(PATH, PLAN)
    return repo


def read(repo: Folder) -> str:
    return (repo.path / PATH).read_text()


def test_they_are_read_with_their_headings() -> None:
    plan = reader.parse(PLAN)
    assert [(task.number, task.heading, task.text) for task in plan.tasks] == [
        (1, "Task 1: Lexer", "**Step 1: Write the failing test**"),
        (2, "Task 1: Lexer", "**Step 2: Implement it**"),
        (3, "Task 2: Parser", "**Step 1: Write the failing test**"),
    ]
    assert [(title, task.text) for title, task in plan.checklists] == [("Task 2: Parser", "It is fast.")]


def test_progress_alone_has_the_tasks_where_it_exists() -> None:
    plan = reader.parse(PLAN + "\n## Progress\n\n- [x] Begin\n")
    assert [task.text for task in plan.tasks] == ["Begin"]
    assert len(plan.checklists) == 4


def test_a_report_of_progress_without_boxes_leaves_the_tasks_elsewhere() -> None:
    text = "# Parser\n\n## Phases\n\n- [ ] Read lines\n\n## Progress\n\nReading was begun.\n"
    assert [task.text for task in reader.parse(text).tasks] == ["Read lines"]
    assert (
        reader.parse(f"{text}\n## Decision Log\n\nNone yet.\n").tasks == []
    )  # an ExecPlan whose tasks are not yet written


def test_done_and_reopen_change_one_character(plan: Folder) -> None:
    plan.ok("done", "2")
    assert read(plan) == PLAN.replace("- [ ] **Step 2", "- [x] **Step 2")
    plan.ok("done", "1", "3")
    assert read(plan).count("[x]") == 3
    assert plan.ok("status")["plans"][0]["state"] == "complete"
    plan.ok("reopen", "1-3")
    assert read(plan) == PLAN


def test_done_adds_a_timestamp_where_others_have_one(plan: Folder) -> None:
    plan.write(PATH, PLAN.replace("- [ ] **Step 2", "- [x] (2026-01-01 10:00Z) **Step 2"))
    plan.ok("done", "1")
    assert read(plan).count("Z) **Step") == 2


def test_add_goes_beside_the_tasks(plan: Folder) -> None:
    plan.ok("add", "Step 2: Implement it", "--under", "Task 2")
    plan.ok("add", "Measure", "--after", "2", "--check", "make bench")
    expected = PLAN.replace(
        "- [ ] **Step 2: Implement it**\n", "- [ ] **Step 2: Implement it**\n- [ ] Measure\n  - Check: `make bench`\n"
    )
    expected = expected.replace("in `test_parser.py`\n", "in `test_parser.py`\n- [ ] Step 2: Implement it\n")
    assert read(plan) == expected


def test_reword_and_split(plan: Folder) -> None:
    plan.ok("reword", "2", "Write it")
    assert read(plan) == PLAN.replace("**Step 2: Implement it**", "Write it")
    plan.ok("undo")
    plan.ok("split", "2", "--done", "Half of it", "--remaining", "The other half")
    assert "- [x] Half of it\n- [ ] The other half\n" in read(plan)


def test_a_section_with_tasks_can_be_set(plan: Folder) -> None:
    plan.ok("set", "Task 2: Parser", "- [x] Only this")
    assert [task.text for task in reader.parse(read(plan)).tasks] == [
        "**Step 1: Write the failing test**",
        "**Step 2: Implement it**",
        "Only this",
    ]


def test_adjacent_tasks_merge() -> None:
    base = "# Parser\n\n## Phase 1\n\n- [ ] Lexer\n- [ ] Parser\n"
    ours, theirs = base.replace("[ ] L", "[x] L"), base.replace("[ ] P", "[x] P")
    result = merge_plans(base.encode(), ours.encode(), theirs.encode(), merge_with_markers)
    assert (result.conflict_count, result.data.decode()) == (0, base.replace("[ ]", "[x]"))


def test_a_group_with_items_numbered_as_parts_has_tasks_below_any_heading() -> None:
    text = "## 1. Setup\n\n- [ ] 1.1 Create it\n\n## 2. Tests\n\n- [ ] 2.1 Write them\n- [ ] Run them\n"
    plan = reader.parse(text + "\n## Acceptance\n\n- [ ] All pass\n")
    assert [task.text for task in plan.tasks] == ["1.1 Create it", "2.1 Write them", "Run them"]
    assert [(title, box.text) for title, box in plan.checklists] == [("Acceptance", "All pass")]


@pytest.mark.parametrize(
    "text",
    [
        "## 1. Code\n\n- [x] One\n\n## 2. Verification\n\n- [ ] Run it\n",
        "## Phase 1: Setup\n\n### Tests\n\n- [ ] T001 [P] One\n\n## Validation\n\n- [ ] T002 Run it\n",
    ],
    ids=["openspec", "spec-kit"],
)
def test_the_tools_that_number_their_groups_have_no_checklists(text: str) -> None:
    plan = reader.parse(text)
    assert (len(plan.tasks), plan.checklists) == (2, [])
    plan = reader.parse("## 0. Goal\n\nSpeed.\n\n- [ ] Two\n\n## Validation\n\n- [ ] Run it\n")
    assert (len(plan.tasks), len(plan.checklists)) == (1, 1)


def test_a_plan_in_another_form_is_finished_without_the_sections_of_an_execplan(plan: Folder) -> None:
    path = plan.path / PATH
    plan.ok("decide", "One module", "--why", "Small", "--create", "-p", "2026-01-01_parser")
    plan.ok("discover", "Lines differ", "--evidence", "One test", "--create", "-p", "2026-01-01_parser")
    assert plan.run("lint", PATH).out == "1 plan, no findings\n"
    done = plan.run("done", "1-3", "-p", "2026-01-01_parser")
    assert done.out.endswith("\nnext: execplan archive 2026-01-01_parser\n")
    assert "archive it" in plan.run("status").out
    archived = plan.run("archive", "2026-01-01_parser")
    assert (archived.exit, path.exists()) == (0, False), archived
    assert plan.run("commit").out.startswith("committed ")


def test_a_hint_of_a_refused_split_names_the_plan(plan: Folder) -> None:
    plan.ok("new", "Another plan", "--task", "One")
    plan.ok("done", "1", "-p", "2026-01-01_parser")
    result = plan.run("split", "1", "--done", "A", "--remaining", "B", "-p", "2026-01-01_parser")
    assert result.err.endswith("\nhint: reopen it first: execplan reopen 1 -p 2026-01-01_parser\n")


def test_set_reports_each_kind_of_task_that_is_gone(repo: Folder) -> None:
    repo.plan("# P\n\n## Progress\n\n- [x] (2025-12-30 09:15Z) One.\n- [ ] Two.\n- [ ] Three.\n")
    lost = "1 completed task and 2 open tasks are gone; to restore: execplan undo"
    assert repo.ok("set", "Progress", "x")["said"] == ["set: Progress", lost]
    repo.ok("undo")
    assert repo.ok("set", "Progress", "- [x] One.\n- [x] Two.")["said"][1:] == [
        "1 open task is gone; to restore: execplan undo"
    ]
    repo.ok("undo")
    assert repo.ok("set", "Progress", "- [ ] One.\n- [x] Two.\n- [x] Three.\n- [ ] Four.")["said"] == ["set: Progress"]


def test_a_text_that_is_too_short_for_a_task_is_called_so(repo: Folder) -> None:
    repo.plan("# P\n\n## Progress\n\n- [ ] x y\n- [ ] first step\n- [ ] z\n")
    error = repo.run("done", "x", "--json").json["error"]
    assert error["message"].endswith("'x' is too short to identify a task")
    assert repo.ok("done", "z")["said"] == ["done: 3. z"]


def test_a_step_is_named_by_the_numbers_of_its_task_and_its_own() -> None:
    plan = reader.parse(PLAN + "\n### Task 12: Writer\n\n- [ ] Begin\n- [ ] End\n")
    assert [find_task(plan, name)[1].number for name in ("1.2", "2.1", "12.2")] == [2, 3, 5]
    for name in ("1.0", "1.3", "3.1", "12.x"):
        with pytest.raises(ExecplanError):
            find_task(plan, name)
    openspec = reader.parse("## 1. Setup\n\n- [ ] 1.2 Second\n- [ ] 1.1 First\n")
    assert find_task(openspec, "1.1")[1].text == "1.1 First"


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("## 1. Code\n\n- [x] 1.1 One\n\n## 2. Tests\n\n- [ ] 2.9 Two\n", "2.10 Three"),
        ("## Phase 1\n\n- [x] T009 [P] One\n\n## Phase 2\n\n- [ ] T002 Two\n", "T010 Three"),
        ("## 1. Code\n\n- [ ] 1.1. One\n", "1.2. Three"),
        ("# Tasks\n\n- [ ] 1. One\n  - [ ] 1.1 Part\n- [x] 2. Two\n", "3. Three"),
        ("## Acceptance Criteria\n\n- [x] #1 One\n- [ ] #2 Two\n", "#3 Three"),
        ("## 1. Code\n\n- [ ] 1.1 One\n- [ ] Two\n", "Three"),
        (f"## 1. Code\n\n- [ ] 1.{'9' * 5000} One\n", "Three"),
        ("## 1. Code\n\n- [ ] 1.٣ One\n", "Three"),
    ],
)
def test_a_new_task_gets_the_next_number_where_all_have_one(plan: Folder, text: str, added: str) -> None:
    path = plan.path / PATH
    path.write_text(text)
    plan.ok("add", "Three", "-p", "2026-01-01_parser")
    assert path.read_text() == f"{text}- [ ] {added}\n"
    assert not plan.ok("add", "Three", "-p", "2026-01-01_parser")["changed"]


def test_reword_and_split_keep_the_numbers_of_tasks(plan: Folder) -> None:
    path = plan.path / PATH
    path.write_text("## Tasks\n\n- [ ] T001 [P] [US1] Read\n- [ ] T002 Write (depends on T001)\n")
    plan.ok("done", "T001", "-p", "2026-01-01_parser")
    plan.ok("reword", "T001", "Read lines", "-p", "2026-01-01_parser")
    for _ in range(2):
        plan.ok("split", "T002", "--done", "Format", "--remaining", "Write", "-p", "2026-01-01_parser")
    assert path.read_text() == ("## Tasks\n\n- [x] T001 [P] [US1] Read lines\n- [x] T002 Format\n- [ ] T003 Write\n")
    plan.ok("reword", "3", "T009 Print", "-p", "2026-01-01_parser")
    assert path.read_text().endswith("- [ ] T009 Print\n")


def test_entries_that_a_new_body_no_longer_has_are_counted(plan: Folder) -> None:
    (plan.path / PATH).write_text("# Plan\n\n## Progress\n\n- [ ] Do it\n")
    plan.ok("decide", "One", "--why", "Why", "--create", "-p", "2026-01-01_parser")
    plan.ok("decide", "Two", "--why", "Why", "-p", "2026-01-01_parser")
    said = plan.ok("set", "Decision Log", "None yet.", "-p", "2026-01-01_parser")["said"]
    assert said == ["set: Decision Log", "2 decisions are gone; to restore: execplan undo"]
