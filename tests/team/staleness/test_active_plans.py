"""Plans that are what they say give no report, however much happens around them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from execplan.core.plan import reader
from execplan.core.plan.model import ACTIVE, DONE
from execplan.team.staleness.claimed_status import read_claimed_status
from tests.conftest import COUNTED, Folder, find_corpus
from tests.plans import from_template
from tests.team.staleness.dated_repository import (
    DONE_TASKS,
    OPEN_TASKS,
    OUTCOME,
    PLANS,
    SETTINGS,
    add_plan,
    commit,
    make_plan,
    promise,
    stale,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ONE_DONE = "- [x] (2025-12-30 10:00Z) Write it.\n- [ ] Test it.\n"
LINES = "".join([f"x{number} = {number}\n" for number in range(40)])
CITES = "## Context and Orientation\n\nSee `src/kept.py` and `src/old.py`, which the plan deletes.\n"


@pytest.fixture
def active(repo: Folder) -> Folder:
    """A repository of plans that people work on: the clock is at 2026-01-01."""
    repo.write(".agent/execplan.toml", SETTINGS)
    repo.write("src/kept.py", LINES)
    repo.write("src/old.py", LINES)
    repo.write("src/before.py", LINES)
    repo.git("remote", "add", "origin", "https://example.org/team/app.git")
    commit(repo, "2025-12-01", "Set up")
    commit(repo, "2025-12-02", "Add the reader (#11)\n\nFixes #21")
    add_plan(
        repo, "01-open-request", make_plan("A", ONE_DONE, promise("src/a.py"), header="PR: #12\nStatus: In Progress")
    )
    add_plan(repo, "02-open-issue", make_plan("B", OPEN_TASKS, header="Issue: #22"))
    add_plan(repo, "03-other-repository", make_plan("C", OPEN_TASKS, header="PR: other/lib#11\nIssue: other/lib#21"))
    add_plan(repo, "04-second-of-two", make_plan("D", OPEN_TASKS, header="PRs: #11, #12"))
    add_plan(repo, "05-missing-file", make_plan("E", OPEN_TASKS, promise("src/kept.py", "src/e.py"), header="PR: #11"))
    add_plan(repo, "06-older-file", make_plan("F", ONE_DONE, promise("src/before.py")))
    add_plan(repo, "07-cites", make_plan("G", ONE_DONE, CITES))
    add_plan(repo, "08-just-complete", make_plan("H", DONE_TASKS.replace("2025-04-2", "2025-12-3"), OUTCOME))
    add_plan(repo, "09-on-hold", make_plan("I", OPEN_TASKS, header="Status: Deferred until spring"))
    add_plan(repo, "10-reverted", make_plan("J", OPEN_TASKS, header="PR: #13"))
    add_plan(repo, "11-goes-on", make_plan("K", OPEN_TASKS, header="PR: #14"))
    add_plan(repo, "12-new", from_template("plan", "Do it."))
    commit(repo, "2025-12-28", "Plans")
    commit(repo, "2025-12-28", "Add it (#13)")
    commit(repo, "2025-12-29", 'Revert "Add it (#13)"\n\nReverts team/app#13')
    commit(repo, "2025-12-29", "First part (#14)")
    add_plan(repo, "11-goes-on", make_plan("K", ONE_DONE, header="PR: #14"))
    repo.write("src/kept.py", LINES.replace("x1 ", "y1 ").replace("x2 ", "y2 "))
    (repo.path / "src/old.py").unlink()
    repo.write("src/a.py", "x = 1\n")
    commit(repo, "2025-12-30", "Work")
    return repo


def test_active_plans_give_no_report(active: Folder) -> None:
    assert stale(active) == {}


def test_uncommitted_work_on_a_plan_counts(active: Folder) -> None:
    """Its pull request is merged, but somebody is editing the plan."""
    add_plan(active, "13-edited", make_plan("L", OPEN_TASKS, header="PR: #14"))
    commit(active, "2025-12-28", "Plan")
    assert set(stale(active)) == {"13-edited"}
    add_plan(active, "13-edited", make_plan("L", OPEN_TASKS + "- [ ] Document it.\n", header="PR: #14"))
    assert stale(active) == {}


def test_a_plan_that_follows_a_merged_one_up_is_active(active: Folder) -> None:
    """It names a pull request and an issue that were finished before it began."""
    add_plan(active, "13-follow-up", make_plan("L", OPEN_TASKS, header="PR: #11"))
    add_plan(active, "14-no-tasks", make_plan("M", "", header="Issue: #21"))
    commit(active, "2025-12-30", "Plans")
    assert stale(active) == {}


def test_a_moved_plan_began_before_it_was_moved(active: Folder) -> None:
    content = make_plan("L", OPEN_TASKS, header="PR: #11", front="created: 2025-12-01\n")
    add_plan(active, "13-moved", content)
    add_plan(active, "2025-12-01_moved", content.replace("created: 2025-12-01", "owner: Ann"))
    commit(active, "2025-12-30", "Move plans")
    assert set(stale(active)) == {"13-moved", "2025-12-01_moved"}


def test_a_shallow_clone_is_no_evidence(active: Folder) -> None:
    """There, every file seems to be created by the oldest commit."""
    plan = make_plan("M", OPEN_TASKS, promise("src/before.py"))
    add_plan(active, "14-shallow", plan)
    commit(active, "2025-01-31", "Plan")
    clone = Folder(active.path.parent / "clone")
    active.git("clone", "-q", "--depth", "1", f"file://{active.path}", str(clone.path))
    kinds = {name: finding["kind"] for name, finding in stale(clone).items()}
    assert "shipped but not checked off" not in kinds.values()


def test_a_feature_branch_is_not_merged(active: Folder) -> None:
    active.git("checkout", "-qb", "topic")
    commit(active, "2025-12-31", "Second part (#12)\n\nFixes #22")
    assert stale(active) == {}


def test_without_git_only_the_plans_count(plain: Folder) -> None:
    plain.write(".agent/execplan.toml", SETTINGS)
    add_plan(plain, "01-done", make_plan("A", DONE_TASKS, OUTCOME))
    add_plan(plain, "02-contradiction", make_plan("B", ONE_DONE, header="Status: Done"))
    add_plan(plain, "03-active", make_plan("C", ONE_DONE, header="PR: #12"))
    findings = stale(plain)
    assert {name: finding["kind"] for name, finding in findings.items()} == {
        "01-done": "ready to archive",
        "02-contradiction": "contradicting status",
    }


def test_drift_is_reported_with_the_commit_and_ends_with_an_edit(active: Folder) -> None:
    active.write("src/kept.py", "".join([f"z{number} = {number}\n" for number in range(20)]))
    digest = commit(active, "2025-12-31", "Rewrite it")
    findings = stale(active)
    assert set(findings) == {"05-missing-file", "07-cites"}
    for name, finding in findings.items():
        assert finding["kind"] == "drifted"
        assert f"src/kept.py was largely rewritten by {digest[:10]} Rewrite it" in finding["message"]
        active.ok("revise", "The file is new.", "-p", name, "--commit")
    assert stale(active) == {}


def test_a_moved_file_is_reported_with_its_new_path(active: Folder) -> None:
    """If several files have its content, it is not clear which one is meant."""
    active.write("src/first.py", "first = 1\n")
    active.write("src/second.py", "second = 1\n")
    plan = make_plan("L", ONE_DONE, "## Context and Orientation\n\nSee `src/first.py` and `src/second.py`.\n")
    add_plan(active, "13-moved", plan)
    commit(active, "2025-12-30", "Plan")
    active.git("mv", "src/first.py", "lib.py")
    active.git("mv", "src/second.py", "second_a.py")
    active.write("second_b.py", "second = 1\n")
    digest = commit(active, "2025-12-31", "Move")[:10]
    message = stale(active)["13-moved"]["message"]
    assert f"src/first.py was moved to lib.py by {digest} Move; src/second.py was deleted by {digest} Move" in message


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_an_empty_file_was_deleted_even_if_there_is_another_one(repo: Folder, object_format: str) -> None:
    shutil.rmtree(repo.path / ".git")
    repo.git("init", "-q", "-b", "main", f"--object-format={object_format}")
    repo.write(".agent/execplans/.gitkeep", "")
    repo.write("src/parser/__init__.py", "")
    plan = make_plan("L", ONE_DONE, "## Context and Orientation\n\nSee `src/parser/__init__.py`.\n")
    repo.write(".agent/execplans/2025-12-30_marker.md", plan)
    commit(repo, "2025-12-30", "Plan")
    (repo.path / "src/parser/__init__.py").unlink()
    digest = commit(repo, "2025-12-31", "Delete it")[:10]
    message = stale(repo)["2025-12-30_marker"]["message"]
    assert f"src/parser/__init__.py was deleted by {digest} Delete it" in message


def test_stale_can_not_be_combined(active: Folder) -> None:
    assert active.run("doctor", "--stale", "--fix").exit == 2


def active_corpus_plans() -> list[Path]:
    """The plans of the corpus that say in no way that they are done or given up."""
    corpus = find_corpus()
    plans = []
    for path in sorted(corpus.glob("*/*.md")) if corpus is not None else []:
        plan = reader.read_or_none(path.read_bytes())
        if plan is not None and plan.state() == ACTIVE and any(task.state == DONE for task in plan.tasks):
            status = read_claimed_status(plan)
            if status is None or status.meaning == "open":
                plans.append(path)
    return plans


@pytest.mark.skipif(find_corpus() is None, reason="there is no corpus beside the checkout")
def test_active_plans_of_the_corpus_give_no_report(
    repo: Folder, record_property: Callable[[str, object], None]
) -> None:
    """They were committed yesterday, together with every file that they name, which some of them promise."""
    from execplan.team.staleness.plan_timeline import read_plan_paths

    repo.write(".agent/execplan.toml", SETTINGS)
    commit(repo, "2025-12-01", "Set up")
    paths = active_corpus_plans()
    for number, path in enumerate(paths):
        target = repo.path / PLANS / f"{number:03}-{path.name}"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        for name in read_plan_paths(reader.read(path.read_bytes())).cited:
            file = repo.path / name
            if (
                ".." not in name
                and not file.exists()
                and all(parent.is_dir() or not parent.exists() for parent in file.parents)
            ):
                repo.write(name, LINES)
    commit(repo, "2025-12-31", "Plans and files")
    assert stale(repo) == {}
    record_property(COUNTED, f"{len(paths)} active plans of the corpus give no report")
