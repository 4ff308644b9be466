"""Plans without tasks: whether they are done depends on their status."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.doctor.doctor_findings import run_remedy
from tests.team.staleness.dated_repository import SETTINGS, add_plan, commit, make_plan, stale

if TYPE_CHECKING:
    from tests.conftest import Folder


@pytest.fixture
def dated(repo: Folder) -> Folder:
    """A repository with settings."""
    repo.write(".agent/execplan.toml", SETTINGS)
    commit(repo, "2025-04-01", "Set up")
    return repo


def test_a_status_says_that_the_plan_is_done(dated: Folder) -> None:
    add_plan(dated, "01-complete", make_plan("A", "", header="**Status:** **Complete** (2025-05-01)"))
    commit(dated, "2025-05-10", "Plan")
    finding = stale(dated)["01-complete"]
    assert finding["kind"] == "ready to archive"
    assert finding["message"] == (
        "the plan has no tasks and is not archived; the status on line 3 says `Complete (2025-05-01)`"
    )
    run_remedy(dated, finding["mend"])
    assert stale(dated) == {}
    (plan,) = dated.ok("list", "--all")["plans"]
    assert "The work is done: the status says Complete (2025-05-01)." in (dated.path / plan["path"]).read_text()


def test_a_plan_that_was_completed_today_is_not_reported(dated: Folder) -> None:
    add_plan(dated, "01-complete", make_plan("A", "", header="Status: Complete"))
    commit(dated, "2026-01-01", "Plan")
    assert stale(dated) == {}


@pytest.mark.parametrize("header", ["", "Status: In Progress"])
def test_no_status_says_so(dated: Folder, header: str) -> None:
    add_plan(dated, "01-idea", make_plan("A", "", header=header))
    commit(dated, "2025-05-10", "Plan")
    finding = stale(dated)["01-idea"]
    assert finding["kind"] == "stalled"
    assert finding["message"].startswith("no tasks, but no timestamp, edit or commit in")
    assert finding["mend"].startswith("execplan edit 01-idea; to give it up: ")
