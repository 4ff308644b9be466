"""Undo and redo of every operation: edits, `new`, `drop`, `archive`, `restore`, `rename`, `attach`; whose they are."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN, with_sections

PLANS = ".agent/execplans"
NAMES = (
    f"## Context and Orientation\n\nSee `{PLANS}/2026-01-01_parser.md`, [linked](2026-01-01_parser.md#progress), "
    f"[its log](artifacts/2026-01-01_parser/run.log);\nlater in `{PLANS}/2026-01-01_scanner.md`.\n"
)
ARCHIVE = ("archive", "parser", "--force", "--reason", "No longer wanted.")


def tree(path: Path) -> dict[str, bytes]:
    """Every file outside git's folder."""
    files = {}
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if name != ".git"]
        files.update(
            {os.path.relpath(os.path.join(folder, name), path): Path(folder, name).read_bytes() for name in names}
        )
    return files


def populated(repo: Folder) -> None:
    """Three plans, of which two name the first, one of them also what it will be called."""
    repo.plan()
    repo.write(f"{PLANS}/artifacts/2026-01-01_parser/run.log", "ok\n")
    repo.plan(with_sections(NAMES).replace("# Build the parser", "# Build the reader"), "2026-01-02_reader")
    repo.plan(CLEAN.replace("None so far.", "Done, see `2026-01-01_scanner`."), "2026-01-03_other")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")


