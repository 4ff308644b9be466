"""What git says of the working tree, and what has changed since a plan was last written."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from execplan.context.gathering import plan_drift
from execplan.context.plan_overview import PlanDrift, WorkingTree
from execplan.core.git import git_query
from execplan.core.plan_store import plan_selection
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    pass

PLAN = f".agent/execplans/{NAME}.md"
PAGE = f".agent/execplans/artifacts/{NAME}/checkpoint.md"


def inspect(desk: InProcessRepository, *but: str) -> tuple[WorkingTree, PlanDrift]:
    """What is seen now."""
    project, ref = plan_selection.select_plan(os.fspath(desk.path), None)
    with git_query.BackgroundQueries(project, plan_drift.git_queries(project)) as queries:
        return plan_drift.inspect_worktree(
            project, ref, queries.collect_outputs(), [os.path.join(project.root, name) for name in but]
        )


def touch(desk: InProcessRepository, name: str, hours: int) -> None:
    """Let a file be so much newer or older than the plan."""
    moment = (desk.path / PLAN).stat().st_mtime + hours * 3600
    os.utime(desk.path / name, (moment, moment))


def test_staged_changed_and_not_tracked(desk: InProcessRepository) -> None:
    desk.write("src/old.py", "x = 2\n")
    desk.write("src/other.py", "y = 2\n")
    desk.git("add", "src/old.py")
    desk.write("src/old.py", "x = 3\n")
    desk.write(" new\nname\u202e.py", "")
    desk.write("more/a.py", "")
    (desk.path / "Makefile").unlink()
    tree, _ = inspect(desk)
    assert tree[:1] == ("main",)
    assert tree.head == desk.git("rev-parse", "HEAD").strip()
    assert tree.subject == "All"
    assert tree.staged == ("src/old.py",)
    assert tree.changed == ("Makefile", "src/old.py", "src/other.py")
    assert tree.untracked == (" new\nname\u202e.py", "more/")
    desk.git("checkout", "-q", "--detach")
    (desk.path / ".git" / "MERGE_HEAD").write_text(tree.head)
    assert inspect(desk)[0].branch == ""
    assert inspect(desk)[0].pending_operation == "a merge"


def test_before_the_first_commit(desk: InProcessRepository) -> None:
    desk.git("update-ref", "-d", "HEAD")
    tree, drift = inspect(desk)
    assert (tree.branch, tree.head, tree.subject) == ("main", "", "")
    assert "Makefile" in tree.staged
    assert drift.commits == 0


def test_a_committed_plan_was_written_by_its_commit(desk: InProcessRepository) -> None:
    assert inspect(desk)[1] == PlanDrift(0, has_more_commits=False, paths=())
    for number in range(3):
        desk.write("src/old.py", f"x = {number}0\n")
        desk.commit()
    desk.write("src/other.py", "y = 20\n")
    touch(desk, "src/other.py", 1)
    assert inspect(desk)[1] == PlanDrift(3, has_more_commits=False, paths=("src/old.py", "src/other.py"))
    touch(desk, "src/other.py", -1)
    assert inspect(desk)[1].paths == ("src/old.py",), "it was changed before the plan was"
    desk.plan((desk.path / PLAN).read_text() + "\nMore.\n")
    desk.commit()
    assert inspect(desk)[1] == PlanDrift(0, has_more_commits=False, paths=())


def test_a_plan_that_is_not_committed_was_written_when_its_file_was(desk: InProcessRepository) -> None:
    desk.write("src/old.py", "x = 2\n")
    desk.commit()
    desk.plan((desk.path / PLAN).read_text() + "\nMore.\n")
    moment, *_, first = map(int, desk.git("log", "--format=%ct").split())
    os.utime(desk.path / PLAN, (first - 60, first - 60))
    assert inspect(desk)[1] == PlanDrift(2, has_more_commits=False, paths=("Makefile", "src/old.py", "src/other.py"))
    os.utime(desk.path / PLAN, (moment + 60, moment + 60))
    assert inspect(desk)[1] == PlanDrift(0, has_more_commits=False, paths=())


@pytest.mark.parametrize("how", ["untracked", "ignored", "in a folder that is untracked"])
def test_a_plan_that_git_does_not_know(desk: InProcessRepository, how: str) -> None:
    desk.git("rm", "-q", "--cached", PLAN)
    desk.write(".agent/other.md" if how == "untracked" else "x", "")
    if how == "ignored":
        desk.write(".gitignore", ".agent/\n")
    else:
        desk.git("add", ".agent/other.md" if how == "untracked" else "x")
    desk.git("commit", "-q", "-m", "Without")
    moment, *_, first = map(int, desk.git("log", "--format=%ct").split())
    os.utime(desk.path / PLAN, (moment + 60, moment + 60))
    assert inspect(desk)[1] == PlanDrift(0, has_more_commits=False, paths=())
    os.utime(desk.path / PLAN, (first - 60, first - 60))
    drift = inspect(desk)[1]
    assert drift.commits >= 1
    assert not any(path.startswith(".agent/execplans") or path == ".agent/" for path in drift.paths if path != PLAN)


def test_of_many_commits_it_says_that_there_are_more(desk: InProcessRepository) -> None:
    commit_lines = ["commit refs/heads/main", "committer a <a@b> 1767225600 +0000", "data 1", "x"]
    lines = [*commit_lines, "from refs/heads/main^0", *[line for _ in range(60) for line in commit_lines], ""]
    subprocess.run(["git", "fast-import", "--quiet"], cwd=desk.path, input="\n".join(lines).encode(), check=True)
    assert inspect(desk)[1] == PlanDrift(plan_drift.MAX_COMMITS, has_more_commits=True, paths=())
    assert "50 commits or more" in inspect(desk)[1].description


def test_a_merge_counts_as_what_it_brought(desk: InProcessRepository) -> None:
    desk.git("checkout", "-q", "-b", "side")
    for name in "abc":
        desk.write(f"src/{name}.py", "")
        desk.commit()
    desk.git("checkout", "-q", "main")
    desk.git("merge", "-q", "--no-ff", "-m", "Side", "side")
    assert inspect(desk)[1] == PlanDrift(1, has_more_commits=False, paths=("src/a.py", "src/b.py", "src/c.py"))


def test_own_artifacts_are_no_drift_and_the_page_is_not_seen(desk: InProcessRepository) -> None:
    desk.write(PAGE, "page")
    tree, drift = inspect(desk, PAGE)
    assert (tree.untracked, drift.paths) == ((), ())
    desk.write(PAGE.replace("checkpoint", "log"), "log")
    tree, drift = inspect(desk, PAGE)
    assert (tree.untracked, drift.paths) == ((".agent/execplans/artifacts/",), ())
    desk.git("add", PAGE)
    assert inspect(desk, PAGE)[0].staged == ()


def test_settings_of_git_change_nothing(desk: InProcessRepository) -> None:
    desk.write("src/ä b.py", "")
    desk.commit()
    for name, value in {
        "log.showSignature": "true",
        "core.quotePath": "true",
        "color.ui": "always",
        "status.relativePaths": "true",
        "status.showUntrackedFiles": "no",
        "diff.renames": "copies",
        "log.follow": "true",
        "format.pretty": "oneline",
        "diff.external": "false",
        "core.fsmonitor": "touch fsmonitor-was-run; false",
    }.items():
        desk.git("config", name, value)
    desk.write("src/c.py", "")
    tree, drift = inspect(desk)
    assert tree.untracked == ("src/c.py",)
    assert drift == PlanDrift(1, has_more_commits=False, paths=("src/c.py", "src/ä b.py"))
    assert not (desk.path / "fsmonitor-was-run").exists()
