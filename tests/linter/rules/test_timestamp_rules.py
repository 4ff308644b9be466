"""Stamps that lie ahead, are old, made up or out of order; what must not be reported stands beside what must."""

from __future__ import annotations

import pytest

from execplan.linter.rule_facts import Clock
from execplan.linter.runner import RuleContext
from tests.linter.single_rule import clock, findings, lines, marked_text

NOON = "2026-03-08 12:00Z"
HEAD = "# Build\n\n## Progress\n\n"


@pytest.mark.parametrize(
    ("stamp", "ahead"),
    [
        ("(2026-03-08 12:09Z)", False),  # clocks differ
        ("(2026-03-08 12:11Z)", True),
        ("(2026-03-08 20:00+08:00)", False),
        ("(2026-03-08 20:30+08:00)", True),
        ("(2026-03-08 07:30-05:00)", True),
        ("(2026-03-08 20:00 CST)", False),  # a name is the zone of some place
        ("(2026-03-09 01:00)", False),
        ("(2026-03-09 03:00)", True),  # not even 14 hours ahead of UTC
        ("(2026-03-09)", False),  # it has begun somewhere
        ("(2026-03-10)", True),
        ("2026-03-09T00:00:00Z:", True),
        ("(2026-02-30 10:00Z)", False),  # no date at all: another rule's
    ],
)
def test_a_stamp_ahead(stamp: str, ahead: bool) -> None:
    text = f"{HEAD}- [x] {stamp} Read lines.\n- [ ] Write.\n"
    context = RuleContext(clock=clock(NOON))
    assert marked_text("EP204", text, context) == ([stamp.rstrip(":")] if ahead else [])


@pytest.mark.parametrize(
    ("task", "ahead"),
    [
        ("[ ] 2026-03-20: Read lines.", False),
        ("[ ] (2026-03-20) Read lines.", True),
        ("[x] 2026-03-20: Read lines.", True),
        ("[~] 2026-03-20: Read lines.", True),
    ],
)
def test_the_day_by_which_an_open_task_is_due(task: str, ahead: bool) -> None:
    assert len(findings("EP204", f"{HEAD}- {task}\n", RuleContext(clock=clock(NOON)))) == ahead


def test_entries_and_notes_ahead() -> None:
    text = (
        "# Build\n\n## Decision Log\n\n- Decision: One.\n  Rationale: Why.\n  Date/Author: 2026-03-12 / Ann\n"
        "- Decision: Two.\n  Rationale: Why.\n  Date/Author: 2026-03-02 / Ann\n\n"
        "## Outcomes & Retrospective\n\n- 2026-05-01: It works.\n\nPlan revision note: 2026-04-01 10:00Z - Begun.\n"
    )
    assert marked_text("EP204", text, RuleContext(clock=clock(NOON))) == [
        "2026-03-12",
        "2026-05-01",
        "2026-04-01 10:00Z",
    ]


def test_a_plan_of_the_past_asks_the_clock_once() -> None:
    text = HEAD + "".join(f"- [x] (2026-02-{day:02} 10:00Z) Task {day}.\n" for day in range(1, 20))
    minutes = []

    class Counting(Clock):
        def has_passed(self, minute: int) -> bool:
            minutes.append(minute)
            return super().has_passed(minute)

    assert lines("EP204", text, RuleContext(clock=Counting(clock(NOON).now))) == []
    assert len(minutes) == 1


def test_what_is_said_does_not_change_with_the_time() -> None:
    text = f"{HEAD}- [x] (2026-03-07 23:27Z) Read lines.\n- [ ] Build.\n"
    messages = {
        findings("EP209", text, RuleContext(clock=clock(now)))[0].message for now in ("2026-04-01", "2026-07-01")
    }
    assert messages == {"task 2 is open, but the plan has no date after 2026-03-07"}


@pytest.mark.parametrize(
    ("tasks", "rest", "now", "stalled"),
    [
        ("- [x] (2026-03-07) a\n- [ ] b\n", "", "2026-03-20 12:00Z", False),
        ("- [x] (2026-03-07) a\n- [ ] b\n", "", "2026-03-23 12:00Z", True),
        ("- [x] (2026-03-07) a\n- [x] (2026-03-07) b\n", "", "2026-09-01", False),  # complete
        ("- [ ] a\n- [ ] b\n", "", "2026-09-01", False),  # not begun
        ("- [x] (2026-03-07) a\n- [ ] b\n", "Plan revision note: 2026-08-30 - Waits.\n", "2026-09-01", False),
        ("- [x] (2026-03-07) a\n- [~] b\n", "", "2026-09-01", True),
        ("- [x] (2026-03-07) a\n- [-] b\n", "", "2026-09-01", False),
    ],
)
def test_a_plan_that_stands_still(tasks: str, rest: str, now: str, stalled: bool) -> None:
    context = RuleContext(clock=clock(now))
    assert bool(lines("EP209", f"{HEAD}{tasks}\n{rest}", context)) is stalled
    assert not lines("EP209", f"{HEAD}{tasks}\n{rest}", context._replace(is_archived=True))
    assert not lines("EP209", f"{HEAD}{tasks}\n{rest}", context._replace(stalled_days=400))


