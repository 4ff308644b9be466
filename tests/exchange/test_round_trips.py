"""What is exported and read again is the same, as far as the form can hold it; a second import changes nothing."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from execplan.core.edits.plan_writer import apply_change
from execplan.core.plan import reader
from execplan.core.plan.model import ParsedPlan
from execplan.exchange.exchange_plan import (
    BEGUN,
    DONE,
    DROPPED,
    MARKS,
    OPEN,
    ExchangePlan,
    ExchangeTask,
    list_lines,
    normalize_tasks,
)
from execplan.exchange.form_registry import read_form, write_form
from execplan.exchange.import_change import ImportReport, build_import
from execplan.exchange.plan_cleaning import clean_plan
from execplan.exchange.plan_reading import read_plan
from execplan.exchange.quoted_notes import quote_notes
from execplan.exchange.source_file import SourceFile
from execplan.exchange.task_reference import split_reference

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HEAD = "# Parser\n\n## Purpose / Big Picture\n\nPlans can be read.\n\n## Progress\n\n"
TAIL = "\n\n## Decision Log\n\n- Decision: Read bytes.\n  Rationale: Nothing is lost.\n\n## Validation and Acceptance\n\n- [ ] It works.\n"

WORDS = st.sampled_from(
    ["Read", "`a b`", "*x*", "[x]", "(y)", "<b>", "<!--", "-->", "#", "- [ ]", "|", "~~no~~", "2026-01-01", "1.", "ä", "日本",
     "\u200dx", "$x$", "&amp;", "```", "Decision:", "needs", "a_b_c", "\\", "(id: 9)", "=1+1", "'", '"', "\x07", "\n", "\u2028"]
)  # fmt: skip
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
IDS = st.sampled_from(["", "A-1", "A-2", "#7", "bd-3.1", "x:1", "4"])
TASKS = st.builds(
    ExchangeTask,
    TEXTS,
    st.sampled_from([OPEN, BEGUN, DONE, DROPPED]),
    st.integers(0, 3),
    st.just(""),
    st.sampled_from(["", "https://example.org/a_b?c=d&e#f"]),
    st.sampled_from(["", "2026-01-02", "2026-01-02 03:04Z"]),
    st.sampled_from(["", "Ann B", "a;b"]),
    st.sampled_from(["", "High"]),
    st.sampled_from(["", "2026-02-01"]),
    st.lists(st.sampled_from(["api", "u i", "a,b"]), max_size=2).map(tuple),
    st.lists(st.sampled_from(["A-1", "#7"]), max_size=2).map(tuple),
    st.sampled_from(["", "Milestone 1", "2. Then"]),
    st.lists(WORDS, max_size=8).map(lambda words: quote_notes("\n".join(words))),
)


def _distinct(tasks: list[ExchangeTask], ids: list[str]) -> tuple[ExchangeTask, ...]:
    """The tasks as a file has them: each ID once, dates only of what is done, links only with an ID."""
    used_ids: set[str] = set()
    result = []
    for task, name in zip(tasks, ids, strict=False):
        unique = "" if name in used_ids else name
        used_ids.add(unique)
        link = task.link if unique else ""
        result.append(task._replace(id=unique, link=link, done_at=task.done_at if task.state == DONE else ""))
    normal = normalize_tasks(result)
    group = ""
    grouped = []
    for task in normal:  # tasks without a heading can't follow those below one
        group = group if task.depth else task.group or group
        grouped.append(task._replace(group="" if task.depth else group))
    return tuple(grouped)


FILES = st.tuples(st.lists(TASKS, min_size=1, max_size=7), st.lists(IDS, min_size=7, max_size=7)).map(
    lambda pair: _distinct(*pair)
)


def _plan_text(tasks: tuple[ExchangeTask, ...]) -> str:
    return HEAD + "\n".join(list_lines(tasks)) + TAIL


def _parse(tasks: tuple[ExchangeTask, ...]) -> ParsedPlan:
    plan = reader.parse(_plan_text(tasks))
    assert [(task.mark, task.text) for task in plan.tasks] == [(MARKS[task.state], task.full_text) for task in tasks]
    return plan


def _reread(tasks: tuple[ExchangeTask, ...]) -> tuple[ExchangeTask, ...]:
    """The tasks as they are plan_tasks from a plan: a text that ends like a reference is one."""
    return tuple([task._replace(**split_reference(task.full_text)._asdict()) for task in tasks])


@given(FILES)
def test_a_plan_is_read_as_it_was_written(tasks: tuple[ExchangeTask, ...]) -> None:
    assert read_plan(_parse(tasks), "", "").tasks == _reread(tasks)


@given(FILES)
def test_json_keeps_everything(tasks: tuple[ExchangeTask, ...]) -> None:
    parsed = _parse(tasks)
    plan = read_plan(parsed, "parser", "")
    exported = write_form("json", parsed, plan)
    assert exported.losses == ()
    assert read_form("json", SourceFile("a.json", exported.files[""])) == plan


@example((ExchangeTask("~~no~~ ~~no~~", state=DONE),))
@example((ExchangeTask("\\~~no~~", state=DROPPED),))
@given(FILES)
def test_github_issues_keep_what_a_task_list_can_hold(tasks: tuple[ExchangeTask, ...]) -> None:
    parsed = clean_plan(_parse(tasks)).plan
    plan = read_plan(parsed, "", "")
    exported = write_form("github-issues", parsed, plan)
    assert exported.losses == () or all(loss.startswith("in progress becomes open: ") for loss in exported.losses)
    read = read_form("github-issues", SourceFile("a.json", exported.files[""]))
    assert read.tasks == tuple([task._replace(state=OPEN) if task.state == BEGUN else task for task in plan.tasks])
    assert (read.title, read.purpose) == ("Parser", "Plans can be read.")


@given(FILES)
def test_markdown_forms_are_plans_with_the_same_tasks(tasks: tuple[ExchangeTask, ...]) -> None:
    parsed = clean_plan(_parse(tasks)).plan
    plan = read_plan(parsed, "", "")
    document = reader.read(write_form("markdown", parsed, plan).files[""])
    assert [(task.mark, task.text, task.depth) for task in document.tasks] == [
        (task.mark, task.text, task.depth) for task in parsed.tasks
    ]
    boxed = [("x" if task.state in (DONE, DROPPED) else " ", task.depth) for task in plan.tasks]
    superpowers = reader.read(write_form("superpowers", parsed, plan).files[""])
    assert [(task.mark, task.depth) for task in superpowers.tasks] == boxed
    change = write_form("openspec", parsed, plan).files
    [openspec] = [reader.read(content) for path, content in change.items() if path.endswith("tasks.md")]
    assert [task.mark for task in openspec.tasks] == [mark for mark, _ in boxed]
    assert all(task.depth == 0 for task in openspec.tasks)


@given(FILES, FILES)
@example(
    (ExchangeTask("A", id="1"), ExchangeTask("B", depth=1)), (ExchangeTask("A", id="1"), ExchangeTask("C", depth=1))
)
@example((ExchangeTask("1. A", id="1"),), (ExchangeTask("A", id="1"),))
@example((ExchangeTask("A", id="1", link="https://example.org/1"),), (ExchangeTask("A", id="1"),))
def test_an_import_makes_the_plan_like_the_file(
    first: tuple[ExchangeTask, ...], second: tuple[ExchangeTask, ...]
) -> None:
    """After an import of each of two files, the plan has the tasks of both, and those of the second as this says."""
    old, new = ExchangePlan("", first), ExchangePlan("", second)
    data = _plan_text(first).encode()
    _parse(first)
    report = ImportReport()
    same, change = apply_change(data, build_import(old, old, "f", NOW, report))
    assert same == data
    assert (report.changes, report.conflicts, report.warnings, change.edits) == ([], [], [], ())
    updated, _ = apply_change(data, build_import(old, new, "f", NOW, report))
    assert report.conflicts == []
    plan_tasks = {(task.mark, task.text) for task in reader.read(updated).tasks}
    assert {(MARKS[task.state], task.full_text) for task in second if task.id} <= plan_tasks
    again, change = apply_change(updated, build_import(new, new, "f", NOW, ImportReport()))
    assert again == updated
    assert change.edits == ()


@given(FILES, FILES)
def test_what_the_plan_has_changed_stays(first: tuple[ExchangeTask, ...], second: tuple[ExchangeTask, ...]) -> None:
    old, new = ExchangePlan("", first), ExchangePlan("", second)
    data = _plan_text(first).encode()
    plan = reader.read(data)
    lines = [*plan.text.lines]
    for task in plan.tasks:
        lines[task.box_line] = lines[task.box_line].replace(f"[{task.mark}]", "[x]", 1)
    edited = "\n".join([*lines, "", "Noted here.", ""]).encode()
    updated, _ = apply_change(edited, build_import(old, new, "f", NOW, ImportReport()))
    assert b"Noted here." in updated
    tasks = reader.read(updated).tasks
    texts = [task.text for task in tasks]
    by_text = {task.text: task.mark for task in tasks if texts.count(task.text) == 1}
    states = {task.full_text: task.state for task in second}
    for imported in first:
        text = imported.full_text
        if text in by_text and states.get(text, imported.state) == imported.state:
            assert by_text[text] == "x"
