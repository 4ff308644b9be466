"""A link in the repository leads no command to write outside it, wherever the command's file may be."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.plans import CLEAN, STEPS

if TYPE_CHECKING:
    from tests.conftest import Folder


@pytest.mark.parametrize(
    "arguments",
    [
        ("site",),
        ("site", "--out", "link/site"),
        ("stats", "--textfile", "link/plans.prom"),
        ("stats", "--chart", "burn-up", "--svg", "link/chart.svg"),
        ("lint", "--baseline", "link/baseline.json", "--write-baseline"),
        ("compile", "parser", "--out", "link/plan.json"),
        ("merge", "base.md", "ours.md", "theirs.md", "--out", "link/merged.md"),
    ],
)
def test_no_command_writes_through_a_link_out_of_the_repository(repo: Folder, arguments: tuple[str, ...]) -> None:
    repo.plan(STEPS)
    for name in ("base", "ours", "theirs"):
        repo.write(f"{name}.md", CLEAN)
    outside = repo.path.parent / "outside"
    outside.mkdir()
    (repo.path / "link").symlink_to(outside)
    (repo.path / ".agent/site").symlink_to(outside)
    result = repo.run(*arguments, "--json")
    assert os.listdir(outside) == [], result
    assert (result.exit, result.json["error"]["code"]) == (7, "link-outside"), result


def test_a_directory_outside_the_repository_can_be_named(repo: Folder) -> None:
    repo.plan()
    outside = repo.path.parent / "outside"
    repo.ok("site", "--out", str(outside))
    assert (outside / "index.html").exists()
