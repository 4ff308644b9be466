"""`log` in a terminal and for programs: filters, groups, several projects, and no repository."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from execplan.cli.app import run
from tests.cli.terminal import Terminal
from tests.conftest import CLOCK, Folder
from tests.plans import CLEAN

DAY = 86_400
OTHER = "2026-01-02_writer"


@pytest.fixture
def edited(repo: Folder) -> Folder:
    """A repository with two plans and the edits of two authors, a day apart."""
    repo.plan()
    repo.plan(CLEAN.replace("Build the parser\n", "Build the writer\n", 1), OTHER)
    for day, (author, call) in enumerate(
        [
            ("Ann", None),
            ("Bob", ["done", "2", "-p", "parser"]),
            ("Ann", ["decide", "Write bytes", "--why", "Nothing is lost.", "-p", "writer"]),
            ("Bob", ["archive", "writer", "--force", "--reason", "Enough."]),
        ]
    ):
        repo.env |= {
            "GIT_AUTHOR_NAME": author,
            "GIT_AUTHOR_DATE": f"{CLOCK + day * DAY} +0000",
            "GIT_COMMITTER_DATE": f"{CLOCK + day * DAY} +0000",
            "SOURCE_DATE_EPOCH": str(CLOCK + day * DAY),
        }
        if call:
            repo.ok(*call)
        repo.git("add", "-A")
        repo.git("commit", "-q", "-m", "All")
    return repo


def events(repo: Folder, *arguments: str) -> list[dict[str, Any]]:
    """The events of a call."""
    return list(repo.ok("log", *arguments)["events"])


def test_filters(edited: Folder) -> None:
    kinds = {
        (): 4,
        ("parser",): 2,
        ("writer",): 3,
        ("--author", "bOB"): 2,
        ("--since", "2026-01-03"): 2,
        ("--until", "2026-01-01"): 1,
        ("--since", "2026-01-02", "--until", "2026-01-02"): 1,
        ("--since", "1d"): 2,
        ("--author", "nobody"): 0,
    }
    for arguments, commits in kinds.items():
        assert len({event["commit"] for event in events(edited, *arguments)}) == commits, arguments
    assert len(events(edited, "--limit", "2")) == 2
    assert events(edited, "--limit", "3") == events(edited)[:3]
    new_plans = events(edited, "--until", "2026-01-01")
    assert len(new_plans) == 16
    assert events(edited, "--until", "2026-01-01", "--limit", "1") == new_plans[:8]


def test_authors_are_found_without_accents(edited: Folder) -> None:
    edited.env["GIT_AUTHOR_NAME"] = "Ren\u00e9 Mu\u0308ller"
    edited.ok("reopen", "2", "-p", "parser")
    edited.git("commit", "-q", "-a", "-m", "All")
    for author in ("rene muller", "REN\u00c9", "M\u00fcller"):
        assert [event["author"] for event in events(edited, "--author", author)] == ["Ren\u00e9 Mu\u0308ller"], author
    assert events(edited, "--author", "rena") == []


def test_decisions_have_their_own_dates(edited: Folder) -> None:
    decisions = events(edited, "--decisions")
    assert [(event["text"], event["time"][:10], event["author"]) for event in decisions] == [
        ("Write bytes", "2026-01-03", "Ann"),
        ("Read line by line.", "2025-12-30", "Ann"),
        ("Read line by line.", "2025-12-30", "Ann"),
    ]
    assert [event["detail"] for event in events(edited, "--decisions", "--since", "2026-01-01")] == ["Nothing is lost."]
    result = edited.run("log", "--decisions", "--limit", "1")
    assert "why: Nothing is lost." in result.out


def test_a_list_in_a_rationale_is_shown_as_a_list(repo: Folder) -> None:
    rationale = "Rationale: Three reasons:\n  - it is fast\n    - at once\n  - it is small"
    repo.plan(CLEAN.replace("Rationale: A task is a line.", rationale))
    lines = repo.run("log", "--decisions").out.splitlines()
    assert lines[-4:] == [
        "             why: Three reasons:",
        "               - it is fast",
        "                 - at once",
        "               - it is small",
    ]


def test_decisions_show_the_date_as_far_as_it_is_written(repo: Folder) -> None:
    repo.plan(CLEAN.replace("Date/Author: 2025-12-30 / Ann", "Date/Author: 2025-12-30 / Bob"))
    assert repo.run("log", "parser", "--decisions").out.splitlines()[0] == "not committed  2025-12-30  Bob"
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "One")
    commit = repo.git("rev-parse", "HEAD")[:8]
    assert repo.run("log", "parser", "--decisions").out.splitlines()[0] == f"2025-12-30  Bob  {commit}"
    repo.plan(CLEAN.replace("Date/Author: 2025-12-30 / Ann", "Date/Author: 2025-12-30T10:05Z / Bob"))
    assert repo.run("log", "parser", "--decisions").out.splitlines()[0] == "not committed  2025-12-30 10:05Z  Bob"


@pytest.mark.parametrize(
    ("written", "time", "shown"),
    [
        ("2025-12-30 01:05+08:00", "2025-12-29T17:05:00Z", "2025-12-29 17:05Z"),
        ("(2025-12-30 10:05 PDT)", "2025-12-30T00:00:00Z", "2025-12-30"),
        ("2025-02-30", "2026-01-02T00:00:00Z", "2026-01-02 00:00Z"),
    ],
)
def test_dates_of_decisions_with_time_zones(repo: Folder, written: str, time: str, shown: str) -> None:
    repo.plan(CLEAN.replace("Date/Author: 2025-12-30 / Ann", f"Date/Author: {written} / Bob"))
    repo.git("add", "-A")
    repo.env |= {"GIT_AUTHOR_DATE": f"{CLOCK + DAY} +0000"}
    repo.git("commit", "-q", "-m", "One")
    assert [event["time"] for event in events(repo, "--decisions")] == [time]
    assert repo.run("log", "parser", "--decisions").out.startswith(f"{shown}  Bob  ")


def test_text_names_plans_only_where_there_are_several(edited: Folder) -> None:
    assert OTHER in edited.run("log").out
    assert edited.run("log", "parser").out.splitlines()[0].startswith("2026-01-02 00:00Z  Bob  ")
    assert "2026-01-01_parser" not in edited.run("log", "parser").out
    assert edited.run("log", "--author", "nobody").out == "no events match\n"


def test_events_that_are_not_shown_do_not_widen_the_column(repo: Folder) -> None:
    repo.plan(f"{CLEAN}\nRevision note: 2026-01-01 / Ann - Created.\n")
    assert "revision-added" in {event["kind"] for event in events(repo)}
    assert repo.run("log", "parser").out.splitlines()[1].startswith("  created    Build the parser (")


def test_an_empty_range_of_time_is_an_error(edited: Folder) -> None:
    result = edited.run("log", "--since", "2026-01-03", "--until", "2026-01-01")
    assert result.exit == 2
    assert "--since 2026-01-03 is after --until 2026-01-01" in result.err


def test_a_removed_section_and_a_revision_note_with_an_author(repo: Folder) -> None:
    repo.plan(f"{CLEAN}\n## Extra\n\nSome text.\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "One")
    repo.plan(f"{CLEAN}\nRevision note: 2026-01-01 / Codex - Removed the extra.\n")
    assert repo.run("log", "parser").out.splitlines()[:3] == [
        "not committed",
        "  revision note    Removed the extra.",
        "  section removed  Extra (-1 line)",
    ]
    assert events(repo)[0]["entry_author"] == "Codex"


def test_control_characters_are_escaped(repo: Folder) -> None:
    repo.plan(CLEAN.replace("Write the tests.", "Write \x1b[31mred\u202e tests."))
    repo.git("add", "-A")
    repo.env["GIT_AUTHOR_NAME"] = "Ann \x1b[2J"
    repo.git("commit", "-q", "-m", "All")
    repo.plan(CLEAN.replace("- [ ] Write the tests.", "- [x] Write \x1b[31mred\u202e tests."))
    repo.git("commit", "-q", "-a", "-m", "Done")
    for result in (repo.run("log"), repo.run("diff", "parser", "HEAD~1", "--text")):
        assert "\x1b" not in result.out
        assert "\u202e" not in result.out
        assert "red" in result.out


def test_nested_projects_are_included(edited: Folder) -> None:
    edited.write(".agent/execplan.toml", 'homes = ["packages/one"]\n')
    edited.write("packages/one/.agent/execplans/2026-01-05_nested.md", CLEAN)
    assert "packages/one/.agent/execplans/2026-01-05_nested.md" in {event["path"] for event in events(edited)}
    assert events(edited)[0]["commit"] is None
    assert {event["plan"] for event in events(edited, "nested")} == {"2026-01-05_nested"}


def test_a_shallow_clone_has_a_warning(edited: Folder, tmp_path: Path) -> None:
    edited.git("clone", "-q", "--depth", "1", f"file://{edited.path}", os.fspath(tmp_path / "shallow"))
    document = Folder(tmp_path / "shallow").run("log", "--json").json
    assert "git fetch --unshallow" in document["warnings"][0]
    assert "created" in {event["kind"] for event in document["data"]["events"]}
    assert edited.run("log", "--json").json["warnings"] == []


def test_without_git(plain: Folder) -> None:
    plain.plan()
    result = plain.run("log")
    assert result.exit == 6
    assert "git init" in result.err


def test_a_plan_that_never_was(edited: Folder) -> None:
    result = edited.run("log", "nothing")
    assert result.exit == 3
    assert "unknown plan 'nothing'" in result.err


def test_a_pipe_in_place_of_the_mailmap_is_an_error(edited: Folder) -> None:
    os.mkfifo(edited.path / ".mailmap")
    result = edited.run("log")
    assert result.exit == 3
    assert ".mailmap" in result.err


def _on_terminal(repo: Folder, monkeypatch: pytest.MonkeyPatch, **env: str) -> str:
    """What `log` shows on a terminal with 60 columns."""
    monkeypatch.chdir(repo.path)
    terminal = Terminal(lambda: run(["log", "parser"]), columns=60, rows=100, env={**repo.env, "TERM": "xterm", **env})
    return terminal.end().raw


def test_a_terminal_has_colors_and_wrapped_lines(edited: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    edited.ok("add", " ".join(["word"] * 40), "-p", "parser")
    colored = _on_terminal(edited, monkeypatch)
    assert "\x1b[33mnot committed" in colored
    plain = _on_terminal(edited, monkeypatch, NO_COLOR="1")
    assert "\x1b[3" not in plain
    assert max(len(line) for line in plain.splitlines()) <= 60
    assert max(len(line) for line in edited.run("log", "parser").out.splitlines()) > 200
