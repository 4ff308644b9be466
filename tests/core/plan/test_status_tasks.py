"""Tasks of plans without checkboxes: phases with a status line, rows of a table, and items with a status word."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.edits.plan_writer import apply_change
from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan.merge.plan_merge import merge_plans
from execplan.core.plan.task_edits import complete_tasks, reopen_tasks
from execplan.core.text.line_merge import merge_with_markers
from tests.conftest import Folder

MOMENT = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
PATH = "docs/exec-plans/active/parser.md"
LINES = """# Parser plan

### Phase 1: Lexer
**Status:** complete

### Phase 2: Parser
- **Status:** in_progress

### Phase 3: Docs
Status: pending

### Phase 4: Release
**Status:** waits for the review
"""
TABLE = """# Parser plan

| # | Step | Status | Notes |
|---|---|---|---|
| 1 | Lexer | ✅ Done | `a \\| b` |
| 2 | Parser | **In Progress** | |
| 3 | Docs | Todo | pending |
| 4 | Release | Done (PR 7) | |
"""
WORDS = """# Parser plan

## Steps

1. Lexer — done
2. Parser,
   with errors — in progress
3. Docs — todo
4. Release
"""
SYMBOLS = "# Parser plan\n\n## 任务\n\n1. ✅ Lexer\n2. 🚧 Parser\n3. **Todo:** Docs\n"
PHASES = """# Task Plan: Parser

## Phases

### Phase 1: Read
- [x] Lines
- [ ] Words
- **Status:** in_progress

### Phase 2: Write
- [ ] Files
- **Status:** pending

