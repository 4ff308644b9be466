"""`execplan status`: which plans it lists, in which order."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from execplan.cli.main import main
from tests.cli.terminal import Terminal
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

OLD = "# Old\n\n## Progress\n\n- [x] (2025-06-01 09:00Z) A.\n- [ ] B.\n"
RECENT = "# Recent\n\n## Progress\n\n- [x] (2025-12-31 09:00Z) A.\n- [x] (2025-12-31 09:00Z) B.\n- [ ] C.\n"
COMPLETE = "# Complete\n\n## Progress\n\n- [x] (2025-07-01 09:00Z) A.\n"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with an active plan without dates, an old and a recent one, and two complete plans."""
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    for name, content in (("old", OLD), ("recent", RECENT), ("complete-1", COMPLETE), ("complete-2", COMPLETE)):
        desk.plan(content, name)
    desk.git("add", "-A")
    desk.env["GIT_COMMITTER_DATE"] = "2025-06-01T09:00:00Z"
    desk.git("commit", "-q", "-m", "Plans")
    return desk


def listed(desk: InProcessRepository, *options: str) -> list[str]:
    """IDs of the plans that `status` lists in JSON; in text, the same in the same order."""
    result = desk.type("status", *options, "--json")
    document = result.json["data"]
    assert sum(document["states"].values()) == 5
    ids = [plan["id"] for plan in document["plans"]]
    text = desk.type("status", *options)
    assert text.exit == result.exit
    rows = [line.split() for line in text.out.splitlines()[2:] if not line.startswith(("next:", "and ", "no plans"))]
    assert [next(name for name in ids if name in row) for row in rows] == ids
    return ids


def on_terminal(desk: InProcessRepository, *options: str) -> list[str]:
    """Lines that `status` prints on a terminal."""
    desk.patch.setattr(sys, "argv", ["execplan", "status", *options])
    return Terminal(main, columns=100).end().lines


def test_all_plans_are_listed_in_a_pipe(desk: InProcessRepository) -> None:
    assert listed(desk) == [NAME, "old", "recent", "complete-1", "complete-2"]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (("--state", "complete"), ["complete-1", "complete-2"]),
        (("--state", "complete", "--state", "active"), [NAME, "old", "recent", "complete-1", "complete-2"]),
        (("--state", "draft"), []),
        (("--stalled",), [NAME, "old"]),
        (("--stalled", "--state", "complete"), []),
        (("--sort", "activity"), ["recent", "complete-1", "complete-2", "old", NAME]),
        (("--sort", "progress"), ["complete-1", "complete-2", "recent", "old", NAME]),
        (("--sort", "id"), [NAME, "complete-1", "complete-2", "old", "recent"]),
        (("--limit", "2"), [NAME, "old"]),
        (("--limit", "9"), [NAME, "old", "recent", "complete-1", "complete-2"]),
        (("--state", "active", "--sort", "activity", "--limit", "1"), ["recent"]),
    ],
)
def test_filters(desk: InProcessRepository, options: tuple[str, ...], ids: list[str]) -> None:
    assert listed(desk, *options) == ids


def test_the_number_of_plans_that_are_left_out(desk: InProcessRepository) -> None:
    assert "and 3 more plans; to list them, increase --limit" in desk.type("status", "--limit", "2").out


def test_archived_plans_are_listed_by_their_state(desk: InProcessRepository) -> None:
    archived = desk.type("archive", "complete-1", "--force", "--reason", "It is old.")
    assert archived.exit == 0, archived
    assert [plan["id"] for plan in desk.data("status", "--state", "archived")["plans"]] == ["complete-1"]
    assert "complete-1" not in desk.type("status").out


def test_no_plan_matches(desk: InProcessRepository) -> None:
    result = desk.type("status", "--state", "draft")
    assert result.exit == 0
    assert result.out.splitlines()[-2:] == ["no plans match", "next: execplan status"]


def test_a_broken_plan_fails_only_where_it_is_listed(desk: InProcessRepository) -> None:
    desk.write(".agent/execplans/broken.md", b"\xff")
    assert desk.type("status").exit == 1
    assert desk.type("status", "--sort", "id", "--limit", "1").exit == 1
    assert desk.type("status", "--state", "active").exit == 0


@pytest.mark.parametrize("option", [("--stalled",), ("--limit", "1"), ("--sort", "id"), ("--state", "active")])
def test_filters_are_for_all_plans(desk: InProcessRepository, option: tuple[str, ...]) -> None:
    desk.refused(2, "usage", "status", "old", *option)
    desk.patch.setenv("EXECPLAN_PLAN", "old")
    assert len(desk.data("status")["plans"]) == 1
    assert desk.data("status", "--state", "complete")["plans"][0]["id"] == "complete-1"


def test_a_long_task_does_not_hide_that_a_plan_is_stalled(desk: InProcessRepository) -> None:
    plan = f"# Long\n\n## Progress\n\n- [x] (2025-06-01 09:00Z) A.\n- [ ] {'Do it well. ' * 12}\n"
    desk.plan(plan, "long")
    desk.git("add", "-A")
    desk.env["GIT_COMMITTER_DATE"] = "2025-06-01T09:00:00Z"
    desk.git("commit", "-q", "-m", "Plans")
    row = next(line for line in on_terminal(desk) if "long" in line)
    assert "(stalled) 2. Do it well." in row
    assert row.endswith("…")


def test_complete_plans_are_hidden_on_a_terminal(desk: InProcessRepository) -> None:
    lines = on_terminal(desk)
    assert not any("complete-1" in line for line in lines)
    assert "3 active, 2 complete" in lines
    assert "and 2 complete plans: execplan status --state complete" in lines
    assert any("complete-1" in line for line in on_terminal(desk, "--state", "complete"))
    assert any("complete-1" in line for line in on_terminal(desk, "complete-1"))
    (document,) = [line for line in on_terminal(desk, "--json") if line]
    assert len(json.loads(document)["data"]["plans"]) == 5


def test_complete_plans_are_listed_if_there_are_no_others(desk: InProcessRepository) -> None:
    for name in (NAME, "old", "recent"):
        (desk.path / f".agent/execplans/{name}.md").unlink()
    assert any("complete-1" in line for line in on_terminal(desk))


def test_a_complete_plan_with_an_unfinished_run_is_not_hidden(desk: InProcessRepository) -> None:
    from tests.cli.journaled_run import OK, JournaledRun

    for name in ("old", "recent"):
        (desk.path / f".agent/execplans/{name}.md").unlink()
    JournaledRun(desk).step("build", OK)
    path = desk.path / f".agent/execplans/{NAME}.md"
    path.write_text(path.read_text().replace("- [ ]", "- [x]"))
    assert desk.data("status", NAME)["plans"][0]["state"] == "complete"
    assert any(NAME in line for line in on_terminal(desk))


def test_a_terminal_shows_progress_bars_and_a_pipe_does_not(desk: InProcessRepository) -> None:
    row = next(line for line in on_terminal(desk) if "recent" in line)
    assert row.split()[1:3] == ["━━━━━───", "2/3"]
    assert "━" not in desk.type("status").out
