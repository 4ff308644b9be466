"""Files attached to a plan."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from execplan.core.files.file_lock import FileLock
from tests.conftest import Folder
from tests.plans import CLEAN, with_sections

ARTIFACTS = ".agent/execplans/artifacts/2026-01-01_parser"


def names(repo: Folder) -> list[str]:
    folder = repo.path / ARTIFACTS
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_a_file_is_copied_and_named(repo: Folder) -> None:
    path = repo.plan()
    content = bytes(range(256)) * 5000
    repo.write("out/run.log", content)
    data = repo.ok("attach", "out/run.log", "--about", "The failing run.")
    digest = hashlib.sha256(content).hexdigest()
    assert data["files"] == [{"path": f"{ARTIFACTS}/run.log", "sha256": digest, "bytes": len(content), "copied": True}]
    assert (repo.path / ARTIFACTS / "run.log").read_bytes() == content
    line = f"- `{ARTIFACTS}/run.log`: The failing run. (1,280,000 bytes, sha256 {digest[:16]})"
    assert path.read_text() == CLEAN.replace("None so far.", line)


def test_the_same_content_once(repo: Folder) -> None:
    path = repo.plan()
    repo.write("a.log", "one\n")
    repo.write("b/c.log", "one\n")
    repo.ok("attach", "a.log")
    text = path.read_text()
    data = repo.ok("attach", "a.log", "b/c.log")
    assert data["changed"] is False
    assert [file["copied"] for file in data["files"]] == [False, False]
    assert path.read_text() == text
    assert names(repo) == ["a.log"]


def test_another_content_of_the_same_name(repo: Folder) -> None:
    repo.plan()
    repo.write("a.log", "one\n")
    repo.write("b/A.log", "two\n")
    repo.write("c/a.log", "three\n")
    repo.ok("attach", "a.log", "b/A.log")
    repo.ok("attach", "c/a.log")
    assert names(repo) == ["A-2.log", "a-3.log", "a.log"]
    assert (repo.path / ARTIFACTS / "A-2.log").read_text() == "two\n"


def test_twice_in_one_call_is_once(repo: Folder) -> None:
    path = repo.plan()
    repo.write("a.log", "one\n")
    repo.ok("attach", "a.log", "a.log", "./a.log")
    assert names(repo) == ["a.log"]
    assert path.read_text().count("sha256") == 1


def test_dry_run_copies_nothing(repo: Folder) -> None:
    path = repo.plan()
    repo.write("a.log", "one\n")
    data = repo.ok("attach", "a.log", "--dry-run")
    assert "a.log" in data["diff"]
    assert not (repo.path / ".agent/execplans/artifacts").exists()
    assert path.read_text() == CLEAN


def test_commit_holds_plan_and_file(repo: Folder) -> None:
    repo.plan()
    repo.write("a.log", "one\n")
    repo.ok("attach", "a.log", "--commit")
    changed_files = repo.git("show", "--name-only", "--format=").split()
    assert changed_files == [".agent/execplans/2026-01-01_parser.md", f"{ARTIFACTS}/a.log"]
    assert repo.git("status", "--porcelain") == "?? a.log\n"


@pytest.mark.parametrize("what", ["missing.log", "folder", "pipe"])
def test_what_is_no_file_is_refused_and_nothing_is_copied(repo: Folder, what: str) -> None:
    path = repo.plan()
    repo.write("a.log", "one\n")
    (repo.path / "folder").mkdir()
    os.mkfifo(repo.path / "pipe")
    assert repo.run("attach", "a.log", what).exit == 3
    assert names(repo) == []
    assert path.read_text() == CLEAN


def test_a_plan_that_refuses_gets_no_file(repo: Folder) -> None:
    repo.write("a.log", "one\n")
    path = repo.plan(CLEAN + "\n<<<<<<< ours\n=======\n>>>>>>> theirs\n")
    text = path.read_text()
    assert repo.run("attach", "a.log").exit == 3
    assert repo.run("attach", "a.log", "--if-match", "0" * 64).exit == 4
    assert names(repo) == []
    assert path.read_text() == text


def test_a_failed_commit_keeps_both(repo: Folder) -> None:
    path = repo.plan()
    repo.write("a.log", "one\n")
    hook = repo.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    assert repo.run("attach", "a.log", "--commit").exit == 6
    assert names(repo) == ["a.log"]
    assert f"{ARTIFACTS}/a.log" in path.read_text()
    assert repo.git("diff", "--cached", "--name-only") == ""


def test_section_that_is_missing(repo: Folder) -> None:
    path = repo.plan("# Build\n\n## Progress\n\n- [ ] Read lines\n")
    repo.write("a.log", "one\n")
    assert repo.run("attach", "a.log").exit == 3
    assert names(repo) == []
    repo.ok("attach", "a.log", "--create")
    assert "## Artifacts and Notes\n\n- `" in path.read_text()


def test_a_plan_that_is_archived_while_its_file_is_copied(repo: Folder) -> None:
    path = repo.plan(CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)"))
    repo.write(f"{ARTIFACTS}/old.log", "old\n")
    repo.write("a.log", "one\n")
    lock = repo.path / ".git/execplan/locks/project.lock"
    lock.parent.mkdir(parents=True)
    with FileLock(str(lock), "the test"):
        running = repo.start("attach", "a.log")
        while not list(path.parent.rglob("*.tmp")):
            assert running.poll() is None
        archived = repo.path / ".agent/execplans/archive"
        (archived / "artifacts").mkdir(parents=True)
        (repo.path / ARTIFACTS).rename(archived / "artifacts" / path.stem)
        path.rename(archived / path.name)
    _, trouble = running.communicate()
    assert (running.returncode, b"was moved or removed" in trouble) == (4, True)
    assert not (repo.path / ARTIFACTS).exists()
    assert [path.name for path in (archived / "artifacts" / path.stem).iterdir()] == ["old.log"]
    assert not list(path.parent.rglob("*.tmp"))


def test_twenty_at_once(repo: Folder) -> None:
    path = repo.plan(with_sections("## Artifacts and Notes\n\nNone yet.\n"))
    for number in range(20):
        repo.write(f"{number}/run.log", f"{number}\n" if number % 2 else "same\n")
    ends = [result.exit for result in repo.run_at_once([("attach", f"{number}/run.log") for number in range(20)])]
    contents = sorted(Path(repo.path / ARTIFACTS / name).read_text() for name in names(repo))
    assert set(ends) == {0}
    assert contents == sorted(["same\n"] + [f"{number}\n" for number in range(1, 20, 2)])
    assert path.read_text().count("sha256") == 11


def test_what_is_named_already_is_not_named_again(repo: Folder) -> None:
    path = repo.plan()
    repo.write("a.log", "one\n")
    repo.ok("attach", "a.log", "--about", "The log.")
    text = path.read_text()
    for arguments in (["attach", "a.log"], ["attach", "a.log", "--about", "Other words."]):
        assert repo.ok(*arguments)["changed"] is False
        assert path.read_text() == text


def test_a_refusal_leaves_no_folder(repo: Folder) -> None:
    path = repo.plan()
    path.chmod(0o444)
    repo.write("a.log", "one\n")
    assert repo.run("attach", "a.log").exit == 6
    assert not (repo.path / ARTIFACTS).exists()
