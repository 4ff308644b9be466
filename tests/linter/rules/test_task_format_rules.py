"""Tasks that are written in another form, twice, half, or in another section."""

from __future__ import annotations

import pytest

from execplan.core.plan import reader
from tests.linter.single_rule import findings, fixed_text, lines, marked_text

HEAD = "# Build\n\n## Progress\n\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("* [x] a", "- [x] a"),
        ("+ [ ] a", "- [ ] a"),
        ("- [X] a", "- [x] a"),
        ("* [X] (2026-03-01) a * b", "- [x] (2026-03-01) a * b"),
        ("  * [ ] a", "  - [ ] a"),
        ("- * [x] a", "- - [x] a"),
        ("- [] a", "- [ ] a"),
        ("- [  ] a", "- [ ] a"),
        ("- [ x ] a", "- [x] a"),
        ("- [Done] a", "- [x] a"),
        ("- [TODO] a", "- [ ] a"),
        ("1. [completed] a", "1. [x] a"),
        ("- [x]a", "- [x] a"),
        ("- [ ]`make`", "- [ ] `make`"),
        ("-[x] a", "- [x] a"),
        ("- [x] a\n-[ ] b\n-[X] c", "- [x] a\n- [ ] b\n- [x] c"),
    ],
)
def test_what_is_certain_is_fixed(before: str, after: str) -> None:
    assert fixed_text("EP206", f"{HEAD}{before}\n") == f"{HEAD}{after}\n"
    assert findings("EP206", f"{HEAD}{after}\n") == []


@pytest.mark.parametrize("mark", ["~", "/", "✓", "?", "."])
def test_other_marks_are_told_and_kept(mark: str) -> None:
    text = f"{HEAD}- [x] a\n- [{mark}] b\n- [{mark}] c\n"
    assert marked_text("EP206", text) == [f"[{mark}]"]
    assert findings("EP206", text)[0].message == f"`[{mark}]` is neither open nor done (2 times)"
    assert fixed_text("EP206", text) == text


@pytest.mark.parametrize(
    "line",
    [
        "- [2026-01-29] a",
        "- [x](https://example.org) a",
        "- [done](done.md) is the list",
        "- [x]: a",
        "- [docs] write them",
        "- [in progress] a",
        "- []",
        "- a [X] b",
        "- [x] a\n\n      -[x] b",
        "1. [ ] a",
        "```\n* [X] a\n-[ ] b\n```",
        "> * [X] a\n>\n> -[ ] b\n>\n> - [] c",
        "<!--\n* [X] a\n-->",
        "text -[x] a",
        "-[link] a",
    ],
)
def test_what_is_no_odd_task(line: str) -> None:
    assert findings("EP206", f"{HEAD}{line}\n") == []


def test_other_sections_are_left_alone() -> None:
    assert findings("EP206", f"{HEAD}- [x] a\n\n## Validation and Acceptance\n\n* [X] a\n- [done] b\n-[ ] c\n") == []


def test_what_may_stay_text_has_no_fix() -> None:
    text = f"{HEAD}- [x] a\n  - [x] b\n       -[ ] c\n"
    assert [finding.fix for finding in findings("EP206", text)] == [None]


def test_a_form_is_told_once() -> None:
    text = HEAD + "* [x] a\n" * 30
    assert [finding.message for finding in findings("EP206", text)] == ["the bullet of a task is `-` (30 times)"]


def test_line_ends_stay() -> None:
    text = f"{HEAD}* [X] a\n- [] b".replace("\n", "\r\n")
    assert fixed_text("EP206", text) == f"{HEAD}- [x] a\n- [ ] b".replace("\n", "\r\n")


def test_boxes_outside_are_told_once_a_section() -> None:
    text = f"{HEAD}- [x] a\n\n## Steps\n\n- [x] a\n- [ ] b\n\n## Notes\n\n1. [ ] c\n\n## Progress\n\n- [ ] d\n"
    assert [(finding.line, finding.message) for finding in findings("EP207", text)] == [
        (9, "2 checkboxes are outside Progress, in Steps, so they are not counted as tasks"),
        (14, "this checkbox is outside Progress, in Notes, so it is not counted as a task"),
    ]


def test_ticked_boxes_outside_are_no_open_work() -> None:
    text = f"{HEAD}- [ ] a\n\n## Checks\n\n- [x] a\n- [X] b\n\n## Notes\n\n- [~] c\n"
    assert findings("EP207", text) == []