DONE_TASK = "- [x] (2026-03-07) a\n"


@pytest.mark.parametrize(
    ("head", "tasks", "rest", "stalled"),
    [
        ("", "- [ ] b\n", "## Revision History\n\n- 2026-08-30: Moved.\n", False),
        ("", "- [ ] b\n", "## Change log\n\n- **2026-08-30** Moved.\n- (2026-08-29 10:00Z) Read.\n", False),
        ("", "- [ ] b\n", "## Revision History\n\n- 2026-04-30: Moved.\n", True),
        ("", "- [ ] b\n", "## Revision History\n\n- Moved 2026-08-30.\n", True),
        ("", "- [ ] b\n", "## Notes\n\n- 2026-08-30: is the day of the release.\n", True),
        ("Status (2026-08-30): waits for the release.\n", "- [ ] b\n", "", False),
        ("**Status:** in progress, 2026-08-30\n", "- [ ] b\n", "", False),
        ("Status: in progress\n", "- [ ] b\n", "", True),
        ("> Status (2026-03-24): Superseded by `other.md`.\n", "- [ ] b\n", "", False),
        ("Deferred until the release.\n", "- [ ] b\n", "", False),
        ("This plan is on hold.\n", "- [ ] b\n", "", False),
        ("It has been abandoned.\n", "- [ ] b\n", "", False),
        ("It goes on without the superseded draft.\n", "- [ ] b\n", "", True),
        ("## Purpose / Big Picture\n\nStatus:\n\n- Nobody needs it.\n- It is superseded.\n", "- [ ] b\n", "", False),
        ("## Purpose / Big Picture\n\nAn old form was superseded.\n", "- [ ] b\n", "", True),
        ("## Status\n\nSuperseded by another.\n", "- [ ] b\n", "", False),
        ("## Status\n\nActive.\n\n## Notes\n\nIt was deferred.\n", "- [ ] b\n", "", True),
        ("## Purpose / Big Picture\n\nStatus quo: the form\nwas superseded.\n", "- [ ] b\n", "", True),
        ("", "\nDeferred (not needed now):\n\n- [ ] b\n- [ ] c\n", "", False),
        ("", "\n### Deferred\n\n- [ ] b\n", "", False),
        ("", "- [ ] b\n\n### Deferred\n\n- [ ] c\n", "", True),
        ("", "\n### Deferred\n\n- [ ] b\n\n### Next\n\n- [ ] c\n", "", True),
    ],
)
def test_what_is_said_of_a_plan_at_rest(head: str, tasks: str, rest: str, stalled: bool) -> None:
    text = f"# Build\n\n{head}\n## Progress\n\n{DONE_TASK}{tasks}\n{rest}"
    assert bool(lines("EP209", text, RuleContext(clock=clock("2026-09-01")))) is stalled


def test_the_front_matter_may_say_that_a_plan_rests() -> None:
    text = f"{HEAD}{DONE_TASK}- [ ] b\n"
    context = RuleContext(clock=clock("2026-09-01"))
    assert lines("EP209", f"---\nstatus: deferred\n---\n{text}", context) == []
    assert lines("EP209", f"---\nstatus: active\n---\n{text}", context) == [9]


@pytest.mark.parametrize(
    ("path", "stalled"),
    [
        ("docs/exec-plans/deferred/a.md", False),
        ("docs/Backlog/2026/a.md", False),
        ("docs/exec-plans/active/deferred.md", True),
    ],
)
def test_folders_of_plans_at_rest(path: str, stalled: bool) -> None:
    text = f"{HEAD}{DONE_TASK}- [ ] b\n"
    assert bool(lines("EP209", text, RuleContext(clock=clock("2026-09-01"), path=path))) is stalled


def test_the_latest_date_is_told() -> None:
    text = f"{HEAD}{DONE_TASK}- [ ] b\n\n## Revision History\n\n- 2026-05-07: Moved.\n"
    stalled_findings = findings("EP209", text, RuleContext(clock=clock("2026-09-01")))
    assert [finding.message for finding in stalled_findings] == [
        "task 2 is open, but the plan has no date after 2026-05-07"
    ]


def in_order(*stamps: str) -> str:
    return HEAD + "".join(f"- [x] ({stamp}) Task {at}.\n" for at, stamp in enumerate(stamps, 1))


