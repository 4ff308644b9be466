"""The check of a task: how it is read, and that every edit of the task keeps it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.edits.plan_writer import apply_change
from execplan.core.plan import reader, task_edits, task_rewording
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan.task_checks import find_check, format_check, has_checks
from execplan.core.plan.verified_tasks import complete_verified_tasks, is_verified
from execplan.execution.acceptance_check import check_problem
from tests.core.plan.test_plan_change import attempt, plans

if TYPE_CHECKING:
    from execplan.core.plan.plan_change import ChangeBuilder
    from execplan.core.plan.task_checks import TaskCheck

MOMENT = datetime(2026, 1, 1, 12, 30, tzinfo=UTC)
HREF = "artifacts/parser/checks/t1-20260101T123000Z.md"


def plan_of(item: str) -> bytes:
    return f"# P\n\n## Progress\n\n- [ ] Build\n  the parser.\n{item}- [ ] Test it.\n".encode()


def check_of(item: str) -> TaskCheck | None:
    plan = reader.read(plan_of(item))
    return find_check(plan, plan.tasks[0])


@pytest.mark.parametrize(
    ("item", "command", "attributes"),
    [
        ("  - Check: `make test`\n", "make test", ""),
        ("  * check: `make test`.\n", "make test", ""),
        ("  1. **Check:** `make test` {timeout=5m}\n", "make test", "{timeout=5m}"),
        ("  - **Check**: ``echo `x` ``\n", "echo `x`", ""),
        ("  - a note\n  - Check: `make\n    test`\n  - another\n", "make test", ""),
        ("  - Check: `make test`\n\n    Why: it is fast.\n", "make test", ""),
        ("\n  - Check: `a && b` {cwd=web}\n\n", "a && b", "{cwd=web}"),
    ],
)
def test_what_is_a_check(item: str, command: str, attributes: str) -> None:
    check = check_of(item)
    assert check is not None
    assert (check.command, check.attributes, check_problem(check)) == (command, attributes, "")


@pytest.mark.parametrize(
    "item",
    [
        "",
        "  - Checked: `make test`\n",
        "  - [ ] Check: `make test`\n",
        "  - a note\n    - Check: `make test`\n",
        "  Check: `make test`\n",
        "  ```\n  - Check: `make test`\n  ```\n",
        "  > - Check: `make test`\n",
    ],
)
def test_what_is_none(item: str) -> None:
    assert check_of(item) is None


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ("  - Check: make test\n", "backticks"),
        ("  - Check:\n", "backticks"),
        ("  - Check: `make test\n", "never closed"),
        ("  - Check: ` `\n", "empty"),
        ("  - Check: `a` and `b`\n", "unexpected text"),
        ("  - Check: `a`\n  - Check: `b`\n", "more than one"),
        ("  - Check: `a` {retry=3}\n", "no attribute retry"),
        ("  - Check: `a` {timeout=soon}\n", "timeout"),
        ("  - Check: `a` {timeout=1 timeout=2}\n", "twice"),
        ("  - Check: `a` {x y}\n", "can't be read"),
        ("  - Check: `echo 'a`\n", "quote"),
        ("  - Check: `echo \u202ea`\n", "invisible"),
    ],
)
def test_what_can_not_be_read(item: str, problem: str) -> None:
    check = check_of(item)
    assert check is not None
    assert problem in check_problem(check)


def test_the_check_of_a_nested_task_is_its_own() -> None:
    plan = reader.read(plan_of("  - [ ] Nested.\n    - Check: `inner`\n  - Check: `outer`\n"))
    commands = [check.command if check is not None else None for check in [find_check(plan, t) for t in plan.tasks]]
    assert commands == ["outer", "inner", None]


COMMANDS = st.text(st.sampled_from("ab `\"'|&$\\{}*_<[]#-é行"), min_size=1, max_size=20).map(str.strip)


@given(COMMANDS.filter(lambda command: command.strip("` ") != ""))
def test_what_is_written_reads_back(command: str) -> None:
    item = f"  - {format_check(command)}\n"
    plan = reader.read(plan_of(item))
    assert has_checks(plan)
    check = find_check(plan, plan.tasks[0])
    assert check is not None
    assert (check.command, check.problem) == (command, "")


EDITS: list[ChangeBuilder] = [
    task_edits.complete_tasks(["1"], MOMENT),
    task_rewording.reword_task("1", "Write a much longer text for the task that has a check"),
    task_rewording.split_task("1", "Build half", "Build the other half", MOMENT),
    task_edits.add_task("Between", MOMENT, after="1"),
    task_edits.add_task("Before", MOMENT, before="1"),
]


@pytest.mark.parametrize("changer", EDITS)
def test_every_edit_keeps_it(changer: ChangeBuilder) -> None:
    item = "  - Check: `make test` {timeout=5m}\n"
    plan = reader.read(apply_change(plan_of(item), changer)[0])
    assert plan.text.lines.count(item.rstrip("\n")) == 1
    found = [check for check in [find_check(plan, task) for task in plan.tasks] if check is not None]
    assert [(check.command, check.attributes) for check in found] == [("make test", "{timeout=5m}")]


def test_the_check_of_a_split_task_belongs_to_what_is_open() -> None:
    split = task_rewording.split_task("1", "Half", "Other half", MOMENT)
    plan = reader.read(apply_change(plan_of("  - Check: `make test`\n"), split)[0])
    assert [find_check(plan, task) is not None for task in plan.tasks] == [False, True, False]


@pytest.mark.parametrize("item", ["  - Check: `make test`\n  - a note\n", "", "\n  - Check: `make\n    test`\n\n"])
def test_a_link_is_added_below_the_check_and_reopen_leaves_only_it(item: str) -> None:
    before = plan_of(item)
    task_id = task_ids(reader.read(before).tasks)[0]
    after = apply_change(before, complete_verified_tasks({task_id: HREF}, MOMENT))[0]
    plan = reader.read(after)
    assert (plan.tasks[0].state, is_verified(plan, plan.tasks[0]), is_verified(plan, plan.tasks[1])) == (
        "done",
        True,
        False,
    )
    link = f"  - [transcript]({HREF})\n".encode()
    assert apply_change(after, task_edits.reopen_tasks(["1"]))[0].replace(link, b"") == before
    assert apply_change(after, complete_verified_tasks({task_id: HREF.replace("t1", "t2")}, MOMENT))[0] == after


@given(plans(), COMMANDS.filter(lambda command: command.strip("` ") != ""), st.sampled_from([None, "1"]), st.booleans())
def test_a_new_task_with_a_check_reads_back(data: bytes, command: str, neighbor: str | None, is_above: bool) -> None:
    anchor = {"before" if is_above else "after": neighbor}
    after = attempt(data, task_edits.add_task("A new task", MOMENT, check=command, create=True, **anchor))
    if after is None or after == data:
        return
    plan = reader.read(after)
    (task,) = [task for task in plan.tasks if task.text == "A new task"]
    check = find_check(plan, task)
    assert check is not None
    assert (check.command, check.problem) == (command, "")