### Phase 3: Ship
- [ ] Tag
- **Status:** pending, after the review
"""


def states(text: str) -> list[tuple[str, str]]:
    return [(task.mark, task.text) for task in reader.parse(text).tasks]


def done(text: str, *queries: str) -> str:
    return apply_change(text.encode(), complete_tasks(queries, MOMENT))[0].decode()


def reopened(text: str, *queries: str) -> str:
    return apply_change(text.encode(), reopen_tasks(queries))[0].decode()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (LINES, ["xPhase 1: Lexer", "~Phase 2: Parser", " Phase 3: Docs", "?Phase 4: Release"]),
        (TABLE, ["xLexer", "~Parser", " Docs", "xRelease"]),
        (WORDS, ["xLexer", "~Parser, with errors", " Docs", " Release"]),
        (SYMBOLS, ["xLexer", "~Parser", " Docs"]),
        ("# P\n\n## Phases\n\n| 状态 | ID | 说明 |\n|-|-|-|\n| ⬜ | A-1 | 解析 |\n", [" A-1: 解析"]),
        ("# P\n\n| Phase | Goal | Status |\n|-|-|-|\n| P1 | Read | ~~no~~ |\n| P2 | ~~Print~~ | todo |\n", []),
        ("# P\n\nStep | State\n--- | ---\nRead | skipped\nWrite | 完了\n", ["-Read", "xWrite"]),
    ],
)
def test_they_are_read(text: str, names: list[str]) -> None:
    assert [mark + name for mark, name in states(text)] == names


@pytest.mark.parametrize(
    "text",
    [
        "# P\n\n## Test results\n\n| Step | Status |\n|-|-|\n| Login | ✅ Done |\n",  # results, no work
        "# P\n\n## Assets\n\n| Asset | Status |\n|-|-|\n| Logo | done |\n",
        "# P\n\n## Steps\n\n| Step | Status |\n|-|-|\n| Login | passed |\n| Logout | 200 |\n",
        "# P\n\n```\n| Step | Status |\n|-|-|\n| Login | done |\n```\n",
        "# P\n\n## Phase 1\n\nStatus: done\n",  # the status of the only phase may be that of the plan
        "# P\n\n## Phase 1\n\n```\nStatus: done\n```\n\n## Phase 2\n\n<!--\nStatus: done\n-->\n",
        "# P\n\n## Steps\n\n1. Make it complete\n2. What is done\n3. Read: the file\n",
        "# P\n\n## Steps\n\n- ✅ All tests pass\n- ✅ It is fast\n",  # a report
        "# P\n\n## Context\n\n1. Lexer — done\n2. Parser — done\n",
        f"{TABLE}\n## Progress\n\nSoon.\n\n## Decision Log\n\nNone yet.\n",  # an ExecPlan whose tasks are not written yet
    ],
)
def test_other_texts_have_no_tasks(text: str) -> None:
    assert states(text) == []


def test_checkboxes_are_the_tasks_where_there_are_some() -> None:
    assert states(f"{TABLE}\n- [ ] Only this\n") == [(" ", "Only this")]
    assert [task.text for task in reader.parse(PHASES).tasks] == ["Lines", "Words", "Files", "Tag"]


@pytest.mark.parametrize(
    ("text", "number", "old", "new"),
    [
        (LINES, "2", "in_progress", "complete"),
        (LINES, "3", "Status: pending", "Status: complete"),
        (TABLE, "2", "**In Progress**", "✅ Done"),
        (TABLE, "3", "| Todo |", "| ✅ Done |"),
        (WORDS, "2", "errors — in progress", "errors — done"),
        (WORDS, "4", "4. Release", "4. Release — done"),
        (SYMBOLS, "2", "🚧 Parser", "✅ Parser"),
        (SYMBOLS, "3", "**Todo:** Docs", "✅ Docs"),
        ("# P\n\n|Task|Status|\n|-|-|\n|A|**TODO**|\n", "1", "TODO", "DONE"),
        ("# P\n\n|Task|Status|\n|-|-|\n|A|⏳ Not started|\n", "1", "⏳ Not started", "✅ Done"),
        ("# P\n\n|Task|Status|\n|-|-|\n|A|todo|\n|B||\n", "2", "|B||", "|B|done|"),
        ("# P\n\n|任务|状态|\n|-|-|\n|A|未开始|\n", "1", "未开始", "已完成"),
        ("# P\n\n|作業|状態|\n|-|-|\n|A|未着手|\n", "1", "未着手", "完了"),
    ],
)
def test_done_writes_the_word_of_the_plan(text: str, number: str, old: str, new: str) -> None:
    assert done(text, number) == text.replace(old, new, 1) != text


def test_reopen_writes_the_open_word_of_the_plan() -> None:
    assert reopened(LINES, "1") == LINES.replace("complete", "pending", 1)
    assert reopened(TABLE, "1") == TABLE.replace("✅ Done", "Todo")
    assert reopened("# P\n\n## Steps\n\n1. ✅ A\n2. ✅ B\n", "2") == "# P\n\n## Steps\n\n1. ✅ A\n2. ⬜ B\n"


def test_a_status_with_other_text_is_read_only() -> None:
    for text, number, line in ((TABLE, "4", 8), (LINES, "4", 13)):
        with pytest.raises(ExecplanError) as caught:
            reopened(text, number) if text is TABLE else done(text, number)
        assert (caught.value.code, caught.value.line) == ("read-only-task", line)
        assert caught.value.hint == f"edit line {line} by hand"


WORD = st.sampled_from(
    ["todo", "Pending", "**IN PROGRESS**", "✅ Done", "⬜", "完了", "done", "`complete`", "skipped", ""]
)
CELL = st.text(" ab|\\`*é✅\t", max_size=5).map(lambda text: text.replace("\\", "").replace("|", "\\|"))


@given(st.lists(st.tuples(CELL, WORD, CELL), min_size=1, max_size=6), st.data(), st.sampled_from(["\n", "\r\n"]))
def test_an_edit_changes_only_the_cell(rows: list[tuple[str, str, str]], data: st.DataObject, end: str) -> None:
    table = [f"|{number}{left}| {word} |{right}|" for number, (left, word, right) in enumerate(rows)]
    lines = ["# Plan", "", "| Task | Status | Notes |", "|---|---|---|", *table, "", "Text."]
    text = end.join(lines)
    tasks = reader.parse(text).tasks
    if not tasks:
        return
    task = data.draw(st.sampled_from(tasks))
    for edit in (done, reopened):
        try:
            changed = edit(text, str(task.number)).split(end)
        except ExecplanError as error:
            assert error.code == "read-only-task"  # noqa: PT017 (a result like any other)
            continue
        assert changed[: task.box_line] == lines[: task.box_line]
        assert changed[task.box_line + 1 :] == lines[task.box_line + 1 :]
        left, _, right = rows[task.box_line - 4]
        assert changed[task.box_line].startswith(f"|{task.box_line - 4}{left}| ")
        assert changed[task.box_line].endswith(f" |{right}|")


def test_adjacent_rows_and_items_merge() -> None:
    for base, first, second in (
        (TABLE.replace("# Parser plan\n", "# Parser plan\n\n## Steps\n"), "2", "3"),
        (WORDS.replace(",\n   with errors", ""), "2", "3"),
    ):
        result = merge_plans(base.encode(), done(base, first).encode(), done(base, second).encode(), merge_with_markers)
        assert (result.conflict_count, result.data.decode()) == (0, done(base, first, second))


def test_the_status_line_of_a_phase_follows_its_boxes() -> None:
    one = done(PHASES, "2")
    assert one == PHASES.replace("[ ] Words", "[x] Words").replace("in_progress", "complete")
    assert reopened(one, "1") == one.replace("[x] Lines", "[ ] Lines").replace("complete", "in_progress")
    assert reopened(one, "1", "2").count("in_progress") == 1
    assert done(PHASES, "4") == PHASES.replace("[ ] Tag", "[x] Tag")  # its status says more
    wordy = PHASES.replace("in_progress", "Doing").replace("pending\n", "Finished\n")
    assert done(wordy, "2") == wordy.replace("[ ] Words", "[x] Words").replace("Doing", "Finished")
    execplan = f"{PHASES}\n## Progress\n\n- [ ] Only this\n"
    assert done(execplan, "1").count("Status:** in_progress") == 1


@pytest.mark.parametrize("text", [LINES, TABLE, WORDS])
def test_commands_work_on_them(repo: Folder, text: str) -> None:
    path = repo.write(PATH, text)
    repo.git("add", ".")
    repo.git("commit", "-qm", "The plan")
    repo.ok("init")
    plan = repo.ok("list")["plans"][0]
    assert (plan["counts"]["total"], plan["counts"]["done"]) == (4, text.count("one") + text.count("complete"))
    assert repo.ok("next")["task"]["number"] == 2
    assert "Parser" in repo.run("done", "2").out
    assert repo.ok("next")["task"]["number"] == 3
    assert repo.run("search", "Lexer").exit == 0
    assert repo.run("lint", PATH).exit == 0
    assert repo.run("site").exit == 0
    assert "Parser" in repo.run("log").out
    assert [task["state"] for task in repo.ok("show")["tasks"]][:3] == ["done", "done", "open"]
    for command in (["add", "More"], ["reword", "3", "More"], ["split", "3", "--done", "A", "--remaining", "B"]):
        refused = repo.run(*command)
        assert (refused.exit, "needs tasks with checkboxes" in refused.err) == (3, True)
    hint = "add an item below the task" if text is WORDS else "\nhint: omit --verify"  # only an item contains others
    assert hint in repo.run("done", "3", "--verify").err
    repo.ok("undo")
    assert path.read_text() == text
    repo.ok("convert", "parser")
    converted = reader.read(path.read_bytes())
    assert [task.text for task in converted.tasks] == [task for _, task in states(text)]
    assert converted.tasks[0].status is None
