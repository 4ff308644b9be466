"""Where comments are shown: `show`, `prime`, the board, `site` and `lint`, without secrets and control characters."""

from __future__ import annotations

import re

import pytest

from tests.conftest import Folder
from tests.plans import CLEAN
from tests.views.site.hostile_text import SCRIPTS
from tests.views.site.html_safety import check_page

NAME = "2026-01-01_parser"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_prime_has_the_last_open_comment(repo: Folder) -> None:
    repo.plan()
    without = repo.run("prime").out
    assert "omment" not in without
    repo.ok("comment", "Which line endings?", "--on", "2", "--as", "Bob")
    assert re.search(
        r"^Open comment; answer it with execplan reply, then resolve:\n> c\w{4} Bob: Which line endings\?$",
        repo.run("prime").out,
        re.MULTILINE,
    )
    repo.ok("comment", f"The\n> token is {SECRET}\nfirst", "--as", "Bob")
    text = repo.run("prime").out
    assert "Open comments (2), the last; answer it with execplan reply, then resolve:\n> " in text
    assert SECRET not in text
    assert SECRET not in str(repo.ok("prime"))
    assert len(repo.ok("prime")["comments"]) == 2
    repo.ok("checkpoint")
    page = (repo.path / f".agent/execplans/artifacts/{NAME}/checkpoint.md").read_text()
    assert re.search(r"^- Open comment c\w{4} Bob: Which line endings\?$", page, re.MULTILINE)
    assert SECRET not in page
    repo.ok("comment", "x" * 3000)
    assert len(repo.run("prime").out.encode()) <= 1200
    for comment in repo.ok("show")["comments"]:
        repo.ok("resolve", comment["id"])
    assert repo.run("prime").out == without


def test_control_characters_of_a_comment_are_escaped(repo: Folder) -> None:
    repo.plan()
    repo.ok("comment", "red \x1b[31m\x07 \u202e text", "--as", "A\x1bB")
    for call in (("show",), ("show", "--comments"), ("review",), ("lint", "--select", "EP515"), ("prime",)):
        out = repo.run(*call).out
        assert "red" in out
        assert not {"\x1b", "\x07", "\u202e"} & set(out), call


def test_the_board_counts_open_comments(repo: Folder) -> None:
    repo.plan()
    assert "comment" not in repo.run("board").out
    for text in ("One?", "Two?"):
        repo.ok("comment", text)
    assert "2 open comments" in repo.run("board").out
    cards = [card for column in repo.ok("board")["columns"] for card in column["plans"]]
    assert [card["open_comments"] for card in cards] == [2]


def test_pages_show_comments_without_secrets_and_scripts(repo: Folder) -> None:
    repo.plan()
    for script in SCRIPTS:
        repo.ok("comment", script, "--on", "2", "--as", script)
    repo.ok("comment", f"The token is {SECRET}", "--on", "decision 1")
    resolved = repo.ok("comment", "Settled?", "--on", "Progress")["id"]
    repo.ok("resolve", resolved, "--reason", "Yes\nand no.")
    repo.ok("site")
    html = (repo.path / f".agent/site/plans/{NAME}.html").read_text()
    check_page(html)
    assert SECRET not in html
    assert '<a href="#task-tmkadfq">task 2</a>' in html
    assert '<a href="#decision-1">decision 1</a>' in html
    assert 'id="decision-1"' in html
    assert "resolved it" in html
    assert f"{len(SCRIPTS) + 1} open comments" in (repo.path / ".agent/site/index.html").read_text()
    files = {path.name for path in (repo.path / ".agent/site").rglob("*")}
    assert not any("gitattributes" in name for name in files if name != ".gitignore")
    first = html
    repo.ok("comment", "Something new")
    repo.ok("site")
    html = (repo.path / f".agent/site/plans/{NAME}.html").read_text()
    assert html != first
    assert "Something new" in html


@pytest.mark.parametrize("arguments", [("lint",), ("lint", f".agent/execplans/{NAME}.md"), ("lint", "--no-cache")])
def test_lint_can_require_that_comments_are_resolved(repo: Folder, arguments: tuple[str, ...]) -> None:
    repo.plan()
    repo.plan(CLEAN, "2026-01-02_scanner")
    select = ("--select", "EP515")
    assert repo.run(*arguments, *select).exit == 0
    comment = repo.ok("comment", "Which\nline endings?", "--on", "2", "-p", "parser", "--as", "Bob")["id"]
    assert repo.run(*arguments).exit == 0
    for _ in range(2):  # the second time from the cache
        result = repo.run(*arguments, *select, "--json")
        assert result.exit == 1
        (finding,) = result.json["data"]["findings"]
        assert (finding["code"], finding["line"]) == ("EP515", 12)
        assert finding["message"] == f"open comment {comment[:5]} by Bob: Which line endings?"
    repo.ok("resolve", comment)
    assert repo.run(*arguments, *select).exit == 0
    repo.ok("reply", comment, "No", "--reopen")
    assert repo.run(*arguments, *select).exit == 1


