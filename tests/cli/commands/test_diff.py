"""`diff` finds the plan and the revisions from its arguments, and shows changes as text, lines and JSON."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import CLOCK, Folder
from tests.plans import CLEAN

NAME = "2026-01-01_parser"


@pytest.fixture
def edited(repo: Folder) -> Folder:
    """A repository with a plan that was changed in a second commit, a day later, and again since."""
    dates = ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")
    repo.plan()
    repo.git("add", "-A")
    repo.env |= dict.fromkeys(dates, f"{CLOCK} +0000")
    repo.git("commit", "-q", "-m", "One")
    repo.git("tag", "one")
    repo.env |= dict.fromkeys(dates, f"{CLOCK + 86_400} +0000")
    repo.ok("done", "2")
    repo.git("commit", "-q", "-a", "-m", "Two")
    repo.ok("done", "3")
    return repo


def texts(repo: Folder, *arguments: str) -> list[str]:
    """The texts of the changes."""
    return [event["text"] for event in repo.ok("diff", *arguments)["events"]]


def test_forms_of_arguments(edited: Folder) -> None:
    build, write = "Build the parser.", "Write the tests."
    for arguments, expected in {
        (): [write],
        ("parser",): [write],
        ("-p", NAME): [write],
        ("parser", "one"): [build, write],
        ("one",): [build, write],
        ("-p", NAME, "one"): [build, write],
        ("one..HEAD",): [build],
        ("parser", "one..."): [build],
        ("parser", "HEAD..one"): [build],
        ("parser", "..one"): [build],
        ("parser", "2026-01-02"): [build, write],
        ("parser", "2026-01-03"): [write],
        ("parser", "2026-01-02..2026-01-03"): [build],
        ("parser", "2026-01-02..."): [build],
        ("parser", "one..2026-01-02"): [],
    }.items():
        assert texts(edited, *arguments) == expected, arguments
    assert texts(edited, "parser", "2025-12-01")[0] == "Build the parser"
    assert texts(edited, "parser", "2025-12-01..one")[0] == "Build the parser"


def test_the_document(edited: Folder) -> None:
    data = edited.ok("diff", "parser", "one", "--text")
    path = f".agent/execplans/{NAME}.md"
    assert (data["plan"], data["path"]) == (NAME, path)
    assert data["old"] == {"commit": edited.git("rev-parse", "one").strip(), "path": path}
    assert data["new"] == {"commit": None, "path": path}
    assert "+- [x] (2026-01-01 00:00Z) Build the parser." in data["diff"].splitlines()
    assert {event["kind"] for event in data["events"]} == {"task-done"}


def test_text(edited: Folder) -> None:
    assert edited.run("diff", "parser", "one..HEAD").out.splitlines() == [
        f"{NAME}: changes in one..HEAD",
        "  done       Build the parser.",
    ]
    edited.git("checkout", "-q", ".")
    commit = edited.git("rev-parse", "HEAD")[:8]
    assert edited.run("diff", "parser").out == f"{NAME}: no changes since HEAD ({commit})\n"


@pytest.mark.parametrize(
    ("arguments", "code", "exit"),
    [
        (("parser", "nowhere"), "no-such-revision", 3),
        (("parser", "one..nowhere"), "no-such-revision", 3),
        (("parser", "one..two..three"), "no-such-revision", 3),
        (("parser", "HEAD^{tree}"), "no-such-revision", 3),
        (("parser", "a-file"), "no-such-revision", 3),
        (("parser", "one..2025-12-01"), "no-such-revision", 3),
        (("parser", "2025-12-01...one"), "no-such-revision", 3),
        (("nothing",), "no-such-plan", 3),
        (("nothing", "one"), "no-such-plan", 3),
        ((NAME, "one", "-p", "other"), "usage", 2),
        (("parser", "one", "two"), "usage", 2),
        (("parser", "first..one"), "not-in-revision", 3),
    ],
)
def test_errors(edited: Folder, arguments: tuple[str, ...], code: str, exit: int) -> None:
    edited.git("tag", "first", "one~1")
    edited.git("tag", "-a", "-m", "A file", "a-file", f"one:.agent/execplans/{NAME}.md")
    if code == "not-in-revision":
        edited.git("tag", "-f", "one", "first")
    result = edited.run("diff", *arguments, "--json")
    assert (result.json["error"]["code"], result.exit) == (code, exit), result


def test_a_deleted_plan(edited: Folder) -> None:
    edited.write(".agent/execplans/.gitkeep", "")
    edited.git("add", "-A")
    edited.git("rm", "-q", "-f", f".agent/execplans/{NAME}.md")
    edited.git("commit", "-q", "-m", "Three")
    commit = edited.git("rev-parse", "HEAD")[:10]
    result = edited.run("diff", NAME)
    assert f"the plan {NAME} does not exist in {commit} or the working tree" in result.err
    assert f"created or deleted: execplan log {NAME}" in result.err


def test_before_the_first_commit(plain: Folder) -> None:
    plain.git("init", "-q")
    plain.plan()
    assert "created" in plain.run("diff", "parser").out
    assert plain.run("diff", "parser", "one").exit == 3
    for arguments in (("parser", "2026-01-01"), ("parser", "7d"), ("2026-01-01",)):
        assert plain.run("diff", *arguments).out.startswith(f"{NAME}: changes since the beginning\n"), arguments


def test_a_new_plan_that_is_broken(repo: Folder) -> None:
    repo.plan(b"# Build the parser\n\n## Pro\0gress\n")
    lines = ["  created    2026-01-01_parser", "  broken     a NUL byte at offset 26"]
    for arguments in (("diff", "parser"), ("log", "parser")):
        assert repo.run(*arguments).out.splitlines()[1:] == lines, arguments
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "One")
    assert repo.run("log", "parser").out.splitlines()[1:] == lines


def test_a_shallow_clone_has_a_warning_where_history_is_missing(edited: Folder, tmp_path: Path) -> None:
    edited.git("clone", "-q", "--depth", "1", f"file://{edited.path}", os.fspath(tmp_path / "shallow"))
    clone = Folder(tmp_path / "shallow")
    document = clone.run("diff", "parser", "2026-01-01", "--json").json
    assert "git fetch --unshallow" in document["warnings"][0]
    assert clone.run("diff", "parser", "--json").json["warnings"] == []
    assert edited.run("diff", "parser", "2025-12-01", "--json").json["warnings"] == []


def test_durations_and_impossible_dates(edited: Folder) -> None:
    commit = edited.git("rev-parse", "HEAD")[:8]
    edited.env["SOURCE_DATE_EPOCH"] = str(CLOCK + 10 * 86_400)
    assert edited.run("diff", "parser", "7d").out.startswith(f"{NAME}: changes since 7d ago ({commit})\n")
    assert "'2026-02-30' is neither a commit nor a valid date" in edited.run("diff", "parser", "2026-02-30").err
    edited.git("tag", "7d", "one")
    assert edited.run("diff", "parser", "7d").out.startswith(
        f"{NAME}: changes since 7d ({edited.git('rev-parse', 'one')[:8]})"
    )


def test_without_git(plain: Folder) -> None:
    plain.plan()
    result = plain.run("diff", "parser")
    assert result.exit == 6
    assert "git init" in result.err


def test_a_range_in_which_a_file_changed_only_its_layout(repo: Folder) -> None:
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "One")
    repo.plan(CLEAN.replace("\n", "\r\n"))
    assert repo.run("diff").out.splitlines()[1].split() == [
        *("reformatted", "only", "white", "space,", "line", "endings", "or", "order")
    ]
