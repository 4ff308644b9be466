"""The cards of the board: their columns, what they show, and that they agree with other commands."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from execplan.core.plan_store.author import ActingAs
from execplan.core.project import project_discovery
from execplan.views.board.board_cards import COLUMNS, Board, Card
from execplan.views.board.board_loader import load_board
from tests.cli.journaled_run import JournaledRun
from tests.in_process_repository import LOW, NAME, InProcessRepository
from tests.plans import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

STALLED = "# Old\n\n## Progress\n\n- [x] (2025-06-01 09:00Z) A.\n- [ ] B.\n"
COMPLETE = "# Complete\n\n## Progress\n\n- [x] (2025-07-01 09:00Z) A.\n"
CONFLICT = "# Two\n\n## Progress\n\n<<<<<<< ours\n- [ ] A.\n=======\n- [ ] B.\n>>>>>>> theirs\n"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with an active plan."""
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    desk.plan(CLEAN)
    return desk


def board(*, archived: bool = False) -> Board:
    """The board of the project in the current directory."""
    return load_board(project_discovery.require(os.getcwd()), archived=archived)


def card(name: str = NAME, *, archived: bool = False) -> Card:
    """The card of a plan."""
    (match,) = [card for card in board(archived=archived).cards if card.id == name]
    return match


def commit_long_ago(desk: InProcessRepository) -> None:
    """Commit everything with a date of half a year ago."""
    desk.git("add", "-A")
    desk.env["GIT_COMMITTER_DATE"] = "2025-06-01T09:00:00Z"
    desk.git("commit", "-q", "-m", "Plans")


def test_each_plan_is_in_the_column_of_its_state(desk: InProcessRepository) -> None:
    for name, content in (("old", STALLED), ("complete", COMPLETE), ("shelved", COMPLETE)):
        desk.plan(content, name)
    desk.plan(b"Broken \xff\n", "broken")
    commit_long_ago(desk)
    desk.data("archive", "shelved", "--force", "--reason", "Test", "--no-commit")
    desk.data("new", "Build the scanner", "--no-commit")
    columns = {column.name: [card.id for card in column.cards] for column in board(archived=True).columns}
    assert columns == {
        "broken": ["broken"],
        "draft": ["2026-01-01_build-the-scanner"],
        "active": [NAME],
        "stalled": ["old"],
        "complete": ["complete"],
        "archived": ["shelved"],
    }
    assert card("old").state == "active"
    without_archive = board().columns[COLUMNS.index("archived")]
    assert (without_archive.cards, without_archive.total) == ((), 1)


def test_a_broken_plan_says_why(desk: InProcessRepository) -> None:
    desk.plan(b"Broken \xff\n", "broken")
    broken = card("broken")
    assert broken.error == "byte 0xff at offset 7 is not UTF-8"
    assert (broken.counts, broken.next_task, broken.digest, broken.findings.error) == (None, None, "", 1)


def test_the_reason_comes_without_the_path(desk: InProcessRepository) -> None:
    (desk.path / ".agent/execplans/loop.md").symlink_to("loop.md")
    assert card("loop").error == os.strerror(errno.ELOOP).lower()


def test_progress_and_activity(desk: InProcessRepository) -> None:
    shown = card()
    assert shown.counts is not None
    assert shown.counts._asdict() == desk.data("show", NAME)["counts"]
    assert shown.digest == desk.data("show", NAME)["digest"]
    assert shown.last_date == "2025-12-30"
    assert shown.idle_days == 2


@pytest.mark.parametrize(
    ("timestamp", "date", "days"),
    [
        ("2025-12-31 19:30-06:00", "2026-01-01", 0),
        ("2026-01-01 07:00 +08:00", "2025-12-31", 1),
        ("2025-12-31 23:00 CET", "2025-12-31", 1),
    ],
)
@pytest.mark.parametrize("kind", ["task", "entry"])
def test_the_activity_is_a_date_in_utc(
    desk: InProcessRepository, timestamp: str, date: str, days: int, kind: str
) -> None:
    plan = f"# A\n\n## Progress\n\n- [x] ({timestamp}) A.\n- [ ] B.\n"
    if kind == "entry":
        plan = (
            f"# A\n\n## Progress\n\n- [ ] B.\n\n## Decision Log\n\n- Decision: A.\n  Date/Author: {timestamp} / Ann\n"
        )
    desk.plan(plan, "zone")
    assert (card("zone").last_date, card("zone").idle_days) == (date, days)