@pytest.mark.parametrize("content", [b'{"id": "c1", bro\n', b"x" * (6 << 20), None])
def test_comments_that_can_not_be_read_do_not_pass_as_resolved(repo: Folder, content: bytes | None) -> None:
    repo.plan()
    repo.ok("resolve", repo.ok("comment", "Which line endings?")["id"])
    select = ("--select", "EP515")
    path = repo.path / f".agent/execplans/artifacts/{NAME}/comments.jsonl"
    if content is None:
        path.unlink()
        path.symlink_to("/etc/hosts")
    else:
        path.write_bytes(path.read_bytes() + content)
    result = repo.run("lint", *select)
    assert result.exit == 1
    assert ":1:1 EP515 review comments can't be read: " in result.out
    if content is not None:
        repo.git("add", "-A")
        assert "review comments can't be read: line 3" in repo.run("lint", "--staged", *select).out


@pytest.fixture
def commented(repo: Folder) -> Folder:
    """A branch that only adds a comment to one of two plans, of which the other has a comment since main."""
    repo.plan()
    repo.plan(CLEAN, "2026-01-02_scanner")
    repo.ok("comment", "Really?", "-p", "scanner")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    repo.git("checkout", "-q", "-b", "topic")
    repo.ok("comment", "Which line endings?", "--on", "2", "-p", "parser", "--as", "Bob")
    return repo


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_plan_whose_comments_changed_is_checked(commented: Folder, is_committed: bool) -> None:
    if is_committed:
        commented.git("add", "-A")
        commented.git("commit", "-q", "-m", "Comment")
    result = commented.run("lint", "--since", "main", "--select", "EP515", "--json")
    assert result.exit == 1
    (finding,) = result.json["data"]["findings"]
    assert (finding["code"], finding["path"], finding["line"]) == ("EP515", f".agent/execplans/{NAME}.md", 12)
    assert commented.run("lint", "--since", "main", "--ignore", "EP515").out == "1 plan, no findings\n"
    result = commented.run("changes", "--since", "main", "--select", "EP515", "--json")
    assert result.exit == 1
    (plan,) = result.json["data"]["plans"]
    assert (plan["id"], plan["events"], plan["former_path"]) == (NAME, [], f".agent/execplans/{NAME}.md")
    assert [comment["text"] for comment in plan["comments"]] == ["Which line endings?"]
    assert [finding["code"] for finding in plan["findings"]] == ["EP515"]
    assert commented.run("changes", "--since", "main", "--select", "EP515", "src").exit == 0


def test_a_plan_that_changed_too_is_reported_once(commented: Folder) -> None:
    commented.ok("done", "2", "-p", "parser")
    (plan,) = commented.run("changes", "--since", "main", "--json").json["data"]["plans"]
    assert [event["kind"] for event in plan["events"]] == ["task-done"]
    assert commented.run("lint", "--since", "main").out == "1 plan, no findings\n"


def test_staged_comments_are_checked_as_staged(commented: Folder) -> None:
    """A hook accepts them, since otherwise nobody could commit a comment."""
    staged = ("lint", "--staged", "--select", "EP515")
    assert commented.run(*staged).exit == 0
    commented.git("add", "-A")
    assert commented.run(*staged).exit == 1
    assert commented.run(*staged, "--hook").exit == 0
    (comment,) = commented.ok("show", "parser", "--comments")["comments"]
    commented.ok("resolve", comment["id"], "-p", "parser")
    assert commented.run(*staged).exit == 1
    commented.git("add", "-A")
    result = commented.run(*staged)
    assert (result.exit, result.out) == (0, "1 plan, no findings\n")


def test_the_comments_of_a_nested_project(repo: Folder) -> None:
    repo.write("svc/api/.agent/execplan.toml", 'layout = "folder"\n')
    repo.write("svc/api/.agent/execplans/parser/parser.md", CLEAN)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    repo.git("checkout", "-q", "-b", "topic")
    nested = repo.path / "svc/api"
    assert repo.run("comment", "Why?", cwd=nested).exit == 0
    for cwd in (nested, repo.path):
        assert repo.run("lint", "--since", "main", "--select", "EP515", cwd=cwd).exit == 1
    assert repo.run("changes", "--since", "main", "--select", "EP515", cwd=nested).exit == 1
