"""`archive`: documents that name a plan, plans deleted or moved by hand, several plans at once, and plans that are given up."""

from __future__ import annotations

import json
import re
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.cli.terminal import Terminal
from tests.plans import CLEAN, with_sections

if TYPE_CHECKING:
    from tests.conftest import Folder

HOME = ".agent/execplans"
NAME = "2026-01-01_parser"
COMPLETE_PLAN = CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)")
README = (
    f"# A project\n\nThe [plan]({HOME}/{NAME}.md#progress) and [its log](./{HOME}/artifacts/{NAME}/run.log).\n"
    f"Not {NAME}-2.md, and not docs/{NAME}.md.\n"
)
GUIDE = f"See [the plan](../{HOME}/{NAME}.md).\n"


@pytest.fixture
def repo_with_mentions(repo: Folder) -> Folder:
    """A finished plan that two documents and a program name, committed."""
    repo.plan(COMPLETE_PLAN)
    repo.write(f"{HOME}/artifacts/{NAME}/run.log", "ok\n")
    repo.write("README.md", README)
    repo.write("docs/guide.md", GUIDE)
    repo.write("src/read.py", f"# {HOME}/{NAME}.md says why\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "All")
    return repo


def commit_plans(repo: Folder, *names: str) -> None:
    """Finished plans, committed."""
    for at, name in enumerate(names):
        repo.plan(COMPLETE_PLAN.replace("# Build the parser", f"# Build the {name}"), f"2026-01-0{at + 1}_{name}")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")


@pytest.mark.parametrize("options", [("--dry-run",), ()])
def test_many_plans_do_not_make_the_search_for_references_longer_for_each(
    repo: Folder, options: tuple[str, ...]
) -> None:
    names = [f"part{number}" for number in range(8)]
    commit_plans(repo, *names)
    bystander = repo.plan(CLEAN, "2026-01-09_bystander")
    lines = repo.run("archive", "--complete", "-v", *options).err.splitlines()
    reads = [line for line in lines if line.split(" ")[-2:] == ["read", str(bystander)]]
    assert 0 < len(reads) < len(names)


def test_documents_that_name_the_plan_are_reported(repo_with_mentions: Folder) -> None:
    for options in (("--dry-run",), ()):
        document = repo_with_mentions.run("archive", *options, "--json").json
        documents, programs = [warning for warning in document["warnings"] if "old path" in warning]
        assert documents == (
            f"README.md:3, docs/guide.md:1 name the old path; to rewrite them: execplan archive {NAME} --rewrite-links"
        )
        assert programs == "src/read.py:1 names the old path; change it by hand"
        assert {"path": "README.md", "lines": [3]} in document["data"]["mentions"]
        assert (repo_with_mentions.path / "README.md").read_text() == README


def test_the_command_that_is_named_rewrites_them_afterwards(repo_with_mentions: Folder) -> None:
    repo_with_mentions.ok("archive")
    data = repo_with_mentions.ok("archive", NAME, "--rewrite-links")
    assert data["rewritten"] == ["README.md", "docs/guide.md"]
    check_rewritten(repo_with_mentions)
    assert repo_with_mentions.ok("archive", NAME, "--rewrite-links")["rewritten"] == []


def test_one_command_is_named_for_several_plans_and_undo_reverses_it(repo: Folder) -> None:
    names = ["2026-01-01_parser", "2026-01-02_reader"]
    for name in names:
        repo.plan(COMPLETE_PLAN, name)
        repo.write(f"{name}.md", f"See {HOME}/{name}.md and {HOME}/2026-01-01_parser.md\n")
    before = {name: (repo.path / f"{name}.md").read_text() for name in names}
    (warning,) = [line for line in repo.run("archive", "--complete", "--json").json["warnings"] if "old path" in line]
    command = warning.rpartition(": ")[2]
    assert command == f"execplan archive {' '.join(names)} --rewrite-links"
    repo.ok(*command.split()[1:])
    assert all(f"{HOME}/archive/{name}.md" in (repo.path / f"{name}.md").read_text() for name in names)
    repo.ok("undo")
    assert {name: (repo.path / f"{name}.md").read_text() for name in names} == before
    repo.ok("redo")
    assert all(f"{HOME}/archive/{name}.md" in (repo.path / f"{name}.md").read_text() for name in names)


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_plans_that_name_each_other_are_archived_in_an_order_that_keeps_the_paths(
    repo: Folder, order: tuple[str, ...]
) -> None:
    naming = COMPLETE_PLAN.replace("## Progress", f"See `{HOME}/2026-01-02_b.md`.\n\n## Progress", 1)
    repo.plan(naming, "2026-01-01_a")
    repo.plan(COMPLETE_PLAN, "2026-01-02_b")
    archived = repo.ok(
        "archive", *[f"{HOME}/{name}.md" for name in ({"a": "2026-01-01_a", "b": "2026-01-02_b"}[key] for key in order)]
    )
    assert [plan["path"].rpartition("_")[2] for plan in archived["plans"]] == [f"{key}.md" for key in order]
    assert f"`{HOME}/archive/2026-01-02_b.md`" in (repo.path / HOME / "archive/2026-01-01_a.md").read_text()


def check_rewritten(repo: Folder) -> None:
    """The links lead to the archive, and nothing else has changed."""
    new = f"{HOME}/archive/{NAME}.md"
    readme = (repo.path / "README.md").read_text()
    assert f"[plan]({new}#progress)" in readme
    assert f"{HOME}/archive/artifacts/{NAME}/run.log" in readme
    assert readme.endswith(README.splitlines()[-1] + "\n")
    assert (repo.path / "docs/guide.md").read_text() == f"See [the plan](../{new}).\n"
    for target in (new, f"{HOME}/archive/artifacts/{NAME}/run.log"):
        assert (repo.path / target).exists()
    assert NAME in (repo.path / "src/read.py").read_text()


def test_they_are_rewritten_and_committed(repo_with_mentions: Folder) -> None:
    data = repo_with_mentions.ok("archive", "--rewrite-links", "--commit")
    assert data["rewritten"] == ["README.md", "docs/guide.md"]
    check_rewritten(repo_with_mentions)
    assert repo_with_mentions.git("status", "--short") == ""
    assert "README.md" in repo_with_mentions.git("show", "--stat", "--format=")


def test_changes_of_the_user_s_own_stay_out_of_the_commit(repo_with_mentions: Folder) -> None:
    repo_with_mentions.write("README.md", README + "Mine.\n")
    document = repo_with_mentions.run("archive", "--rewrite-links", "--commit", "--json").json
    assert any("README.md has uncommitted changes" in warning for warning in document["warnings"])
    assert repo_with_mentions.git("status", "--short") == " M README.md\n"
    assert (repo_with_mentions.path / "README.md").read_text().endswith("Mine.\n")
    assert f"{HOME}/archive/{NAME}.md" in (repo_with_mentions.path / "README.md").read_text()


@pytest.mark.parametrize("answer", ["y\n", "\n"])
def test_a_person_is_asked_on_a_terminal(
    repo_with_mentions: Folder, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    from execplan.cli.main import main

    for name, value in repo_with_mentions.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo_with_mentions.path)
    monkeypatch.setattr(sys, "argv", ["execplan", "archive"])
    terminal = Terminal(main)
    terminal.answer("[y/N] ", answer)
    result = terminal.end()
    assert result.exit == 0, result.raw
    if answer == "\n":
        assert (repo_with_mentions.path / "README.md").read_text() == README
    else:
        check_rewritten(repo_with_mentions)


def test_links_that_are_kept_are_not_reported(repo_with_mentions: Folder) -> None:
    assert repo_with_mentions.run("archive", "--keep-links", "--json").json["warnings"] == []
    assert (repo_with_mentions.path / "README.md").read_text() == README


def test_rename_and_restore_rewrite_documents_too(repo_with_mentions: Folder) -> None:
    repo_with_mentions.ok("rename", "parser", "Read lines", "--rewrite-links")
    assert "2026-01-01_read-lines.md#progress" in (repo_with_mentions.path / "README.md").read_text()
    repo_with_mentions.ok("archive", "--rewrite-links")
    repo_with_mentions.ok("restore", "read-lines", "--rewrite-links")
    assert f"({HOME}/2026-01-01_read-lines.md#progress)" in (repo_with_mentions.path / "README.md").read_text()


def test_without_git_documents_are_found_too(plain: Folder) -> None:
    plain.plan(COMPLETE_PLAN)
    plain.write("README.md", README)
    plain.ok("archive", "--rewrite-links")
    assert f"{HOME}/archive/{NAME}.md" in (plain.path / "README.md").read_text()


@pytest.mark.parametrize("command", ["archive parser", f"show {NAME}", "archive", f"done 1 -p {HOME}/{NAME}.md"])
def test_a_deleted_plan_is_reported_with_the_command_that_brings_it_back(
    repo_with_mentions: Folder, command: str
) -> None:
    (repo_with_mentions.path / HOME / f"{NAME}.md").unlink()
    error = repo_with_mentions.run(*command.split(), "--json").json["error"]
    assert (error["code"], error["exit"]) == ("plan-deleted", 3)
    restore, _, removal = error["hint"].partition("; or commit its removal: git commit -m 'Remove a plan' -- ")
    assert (restore, removal) == (f"restore it: git restore {HOME}/{NAME}.md", f"{HOME}/{NAME}.md")
    repo_with_mentions.git(*restore.partition("git ")[2].split())
    assert repo_with_mentions.run("show", "parser").exit == 0


@pytest.mark.parametrize("edited", [False, True])
def test_a_plan_that_was_moved_into_the_archive_by_hand_is_filed(repo_with_mentions: Folder, edited: bool) -> None:
    old, new = repo_with_mentions.path / HOME / f"{NAME}.md", repo_with_mentions.path / HOME / "archive" / f"{NAME}.md"
    new.parent.mkdir()
    old.rename(new)
    if edited:
        new.write_text(COMPLETE_PLAN.replace("Blocks are read.", "Blocks are read, and lists."))
    data = repo_with_mentions.ok("archive", "parser", "--commit", "--rewrite-links")
    assert data["changed"] is True
    assert data["evidence"] == f"{HOME}/archive/artifacts/{NAME}/execplan-evidence.json"
    assert not (repo_with_mentions.path / HOME / "artifacts" / NAME).exists()
    assert json.loads((repo_with_mentions.path / data["evidence"]).read_text())["manifest"][0]["path"] == "run.log"
    check_rewritten(repo_with_mentions)
    assert repo_with_mentions.git("status", "--short") == ""
    assert repo_with_mentions.ok("archive", "parser")["changed"] is False


def test_without_git_artifacts_that_were_left_behind_show_the_move(plain: Folder) -> None:
    path = plain.plan(COMPLETE_PLAN)
    plain.write(f"{HOME}/artifacts/{NAME}/run.log", "ok\n")
    (plain.path / HOME / "archive").mkdir()
    path.rename(plain.path / HOME / "archive" / f"{NAME}.md")
    plain.ok("archive", "parser")
    assert (plain.path / HOME / f"archive/artifacts/{NAME}/run.log").exists()
    assert plain.ok("archive", "parser")["changed"] is False


def test_an_unfinished_plan_is_not_filed_because_it_was_moved(repo: Folder) -> None:
    path = repo.plan(CLEAN)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    (repo.path / HOME / "archive").mkdir()
    path.rename(repo.path / HOME / "archive" / f"{NAME}.md")
    assert repo.run("archive", "parser", "--json").json["error"]["code"] == "not-finished"


def test_the_hint_for_an_unfinished_plan_is_what_finishes_it(repo: Folder) -> None:
    """Abandoning a plan is suggested only while tasks are open."""
    text = COMPLETE_PLAN.replace("Lines can be read.", "None yet.")
    for plan, hint in (
        (CLEAN, f"do task 2, then: execplan done tmkadfq -p {NAME}; or abandon it with --as abandoned --reason 'Why'"),
        (text, f"add an outcome: execplan outcome 'What works now' -p {NAME}"),
        (text.replace("## Outcomes & Retrospective", "## Result"), f"{NAME} --create"),
        (COMPLETE_PLAN.replace("  Rationale: A task is a line.\n", ""), f"fix the errors: execplan lint {NAME}"),
    ):
        repo.plan(plan)
        error = repo.run("archive", "parser", "--json").json["error"]
        assert error["hint"].endswith(hint), error
    repo.plan(CLEAN)
    command = repo.run("archive", "parser", "--json").json["error"]["hint"].partition(";")[0].partition(": ")[2]
    assert repo.run("status").out.endswith(f", then: {command}\n")


def test_the_claims_of_others_are_named_and_nobody_is_told_to_abandon_their_work(repo: Folder) -> None:
    repo.plan(CLEAN)
    repo.ok("next", "--claim", "bob")
    refused = repo.run("archive", "parser")
    assert "  task 2 is claimed by bob until 2026-01-01 02:00Z: Build the parser.\n  task 3 is open" in refused.err
    hint = f"hint: wait for bob, or have the task handed over: execplan next {NAME} --release bob --to Ann\n"
    assert refused.err.endswith(hint)
    repo.plan(CLEAN, "2026-01-02_scanner")
    assert repo.run("archive", "parser", "scanner").err.endswith(hint)
    assert "abandoned" in repo.run("archive", "parser", EXECPLAN_AGENT="bob").err
    repo.ok("next", NAME, "--release", "bob", "--to", "Ann")
    assert "abandoned" in repo.run("archive", "parser").err


def test_a_plan_that_was_renamed_by_hand_is_followed(repo_with_mentions: Folder) -> None:
    scanner_plan = CLEAN.replace("# Build the parser", "# Build the scanner")
    repo_with_mentions.plan(
        scanner_plan.replace("## Decision Log", f"It needs {HOME}/{NAME}.md.\n\n## Decision Log"), "2026-01-02_scanner"
    )
    repo_with_mentions.git("add", "-A")
    repo_with_mentions.git("commit", "-q", "-m", "Another")
    (repo_with_mentions.path / HOME / f"{NAME}.md").rename(repo_with_mentions.path / HOME / "2026-01-01_reader.md")
    document = repo_with_mentions.run("show", NAME, "--json").json
    assert document["data"]["id"] == "2026-01-01_reader"
    assert any("was moved by hand" in warning for warning in document["warnings"])
    repo_with_mentions.ok("archive", NAME, "--commit")
    filed = f"{HOME}/archive/2026-01-01_reader.md"
    assert (repo_with_mentions.path / filed).exists()
    assert (repo_with_mentions.path / HOME / "archive/artifacts/2026-01-01_reader/run.log").exists()
    assert filed in (repo_with_mentions.path / HOME / "2026-01-02_scanner.md").read_text()
    assert repo_with_mentions.git("status", "--short") == ""


def test_several_plans(repo: Folder) -> None:
    commit_plans(repo, "parser", "scanner", "writer")
    data = repo.ok("archive", "parser", "scanner", "parser", "--commit")
    assert [plan["path"] for plan in data["plans"]] == [
        f"{HOME}/archive/2026-01-01_parser.md",
        f"{HOME}/archive/2026-01-02_scanner.md",
    ]
    assert (data["changed"], data["left"]) == (True, [])
    assert repo.git("status", "--short") == ""
    assert [plan["id"] for plan in repo.ok("list")["plans"]] == ["2026-01-03_writer"]


def test_of_several_plans_all_or_none(repo: Folder) -> None:
    commit_plans(repo, "parser", "scanner")
    repo.plan(CLEAN, "2026-01-03_writer")
    error = repo.run("archive", "parser", "writer", "--json").json["error"]
    assert (error["code"], error["exit"]) == ("not-finished", 1)
    assert all(candidate.startswith("2026-01-03_writer: ") for candidate in error["candidates"])
    assert len(repo.ok("list")["plans"]) == 3
    assert repo.run("archive", "parser", "nobody").exit == 3
    assert repo.run("archive", "parser", "scanner", "--if-match", "0" * 64).exit == 2
    assert len(repo.ok("list")["plans"]) == 3


def test_a_plan_that_another_supersedes_is_archived_next(repo: Folder) -> None:
    repo.plan(CLEAN, "2026-01-01_alpha")
    repo.plan(CLEAN, "2026-01-02_gamma")
    result = repo.run("set", "-p", "gamma", "--meta", "supersedes=alpha")
    archive = "archive 2026-01-01_alpha --as superseded --by 2026-01-02_gamma"
    assert result.out.endswith(f"next: execplan {archive}\n")
    repo.ok(*archive.split())
    assert repo.run("set", "-p", "gamma", "--meta", "owner=ana").out.endswith("next: execplan lint 2026-01-02_gamma\n")


def test_complete_archives_what_is_complete_and_lists_what_is_in_the_way(repo: Folder) -> None:
    assert repo.run("archive", "--complete").out == "no complete plans to archive: no plans yet\n"
    repo.plan(CLEAN, "2026-01-03_writer")
    assert repo.run("archive", "--complete").out == (
        "no complete plans to archive: 1 open plan\nnext: execplan status\n"
    )
    commit_plans(repo, "parser", "scanner")
    repo.write("README.md", "See .agent/execplans/2026-01-01_parser.md.\n")
    data = repo.ok("archive", "--complete", "--dry-run")
    assert len(data["plans"]) == 2
    preview = repo.run("archive", "--complete", "--dry-run")
    assert preview.out.endswith("\nnext: execplan archive --complete\n")
    assert "to rewrite it: execplan archive --complete --rewrite-links\n" in preview.err
    no_outcome = COMPLETE_PLAN.partition("## Outcomes")[0] + "## Outcomes & Retrospective\n\nNone yet.\n"
    repo.plan(no_outcome, "2026-01-04_reader")
    result = repo.run("archive", "--complete", "--json")
    assert result.exit == 1
    assert len(result.json["data"]["plans"]) == 2
    (not_archived,) = result.json["data"]["left"]
    assert not_archived["id"] == "2026-01-04_reader"
    assert any("Outcomes" in reason for reason in not_archived["reasons"])
    assert repo.run("archive", "--complete").out.splitlines()[-1] == (
        "next: execplan outcome 'What works now' -p 2026-01-04_reader"
    )
    assert [plan["id"] for plan in repo.ok("list")["plans"]] == ["2026-01-03_writer", "2026-01-04_reader"]
    assert repo.run("archive", "reader", "--complete").exit == 2
    assert repo.run("archive", "--complete", "--as", "abandoned", "--reason", "x").exit == 2


def test_ctrl_c_says_how_many_plans_are_archived_and_one_undo_takes_them_back(repo: Folder) -> None:
    commit_plans(repo, *[f"part-{number}" for number in range(9)])
    process = repo.start("archive", "--complete")
    archive = repo.path / HOME / "archive"
    while process.poll() is None and len(list(archive.glob("*.md"))) < 2:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130, messages
    repo.ok("doctor", "--fix")  # finishes the move that was interrupted, if any
    count = len(list(archive.glob("*.md")))
    said = re.search(rb"interrupted: (\d) of 9 plans archived\nhint: see what is left: execplan status; or", messages)
    assert said, messages
    assert count - 1 <= int(said[1]) <= count < 9
    repo.ok("undo")
    assert len(repo.ok("list")["plans"]) == 9


def test_a_complete_plan_without_discoveries_is_archived(repo: Folder) -> None:
    without = with_sections("## Surprises & Discoveries\n\nNone yet.\n")
    repo.plan(without.replace("- [ ]", "- [x] (2026-01-01 00:00Z)"))
    assert repo.ok("archive", "parser")["changed"] is True


def test_a_plan_is_given_up(repo: Folder) -> None:
    repo.plan(CLEAN)
    hint = repo.run("archive", "--json").json["error"]["hint"]
    assert "--as abandoned --reason" in hint
    assert repo.run("archive", "--as", "abandoned").exit == 2
    assert repo.run("archive", "--reason", "x").exit == 2
    data = repo.ok("archive", "--as", "abandoned", "--reason", "A library does it now.")
    text = (repo.path / data["path"]).read_text()
    assert text.endswith("Archived as abandoned: A library does it now.\n")
    assert json.loads((repo.path / data["evidence"]).read_text())["as"] == "abandoned"
    assert repo.run("lint", data["path"]).exit == 0, "its open tasks are no error any more"
    assert repo.run("init", "--check", "--json").json["data"]["homes"][0]["misfits"] == []
    repo.ok("restore", "parser")


def test_the_help_says_how_a_plan_is_given_up(repo: Folder) -> None:
    assert "--as abandoned" in repo.run("archive", "--help").out
    assert "--as abandoned --reason" in repo.run("explain", "not-finished").out


def test_all_reasons_are_named_before_the_tasks_are_done(repo: Folder) -> None:
    repo.ok("new", "Build the parser")
    repo.ok("add", "Read lines")
    refused = repo.run("archive")
    assert refused.exit == 1
    for reason in ("task 1 is open", "Outcomes & Retrospective is empty", "still contain placeholder text"):
        assert reason in refused.err


@pytest.mark.parametrize("command", [("archive", NAME), ("rename", NAME, "Read files")])
def test_undo_restores_the_documents_that_were_rewritten(repo_with_mentions: Folder, command: tuple[str, ...]) -> None:
    repo = repo_with_mentions
    assert "rewrote paths in README.md; to commit that, use git" in repo.run(*command, "--rewrite-links").out
    rewritten = (repo.path / "README.md").read_text()
    assert rewritten != README
    preview = repo.ok("undo", "--dry-run")
    assert preview["rewritten"] == ["README.md", "docs/guide.md"]
    repo.write("README.md", rewritten + "More.\n")
    undone = repo.run("undo", "--json").json
    assert not [warning for warning in undone["warnings"] if warning.startswith(("README.md", "docs/guide.md"))]
    assert (repo.path / "README.md").read_text() == README + "More.\n"
    assert (repo.path / "docs/guide.md").read_text() == GUIDE
    repo.ok("redo")
    assert (repo.path / "README.md").read_text() == rewritten + "More.\n"


def test_links_can_be_rewritten_after_the_plan_was_restored(repo_with_mentions: Folder) -> None:
    repo_with_mentions.ok("archive", NAME, "--rewrite-links")
    warnings = repo_with_mentions.run("restore", NAME, "--json").json["warnings"]
    command = f"execplan restore {NAME} --rewrite-links"
    assert f"README.md:3, docs/guide.md:1 name the old path; to rewrite them: {command}" in warnings
    repo_with_mentions.ok(*command.split()[1:])
    assert (repo_with_mentions.path / "README.md").read_text() == README
    assert (repo_with_mentions.path / "docs/guide.md").read_text() == GUIDE


def test_undo_leaves_the_documents_that_were_not_rewritten(repo_with_mentions: Folder) -> None:
    repo_with_mentions.ok("archive", NAME)
    repo_with_mentions.write("notes.md", f"See {HOME}/archive/{NAME}.md.\n")
    warnings = repo_with_mentions.run("undo", "--json").json["warnings"]
    assert warnings == ["notes.md:1 names the old path; change it by hand"]


def test_how_an_archived_plan_ended_changes_only_after_it_was_restored(repo: Folder) -> None:
    repo.plan()
    repo.ok("archive", "--force", "--reason", "Not wanted now.")
    refused = repo.run("archive", "2026-01-01_parser", "--as", "abandoned", "--reason", "Never.", "--json")
    assert (refused.exit, refused.json["error"]["code"]) == (1, "archived-plan")
    command = refused.json["error"]["hint"].rpartition(": ")[2]
    repo.ok(*command.split()[1:])
    assert repo.ok("archive", "--as", "abandoned", "--reason", "Never.")["changed"]


def test_a_document_among_archived_plans_needs_nothing(repo: Folder) -> None:
    repo.plan()
    repo.write(f"{HOME}/archive/2026-01-02_report.md", "# Report\n\nAll went well.\n")
    assert "add 'First step'" not in repo.run("status", "--state", "document").out


def test_without_a_name_the_complete_plans_are_offered(repo: Folder) -> None:
    for number, text in enumerate((CLEAN, CLEAN, COMPLETE_PLAN, COMPLETE_PLAN), 1):
        repo.plan(text, f"2026-01-0{number}_part")
    error = repo.run("archive", "--json").json["error"]
    assert error["candidates"] == ["2026-01-03_part", "2026-01-04_part"]
    assert "execplan archive --complete" in error["hint"]


def test_a_document_outside_the_plans_directories_stays_where_it_is(repo: Folder) -> None:
    repo.write("README.md", "# A project\n\nIt parses.\n")
    for options in ((), ("--as", "abandoned", "--reason", "Old."), ("--force", "--reason", "Old.")):
        error = repo.run("archive", "README.md", *options, "--json").json["error"]
        assert (error["code"], error["exit"]) == ("not-a-plan", 3)
        assert error["hint"] == "to make a plan of it: execplan new --from README.md"
    assert (repo.path / "README.md").is_file()