def test_cards_agree_with_status(desk: InProcessRepository) -> None:
    for name, content in (("old", STALLED), ("complete", COMPLETE), ("two", CONFLICT), ("low", LOW)):
        desk.plan(content, name)
    desk.data("next", NAME, "--claim", "agent-1")
    plans = {plan["id"]: plan for plan in desk.data("status")["plans"]}
    for shown in board().cards:
        plan = plans[shown.id]
        assert (shown.title, shown.state, shown.digest, shown.path) == (
            plan["title"],
            plan["state"],
            plan["digest"],
            plan["path"],
        )
        assert (shown.next_task.id if shown.next_task else None) == (plan["next"]["id"] if plan["next"] else None)
        assert [claim.by for claim in shown.claims] == [task["by"] for task in plan["taken"]]
        assert (shown.column == "stalled") == plan["stalled"]


def test_a_complete_plan_with_a_conflict_is_not_to_be_archived(desk: InProcessRepository) -> None:
    done = CONFLICT.replace("[ ]", "[x] (2025-07-01 09:00Z)")
    desk.plan(f"{done}\n## Outcomes & Retrospective\n\nIt works.\n", "two")
    assert card("two").column == "complete"
    assert card("two").next_text == "no open tasks"
    assert "archive it" not in desk.type("status").out


def test_findings_agree_with_lint(desk: InProcessRepository) -> None:
    for name in ("old", "older", "oldest"):
        desk.plan(STALLED, name)
    expected: dict[str, list[str]] = {}
    for finding in desk.type("lint", "--json").json["data"]["findings"]:
        expected.setdefault(finding["path"], []).append(finding["level"])
    for shown in board().cards:
        levels = expected.get(shown.path, [])
        assert list(shown.findings) == [levels.count(level) for level in ("error", "warning", "hint")], shown.id


def test_the_next_task_is_the_one_that_the_author_has_claimed(desk: InProcessRepository) -> None:
    desk.data("next", "--claim", "agent-1", "--task", "3")
    free = card()
    assert free.next_task is not None
    assert free.next_task.number == 2
    assert free.holders == ("agent-1",)
    with ActingAs("agent-1"):
        claimed = card()
    assert claimed.next_task is not None
    assert claimed.next_task.number == 3
    assert "claimed by you" in claimed.next_text


def test_the_approval_and_the_run(desk: InProcessRepository) -> None:
    desk.plan(LOW)
    assert (card().approval, card().run) == ("none", None)
    desk.approve()
    assert card().approval == "approved"
    JournaledRun(desk)
    run = card().run
    assert run is not None
    assert run.state == "cut_short"
    assert run.text == "run 1 was interrupted"


def test_the_line_of_a_conflict(desk: InProcessRepository) -> None:
    desk.plan(CONFLICT, "two")
    assert card("two").conflict_line == 5


def test_plans_of_nested_projects_have_the_path_of_their_project(desk: InProcessRepository) -> None:
    desk.write("tools/.agent/execplans/tool.md", STALLED)
    desk.write(".agent/execplan.toml", 'homes = ["tools"]\n')
    assert {shown.id: shown.project for shown in board().cards} == {NAME: "", "tool": "tools"}


def test_texts_are_kept_as_they_are(desk: InProcessRepository) -> None:
    desk.plan("# A [bold]title[/bold]\x1b[31m\n\n## Progress\n\n- [ ] Task \x07\n", "odd")
    assert card("odd").title == "A [bold]title[/bold]\x1b[31m"
