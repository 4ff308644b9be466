"""`lint` and the index: on disk, in the next commit, and after merges of branches that both changed it."""

from __future__ import annotations

import subprocess

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN
from tests.team.plan_index.test_plan_index_file import README, rows


@pytest.fixture
def indexed(repo: Folder) -> Folder:
    """A repository with three plans and a committed index."""
    for name in "abc":
        repo.plan(CLEAN, f"2026-01-01_{name}")
    repo.ok("index", "--write")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Plans")
    return repo


def findings(folder: Folder, *arguments: str) -> list[dict[str, object]]:
    """What lint finds about the index."""
    data = folder.run("lint", "--select", "EP512", *arguments, "--json").json["data"]
    found: list[dict[str, object]] = data["findings"]
    return found


def test_a_project_without_an_index_has_no_finding(repo: Folder) -> None:
    repo.plan()
    repo.write(README, "# Mine\n")
    assert findings(repo) == []
    assert repo.run("lint", "--fix").exit == 0
    assert (repo.path / README).read_text() == "# Mine\n"


def test_an_outdated_index_is_fixed(indexed: Folder) -> None:
    assert findings(indexed) == []
    indexed.ok("done", "2", "-p", "2026-01-01_b")
    (finding,) = findings(indexed)
    assert finding["path"] == README
    assert finding["level"] == "warning"
    assert finding["line"] == 3
    assert "2026-01-01_b: execplan index --write" in str(finding["message"])
    assert isinstance(finding["fix"], dict)
    assert finding["fix"]["kind"] == "safe"
    assert "+| [Build the parser](2026-01-01_b.md) | active | 2/3" in indexed.run("lint", "--fix", "--diff").out
    assert len(findings(indexed)) == 1
    assert indexed.ok("lint", "--fix")["fixed"][-1]["mended"] == {"EP512": 1}
    assert findings(indexed) == []


@pytest.mark.parametrize("layout", ["flat", "folder", "ExecPlan.md"])
def test_plans_are_named_by_their_ids(repo: Folder, layout: str) -> None:
    repo.write(".agent/execplan.toml", f'layout = "{layout}"\n')
    names = ["2026-01-01_größe", "2026-01-02_b"]
    for name in names:
        path = {"flat": f"{name}.md", "folder": f"{name}/{name}.md"}.get(layout, f"{name}/ExecPlan.md")
        repo.write(f".agent/execplans/{path}", CLEAN)
    repo.ok("index", "--write")
    for name in names:
        repo.ok("done", "2", "-p", name)
    (finding,) = findings(repo)
    assert f"out of date for {', '.join(names)}:" in str(finding["message"])


def test_a_fix_that_can_not_be_committed_is_reported_as_such(indexed: Folder) -> None:
    """The file has staged changes that a commit of it would include."""
    path = indexed.path / README
    indexed.ok("done", "2", "-p", "2026-01-01_b")
    path.write_text(path.read_text().replace("# Plans", "# Our plans"))
    indexed.git("add", README)
    path.write_text(path.read_text() + "More.\n")
    result = indexed.run("lint", "--select", "EP512", "--fix", "--commit")
    assert (result.exit, result.out) == (1, f"{README}: updated the plan index\n3 plans, no findings\n")
    assert result.err.startswith("execplan: warning: the fixes: fixed, but not committed: staged changes differ from ")
    assert "on disk" not in result.err
    assert findings(indexed) == []


def test_a_hook_that_fixes_named_plans_updates_the_index(indexed: Folder) -> None:
    """As pre-commit calls it."""
    indexed.ok("done", "2", "-p", "2026-01-01_b")
    assert indexed.run("lint", "--fix", "--hook", ".agent/execplans/2026-01-01_b.md").exit == 0
    assert findings(indexed) == []


def test_an_ignored_rule_leaves_the_index_alone(indexed: Folder) -> None:
    before = (indexed.path / README).read_bytes()
    indexed.ok("done", "2", "-p", "2026-01-01_b")
    indexed.run("lint", "--fix", "--ignore", "EP512")
    assert (indexed.path / README).read_bytes() == before


def test_the_next_commit(indexed: Folder) -> None:
    indexed.ok("done", "2", "-p", "2026-01-01_b")
    assert findings(indexed, "--staged") == []
    indexed.git("add", ".agent/execplans/2026-01-01_b.md")
    (finding,) = findings(indexed, "--staged")
    assert "2026-01-01_b" in str(finding["message"])
    indexed.ok("index", "--write")
    assert len(findings(indexed, "--staged")) == 1
    indexed.git("add", README)
    assert findings(indexed, "--staged") == []


def tick_on_branches(folder: Folder, ours: tuple[str, str], theirs: tuple[str, str]) -> int:
    """Tick a task on each of two branches, update the index on both, merge, and give git's exit status."""
    for branch, (task, plan) in (("topic", theirs), ("main", ours)):
        folder.git("checkout", "-q", *(["-b"] if branch == "topic" else []), branch)
        folder.ok("done", task, "-p", plan)
        folder.ok("index", "--write")
        folder.git("commit", "-qam", f"Tick on {branch}")
    merge = ["git", "merge", "-q", "--no-edit", "topic"]
    return subprocess.run(merge, cwd=folder.path, env=folder.env, capture_output=True, check=False).returncode


def test_branches_that_tick_different_plans_merge(indexed: Folder) -> None:
    indexed.ok("install", "merge-driver")
    assert f"/{README} merge=execplan" in (indexed.path / ".gitattributes").read_text()
    assert tick_on_branches(indexed, ("2", "2026-01-01_a"), ("2", "2026-01-01_b")) == 0
    assert [row.split(" | ")[2] for row in rows(indexed)] == ["2/3", "2/3", "1/3"]
    assert findings(indexed) == []


def test_branches_that_tick_the_same_plan_merge_too(indexed: Folder) -> None:
    indexed.ok("install", "merge-driver")
    assert tick_on_branches(indexed, ("2", "2026-01-01_a"), ("3", "2026-01-01_a")) == 0
    assert rows(indexed)[0].split(" | ")[2] == "2/3"
    assert len(findings(indexed)) == 1
    assert indexed.run("lint", "--fix").exit == 0
    assert rows(indexed)[0].split(" | ")[2] == "3/3"


def test_without_the_driver_writing_the_index_resolves_the_conflict(indexed: Folder) -> None:
    assert tick_on_branches(indexed, ("2", "2026-01-01_a"), ("2", "2026-01-01_b")) == 1
    assert "<<<<<<<" in (indexed.path / README).read_text()
    indexed.ok("index", "--write")
    assert [row.split(" | ")[2] for row in rows(indexed)] == ["2/3", "2/3", "1/3"]
    assert "<<<<<<<" not in (indexed.path / README).read_text()


def test_text_around_the_index_conflicts_as_usual(indexed: Folder) -> None:
    indexed.ok("install", "merge-driver")
    path = indexed.path / README
    indexed.git("checkout", "-qb", "topic")
    path.write_text(path.read_text().replace("# Plans", "# Their plans"))
    indexed.git("commit", "-qam", "Theirs")
    indexed.git("checkout", "-q", "main")
    path.write_text(path.read_text().replace("# Plans", "# Our plans"))
    indexed.git("commit", "-qam", "Ours")

    merge = subprocess.run(
        ["git", "merge", "topic"], cwd=indexed.path, env=indexed.env, capture_output=True, check=False
    )
    assert merge.returncode == 1
    text = path.read_text()
    assert "\n# Our plans\n=======\n# Their plans\n>>>>>>> " in text
    assert text.count("execplan:index:begin") == 1
