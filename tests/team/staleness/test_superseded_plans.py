"""Plans whose status or metadata says that they are superseded: the successor is one of the project's plans, or not."""

from __future__ import annotations

import pytest

from tests.cli.doctor.doctor_findings import run_remedy
from tests.conftest import Folder
from tests.team.staleness.dated_repository import OPEN_TASKS, SETTINGS, add_plan, commit, make_plan, stale

NEW = "2025-12-20_scanner"


@pytest.fixture
def renewed(repo: Folder) -> Folder:
    """A repository with an active plan."""
    repo.write(".agent/execplan.toml", SETTINGS)
    add_plan(repo, NEW, make_plan("Write the scanner", OPEN_TASKS))
    commit(repo, "2025-12-30", "Plans")
    return repo


@pytest.mark.parametrize(
    ("header", "front"),
    [
        (f"Status: Superseded by {NEW}", ""),
        ("**Status:** Superseded by `scanner`.", ""),
        (f"Status: Superseded by [the scanner](../active/{NEW}.md#progress)", ""),
        ("", "superseded_by: scanner\n"),
        ("", f'status: superseded\nsuperseded_by: ["{NEW}"]\n'),
        (f"Superseded by: {NEW}", "status: active\n"),
        (f"> **Superseded-by**: [scanner]({NEW}.md)", ""),
    ],
)
def test_a_successor_among_the_plans(renewed: Folder, header: str, front: str) -> None:
    add_plan(renewed, "01-old", make_plan("Old", OPEN_TASKS, header=header, front=front))
    commit(renewed, "2025-12-31", "Old plan")
    (finding,) = stale(renewed).values()
    assert finding["kind"] == "superseded"
    assert finding["message"].startswith(f"{NEW} supersedes this plan, but it is not archived")
    assert finding["mend"] == f"execplan archive 01-old --as superseded --by {NEW}"
    run_remedy(renewed, finding["mend"])
    assert stale(renewed) == {}


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("Superseded by [other](x.md)", "Superseded by other"),
        ("Superseded by `pr`", "Superseded by pr"),
        ("Abandoned /tmp/x", "Abandoned /tmp/x"),
        ("Superseded by 01-old", "Superseded by 01-old"),
        (f"Abandoned for {NEW}", f"Abandoned for {NEW}"),
    ],
)
def test_no_successor_among_the_plans(renewed: Folder, status: str, reason: str) -> None:
    """A plan does not supersede itself."""
    add_plan(renewed, "01-old", make_plan("Old", OPEN_TASKS, header=f"Status: {status}"))
    commit(renewed, "2025-12-31", "Old plan")
    (finding,) = stale(renewed).values()
    assert finding["message"] == f"the status says `{reason}`, but the plan is not archived"
    run_remedy(renewed, finding["mend"])
    (archived,) = [plan for plan in renewed.ok("list", "--all")["plans"] if plan["id"] == "01-old"]
    assert reason in (renewed.path / archived["path"]).read_text()


def test_several_plans_with_the_name_of_the_successor(renewed: Folder) -> None:
    add_plan(renewed, "2025-12-21_scanner", make_plan("Another", OPEN_TASKS))
    add_plan(renewed, "01-old", make_plan("Old", OPEN_TASKS, header="Status: Superseded by scanner"))
    commit(renewed, "2025-12-31", "Old plan")
    assert stale(renewed)["01-old"]["kind"] == "given up"