OPERATIONS = {
    "done": ("done", "2", "-p", "parser"),
    "new": ("new", "Another plan", "--task", "First"),
    "rename": ("rename", "parser", "Scanner"),
    "archive": ARCHIVE,
    "attach": ("attach", "README.md", "-p", "parser"),
    "decide": ("decide", "Read bytes.", "--why", "Nothing is lost.", "-p", "reader"),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("commit", [False, True])
def test_undone_and_redone_byte_for_byte(repo: Folder, name: str, commit: bool) -> None:
    populated(repo)
    flags = ("--commit",) if commit else ()
    before = tree(repo.path)
    repo.ok(*OPERATIONS[name], *flags)
    after = tree(repo.path)
    assert after != before
    for _ in range(2):
        tried = repo.ok("undo", "--dry-run")
        assert tree(repo.path) == after
        undone = repo.ok("undo", *flags)
        assert tree(repo.path) == before
        assert (tried["path"], tried["operation"]) == (undone["path"], undone["operation"])
        assert undone["operation"]["command"] == OPERATIONS[name][0]
        assert bool(undone["commit"]) is commit
        repo.ok("redo", *flags)
        assert tree(repo.path) == after
    if commit:
        assert repo.git("status", "--porcelain") == ""
    assert repo.run("doctor", "--json").json["data"]["findings"] == []


def test_the_last_operation_is_undone_whatever_it_was(repo: Folder) -> None:
    populated(repo)
    trees = [tree(repo.path)]
    for name in ("done", "decide", "attach", "rename", "new"):
        repo.ok(*OPERATIONS[name])
        trees.append(tree(repo.path))
    for call in (
        ("archive", "scanner", "--force", "--reason", "Why."),
        ("restore", "scanner", "--reason", "Once more."),
    ):
        repo.ok(*call)
        trees.append(tree(repo.path))
    for expected in reversed(trees[:-1]):
        repo.ok("undo")
        assert tree(repo.path) == expected
    assert repo.run("undo", "--json").json["error"]["code"] == "nothing-to-undo"
    for expected in trees[1:]:
        repo.ok("redo")
        assert tree(repo.path) == expected
    assert repo.run("redo", "--json").json["error"]["code"] == "nothing-to-redo"


def test_an_archived_and_committed_plan(repo: Folder) -> None:
    """The archive is undone, not the outcome before it."""
    repo.plan()
    repo.ok("outcome", "X works", "--commit")
    text = (repo.path / PLANS / "2026-01-01_parser.md").read_bytes()
    repo.ok(*ARCHIVE, "--commit")
    assert repo.ok("undo", "-p", "parser")["operation"]["command"] == "archive"
    assert (repo.path / PLANS / "2026-01-01_parser.md").read_bytes() == text
    assert not list((repo.path / PLANS / "archive").rglob("*"))


def test_without_an_operation_there_is_nothing_to_undo_or_redo(repo: Folder) -> None:
    """No hint leads to an empty list."""
    repo.plan()
    for named in ((), ("-p", "parser")):
        for command in ("undo", "redo"):
            error = repo.run(command, *named, "--json").json["error"]
            assert error["message"].startswith(f"nothing to {command}: the journal has no operation ")
            assert "--list" not in error["hint"]
    repo.ok("done", "2")
    for named in ((), ("-p", "parser")):
        error = repo.run("redo", *named, "--json").json["error"]
        assert "is not an undo" in error["message"]
        assert error["hint"].endswith(": execplan undo --list")


def test_a_new_operation_ends_what_can_be_redone(repo: Folder) -> None:
    repo.plan()
    repo.ok("done", "2")
    repo.ok("undo")
    repo.ok("add", "Another")
    assert repo.run("redo", "--json").json["error"]["code"] == "nothing-to-redo"
    assert repo.run("redo", "-p", "parser").exit == 1
    repo.plan(CLEAN, "2026-01-02_scanner")
    repo.ok("undo")
    repo.ok("done", "2", "-p", "scanner")
    assert repo.run("redo").exit == 1
    assert repo.ok("redo", "-p", "parser")["operation"]["summary"] == "add 4, Another"


def test_undo_takes_the_newest_operation_of_several_plans_and_names_it(repo: Folder) -> None:
    populated(repo)
    repo.ok("done", "2", "-p", "parser")
    repo.ok("done", "2", "-p", "reader")
    result = repo.run("undo")
    assert result.exit == 0
    assert "(2026-01-02_reader, " in result.out
    assert "(2026-01-01_parser, " in repo.run("undo").out


def test_a_mistaken_new(repo: Folder) -> None:
    before = tree(repo.path)
    repo.ok("new", "Mistaken")
    data = repo.ok("undo")
    assert data["operation"]["plan"] == "2026-01-01_mistaken"
    assert tree(repo.path) == before
    assert not (repo.path / PLANS / "artifacts/2026-01-01_mistaken").exists()
    assert repo.ok("new", "Mistaken")["id"] == "2026-01-01_mistaken"


def test_a_new_plan_that_was_changed_by_hand_is_not_removed(repo: Folder) -> None:
    path = repo.path / repo.ok("new", "Mistaken")["path"]
    path.write_text(path.read_text() + "\nBy hand.\n")
    text = path.read_text()
    result = repo.run("undo", "--json")
    assert (result.exit, result.json["error"]["code"]) == (4, "changed-since")
    assert path.read_text() == text
    artifacts = repo.write(f"{PLANS}/artifacts/2026-01-01_mistaken/run.log", "ok\n")
    result = repo.run("drop", "--force", "--json")
    assert (result.exit, result.json["error"]["code"]) == (1, "has-artifacts")
    assert artifacts.exists()
    assert path.read_text() == text


def test_a_draft_is_dropped_until_it_is_committed(repo: Folder) -> None:
    before = tree(repo.path)
    path = repo.path / repo.ok("new", "Mistaken")["path"]
    text = path.read_bytes()
    tried = repo.ok("drop", "--dry-run")
    assert tried["diff"].startswith(f"--- a/{PLANS}/2026-01-01_mistaken.md\n+++ /dev/null\n")
    assert path.exists()
    repo.ok("drop", "mistaken")
    assert tree(repo.path) == before
    repo.ok("undo")
    assert path.read_bytes() == text
    repo.git("add", "-A")
    assert repo.run("drop", "--json").json["error"]["code"] == "staged-plan"
    repo.git("commit", "-q", "-m", "Plan")
    result = repo.run("drop", "--force", "--json")
    assert (result.exit, result.json["error"]["code"]) == (1, "committed-plan")
    assert "execplan archive" in result.json["error"]["hint"]
    assert path.read_bytes() == text


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (("done", "1"), "edited: done 1"),
        (("add", "More"), "edited: add 2"),
        (("decide", "A.", "--why", "B."), "edited: decide, A."),
        (("next", "--claim", "agent-2"), "agent-2 has claimed"),
    ],
)
def test_a_draft_that_somebody_has_worked_on_is_not_dropped(repo: Folder, call: tuple[str, ...], reason: str) -> None:
    path = repo.path / repo.ok("new", "Mistaken", "--task", "One")["path"]
    repo.ok(*call)
    text = path.read_bytes()
    result = repo.run("drop", "--json")
    assert (result.exit, result.json["error"]["code"]) == (1, "worked-on")
    assert any(line.startswith(reason) for line in result.json["data"]["reasons"]), result
    assert path.read_bytes() == text
    repo.ok("drop", "--force")
    assert not path.exists()
    repo.ok("undo")
    assert path.read_bytes() == text


