"""Tasks from the history of plans in real repositories."""

from __future__ import annotations

from execplan.core.plan_store import plan_store
from execplan.core.project import project_discovery
from execplan.views.charts.chart_sources import (
    ChartSources,
    collect_sources,
    load_events,
    make_chart,
    read_plan_sources,
)
from tests.conftest import CLOCK, Folder

DAY = 86_400
PLAN = "# Plan\n\n## Progress\n\n- [ ] One\n- [ ] Two\n- [x] (2026-01-01 00:00Z) Three\n"


def commit(folder: Folder, days: int) -> None:
    """Commit everything, some days after the first day."""
    folder.env["GIT_AUTHOR_DATE"] = folder.env["GIT_COMMITTER_DATE"] = f"@{CLOCK + days * DAY} +0000"
    folder.git("add", "-A")
    folder.git("commit", "-q", "-m", f"Day {days}")


def sources(folder: Folder) -> ChartSources:
    project = project_discovery.require(str(folder.path))
    stored_plans = [plan_store.load(project, ref) for ref in plan_store.all_refs(project)]
    return collect_sources(list(map(read_plan_sources, stored_plans)), load_events([(project, None)]))


def times(folder: Folder) -> list[tuple[int, int | None, int | None]]:
    """Days when each task was added, done and removed."""
    tasks = sources(folder).tasks
    assert tasks is not None
    days = [
        [None if at is None else (at - CLOCK) // DAY for at in (task.added, task.done, task.removed)] for task in tasks
    ]
    return sorted([(added or 0, done, removed) for added, done, removed in days], key=repr)


def test_a_life(repo: Folder) -> None:
    repo.plan(PLAN)
    commit(repo, 0)
    repo.plan(PLAN.replace("- [ ] One", "- [x] (2026-01-02 00:00Z) One"))
    commit(repo, 1)
    repo.plan(PLAN.replace("- [ ] One", "- [ ] One, again").replace("- [ ] Two\n", "- [ ] Two\n- [x] New\n"))
    commit(repo, 2)
    assert times(repo) == [(0, 0, None), (0, None, None), (0, None, None), (2, 2, None)]
    repo.plan(PLAN.replace("- [ ] One", "- [x] One, again").replace("- [ ] Two\n", ""))
    commit(repo, 4)
    assert times(repo) == [(0, 0, None), (0, 4, None), (0, None, 4), (2, 2, 4)]
    assert repo.run("rename", "2026-01-01_parser", "Other name").exit == 0
    commit(repo, 5)
    assert times(repo) == [(0, 0, None), (0, 4, None), (0, None, 4), (2, 2, 4)]


def test_a_deleted_plan_and_without_git(repo: Folder, plain: Folder) -> None:
    path = repo.plan(PLAN)
    repo.plan(PLAN, "2026-01-02_other")
    commit(repo, 0)
    path.unlink()
    commit(repo, 3)
    assert times(repo) == [(0, 0, None), (0, None, None), (0, None, None)]  # a plan that is gone is in no chart
    plain.plan(PLAN)
    assert sources(plain).tasks is None
    assert make_chart("burn-up", sources(plain)).series[-1].values[0] == 1


def test_a_plan_that_was_deleted_and_restored(repo: Folder) -> None:
    path = repo.plan(PLAN)
    commit(repo, 0)
    repo.plan(PLAN.replace("- [ ] One", "- [x] One"))
    commit(repo, 1)
    path.unlink()
    commit(repo, 2)
    repo.git("revert", "--no-edit", "HEAD")
    assert times(repo) == [(0, 0, None), (0, 1, None), (0, None, None)]
    chart = make_chart("burn-up", sources(repo))
    assert [(part.name, part.values[-1]) for part in chart.series[:2]] == [("tasks", 3), ("done in git", 2)]
    repo.plan(PLAN.replace("- [ ] Two\n", ""))
    commit(repo, 5)
    path.unlink()
    commit(repo, 6)
    repo.plan(PLAN.replace("- [ ] Two", "- [x] Two"))
    commit(repo, 7)
    assert times(repo) == [(0, 0, None), (0, None, 5), (0, None, None), (7, 7, None)]


def test_numbers_of_the_command(repo: Folder) -> None:
    repo.plan(PLAN)
    commit(repo, 0)
    assert repo.run("done", "1", "2").exit == 0
    commit(repo, 9)
    data = repo.ok("stats", "--chart", "burn-up")
    assert data["labels"] == ["2026-01-01", "2026-01-10"]
    assert data["series"] == [
        {"name": "tasks", "values": [3, 3]},
        {"name": "done in git", "values": [1, 3]},
        {"name": "done by timestamp", "values": [3, 3]},
    ]
    assert data["notes"] == ["2 of 3 timestamps differ from git by more than a day."]
    assert repo.ok("stats", "2026-01-01_parser", "--chart", "lead-time")["series"][0]["values"] == [
        0,
        0,
        0,
        0,
        2,
        0,
        0,
        0,
    ]