@pytest.mark.parametrize(
    ("tasks", "at"),
    [
        ("- [x] Write  the Tests\n- [ ] write the\n  tests\n", [6]),
        ("- [ ] a\n- [ ] a\n- [ ] a\n", [6, 7]),
        ("- [ ] " + "long " * 20 + "a\n- [ ] " + "long " * 20 + "b\n", []),
        ("### One\n\n- [ ] Run the tests\n\n### Two\n\n- [ ] Run the tests\n", []),
        ("- [ ] One\n  - [ ] Run the tests\n- [ ] Two\n  - [ ] Run the tests\n", []),
        ("- [ ] One\n  - [ ] Run the tests\n  - [x] Run the tests\n", [7]),
        ("- [ ] Write the tests.\n- [ ] write the Tests\n", [6]),
        ("- [ ] Write the tests\n- [ ] Write the tests?\n", []),
        ("- [ ]\n- [ ]\n", []),
    ],
)
def test_the_same_words(tasks: str, at: list[int]) -> None:
    assert lines("EP208", HEAD + tasks) == at


@pytest.mark.parametrize(
    ("task", "after"),
    [
        ("- [ ] (2026-03-01) A (completed: b; remaining: c).", "- [x] (2026-03-01) A: b.\n- [ ] A: c."),
        ("1. [ ] 2026-03-01: A (done: b (two); left: c (one))", "1. [x] 2026-03-01: A: b (two)\n2. [ ] A: c (one)"),
        ("- [~] (2026-03-01) A. Completed: b. Remaining: c.", "- [x] (2026-03-01) A: b.\n- [ ] A: c."),
        ("* [x] (2026-03-01) A — Done so far: b; Todo: c", "* [x] (2026-03-01) A: b\n* [ ] A: c"),
        (
            "- [ ] (2026-03-01) A (completed: b; remaining: c)\n  - [ ] d\n- [ ] e",
            "- [x] (2026-03-01) A: b\n- [ ] A: c\n  - [ ] d\n- [ ] e",
        ),
        (
            "- [ ] (2026-03-01) Write the tests of the reader (completed:\n  sections; remaining: all the other parts of it).",
            "- [x] (2026-03-01) Write the tests of the reader: sections.\n- [ ] Write the tests of the reader: all the other parts of\n  it.",
        ),
    ],
)
def test_a_half_done_task_is_split(task: str, after: str) -> None:
    assert fixed_text("EP210", f"{HEAD}{task}\n") == f"{HEAD}{after}\n"


@pytest.mark.parametrize(
    "task",
    [
        "- [ ] A (completed: b; remaining: c)",  # no stamp: nobody knows when
        "- [ ] (2026-03-01) A (remaining: c)",
        "- [ ] (2026-03-01) A (completed: b; remaining: c) and (d)",
    ],
)
def test_a_half_done_task_that_a_person_has_to_split(task: str) -> None:
    assert [finding.fix for finding in findings("EP210", f"{HEAD}{task}\n")] == [None]
    assert marked_text("EP210", f"{HEAD}{task}\n") == ["remaining:"]


@pytest.mark.parametrize(
    "task",
    [
        "- [ ] Migrate the remaining: a, b and c",
        "- [ ] Remaining: write the tests",
        "- [x] (2026-03-01) A (completed: b; remaining: none)",
        "- [ ] Align the cells (left: names; right: sizes)",
        "- [x] Completed: all of it",
        "- [ ] Show `completed:` and `remaining:` in the list",
        "- [ ] Mark (done) what is left: a",
    ],
)
def test_what_is_not_half_done(task: str) -> None:
    assert findings("EP210", f"{HEAD}{task}\n") == []


def test_all_forms_in_one_list() -> None:
    bullets = ("- ", "* ", "+ ", "1. ")
    boxes = ("[ ] ", "[x] ", "[X] ", "[] ", "[done] ", "[X]", "[ ]")
    items = [f"{bullet}{box}{at}" for bullet in bullets for at, box in enumerate(boxes)] + [
        "-[ ] a",
        "-[x] b",
        "- [~] c",
    ]
    text = HEAD + "\n".join(items) + "\n"
    plan = reader.read(fixed_text("EP206", text).encode())
    marks = " xX xX ".lower()
    assert "".join([task.mark for task in plan.tasks]) == marks * 4 + " x~"
    assert {task.item_block.mark for task in plan.tasks} == {"-", "1."}


@pytest.mark.parametrize(
    ("task", "dated"),
    [
        ("Read lines (2026-11-20 09:15Z)", True),
        ("Read lines (2026-11-20).", True),
        ("[2026-11-20 09:15Z] Read lines", True),
        ("**2026-11-20** Read lines", True),
        ("**(2026-11-20 09:15Z)** Read lines", True),
        ("Read the lines of 2026-11-20", False),
        ("Read lines (of 2026-11-20)", False),
        ("**Read** lines", False),
        ("[Read](a.md) lines (all)", False),
    ],
)
def test_a_stamp_in_another_place_is_told_where_it_belongs(task: str, dated: bool) -> None:
    suffix = " in parentheses before its text" if dated else ""
    messages = [finding.message for finding in findings("EP202", f"{HEAD}- [x] {task}\n")]
    assert messages == [f"task 1 is done but has no timestamp{suffix}"]