def test_a_plan_without_placeholder_text_is_not_said_to_be_worked_on(repo: Folder) -> None:
    repo.ok("new", "Add a page", "--template", "openspec", "--purpose", "Users see it.")
    error = repo.run("drop", "--json").json["error"]
    assert error["message"] == "2026-01-01_add-a-page is not an unused draft, so only --force drops it"
    assert error["candidates"] == ["it is active, not a draft: it has no placeholder text"]


def test_a_plan_written_by_hand_or_by_another_author_is_not_dropped_lightly(repo: Folder) -> None:
    repo.plan()
    assert "it is active, not a draft: it has no placeholder text" in repo.run("drop", "--json").json["data"]["reasons"]
    repo.ok("new", "Mistaken", "--as", "agent-2")
    assert repo.run("drop", "mistaken", "--json").json["data"]["reasons"] == ["created by agent-2"]
    path = repo.path / PLANS / "2026-01-01_mistaken.md"
    path.write_text(path.read_text() + "\nBy hand.\n")
    reasons = repo.run("drop", "mistaken", "--as", "agent-2", "--json").json["data"]["reasons"]
    assert reasons == ["edited by hand since it was created"]


def test_the_same_title_twice_names_the_plan_that_is_there(repo: Folder) -> None:
    first = repo.run("new", "Build it", "--json").json
    assert first["warnings"] == []
    second = repo.run("new", "build  it", "--json").json
    assert second["data"]["id"] == "2026-01-01_build-it-2"
    assert "2026-01-01_build-it is open and has the same title" in second["warnings"][0]
    assert "execplan undo -p 2026-01-01_build-it-2" in second["warnings"][0]
    repo.ok("undo")
    repo.ok("archive", "build-it", "--force", "--reason", "Why.")
    assert (
        "is archived and has the same title" in repo.run("new", "Build it", "--dry-run", "--json").json["warnings"][0]
    )


@pytest.mark.parametrize("named", [False, True])
def test_ones_own_last_operation_is_undone_below_edits_of_others(repo: Folder, named: bool) -> None:
    option = ("-p", "second") if named else ()
    first, second = repo.plan(), repo.plan(name="2026-01-02_second")
    repo.ok("decide", "One", "--why", "Because", "-p", "parser", "--as", "ann")
    repo.ok("add", "Three", "-p", "second", "--as", "ann")
    repo.ok("done", "2", "-p", "second", "--as", "bob")
    texts = [path.read_bytes() for path in (first, second)]
    assert [row["next"] for row in repo.ok("undo", "--list", "-p", "second")["undo"]] == [True, True]
    assert "add 4, Three" in repo.ok("undo", *option, "--as", "ann")["said"][0]
    assert first.read_bytes() == texts[0]
    assert b"Three" not in second.read_bytes()
    assert second.read_bytes() != texts[1]
    repo.ok("redo", *option, "--as", "ann")
    assert second.read_bytes() == texts[1]
    repo.ok("undo", "--as", "bob")
    assert "add 4, Three" in repo.ok("undo", *option, "--as", "ann")["said"][0]  # bob's undo restored an earlier text
    assert b"Three" not in second.read_bytes()


def test_ones_own_operation_is_not_undone_below_a_move_by_another_author(repo: Folder) -> None:
    repo.plan()
    repo.ok("done", "2", "--as", "ann")
    repo.ok("rename", "parser", "Scanner", "--as", "bob")
    error = repo.run("undo", "--as", "ann", "--json").json["error"]
    assert (error["code"], "--any" in error["hint"]) == ("another-author", False)
    assert "bob did this" in error["message"]


