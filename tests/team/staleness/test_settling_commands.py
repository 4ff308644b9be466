"""What `doctor --stale` suggests for a plan whose work is done: commands after which `archive` accepts the plan."""

from __future__ import annotations

import pytest

from tests.cli.doctor.doctor_findings import run_remedy
from tests.conftest import Folder
from tests.team.staleness.dated_repository import (
    DONE_TASKS,
    OPEN_TASKS,
    OUTCOME,
    SETTINGS,
    add_plan,
    commit,
    make_plan,
    stale,
)

NO_RATIONALE = "- Decision: Read bytes.\n  Date/Author: 2025-04-20 / Ann\n"
BARE = f"# Bare\n\nPR: #12\n\n## Progress\n\n{OPEN_TASKS}"


@pytest.fixture
def dated(repo: Folder) -> Folder:
    """A repository with settings."""
    repo.write(".agent/execplan.toml", SETTINGS)
    commit(repo, "2025-04-01", "Set up")
    return repo


def settle(folder: Folder, name: str, plan: str) -> dict[str, str]:
    """The finding about a plan whose pull request is merged."""
    add_plan(folder, name, plan)
    commit(folder, "2025-05-10", "Plan")
    commit(folder, "2025-05-11", "Do it (#12)")
    return stale(folder)[name]


def split_remedy(finding: dict[str, str]) -> tuple[list[str], str]:
    """The commands of a remedy, and the alternative."""
    commands, _, alternative = finding["mend"].partition("; to archive it with its errors: ")
    return commands.split(", then: "), alternative


@pytest.mark.parametrize(
    ("plan", "error"),
    [
        (
            make_plan("A", DONE_TASKS, OUTCOME).replace("None so far.\n\n## Outcomes", f"{NO_RATIONALE}\n## Outcomes"),
            "EP301",
        ),
        (
            make_plan("A", OPEN_TASKS, header="PR: #12").replace(
                "None so far.\n\n## Outcomes", f"{NO_RATIONALE}\n## Outcomes"
            ),
            "EP301",
        ),
        (BARE, "EP104"),
        (BARE.replace("[ ]", "[x]"), "EP104"),
    ],
)
def test_errors_that_archive_refuses_are_named_and_fixed_before(dated: Folder, plan: str, error: str) -> None:
    finding = settle(dated, "01-errors", plan)
    assert f"before it can be archived, correct {error} on line " in finding["message"]
    (*before, edit, archive), alternative = split_remedy(finding)
    assert (edit, archive) == ("execplan edit 01-errors", "execplan archive 01-errors")
    run_remedy(dated, " && ".join(["true", *before]))
    refused = dated.run("archive", "01-errors", "--json")
    assert refused.exit == 1
    assert all(error in reason for reason in refused.json["error"]["candidates"])
    assert alternative == "execplan archive 01-errors --force --reason 'WHY'"
    run_remedy(dated, alternative)
    assert stale(dated) == {}