@pytest.mark.parametrize(
    "stamps",
    [
        (
            "2026-03-07",
            "2026-03-07 10:00Z",
            "2026-03-07",
            "2026-03-08 09:00Z",
            "2026-03-08",
        ),  # a day holds all its times
        ("2026-03-07 10:00Z", "2026-03-07 09:55Z", "2026-03-07 10:10Z", "2026-03-07 10:20Z", "2026-03-07 10:30Z"),
        ("2026-03-09", "2026-03-08", "2026-03-07", "2026-03-06", "2026-03-05"),  # the newest first
        ("2026-03-05", "2026-03-01", "2026-03-07", "2026-03-02", "2026-03-06"),  # no order at all
        ("2026-03-09", "2026-03-01", "2026-03-02", "2026-03-03"),  # too few to have one
        ("2026-03-07 18:00+09:00", "2026-03-07 10:00Z", "2026-03-07 05:30-05:00", "2026-03-07 11:00Z", "2026-03-08"),
        ("2026-03-07 15:55Z", "2026-03-07 16:08Z", "2026-03-07 16:15Z", "2026-03-07 15:40Z", "2026-03-07 15:45Z"),
        ("2026-03-01", "2026-03-02", "2026-02-30", "2026-03-04", "2026-03-05"),  # no date: another rule's
    ],
)
def test_orders_that_are_fine(stamps: tuple[str, ...]) -> None:
    assert findings("EP205", in_order(*stamps)) == []


@pytest.mark.parametrize(
    ("stamps", "odd", "other"),
    [
        (("2026-03-01", "2026-03-02", "2026-02-03", "2026-03-04", "2026-03-05"), 3, "task 2 above"),
        (("2026-03-01", "2026-04-02", "2026-03-03", "2026-03-04", "2026-03-05"), 2, "task 3 below"),
        (("2026-03-01", "2026-03-04", "2026-03-03", "2026-03-05", "2026-03-06"), 3, "task 2 above"),
        (("2026-03-09", "2026-03-08", "2026-03-19", "2026-03-06", "2026-03-05"), 3, "task 2 above"),  # the newest first
        (
            (
                "2026-03-07 10:00Z",
                "2026-03-07 11:00Z",
                "2026-03-07 11:30+08:00",
                "2026-03-07 12:00Z",
                "2026-03-07 13:00Z",
            ),
            3,
            "task 2 above",
        ),
        (
            (
                "2026-03-07 10:00 CST",
                "2026-03-07 12:00 CST",
                "2026-03-07 11:00 CST",
                "2026-03-07 13:00 CST",
                "2026-03-07 14:00 CST",
            ),
            3,
            "task 2 above",
        ),
    ],
)
def test_one_out_of_order(stamps: tuple[str, ...], odd: int, other: str) -> None:
    text = in_order(*stamps)
    assert marked_text("EP205", text) == [f"({stamps[odd - 1]})"]
    assert other in findings("EP205", text)[0].message


def test_each_list_has_its_own_order() -> None:
    text = f"{HEAD}### Two\n\n- [x] (2026-03-05) a\n- [x] (2026-03-06) b\n### One\n\n- [x] (2026-03-01) c\n- [x] (2026-03-02) d\n"
    assert findings("EP205", text) == []
    nested = "- [x] (2026-03-09) all\n  - [x] (2026-03-01) a\n  - [x] (2026-03-02) b\n- [ ] (2026-02-01) rest\n"
    assert findings("EP205", HEAD + nested + "- [x] (2026-03-10) x\n- [x] (2026-03-11) y\n- [x] (2026-03-12) z\n") == []


@pytest.mark.parametrize(
    ("stamps", "made_up"),
    [
        (("2026-03-07 00:00Z", "2026-03-08 00:00Z"), 2),
        (("2026-03-07T00:00:00Z", "2026-03-07 00:00Z", "2026-03-07 00:00Z"), 3),
        (("2026-03-07 00:00Z", "2026-03-07 09:14Z", "2026-03-07 00:00Z"), 0),  # one midnight may be true
        (("2026-03-06 23:52Z", "2026-03-07 00:00Z", "2026-03-08 00:00Z"), 0),  # somebody worked late
        (("2026-03-07 00:00Z", "2026-03-08 00:00Z", "2026-03-08 00:20Z"), 0),
        (("2026-03-07 00:00+09:00", "2026-03-06 15:20Z", "2026-03-08 00:00+09:00"), 0),
        (("2026-03-07 00:00:31Z", "2026-03-08 00:00:31Z"), 0),
        (("2026-03-07", "2026-03-08"), 0),
    ],
)
def test_midnight(stamps: tuple[str, ...], made_up: int) -> None:
    messages = [finding.message for finding in findings("EP211", in_order(*stamps))]
    message = f"{made_up} timestamps say 00:00; if the time is unknown, write only the date"
    assert messages == ([message] if made_up else [])


def test_an_impossible_date_of_any_entry() -> None:
    text = "# Build\n\n## Outcomes & Retrospective\n\n- 2026-02-30: It works.\n- 2026-02-28: All of it.\n"
    assert marked_text("EP203", text) == ["2026-02-30"]