def test_another_authors_operation_is_not_undone_without_any(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2", "--as", "agent-2")
    text = path.read_bytes()
    for call in (("undo",), ("undo", "-p", "parser")):
        result = repo.run(*call, "--json")
        error = result.json["error"]
        assert (result.exit, error["code"]) == (1, "another-author")
        assert "agent-2" in error["message"]
        assert "--any" in error["hint"]
        assert path.read_bytes() == text
    assert repo.ok("undo", "--any")["changed"]
    assert path.read_text() == CLEAN
    assert repo.run("redo", EXECPLAN_AGENT="agent-2").exit == 1
    repo.ok("redo")
    assert path.read_bytes() == text


def test_undo_without_a_plan_takes_ones_own_last_operation(repo: Folder) -> None:
    populated(repo)
    repo.ok("done", "2", "-p", "parser", "--as", "agent-1")
    repo.ok("done", "2", "-p", "reader", "--as", "agent-2")
    assert repo.ok("undo", "--as", "agent-1")["operation"]["plan"] == "2026-01-01_parser"
    assert repo.run("undo", "--as", "agent-1").exit == 1
    assert repo.ok("undo", "--as", "agent-2")["operation"]["plan"] == "2026-01-02_reader"


def test_the_list_says_what_can_be_undone_and_by_whom(repo: Folder) -> None:
    populated(repo)
    assert repo.run("undo", "--list").out == "nothing can be undone or redone\n"
    repo.ok("done", "2", "-p", "parser")
    repo.ok("rename", "parser", "Scanner", "--as", "agent-2")
    repo.ok("done", "2", "-p", "reader")
    repo.ok("undo")
    data = repo.ok("undo", "--list")
    rows = [
        (operation["command"], operation["plan"], operation["by"], operation["next"], operation["yours"])
        for operation in data["undo"]
    ]
    assert rows == [
        ("rename", "2026-01-01_scanner", "agent-2", True, False),
        ("done", "2026-01-01_scanner", "Ann", False, True),
    ]
    assert [(operation["command"], operation["plan"]) for operation in data["redo"]] == [("done", "2026-01-02_reader")]
    out = repo.run("undo", "--list").out
    assert "agent-2  2026-01-01_scanner  rename, Scanner (needs --any)" in out
    listing = repo.ok("undo", "--list", "-p", "reader")
    assert (listing["undo"], len(listing["redo"])) == ([], 1)


def test_an_attached_file_that_has_changed_is_not_taken_away(repo: Folder) -> None:
    path = repo.plan()
    [file] = repo.ok("attach", "README.md")["files"]
    text = path.read_bytes()
    (repo.path / file["path"]).write_text("changed\n")
    result = repo.run("undo", "--json")
    assert (result.exit, result.json["error"]["code"]) == (4, "changed-since")
    assert path.read_bytes() == text
    assert (repo.path / file["path"]).read_text() == "changed\n"


def test_a_plan_of_the_same_name_does_not_cost_the_journal_of_a_dropped_one(repo: Folder) -> None:
    trees = [tree(repo.path)]
    calls: tuple[tuple[str, ...], ...] = (
        ("new", "B"),
        ("drop", "b"),
        ("new", "A"),
        ("rename", "a", "B"),
        ("done", "1", "-p", "b"),
    )
    for call in calls[:-1]:
        repo.ok(*call)
        trees.append(tree(repo.path))
    for expected in reversed(trees[:-1]):
        repo.ok("undo")
        assert tree(repo.path) == expected
    for expected in trees[1:]:
        repo.ok("redo")
        assert tree(repo.path) == expected


def test_lines_that_changed_since_a_move_stay(repo: Folder) -> None:
    populated(repo)
    repo.ok("rename", "parser", "Scanner")
    plan, reader = [repo.path / PLANS / f"{name}.md" for name in ("2026-01-01_scanner", "2026-01-02_reader")]
    plan.write_text(plan.read_text() + "\nBy hand.\n")
    reader.write_text(reader.read_text() + "\nBy hand, see 2026-01-01_scanner.\n")
    repo.ok("undo")
    assert (repo.path / PLANS / "2026-01-01_parser.md").read_text() == CLEAN + "\nBy hand.\n"
    assert "`.agent/execplans/2026-01-01_parser.md`, [linked](2026-01-01_parser.md#progress)" in reader.read_text()
    assert reader.read_text().endswith("\nBy hand, see 2026-01-01_parser.\n")


def test_what_a_run_did_is_left_to_rollback(repo: Folder) -> None:
    path = repo.plan(
        with_sections(
            '## Concrete Steps\n\n```python {#make type=create_file target=src/made.py task="Write the tests."}\nX = 1\n```\n'
        )
    )
    repo.ok("done", "2")
    repo.ok("decide", "Read bytes.", "--why", "Nothing is lost.")
    before = path.read_text()
    repo.ok("approve")
    assert repo.run("run").exit == 0
    assert path.read_text() != before, "the run has checked off nothing"
    assert [operation["command"] for operation in repo.ok("undo", "--list")["undo"]] == ["decide", "done"]
    refused = repo.run("undo", "--json").json["error"]
    assert refused["code"] == "undone-otherwise"
    assert "execplan rollback 2026-01-01_parser" in refused["hint"]
    assert "execplan rollback 2026-01-01_parser" in str(repo.run("undo", "-p", "parser", "--json").json["warnings"])
    next_to_the_task_of_the_run = repo.run("undo", "-p", "parser", "--json")
    assert next_to_the_task_of_the_run.exit == 4
    assert "execplan rollback 2026-01-01_parser" in next_to_the_task_of_the_run.json["error"]["hint"]
    repo.ok("rollback")
    assert not repo.run("undo", "--json").json["warnings"]
    assert "- [ ] Build the parser." in path.read_text()
    assert repo.run("undo", "-p", "parser", "--json").json["error"]["code"] == "nothing-to-undo"


@pytest.mark.exhaustive
def test_twenty_at_once_lose_nothing(repo: Folder) -> None:
    """Each undo takes one edit, and what is left can still be undone and redone."""
    path = repo.plan()
    for number in range(14):  # as many as are undone, also if none of the late ones comes before
        repo.ok("add", f"Task {number}")
    original = path.read_bytes()
    commands = [("undo",)] * 6 + [("add", f"Late {number}") for number in range(6)] + [("undo", "-p", "parser")] * 8
    assert [result.exit for result in repo.run_at_once(commands)] == [0] * 20
    listing = repo.ok("undo", "--list")
    summaries = [operation["summary"] for operation in listing["undo"]]
    assert len(summaries) == 14 + 6 - 14
    lines = path.read_text()
    assert sum(f"] {name}" in lines for name in [summary.partition(", ")[2] for summary in summaries]) == len(summaries)
    for _ in summaries:
        repo.ok("undo")
    assert path.read_text() == CLEAN
    while repo.run("redo").exit == 0:
        pass
    assert set(path.read_text().splitlines()) >= set(CLEAN.splitlines())
    assert len(original) > len(CLEAN)


def test_without_git(plain: Folder) -> None:
    plain.plan()
    before = tree(plain.path / PLANS)
    plain.ok("rename", "parser", "Scanner")
    plain.ok("new", "Another")
    plain.ok("undo")
    plain.ok("undo")
    assert tree(plain.path / PLANS) == before
    plain.ok("redo")
    plain.ok("new", "Third")
    plain.ok("drop", "third")


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_renamed_plan_that_git_knows_is_not_dropped(repo: Folder, is_committed: bool) -> None:
    path = repo.path / repo.ok("new", "Mistaken")["path"]
    repo.git("add", "-A")
    if is_committed:
        repo.git("commit", "-q", "-m", "Plan")
    new_path = repo.path / repo.ok("rename", "mistaken", "Renamed")["path"]
    error = repo.run("drop", "--force", "--json").json["error"]
    assert error["code"] == ("committed-plan" if is_committed else "staged-plan")
    assert path.name in error["message"]
    assert new_path.exists()
    if is_committed:
        repo.ok(*shlex.split(error["hint"].split(": execplan ")[1]))
    else:
        repo.git(*shlex.split(error["hint"].split(": git ")[1]))
        repo.ok("drop", "--force")
        assert repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize("name", ["rename", "archive"])
def test_a_move_is_undone_after_git_has_restored_the_old_place(repo: Folder, name: str) -> None:
    populated(repo)
    before = tree(repo.path)
    repo.ok(*OPERATIONS[name])
    after = tree(repo.path)
    repo.git("restore", ".")
    assert len(tree(repo.path)) > len(after)
    repo.ok("undo")
    assert tree(repo.path) == before
    repo.ok("redo")
    repo.git("restore", ".")
    changed = repo.write(f"{PLANS}/2026-01-01_parser.md", "# Another\n").read_bytes()
    assert repo.run("undo").exit != 0
    assert (repo.path / PLANS / "2026-01-01_parser.md").read_bytes() == changed


def test_an_edit_that_git_took_away_and_brought_back_can_be_undone_after_a_redo(repo: Folder) -> None:
    path = repo.path / repo.ok("new", "Build the scanner", "--task", "Read bytes", "--commit")["path"]
    before = path.read_bytes()
    repo.ok("done", "1", "-p", "scanner")
    after = path.read_bytes()
    path.write_bytes(before)  # as `git stash` does it
    assert repo.run("undo").out.startswith("no longer there, so there is nothing to undo: done 1")
    path.write_bytes(after)
    refused = repo.run("undo")
    assert refused.exit == 4
    assert "execplan redo -p 2026-01-01_build-the-scanner" in refused.err
    assert repo.run("redo").out.startswith("already there, so there is nothing to redo: done 1")
    assert repo.run("undo").out.startswith("undone: done 1")
    assert path.read_bytes() == before
    repo.ok("redo")
    assert path.read_bytes() == after


def test_the_removal_of_a_committed_plan_can_be_committed(repo: Folder) -> None:
    repo.ok("new", "Build the scanner", "--task", "Read bytes")
    assert repo.run("undo").out.endswith("next: execplan list\n")
    repo.ok("redo")
    repo.ok("commit", "scanner")
    hint = repo.run("undo").out.splitlines()[-1]
    assert hint.startswith("next: git commit ")
    repo.git(*shlex.split(hint)[2:])
    assert repo.git("status", "--porcelain") == ""
    repo.ok("redo")
    assert repo.run("list").out.startswith("draft")


def test_a_committed_plan_that_has_changed_is_not_proposed_to_be_dropped(repo: Folder) -> None:
    path = repo.path / repo.ok("new", "Build the scanner", "--task", "Read bytes")["path"]
    created = path.read_bytes()
    path.write_bytes(created + b"\nMore.\n")
    assert "execplan drop 2026-01-01_build-the-scanner --force" in repo.run("undo").err
    repo.ok("commit", "scanner")
    refused = repo.run("undo")
    assert refused.exit == 4
    command = refused.err.strip().rpartition("execplan ")[2]
    assert repo.run(*shlex.split(command)).exit == 0


def test_the_last_operation_may_be_on_a_plan_outside_the_plans_directory(repo: Folder) -> None:
    path = repo.write("docs/scanner.md", CLEAN)
    repo.plan()
    repo.ok("done", "2", "-p", "parser")
    repo.ok("done", "2", "-p", "docs/scanner.md")
    undone = repo.run("undo")
    assert undone.out.startswith("undone: done 2")
    assert "next: execplan show docs/scanner.md" in undone.out
    assert path.read_text() == CLEAN
    assert "(2026-01-01_parser, " in repo.run("undo").out


def test_an_operation_on_a_plan_of_another_branch_is_refused_with_the_reason(repo: Folder) -> None:
    repo.ok("init")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Settings")
    repo.git("switch", "-q", "-c", "feature")
    repo.plan(CLEAN, "2026-01-02_scanner")
    repo.ok("done", "2", "-p", "scanner", "--commit")
    repo.git("switch", "-q", "main")
    refused = repo.run("undo")
    assert refused.exit == 4
    assert f"{PLANS}/2026-01-02_scanner.md is not in this checkout: done 2" in refused.err
    assert "(not in this checkout)" in repo.run("undo", "--list").out
    assert [operation["next"] for operation in repo.ok("undo", "--list")["undo"]] == [False]
    repo.git("switch", "-q", "feature")
    assert "(not in this checkout)" not in repo.run("undo", "--list").out
    assert repo.run("undo").exit == 0


def test_the_history_of_git_is_proposed_only_if_there_is_one(plain: Folder) -> None:
    plain.git("init", "-q")
    assert "git log" not in plain.run("undo").err
    plain.write("README.md", "Text.\n")
    plain.git("add", "-A")
    plain.git("commit", "-q", "-m", "All")
    plain.ok("init")
    assert "git log -p" in plain.run("undo").err


@pytest.mark.parametrize("command", [OPERATIONS["done"], OPERATIONS["new"]], ids=["done", "new"])
def test_undo_of_what_was_only_staged_has_nothing_to_commit(repo: Folder, command: tuple[str, ...]) -> None:
    populated(repo)
    repo.git("add", "-A")
    head = repo.git("rev-parse", "HEAD")
    repo.ok(*command)
    repo.git("add", "-A")
    result = repo.run("undo", "--commit")
    assert (result.exit, "nothing to commit" in result.out) == (0, True), result
    assert repo.git("status", "--porcelain") == ""
    assert repo.git("rev-parse", "HEAD") == head


def test_undo_of_a_staged_archive_names_all_files_to_unstage(repo: Folder) -> None:
    repo.plan(CLEAN.replace("- [ ]", "- [x]"))
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "A plan")
    repo.ok("outcome", "It works.", "--commit")
    repo.ok("archive")
    repo.git("add", "-A")
    hint = repo.run("undo", "--commit").err.split("git restore --staged ")[1]
    files, _, command = hint.partition(", then: execplan ")
    repo.git("restore", "--staged", *files.split())
    repo.ok(*command.split())
    assert repo.git("status", "--porcelain") == ""


