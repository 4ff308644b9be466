"""Steps of a change that was tried: they make the same bytes, and what is reverted can be had again."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from execplan.core.plan.reader import read_text
from execplan.core.text.text_lines import Text, apply_edits
from execplan.execution.tried_changes.change_reader import TriedChange, TriedFile
from execplan.execution.tried_changes.change_steps import write_steps
from tests.conftest import Folder
from tests.plans import CLEAN, STEPS

PLAN = CLEAN.replace("`make test` prints `12 passed`.", "look around.").replace("`make test` passes.", "It works.")


def tried(path: str, before: bytes | None, after: bytes | None, mode: int = 0o644) -> TriedChange:
    """A change of one file."""
    return TriedChange((TriedFile(path, before, after, 0o644, mode),), ())


FILES: dict[str, tuple[bytes | None, bytes | None, str]] = {
    "a new file": (None, b"a\n", "create_file"),
    "an empty file": (None, b"", "create_file"),
    "no final newline": (None, b"a", "refactor_code"),
    "a fence in it": (None, b"```sh\nmake\n```\n~~~~\n", "create_file"),
    "a new line": (b"a\nb\n", b"a\nx\nb\n", "modify_file"),
    "blank lines and spaces": (b"a\n\n  \nb \n", b"a\n\n  \nc \n", "modify_file"),
    "CRLF": (b"a\r\nb\r\n", b"a\r\nc\r\n", "modify_file"),
    "another final newline": (b"a\nb", b"a\nb\n", "modify_file"),
    "all lines": (b"a\n", b"--- b\n+++ c\n@@ -1 +1 @@\n", "modify_file"),
    "a removed file": (b"a\n", None, "delete_file"),
    "a new file with CRLF": (None, b"a\r\nb\r\n", ""),
    "mixed line ends": (b"a\r\nb\n", b"a\r\nc\r\n", ""),
    "not UTF-8": (b"a\n", b"\xff\n", ""),
}


@pytest.mark.parametrize("name", FILES)
def test_a_step_is_written_only_if_it_makes_these_bytes(name: str) -> None:
    before, after, kind = FILES[name]
    plan = read_text(Text.from_str(PLAN))
    result = write_steps(plan, tried("src/x y.txt", before, after))
    assert [step.type for step in result.steps] == ([kind] if kind else [])
    assert [file.path for file in result.left] == ([] if kind else ["src/x y.txt"])
    assert bool(result.change.edits) == bool(kind)


def test_the_steps_come_first_and_are_bound_to_the_task_that_names_the_file() -> None:
    plan = read_text(Text.from_str(STEPS.replace("- [ ] ", "- [ ] Change `src/a.py`: ", 1)))
    result = write_steps(plan, tried("src/a.py", b"a\n", b"b\n"))
    text = apply_edits(plan.text, result.change.edits).to_str()
    assert text.index("#edit-src-a-py type=modify_file target=src/a.py task=") < text.index("#build")
    assert result.steps[0].task.startswith("Change `src/a.py`:")
    assert write_steps(read_text(Text.from_str(text)), tried("src/a.py", b"a\n", b"b\n")).change.edits == ()
    other = read_text(Text.from_str(STEPS.replace("- [ ] ", "- [ ] Change `lib/src/a.py.bak`: ", 1)))
    assert write_steps(other, tried("src/a.py", b"a\n", b"b\n")).steps[0].task == ""


def prepare(repo: Folder, text: str = PLAN) -> Path:
    """A repository with files, a plan, and a change that is not committed."""
    (repo.path / "src").mkdir()
    (repo.path / "src" / "a.py").write_text("def f():\n    return 1\n")
    (repo.path / "gone.txt").write_text("gone\n")
    (repo.path / "data.bin").write_bytes(b"\0\1")
    plan = repo.plan(text)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "start")
    (repo.path / "src" / "a.py").write_text("def f():\n    return 2\n")
    (repo.path / "gone.txt").unlink()
    (repo.path / "data.bin").write_bytes(b"\0\2")
    script = repo.path / "new.sh"
    script.write_text("#!/bin/sh\necho a\n")
    script.chmod(0o755)
    return plan


def tree(repo: Folder) -> dict[str, tuple[bytes, int]]:
    """All files apart from plans."""
    return {
        path.relative_to(repo.path).as_posix(): (path.read_bytes(), path.stat().st_mode)
        for path in repo.path.rglob("*")
        if path.is_file() and not {".git", ".agent"} & set(path.relative_to(repo.path).parts)
    }


@pytest.mark.parametrize("is_intended", [False, True])
def test_what_is_reverted_can_be_had_again_and_the_steps_make_it(repo: Folder, is_intended: bool) -> None:
    plan = prepare(repo)
    if is_intended:
        repo.git("add", "--intent-to-add", "new.sh")
    changed = tree(repo)
    text = plan.read_text()
    previewed = repo.run("compile", "--from-diff", "--restore", "--dry-run")
    assert "would revert 3 files" in previewed.out
    assert (plan.read_text(), tree(repo)) == (text, changed)
    written = repo.ok("compile", "--from-diff", "--restore")
    assert [(step["path"], step["type"]) for step in written["written"]] == [
        ("gone.txt", "delete_file"),
        ("new.sh", "refactor_code"),
        ("src/a.py", "modify_file"),
    ]
    assert [(file["path"], file["why"]) for file in written["left_files"]] == [("data.bin", "is binary")]
    assert repo.git("status", "--porcelain", "--", ":(exclude).agent").split() == ["M", "data.bin"]
    document = repo.ok("compile")
    assert [step["id"] for step in document["steps"]] == ["delete-gone-txt", "add-new-sh", "edit-src-a-py"]
    digest = repo.ok("evaluate")["digest"]
    repo.ok("approve", "--digest", digest)
    assert repo.run("run").exit == 0
    assert tree(repo) == changed
    assert repo.run("rollback").exit == 0
    assert "of a tried change, which is stashed" in repo.run("undo", "--list").out
    repo.git("stash", "apply", "-q", written["stash"])
    assert tree(repo) == changed


def test_a_change_whose_steps_are_written_can_be_reverted_later_and_by_many_at_once(repo: Folder) -> None:
    prepare(repo, PLAN.replace("- [ ] ", "- [ ] Change `src/a.py`: ", 1))
    changed = tree(repo)
    first = repo.run("compile", "--from-diff", "--json").json["next"]
    assert [command.partition(" --")[2] for command in first] == ["from-diff --restore"], (
        "its steps would repeat the change"
    )
    assert repo.ok("compile", "--from-diff", "--dry-run")["written"] == []
    assert tree(repo) == changed
    for command in ("next", "compile", "evaluate"):
        assert "still in the working tree (gone.txt, new.sh, src/a.py), so its steps" in repo.run(command).out, command
        assert repo.run(command, "--json").json["next"] == first, command
    results = repo.run_at_once([["compile", "--from-diff", "--restore", "--json"]] * 4)
    assert [result.exit for result in results] == [0] * 4
    stashes = [result.json["data"]["stash"] for result in results if result.json["data"]["stash"]]
    assert len(stashes) == 1, "the others find only what has no step"
    assert len(repo.git("stash", "list").splitlines()) == 1
    assert "still in the working tree" not in repo.run("next").out + repo.run("compile").out
    assert f"git stash apply {stashes[0][:12]}" in repo.run("undo").out
    repo.git("stash", "apply", "-q", stashes[0])
    assert tree(repo) == changed


def test_only_what_is_staged(repo: Folder) -> None:
    prepare(repo)
    repo.git("add", "src/a.py")
    assert [step["path"] for step in repo.ok("compile", "--from-diff", "--staged", "--dry-run")["written"]] == [
        "src/a.py"
    ]
    (repo.path / "src" / "a.py").write_text("def f():\n    return 3\n")
    refused = repo.run("compile", "--from-diff", "--staged", "--restore", "--json").json["error"]
    assert (refused["code"], refused["candidates"]) == ("partly-staged", ["src/a.py"])
    assert repo.git("stash", "list") == ""


def test_a_range_of_commits(repo: Folder) -> None:
    prepare(repo)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "change")
    assert repo.run("compile", "--from-diff").exit == 1
    paths = [step["path"] for step in repo.ok("compile", "--from-diff=HEAD~..HEAD")["written"]]
    assert paths == ["gone.txt", "new.sh", "src/a.py"]
    assert repo.run("compile", "--from-diff=HEAD~..HEAD", "--restore").exit == 2
    assert repo.run("compile", "--restore").exit == 2
    assert repo.run("compile", "--from-diff=--output=x").exit == 2
    for revisions in ("nowhere..HEAD", "HEAD...nowhere", "nowhere"):
        error = repo.run("compile", f"--from-diff={revisions}", "--json").json["error"]
        assert (error["code"], error["message"]) == ("no-such-revision", "'nowhere' does not name a commit")


def test_a_repository_without_a_commit(plain: Folder) -> None:
    subprocess.run(["git", "init", "-q"], cwd=plain.path, check=True)
    plain.plan(PLAN)
    assert plain.run("compile", "--from-diff", "--json").json["error"]["code"] == "no-commits"
