"""Which plans differ between two looks at the files."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from execplan.server.file_watch import PROJECT, take_snapshot
from tests.plans import CLEAN

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Folder
    from tests.in_process_repository import InProcessRepository


def _append(folder: Folder) -> None:
    with (folder.path / ".agent/execplans/2026-01-01_parser.md").open("a") as file:
        file.write("More.\n")


CHANGES: dict[str, tuple[Callable[[Folder], object], bool]] = {
    "an edit": (lambda folder: folder.ok("done", "1"), True),
    "an edit in place": (_append, True),
    "a removed plan": (lambda folder: os.remove(folder.path / ".agent/execplans/2026-01-01_parser.md"), True),
    "an artifact": (lambda folder: folder.ok("attach", "README.md"), True),
    "a claim": (lambda folder: folder.ok("next", "--claim", "agent-1"), False),
    "a commit": (lambda folder: folder.git("commit", "-q", "--allow-empty", "-m", "x"), False),
    "settings": (lambda folder: folder.write(".agent/execplan.toml", "commit = false\n"), False),
    "an archived plan": (lambda folder: folder.ok("archive", "--force", "--reason", "No longer wanted."), True),
}


@pytest.mark.parametrize(("change", "is_of_plan"), CHANGES.values(), ids=CHANGES)
def test_changes_of_a_plan_and_of_the_project(
    repo: Folder, change: Callable[[Folder], object], is_of_plan: bool
) -> None:
    path = str(repo.plan(CLEAN.replace("- [x] (2025-12-30 09:15Z)", "- [ ]")))
    repo.plan(CLEAN, "2026-01-02_other")
    repo.env["EXECPLAN_PLAN"] = "2026-01-01_parser"
    before = take_snapshot(str(repo.path))
    assert take_snapshot(str(repo.path)).changed_plans(before) == frozenset()
    change(repo)
    changed = take_snapshot(str(repo.path)).changed_plans(before)
    assert path in changed if is_of_plan else changed == {PROJECT}
    assert not [key for key in changed if "other" in key]


def test_an_approval_and_a_run_are_changes(desk: InProcessRepository) -> None:
    snapshots = [take_snapshot(str(desk.path))]
    desk.approve()
    snapshots.append(take_snapshot(str(desk.path)))
    desk.type("run")
    snapshots.append(take_snapshot(str(desk.path)))
    assert all(later.changed_plans(earlier) for earlier, later in pairwise(snapshots))