def test_drop_of_a_plan_with_an_artifact_says_at_once_what_works(repo: Folder) -> None:
    name = repo.ok("new", "Build the parser", "--task", "A")["id"]
    repo.write("log.txt", "ok\n")
    repo.ok("attach", "log.txt")
    error = repo.run("drop", name, "--json").json["error"]
    assert error["code"] == "has-artifacts"
    assert f"execplan drop {name} --force" in error["hint"]
    (repo.path / PLANS / "artifacts" / name / "log.txt").unlink()
    repo.ok("drop", name, "--force")


def test_undo_of_a_new_plan_names_its_artifacts_before_it_proposes_to_drop_it(repo: Folder) -> None:
    repo.ok("new", "Build the parser", "--task", "A")
    repo.ok("comment", "Why a parser?")
    (path,) = (repo.path / PLANS).glob("*.md")
    path.write_text(path.read_text() + "More.\n")
    error = repo.run("undo", "--json").json["error"]
    assert (error["code"], "drop" in error["hint"]) == ("has-artifacts", False)
    assert "move" not in error["hint"]  # they may be the records of a run
    assert error["hint"].endswith("archive 2026-01-01_build-the-parser --as abandoned --reason 'Why'")


@pytest.mark.parametrize("command", [["next", "--claim", "Ann"], ["checkpoint"], ["index", "--write"]])
def test_what_is_no_edit_of_a_plan_is_passed_over_and_the_help_says_so(repo: Folder, command: list[str]) -> None:
    repo.plan()
    repo.ok("done", "2")
    repo.ok(*command)
    assert repo.ok("undo")["operation"]["command"] == "done"
    assert "`undo` doesn't" in " ".join(repo.run(command[0], "--help").out.split())


def test_what_was_done_before_git_init_can_be_undone(plain: Folder) -> None:
    path = plain.plan()
    plain.ok("done", "2")
    plain.git("init", "-q")
    assert [operation["command"] for operation in plain.ok("undo", "--list")["undo"]] == ["done"]
    plain.ok("undo")
    assert path.read_text() == CLEAN
    assert not (plain.path / ".agent/.state").exists()


def test_undo_leads_to_a_plan_that_a_merge_has_renamed(repo: Folder) -> None:
    name = "2026-01-01_Parser"
    repo.plan(CLEAN, name)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "A plan")
    repo.git("switch", "-qc", "renaming")
    repo.ok("rename", name, "Build the lexer", "--commit")
    repo.git("switch", "-q", "main")
    repo.ok("done", "2", "--commit")
    repo.git("merge", "-q", "--no-edit", "renaming")
    hint = repo.run("undo", "--json").json["error"]["hint"]
    assert hint.startswith("undo it there by hand: execplan edit 2026-01-01_build-the-lexer; "), hint
