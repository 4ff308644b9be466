"""`comment`, `reply` and `resolve`: where their text comes from, and how their plan is found."""

from __future__ import annotations

import sys

import pytest

from tests.cli.terminal import Terminal
from tests.conftest import ENVIRONMENT, Folder
from tests.plans import CLEAN


def texts(repo: Folder, plan: str = "parser") -> list[str]:
    return [comment["text"] for comment in repo.ok("show", plan)["comments"]]


def test_a_reason_for_a_resolved_comment_is_not_dropped_silently(repo: Folder) -> None:
    repo.plan()
    comment = repo.ok("comment", "Which line endings?")["id"]
    repo.ok("resolve", comment)
    assert "nothing changed" in repo.run("resolve", comment).out
    result = repo.run("resolve", comment, "--reason", "All of them.")
    assert (result.exit, "the reason was not recorded" in result.err) == (1, True)


def test_a_text_comes_from_an_argument_a_file_or_standard_input(repo: Folder) -> None:
    repo.plan()
    repo.write("notes.txt", "\nFrom a file.\n\n- And a list.\n\n")
    repo.ok("comment", "- [ ] An argument")
    repo.ok("comment", "@notes.txt")
    repo.ok("comment", "-", stdin=b"From\r\ninput\n")
    repo.ok("comment", "@@notes.txt")
    assert texts(repo) == ["- [ ] An argument", "From a file.\n\n- And a list.", "From\ninput", "@notes.txt"]


@pytest.mark.parametrize(
    ("call", "exit_status", "message"),
    [
        (("comment", ""), 2, "the comment is empty"),
        (("comment", " \n "), 2, "the comment is empty"),
        (("comment",), 2, "the text of the comment is missing"),
        (("comment", "2026-01-01_parser"), 2, "the text of the comment is missing"),
        (("comment", "@nothing.txt"), 3, "nothing.txt"),
        (("comment", "x", "--on", ""), 3, "no task, section, entry or step"),
        (("comment", "x", "-p", "nothing"), 3, "unknown plan"),
        (("reply", "c", "x"), 3, "no plan has a comment"),
        (("resolve", "c", "--reason", ""), 2, "the reason is empty"),
        (("reply", "c"), 2, "TEXT"),
        (("resolve",), 2, "COMMENT"),
    ],
)
def test_what_is_missing_is_an_error(repo: Folder, call: tuple[str, ...], exit_status: int, message: str) -> None:
    repo.plan()
    result = repo.run(*call)
    assert (result.exit, message in result.err) == (exit_status, True), result
    assert not (repo.path / ".agent/execplans/artifacts").exists()


def test_the_plan_of_a_comment_is_found_by_its_id(repo: Folder) -> None:
    repo.plan()
    repo.plan(CLEAN, "2026-01-02_scanner")
    first, second = [repo.ok("comment", "Why?", "-p", plan)["id"] for plan in ("parser", "scanner")]
    assert first != second
    repo.ok("reply", second, "So.")
    repo.ok("resolve", first)
    result = repo.run("resolve", "c", "--json")
    assert result.json["error"]["code"] == "ambiguous-comment"
    assert [name.split(":")[0] for name in result.json["error"]["candidates"]] == [
        "2026-01-01_parser",
        "2026-01-02_scanner",
    ]
    repo.ok("resolve", "c", "-p", "scanner")
    assert repo.run("reply", first, "x", EXECPLAN_PLAN="scanner").exit == 3
    for plan in ("parser", "scanner"):
        assert [comment["open"] for comment in repo.ok("show", plan)["comments"]] == [False]


def test_commit_commits_comments_with_their_plan(repo: Folder) -> None:
    repo.plan()
    repo.ok("comment", "Why?")
    repo.ok("commit", "parser")
    assert repo.git("status", "--porcelain") == ""


def test_a_comment_is_written_in_an_editor(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    from execplan.cli.main import main

    repo.plan()
    editor = repo.write("../editor", '#!/bin/sh\nprintf "@first line\\nsecond\\n" > "$1"\n')
    editor.chmod(0o755)
    for name in ("EXECPLAN_PLAN", "EXECPLAN_AGENT", "XDG_CONFIG_HOME", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**ENVIRONMENT, **repo.env, "EDITOR": str(editor)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.path)
    monkeypatch.setattr(sys, "argv", ["execplan", "comment", "2026-01-01_parser", "--on", "2"])
    assert Terminal(main).end().exit == 0
    assert texts(repo) == ["@first line\nsecond"]
