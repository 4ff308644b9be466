"""One command that writes several plans is one operation: one undo, one redo, one commit."""

from __future__ import annotations

import os
import time

from execplan.core.project import project_discovery, project_state
from tests.conftest import Folder
from tests.core.undo.test_undo_redo import PLANS, tree
from tests.plans import CLEAN

FINISHED = CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)")
UNTIDY = CLEAN.replace("- [x]", "- [X]")
NAMES = [f"2026-01-0{number}_plan-{number}" for number in range(1, 7)]


def fill(repo: Folder, content: str) -> None:
    """Write six committed plans, of which the first names the second and the last."""
    for number, name in enumerate(NAMES, 1):
        text = content.replace("# Build the parser", f"# Plan {number}")
        if number == 1:
            text = text.replace("None so far.", f"See `{PLANS}/{NAMES[1]}.md` and `{PLANS}/{NAMES[5]}.md`.")
        repo.plan(text, name)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")


def test_undo_restores_all_archived_plans(repo: Folder) -> None:
    fill(repo, FINISHED)
    before = tree(repo.path)
    archived = repo.ok("archive", "--complete")
    assert len(archived["plans"]) == 6
    after = tree(repo.path)
    rows = repo.ok("undo", "--list")["undo"]
    assert [(row["command"], sorted(row["plans"]), row["next"]) for row in rows] == [("archive", NAMES, True)]
    for _ in range(2):
        assert len(repo.ok("undo", "--dry-run")["plans"]) == 6
        assert tree(repo.path) == after
        undone = repo.ok("undo")
        assert sorted(plan["operation"]["plan"] for plan in undone["plans"]) == NAMES
        assert tree(repo.path) == before
        repo.ok("redo")
        assert tree(repo.path) == after
    assert repo.run("doctor", "--json").json["data"]["findings"] == []


def test_complete_plans_are_archived_and_the_others_listed(repo: Folder) -> None:
    fill(repo, FINISHED)
    repo.plan(FINISHED.replace("Lines can be read.\n", ""), NAMES[2])
    result = repo.run("archive", "--complete", "--json")
    assert result.exit == 1
    data = result.json["data"]
    assert len(data["plans"]) == 5
    assert data["left"] == [{"id": NAMES[2], "reasons": ["Outcomes & Retrospective is empty"]}]
    assert result.json["next"] == ["execplan commit --all"]
    repo.ok("undo")
    assert sorted(path.name for path in (repo.path / PLANS).glob("2026*.md")) == [f"{name}.md" for name in NAMES]


def test_one_commit_of_exactly_the_paths(repo: Folder) -> None:
    fill(repo, FINISHED)
    repo.write("notes.txt", "mine\n")
    repo.git("add", "notes.txt")
    archived = repo.ok("archive", "--complete", "--commit")
    head = repo.git("rev-parse", "HEAD").strip()
    assert {plan["commit"] for plan in archived["plans"]} == {archived["commit"]} == {head}
    assert repo.git("log", "-2", "--format=%s").split("\n")[:2] == ["plan(6 plans): archive", "Plans"]
    assert sorted(repo.git("log", "-1", "--format=%b").split()) == NAMES
    assert repo.git("status", "--porcelain") == "A  notes.txt\n"
    undone = repo.ok("undo", "--commit")
    assert undone["commit"] == repo.git("rev-parse", "HEAD").strip()
    assert repo.git("diff", "HEAD~2", "HEAD", "--stat") == ""
    assert repo.git("status", "--porcelain") == "A  notes.txt\n"


def test_fixes_of_several_plans_are_one_operation(repo: Folder) -> None:
    fill(repo, UNTIDY)
    before = tree(repo.path)
    fixed = repo.run("lint", "--fix", "--json").json
    assert len(fixed["data"]["fixed"]) == 6
    assert fixed["next"][0] == "execplan commit --all"
    repo.ok("undo")
    assert tree(repo.path) == before
    repo.ok("redo")
    repo.ok("undo")
    repo.run("lint", "--fix", "--commit")
    assert repo.git("log", "-2", "--format=%s").split("\n")[:2] == ["plan(6 plans): lint --fix", "Plans"]
    assert repo.git("status", "--porcelain") == ""


def test_a_plan_that_has_changed_since_keeps_none_of_the_others(repo: Folder) -> None:
    fill(repo, UNTIDY)
    repo.run("lint", "--fix")
    changed = repo.path / PLANS / f"{NAMES[3]}.md"
    changed.write_text(changed.read_text().replace("- [x] (2025-12-30 09:15Z) Read lines.", "- [x] Read all lines."))
    result = repo.run("undo", "--json")
    assert result.exit == 4
    data = result.json["data"]
    assert [left["id"] for left in data["left"]] == [NAMES[3]]
    assert len(data["plans"]) == 5
    assert "Read all lines." in changed.read_text()
    again = repo.run("undo", "--json")
    assert (again.exit, again.json["error"]["code"]) == (4, "changed-since")


def test_a_move_by_somebody_else_keeps_its_plan_and_an_edit_does_not(repo: Folder) -> None:
    fill(repo, UNTIDY)
    repo.run("lint", "--fix")
    assert repo.run("done", "2", "-p", NAMES[2], EXECPLAN_AGENT="bo").exit == 0
    assert repo.run("rename", NAMES[3], "Moved", EXECPLAN_AGENT="bo").exit == 0
    result = repo.run("undo", "--json")
    assert result.exit == 4
    (left,) = result.json["data"]["left"]
    assert left["id"] == "2026-01-04_moved"
    assert "execplan undo -p 2026-01-04_moved" in left["reasons"][1]
    assert "[x]" in (repo.path / PLANS / f"{NAMES[2]}.md").read_text()


def test_a_named_plan_is_undone_alone(repo: Folder) -> None:
    fill(repo, UNTIDY)
    repo.run("lint", "--fix")
    undone = repo.run("undo", "-p", NAMES[2])
    assert f"undone only on {NAMES[2]}: the operation was also on 5 other plans" in undone.err
    texts = [(repo.path / PLANS / f"{name}.md").read_text() for name in NAMES]
    assert ["[X]" in text for text in texts] == [name == NAMES[2] for name in NAMES]
    assert len(repo.ok("undo")["plans"]) == 5
    assert len(repo.ok("redo")["plans"]) == 6


def test_undo_that_was_killed_is_finished_by_the_next(repo: Folder) -> None:
    fill(repo, FINISHED)
    before = tree(repo.path)
    repo.ok("archive", "--complete")
    project = project_discovery.find(str(repo.path))
    waiting = repo.path / PLANS / "archive" / f"{NAMES[2]}.md"
    with project_state.lock(project, str(waiting), "a test"):
        process = repo.start("undo")
        while not os.path.lexists(repo.path / PLANS / f"{NAMES[3]}.md"):
            time.sleep(0.01)
        process.kill()
        process.communicate()
    assert tree(repo.path) != before
    repo.ok("undo")
    assert tree(repo.path) == before
    assert len(repo.ok("redo")["plans"]) == 6
