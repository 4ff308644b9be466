"""The file of comments: parallel writers, other programs, git, moves of the plan, and what must not be written."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files
from execplan.library.plan_api import Plan
from execplan.team.review import comment_file
from execplan.team.review.comment_threads import parse_records
from tests.conftest import Folder
from tests.plans import CLEAN

if TYPE_CHECKING:
    from typing import Any

NAME = "2026-01-01_parser"
FILE = f".agent/execplans/artifacts/{NAME}/comments.jsonl"
FINISHED = CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)")


def texts(repo: Folder, file: str = FILE) -> list[str]:
    return [json.loads(line)["text"] for line in (repo.path / file).read_text().splitlines()]


def open_texts(repo: Folder, plan: str = NAME) -> list[str]:
    return [comment["text"] for comment in repo.ok("show", plan)["comments"] if comment["open"]]


def test_twenty_writers_at_once_lose_nothing(repo: Folder) -> None:
    repo.plan()
    results = repo.run_at_once([("comment", f"Comment {number}", "--on", "2") for number in range(20)])
    assert [result.exit for result in results] == [0] * 20
    assert sorted(texts(repo)) == sorted(f"Comment {number}" for number in range(20))
    assert len(repo.ok("show")["comments"]) == 20


def test_comments_and_edits_at_once_lose_nothing(repo: Folder) -> None:
    path = repo.plan()
    comments = [("comment", f"Comment {number}", "--on", "Progress") for number in range(6)]
    results = repo.run_at_once([*comments, *[("add", f"Task {number}") for number in range(6)]])
    assert [result.exit for result in results] == [0] * 12
    assert len(texts(repo)) == 6
    assert path.read_text().count("- [ ] Task ") == 6


def test_a_line_that_another_program_adds_meanwhile_is_kept(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    path = repo.plan()
    plan = Plan.find(str(path))
    plan.comment("First")
    file = repo.path / FILE
    replace = atomic_files.replace_if_unchanged
    calls: list[str] = []

    def save_before(target: str, *arguments: Any, **options: Any) -> bool:
        if target == str(file) and not calls:
            calls.append(target)
            file.write_bytes(file.read_bytes() + file.read_bytes().replace(b"First", b"Theirs").replace(b'"c', b'"cx'))
        return replace(target, *arguments, **options)

    monkeypatch.setattr(atomic_files, "replace_if_unchanged", save_before)
    plan.comment("Second")
    assert calls
    assert texts(repo) == ["First", "Theirs", "Second"]


def test_threads_in_one_process_lose_nothing(repo: Folder) -> None:
    path = repo.plan()
    threads = [
        threading.Thread(target=lambda number=number: Plan.find(str(path)).comment(f"Comment {number}"))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(texts(repo)) == [f"Comment {number}" for number in range(8)]


def test_a_dry_run_shows_a_diff_that_git_applies(repo: Folder) -> None:
    repo.plan()
    for text in ("Which?", "Why?"):
        before = (repo.path / FILE).read_text() if (repo.path / FILE).exists() else ""
        repo.write("change.patch", repo.ok("comment", text, "--on", "1", "--dry-run")["diff"] + "\n")
        assert ((repo.path / FILE).read_text() if (repo.path / FILE).exists() else "") == before
        repo.git("apply", "change.patch")
    assert texts(repo) == ["Which?", "Why?"]


def test_a_commit_has_the_comments_and_nothing_else(repo: Folder) -> None:
    repo.plan()
    repo.write("other.txt", "staged\n")
    repo.git("add", "other.txt")
    data = repo.ok("comment", "Which?", "--commit")
    assert repo.git("rev-parse", "HEAD").strip() == data["commit"]
    folder = FILE.removesuffix("comments.jsonl")
    assert repo.git("show", "--name-only", "--format=").split() == [f"{folder}.gitattributes", FILE]
    assert repo.git("diff", "--cached", "--name-only").split() == ["other.txt"]
    repo.ok("resolve", data["id"], "--commit")
    assert repo.git("show", "--name-only", "--format=").split() == [FILE]


@pytest.mark.parametrize("has_attributes", [True, False])
def test_branches_that_both_comment_are_merged(repo: Folder, has_attributes: bool) -> None:
    """Without the attributes git reports a conflict; both sides are used, and the next comment removes the markers."""
    repo.plan()
    first = repo.ok("comment", "First")["id"]
    attributes = (repo.path / FILE).with_name(".gitattributes")
    repo.git("add", *([attributes.as_posix()] if has_attributes else []), ".agent/execplans/*.md", FILE)
    repo.git("commit", "-q", "-m", "First")
    repo.git("checkout", "-q", "-b", "other")
    repo.ok("comment", "On the branch")
    repo.ok("resolve", first)
    repo.git("commit", "-q", "-a", "-m", "Other")
    repo.git("checkout", "-q", "-")
    repo.ok("comment", "On main")
    repo.git("commit", "-q", "-a", "-m", "Main")
    if not has_attributes:
        attributes.unlink()
    merge = subprocess.run(
        ["git", "merge", "-q", "other"], cwd=repo.path, env=repo.env, capture_output=True, check=False
    )
    assert (merge.returncode == 0) is has_attributes
    assert ("<<<<<<<" in (repo.path / FILE).read_text()) is not has_attributes
    assert sorted(open_texts(repo)) == ["On main", "On the branch"]
    repo.ok("comment", "Next")
    assert sorted(texts(repo)) == ["", "First", "Next", "On main", "On the branch"]


def test_conflict_markers_are_reported_and_removed_by_the_next_comment(repo: Folder) -> None:
    repo.plan()
    repo.ok("comment", "Ours")
    file = repo.path / FILE
    line = file.read_text()
    theirs = line.replace("Ours", "Theirs").replace('"c', '"cx', 1)
    file.write_text(f"<<<<<<< HEAD\n{line}=======\n{theirs}>>>>>>> other\n")
    result = repo.run("show")
    assert f"{FILE}:1: a git conflict marker; both sides are used" in result.err
    assert sorted(open_texts(repo)) == ["Ours", "Theirs"]
    repo.ok("comment", "Next")
    assert texts(repo) == ["Ours", "Theirs", "Next"]
    assert repo.run("show").err == ""


def test_a_damaged_line_is_reported_with_its_place(repo: Folder) -> None:
    repo.plan()
    repo.ok("comment", "Kept")
    with (repo.path / FILE).open("a") as file:
        file.write('{"id": "c1", "kind"')
    result = repo.run("show")
    assert result.exit == 0
    assert f"warning: {FILE}:2: not a comment: " in result.err
    repo.ok("comment", "Next")
    assert open_texts(repo) == ["Kept", "Next"]


def test_comments_move_with_their_plan(repo: Folder) -> None:
    repo.plan(FINISHED)
    comment = repo.ok("comment", "Which?", "--on", "2")["id"]
    repo.ok("rename", "parser", "Build the reader")
    assert open_texts(repo, "2026-01-01_build-the-reader") == ["Which?"]
    warning = (
        f"1 open comment: {comment[:5]}; to resolve comments, restore the plan first: execplan restore 2026-01-01_"
    )
    assert warning in repo.run("archive", "build-the-reader").err
    assert open_texts(repo, "2026-01-01_build-the-reader") == ["Which?"]
    for call in (
        ("comment", "More", "-p", "build-the-reader"),
        ("resolve", comment, "-p", "build-the-reader"),
        ("resolve", comment),
        ("reply", comment, "More"),
    ):
        result = repo.run(*call)
        assert result.exit == 1
        assert "is archived" in result.err
        assert "execplan restore 2026-01-01_build-the-reader" in result.err
    assert repo.run("lint", "--select", "EP515").exit == 0
    repo.ok("restore", "build-the-reader")
    repo.ok("resolve", comment)
    assert open_texts(repo, "2026-01-01_build-the-reader") == []
    assert [plan["id"] for plan in repo.ok("list", "--all")["plans"]] == ["2026-01-01_build-the-reader"]


def test_comments_of_a_plan_in_its_own_directory_are_next_to_it(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'layout = "folder"\n')
    repo.write(f".agent/execplans/{NAME}/{NAME}.md", FINISHED)
    repo.ok("comment", "Which?")
    assert texts(repo, f".agent/execplans/{NAME}/comments.jsonl") == ["Which?"]
    repo.ok("archive", "parser")
    assert texts(repo, f".agent/execplans/archive/{NAME}/comments.jsonl") == ["Which?"]
    assert open_texts(repo) == ["Which?"]


def test_without_git_no_attributes_are_written(plain: Folder) -> None:
    plain.plan()
    plain.ok("comment", "Which?")
    assert [path.name for path in (plain.path / FILE).parent.iterdir()] == ["comments.jsonl"]


def test_attributes_of_others_are_kept(repo: Folder) -> None:
    repo.plan()
    attributes = repo.write(f"{Path(FILE).parent}/.gitattributes", "*.log -text")
    repo.ok("comment", "Which?")
    repo.ok("comment", "Which?")
    assert attributes.read_text() == "*.log -text\ncomments.jsonl merge=union\n"


def test_a_link_out_of_the_repository_is_not_followed(repo: Folder, tmp_path: Path) -> None:
    repo.plan()
    outside = tmp_path / "outside.jsonl"
    outside.write_text("")
    (repo.path / FILE).parent.mkdir(parents=True)
    (repo.path / FILE).symlink_to(outside)
    result = repo.run("comment", "Which?")
    assert result.exit == 7
    assert outside.read_text() == ""
    shown = repo.run("show")
    assert shown.exit == 0
    assert "the comments can't be read" in shown.err


@pytest.mark.parametrize("name", ["comments.jsonl", ".gitattributes"])
def test_comments_are_not_written_through_a_link(repo: Folder, name: str) -> None:
    repo.plan()
    target = repo.write("src/main.py", "x = 1\n")
    link = (repo.path / FILE).with_name(name)
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    result = repo.run("comment", "Which?", "--json")
    assert (result.exit, result.json["error"]["code"]) == (7, "linked-comments")
    assert target.read_text() == "x = 1\n"
    assert repo.run("show").exit == 0


def test_a_file_that_would_be_too_large_is_an_error(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan.find(str(repo.plan()))
    plan.comment("First")
    monkeypatch.setattr(comment_file, "MAX_BYTES", 400)
    with pytest.raises(ExecplanError) as caught:
        plan.comment("x" * 500)
    assert (caught.value.code, caught.value.exit) == ("too-large", 3)
    assert texts(repo) == ["First"]


def test_the_digest_of_the_plan_is_checked(repo: Folder) -> None:
    plan = Plan.find(str(repo.plan()))
    with pytest.raises(ExecplanError) as caught:
        plan.comment("Which?", options=WriteOptions(if_match="0" * 64))
    assert (caught.value.code, caught.value.exit) == ("digest-differs", 4)
    assert not (repo.path / FILE).exists()
    plan.comment("Which?", options=WriteOptions(if_match=plan.digest))
    assert parse_records((repo.path / FILE).read_bytes()).problems == ()


def test_a_repeated_command_adds_nothing(repo: Folder) -> None:
    repo.plan()
    comment = repo.ok("comment", "Which?", "--on", "2")["id"]
    assert repo.ok("comment", "Which?", "--on", "2")["changed"] is False
    for call in (("reply", comment, "All."), ("resolve", comment)):
        assert [repo.ok(*call)["changed"] for _ in range(2)] == [True, False]
    assert texts(repo) == ["Which?", "All.", ""]
    assert repo.ok("comment", "Which?", "--on", "2")["changed"] is True
    assert repo.ok("comment", "Which?", "--on", "2", "--as", "Bob")["changed"] is True
    assert repo.ok("comment", "Which?", "--on", "3")["changed"] is True
    assert len(texts(repo)) == 6


@pytest.mark.parametrize("obstacle", ["file", "link", "broken link"])
@pytest.mark.parametrize("command", [("comment", "Which?"), ("done", "2", "--verify", "--yes")])
def test_what_is_in_the_way_of_the_artifacts_is_named(
    repo: Folder, tmp_path: Path, obstacle: str, command: tuple[str, ...]
) -> None:
    repo.plan(CLEAN.replace("- [ ] Build the parser.", "- [ ] Build the parser.\n  - Check: `true`"))
    path = repo.path / ".agent/execplans/artifacts/2026-01-01_parser"
    path.parent.mkdir(exist_ok=True)
    if obstacle == "file":
        path.write_text("x")
    else:
        path.symlink_to(tmp_path if obstacle == "link" else tmp_path / "gone")
    result = repo.run(*command)
    assert result.exit in (3, 7), result
    assert "not a directory" in result.err if obstacle == "file" else "outside of the repository" in result.err
    assert "artifacts/2026-01-01_parser" in result.err
    assert "- [ ] Build the parser." in (repo.path / ".agent/execplans/2026-01-01_parser.md").read_text()
    # The approval of a check, where it needs one, is in the user's state directory.
    assert {entry.name for entry in tmp_path.iterdir()} <= {repo.path.name, "state-home"}
