"""EP513, with Git: it runs where Git is asked, and says which commits show that the work is done."""

from __future__ import annotations

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN
from tests.team.staleness.dated_repository import commit


@pytest.fixture
def shipped(repo: Folder) -> tuple[Folder, str]:
    """A repository with a plan whose pull request is merged, and the merge."""
    never_ticked = CLEAN.replace("- [x] (2025-12-30 09:15Z)", "- [ ]")
    repo.plan(never_ticked.replace("# Build the parser\n", "# Build the parser\n\nPR: #12\n"))
    repo.plan(CLEAN.replace("# Build the parser\n", "# Build the parser\n\nPR: #13\n"), "2026-01-02_other")
    commit(repo, "2025-12-30", "Plans")
    repo.write("src/reader.py", "x = 1\n")
    return repo, commit(repo, "2025-12-31", "Build the parser (#12)")


@pytest.mark.parametrize("arguments", [("--profile", "ci"), ("--select", "EP513"), ("--profile", "strict")])
def test_the_commit_is_named(shipped: tuple[Folder, str], arguments: tuple[str, ...]) -> None:
    repo, digest = shipped
    findings = [
        finding
        for finding in repo.run("lint", *arguments, "--json").json["data"]["findings"]
        if finding["code"] == "EP513"
    ]
    (finding,) = findings
    assert finding["path"] == ".agent/execplans/2026-01-01_parser.md"
    assert finding["line"] == CLEAN.split("\n").index("- [x] (2025-12-30 09:15Z) Read lines.") + 3
    assert f"pull request #12 is merged ({digest[:10]} Build the parser (#12))" in finding["message"]
    assert "execplan done 1 2 3 -p 2026-01-01_parser" in finding["message"]


def test_it_does_not_run_where_git_is_not_asked(shipped: tuple[Folder, str]) -> None:
    repo, _ = shipped
    plan = ".agent/execplans/2026-01-01_parser.md"
    (repo.path / plan).write_text((repo.path / plan).read_text() + "\nMore.\n")
    repo.git("add", "-A")
    for arguments in ((), (plan,), ("--staged", "--profile", "ci"), ("--profile", "ci", "--ignore", "EP513")):
        assert "EP513" not in repo.run("lint", *arguments).out
