"""Edits in a page: the same results as on the command line, and nothing overwritten."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import pytest

from tests.views.server.running_server import PLAN_PAGE, RunningServer

if TYPE_CHECKING:
    from tests.conftest import Folder


def plan_text(server: RunningServer) -> str:
    """The plan as it is now."""
    return (server.folder.path / ".agent/execplans/2026-01-01_parser.md").read_text()


@pytest.mark.parametrize(
    ("action", "fields", "command"),
    [
        ("done", {"task": "2"}, ["done", "2"]),
        ("reopen", {"task": "1"}, ["reopen", "1"]),
        ("add", {"text": "Handle CRLF."}, ["add", "Handle CRLF."]),
        ("add", {"text": "@README.md"}, ["add", "@@README.md"]),
        ("add", {"text": "  Two\r\nlines "}, ["add", "Two lines"]),
        (
            "decide",
            {"text": "Read bytes", "why": "Nothing is lost."},
            ["decide", "Read bytes", "--why", "Nothing is lost."],
        ),
    ],
)
def test_an_edit_writes_what_the_command_writes(
    server: RunningServer, action: str, fields: dict[str, str], command: list[str]
) -> None:
    before = plan_text(server)
    reply = server.edit(action, **fields)
    assert reply.status == 303
    assert reply.headers["location"].partition("?")[0].partition("#")[0] == PLAN_PAGE
    after = plan_text(server)
    assert after != before
    assert server.folder.run("undo").exit == 0
    assert plan_text(server) == before
    server.folder.ok(*command)
    assert plan_text(server) == after


def test_comments_are_made_answered_and_resolved_in_a_page(server: RunningServer) -> None:
    def comments() -> list[tuple[str, str | None, bool, list[str]]]:
        shown = server.folder.ok("show")["comments"]
        return [
            (comment["text"], comment["label"], comment["open"], [reply["text"] for reply in comment["replies"]])
            for comment in shown
        ]

    before = plan_text(server)
    assert server.edit("comment", text="@README.md\r\nWhich <b>lines</b>?", on="2").status == 303
    assert server.edit("comment", text="All of it?", on=" ").status == 303
    first, second = [comment["id"] for comment in server.folder.ok("show")["comments"]]
    assert server.edit("reply", comment=first, text="All.").status == 303
    assert server.edit("resolve", comment=second).status == 303
    assert comments() == [
        ("@README.md\nWhich <b>lines</b>?", "task 2", True, ["All."]),
        ("All of it?", "the plan", False, [""]),
    ]
    assert "Which &lt;b&gt;lines&lt;/b&gt;?" in server.get(PLAN_PAGE).text
    assert plan_text(server) == before
    for fields in ({"text": " ", "on": "2"}, {"text": "x", "on": "nothing like it"}):
        reply = server.edit("comment", **fields)
        assert reply.status in (400, 422)
    assert server.edit("resolve", comment="zz").status in (400, 404, 422)
    assert len(comments()) == 2


def test_a_stale_page_writes_nothing_and_shows_what_changed(server: RunningServer) -> None:
    page = server.get(PLAN_PAGE)
    server.folder.ok("add", "Handle CRLF")
    before = plan_text(server)
    fields = {
        "token": page.field("token"),
        "digest": page.field("digest"),
        "action": "add",
        "text": "Write <b>docs</b>",
    }
    reply = server.post(PLAN_PAGE, fields)
    assert reply.status == 409
    assert "Handle CRLF" in reply.text
    assert "Write &lt;b&gt;docs&lt;/b&gt;" in reply.text, "the text that was typed must not be lost"
    assert plan_text(server) == before
    assert server.post(PLAN_PAGE, {**fields, "digest": server.get(PLAN_PAGE).field("digest")}).status == 303


def test_claims_are_made_in_the_name_of_who_started_the_server(repo: Folder) -> None:
    repo.plan()
    server = RunningServer(repo, "serve", "--port", "0", "--as", "Berta")
    assert server.edit("claim", task="2").status == 303
    (claim,) = repo.ok("next")["taken"]
    assert claim["number"] == 2
    assert "Berta" in str(claim)
    assert server.edit("release", task="2").status == 303
    assert repo.ok("next")["taken"] == []
    assert server.edit("decide", text="Read bytes", why="Nothing is lost.").status == 303
    assert "Berta" in repo.ok("show")["decisions"][-1]["author"]


def test_a_claim_of_somebody_else_is_not_released(server: RunningServer) -> None:
    server.folder.ok("next", "--claim", "agent-1", "--task", "2")
    assert server.edit("claim", task="3").status == 303
    assert re.findall(r'aria-label="(Claim|Release) task (\d)"', server.get(PLAN_PAGE).text) == [("Release", "3")]
    for task in ("2", "1"):  # another agent's claim, and none
        reply = server.edit("release", task=task)
        assert reply.status == 303
        page = server.get(reply.headers["location"]).text
        assert "nothing was released: Ann has no claim on this task" in page
    assert [claim["number"] for claim in server.folder.ok("next")["taken"]] == [2, 3]


def test_edits_are_committed_if_the_server_is_started_so(repo: Folder) -> None:
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    server = RunningServer(repo, "serve", "--port", "0", "--commit")
    assert server.edit("done", task="2").status == 303
    assert repo.git("status", "--porcelain") == ""
    assert repo.git("rev-list", "--count", "HEAD").strip() == "3"


@pytest.mark.parametrize(
    ("action", "fields", "status"),
    [
        ("done", {}, 400),
        ("done", {"task": "no such task"}, 400),
        ("add", {"text": "   "}, 400),
        ("add", {"text": "a\x1b[31mb"}, 400),
        ("add", {"text": "TBD"}, 400),
        ("decide", {"text": "Read bytes"}, 400),
        ("claim", {"task": "1"}, 400),
        ("archive", {}, 400),
        ("approve", {}, 400),
        ("run", {}, 400),
        ("", {}, 400),
        ("done", {"task": "2", "digest": "0"}, 400),
    ],
)
def test_a_wrong_edit_is_an_error_page_and_writes_nothing(
    shared_server: RunningServer, action: str, fields: dict[str, str], status: int
) -> None:
    before = plan_text(shared_server)
    reply = shared_server.edit(action, **fields)
    assert reply.status == status
    assert "<h1>" in reply.text
    assert "Traceback" not in reply.text
    assert plan_text(shared_server) == before


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"why": "a\u200bb"}, "The rationale contains the character U+200B"),
        ({"why": " "}, "The rationale is empty."),
        ({"token": "x"}, "earlier start of the server"),
    ],
)
def test_an_edit_that_is_not_accepted_shows_what_was_entered(
    shared_server: RunningServer, fields: dict[str, str], message: str
) -> None:
    entered = {"text": "Read <b>bytes</b>.", "why": "Nothing is lost."}
    reply = shared_server.edit("decide", **{**entered, **fields})
    assert reply.status in (400, 403)
    assert message in reply.text
    assert "Read &lt;b&gt;bytes&lt;/b&gt;." in reply.text
    assert f'href="{PLAN_PAGE}"' in reply.text
    assert "field" not in reply.text
    assert "cleaned file" not in reply.text


def test_an_unknown_version_is_no_change(shared_server: RunningServer) -> None:
    reply = shared_server.edit("add", text="Handle CRLF.", digest="0" * 64)
    assert reply.status == 409
    assert "Somebody" not in reply.text
    assert "no version with that digest" not in reply.text
    assert "The version that your page showed is unknown" in reply.text


def test_a_form_takes_what_its_fields_accept(server: RunningServer) -> None:
    """The longest texts, in characters that need nine bytes each in a form."""
    lengths = [int(length) for length in re.findall(r'maxlength="(\d+)"', server.get(PLAN_PAGE).text)]
    _, decision, rationale, _, comment = lengths
    assert server.edit("decide", text="\u6f22" * decision, why="\u6f22" * rationale).status == 303
    assert server.edit("comment", text="\u6f22" * comment).status == 303


def test_an_archived_plan_is_not_edited(server: RunningServer) -> None:
    page = server.get(PLAN_PAGE)
    server.folder.ok("archive", "--force", "--reason", "No longer wanted.")
    fields = {"token": page.field("token"), "digest": page.field("digest"), "action": "done", "task": "2"}
    assert server.post(PLAN_PAGE, fields).status in (404, 409)


def test_an_edit_of_a_plan_that_is_gone_shows_what_was_entered(server: RunningServer) -> None:
    page = server.get(PLAN_PAGE)
    server.folder.ok("rename", "parser", "Build the reader")
    fields = {"token": page.field("token"), "digest": page.field("digest"), "action": "add", "text": "Handle CRLF."}
    reply = server.post(PLAN_PAGE, fields)
    assert reply.status == 404
    assert "Not written" in reply.text
    assert "renamed, archived or removed" in reply.text
    assert "Handle CRLF." in reply.text


def test_enforced_claims_hold_in_pages(server: RunningServer) -> None:
    server.folder.write("pyproject.toml", '[tool.execplan]\nclaims = "enforce"\n')
    server.folder.ok("next", "--claim", "agent-1", "--task", "2")
    assert server.edit("done", task="2").status == 403
    assert "[ ] Build the parser." in plan_text(server)


def test_parallel_edits_of_pages_and_commands_lose_nothing(server: RunningServer) -> None:
    """Three pages that try again after each conflict, and three agents on the command line."""

    def edit_in_page(name: str) -> None:
        for number in range(5):
            while (status := server.edit("add", text=f"Page {name}, edit {number}.").status) == 409:
                pass
            assert status == 303

    def edit_on_command_line(name: str) -> None:
        for number in range(5):
            server.folder.ok("add", f"Agent {name}, edit {number}.")

    threads = [
        threading.Thread(target=edit, args=(name,)) for edit in (edit_in_page, edit_on_command_line) for name in "abc"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = plan_text(server)
    expected = [f"{kind} {name}, edit {number}." for kind in ("Page", "Agent") for name in "abc" for number in range(5)]
    assert [line for line in expected if text.count(line) != 1] == []
