"""Bad inputs 43 to 46 and 52: no git, a bare repository, a held index, a hook that refuses, odd names, staged files."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.bad_inputs.assertions import WRITERS, checked_output, ok
from tests.plans import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder

pytestmark = pytest.mark.exhaustive

TICKED_PLAN = CLEAN.replace("- [ ] Build", "- [x] (2026-01-01 00:00Z) Build")
NAMES = (
    "-p.md",
    "--help.md",
    ":(top)x.md",
    ":!x.md",
    "*.md",
    "[a].md",
    "a\nb.md",
    "a b, c.md",
    "é.md",
    '"q".md',
    "\\.md",
)


class Staged(NamedTuple):
    """What a user has staged and what is on disk, our plan left out."""

    entries: list[str]
    status: list[str]
    files: dict[str, bytes]


def stage_changes(folder: Folder) -> None:
    """Stage a new file, an edit with a further edit on top, a deletion, a mode and an intent to add."""
    for name in ("edited.txt", "gone.txt", "mode.sh"):
        folder.write(name, f"{name}\n")
    folder.git("add", "-A", "--", "edited.txt", "gone.txt", "mode.sh")
    folder.git("commit", "-q", "-m", "Files", "--", "edited.txt", "gone.txt", "mode.sh")
    folder.write("edited.txt", "staged\n")
    folder.write("new.txt", "new\n")
    (folder.path / "mode.sh").chmod(0o755)
    folder.git("add", "edited.txt", "new.txt", "mode.sh")
    folder.git("rm", "-q", "gone.txt")
    folder.write("edited.txt", "staged, then edited\n")
    folder.write("later.txt", "later\n")
    folder.git("add", "-N", "later.txt")
    folder.write("untracked.txt", "untracked\n")


def staged(folder: Folder) -> Staged:
    """The user's part of the index and of the working tree."""
    entries = [line for line in folder.git("ls-files", "-s", "-z").split("\0") if line and ".agent" not in line]
    status = [line for line in folder.git("status", "--porcelain", "-z").split("\0") if line and ".agent" not in line]
    files = {path.name: path.read_bytes() for path in folder.path.iterdir() if path.is_file()}
    return Staged(entries, status, files)


def commits(folder: Folder) -> int:
    """How many commits there are."""
    return int(folder.git("rev-list", "--count", "HEAD"))


def committed(folder: Folder) -> list[str]:
    """The paths of the last commit."""
    return [
        name
        for name in folder.git("show", "--format=", "--name-only", "--no-renames", "-z", "HEAD").split("\0")
        if name
    ]


def commit_plan(folder: Folder, content: str = CLEAN, name: str = "2026-01-01_parser") -> Path:
    """Put a plan into the home, committed."""
    path = folder.plan(content, name)
    folder.git("--literal-pathspecs", "add", "--", str(path))
    folder.git("--literal-pathspecs", "commit", "-q", "-m", "Plan", "--", str(path))
    return path


def install_hook(folder: Folder, name: str, script: str) -> None:
    """Install a hook."""
    folder.write(f".git/hooks/{name}", f"#!/bin/sh\n{script}\n").chmod(0o755)


def test_43_no_repository(plain: Folder) -> None:
    """Without git every edit works; a commit is refused, and the edit is on disk."""
    path = plain.plan()
    for writer in WRITERS:
        plain.ok(*writer)
    path.write_text(CLEAN, encoding="utf-8")
    result = plain.run("done", "2", "--commit")
    assert result.exit == 6, result
    assert "is not a git repository" in checked_output(result)
    assert "on disk" in result.err
    assert "git init" in result.err
    assert path.read_bytes() == TICKED_PLAN.encode()
    for command in (("commit",), ("commit", "parser"), ("new", "Lexer", "--commit")):
        document = plain.run(*command, "--json")
        assert document.exit == 6, document
        assert "is not a git repository" in document.json["error"]["message"]
        assert document.json["error"]["hint"].startswith("create one: git init, then: execplan commit ")
        checked_output(document)
    assert path.read_bytes() == TICKED_PLAN.encode()


def test_43_git_is_not_installed(repo: Folder, tmp_path: Path) -> None:
    """In a repository on a machine without git, edits work and a commit says what is missing."""
    path = commit_plan(repo)
    empty = tmp_path / "bin"
    empty.mkdir()
    for writer in (("done", "2"), ("decide", "A.", "--why", "B."), ("new", "Lexer")):
        result = repo.run(*writer, PATH=str(empty), EXECPLAN_AUTHOR="")
        assert result.exit == 0, checked_output(result)
    for command in (("done", "3", "-p", "parser", "--commit"), ("commit", "parser")):
        result = repo.run(*command, PATH=str(empty))
        assert result.exit == 6, result
        assert "git is not installed" in checked_output(result)
    assert b"[x] (2026-01-01 00:00Z) Write" in path.read_bytes()
    assert repo.run("show", "parser", PATH=str(empty)).exit == 0


@pytest.mark.parametrize("place", ["", "objects", "refs/heads"])
def test_44_bare_repository(plain: Folder, place: str) -> None:
    """In a bare repository every verb that needs a home says that there is no working tree."""
    plain.git("init", "-q", "--bare", ".")
    before = sorted(path.name for path in plain.path.iterdir())
    commands: list[tuple[str, ...]] = [("init",), ("new", "Lexer"), ("list",), ("status",), ("show", "x"), ("commit",)]
    for command in (*commands, ("next",), ("lint",), *WRITERS):
        result = plain.run(*command, cwd=plain.path / place)
        assert result.exit == 6, result
        assert "bare repository" in checked_output(result)
        assert "hint: run this in a clone of it" in result.err
    assert sorted(path.name for path in plain.path.iterdir()) == before


def test_44_inside_the_git_folder(repo: Folder) -> None:
    """Inside `.git` there is no working tree either."""
    result = repo.run("new", "Lexer", cwd=repo.path / ".git")
    assert result.exit == 6
    assert f"hint: run this in the working tree: {repo.path}\n" in checked_output(result)


def test_45_index_lock_is_waited_for(repo: Folder) -> None:
    """A commit waits until another process lets go of the index."""
    path = commit_plan(repo)
    lock = repo.write(".git/index.lock", "")
    threading.Timer(2, lock.unlink).start()
    begin = monotonic()
    assert repo.ok("done", "2", "--commit")["commit"]
    assert monotonic() - begin > 1.5
    assert repo.git("show", f"HEAD:.agent/execplans/{path.name}") == TICKED_PLAN


@pytest.mark.parametrize("tracked", [True, False])
def test_45_index_lock_is_held(repo: Folder, tracked: bool) -> None:
    """A commit that can't have the index in time ends busy: edit kept, lock kept, staged files as they were."""
    path = commit_plan(repo) if tracked else repo.plan()
    stage_changes(repo)
    before, count = staged(repo), commits(repo)
    lock = repo.write(".git/index.lock", "held")
    begin = monotonic()
    result = repo.run("done", "2", "--commit", "--lock-timeout", "1.5")
    assert monotonic() - begin > 1.5
    assert result.exit == 5, result
    assert "waited 1.5 s" in result.err
    assert "index.lock" in checked_output(result)
    assert "on disk" in result.err
    assert path.read_bytes() == TICKED_PLAN.encode()
    assert lock.read_bytes() == b"held"
    lock.unlink()
    assert (staged(repo), commits(repo)) == (before, count)
    assert not repo.git("diff", "--cached", "--name-only", "--", ".agent")
    assert repo.ok("commit")["commit"]
    assert committed(repo) == [f".agent/execplans/{path.name}"]
    assert staged(repo) == before


def test_45_index_lock_stops_no_edit(repo: Folder) -> None:
    """Without a commit the index is none of our business."""
    path = commit_plan(repo)
    repo.write(".git/index.lock", "held")
    begin = monotonic()
    repo.ok("done", "2")
    assert repo.run("status").exit == repo.run("lint").exit == 0
    assert monotonic() - begin < 8
    assert path.read_bytes() == TICKED_PLAN.encode()


@pytest.mark.parametrize("name", ["pre-commit", "commit-msg", "prepare-commit-msg"])
@pytest.mark.parametrize("tracked", [True, False])
def test_46_hook_refuses(repo: Folder, name: str, tracked: bool) -> None:
    """A hook that refuses: its words are shown, the edit is kept, nothing of ours stays staged, the user's does."""
    path = commit_plan(repo) if tracked else repo.plan()
    stage_changes(repo)
    before, count = staged(repo), commits(repo)
    install_hook(repo, name, "echo 'no plans on Fridays' >&2; exit 1")
    for command in (("done", "2", "--commit"), ("commit",), ("add", "Ship it.", "--commit", "--json")):
        result = repo.run(*command)
        assert result.exit == 6, result
        assert "no plans on Fridays" in checked_output(result)
        assert "on disk" in result.out + result.err
        assert (staged(repo), commits(repo)) == (before, count)
        assert not repo.git("diff", "--cached", "--name-only", "--", ".agent")
        assert not repo.git("ls-files", "--", ".agent") or tracked
    assert path.read_bytes() == TICKED_PLAN.replace("tests.\n", "tests.\n- [ ] Ship it.\n", 1).encode()
    (repo.path / ".git" / "hooks" / name).unlink()
    assert repo.ok("commit")["commit"]
    assert staged(repo) == before


def test_46_hook_refuses_a_new_plan_and_an_archive(repo: Folder) -> None:
    """`new` and `archive` keep what they did, uncommitted and unstaged."""
    path = commit_plan(repo, CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)"))
    repo.write(".agent/execplans/artifacts/2026-01-01_parser/log.txt", "x")
    stage_changes(repo)
    before = staged(repo)
    install_hook(repo, "pre-commit", "exit 1")
    assert repo.run("new", "Lexer", "--commit").exit == 6
    assert repo.run("archive", "parser", "--commit").exit == 6
    assert staged(repo) == before
    assert not repo.git("diff", "--cached", "--name-only", "--", ".agent")
    assert not path.exists()
    assert (path.parent / "2026-01-01_lexer.md").exists()
    assert (path.parent / "archive" / path.name).exists()
    (repo.path / ".git" / "hooks" / "pre-commit").unlink()
    assert repo.ok("commit", "parser")["commit"]
    assert len(committed(repo)) == 4
    assert staged(repo) == before


def test_46_every_line_of_a_hook_is_shown(repo: Folder) -> None:
    """A hook that stops a commit is named as such, and its own lines are printed one below the other."""
    commit_plan(repo)
    script = "for at in 1 2 3 4 5 6 7 8; do echo line $at; done; echo; echo 'a; b' >&2; exit 3"
    install_hook(repo, "pre-commit", script)
    refused = repo.run("done", "2", "--commit")
    assert refused.exit == 6
    lines = refused.err.splitlines()
    assert lines[0] == (
        "execplan: a git hook stopped the commit (exit status 1); the changes are on disk but not committed"
    )
    assert {"  a; b", *[f"  line {at}" for at in range(1, 9)]} <= set(lines)
    assert lines[-1] == "hint: fix what the hook reports, then: execplan commit 2026-01-01_parser"
    install_hook(repo, "pre-commit", "seq 1 1000; exit 1")
    error = repo.run("done", "3", "--commit", "--json").json["error"]
    assert error["candidates"] == [
        "(800 earlier lines are not shown)",
        *[str(number) for number in range(801, 1001)],
    ]
    install_hook(repo, "pre-commit", "exit 1")
    assert "the hook printed nothing" in repo.run("commit").err
    install_hook(repo, "pre-commit", "exit 0")
    nobody = repo.run("commit", GIT_AUTHOR_NAME="", GIT_COMMITTER_NAME="")
    assert nobody.exit == 6
    assert "git commit failed" in nobody.err
    assert "set your identity: git config user.name" in nobody.err


def test_52_staged_files_stay_staged(repo: Folder) -> None:
    """No writer's commit takes anything of what the user has staged."""
    path = commit_plan(repo)
    stage_changes(repo)
    before = staged(repo)
    for writer in WRITERS:
        count = commits(repo)
        assert repo.ok(*writer, "--commit")["commit"] == repo.git("rev-parse", "HEAD").strip()
        assert commits(repo) == count + 1
        assert committed(repo) == [f".agent/execplans/{path.name}"]
        assert staged(repo) == before
    new_plan = repo.ok("new", "Lexer", "--commit")
    assert committed(repo) == [new_plan["path"]]
    repo.write(f"{new_plan['artifacts']}/log.txt", "x")
    repo.ok("commit", "lexer")
    assert committed(repo) == [f"{new_plan['artifacts']}/log.txt"]
    repo.ok("archive", "lexer", "--force", "--reason", "Enough.", "--commit")
    assert len(committed(repo)) == 5
    assert staged(repo) == before
    assert not repo.git("status", "--porcelain", "--", ".agent")


def test_52_partly_staged_plan(repo: Folder) -> None:
    """What is staged of the plan itself and differs from the file is not swept into our commit."""
    path = commit_plan(repo)
    path.write_text(CLEAN.replace("Lines can", "Staged lines can"), encoding="utf-8")
    repo.git("add", "--", str(path))
    path.write_text(CLEAN, encoding="utf-8")
    stage_changes(repo)
    before, index, count = staged(repo), repo.git("ls-files", "-s"), commits(repo)
    result = repo.run("done", "2", "--commit")
    assert result.exit == 1, result
    assert "staged" in checked_output(result)
    assert path.read_bytes() == TICKED_PLAN.encode()
    assert (staged(repo), repo.git("ls-files", "-s"), commits(repo)) == (before, index, count)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tracked", [True, False])
def test_52_odd_names(repo: Folder, name: str, tracked: bool) -> None:
    """A plan's name is a name, whatever git or a shell might read in it."""
    other_plan = commit_plan(repo)
    path = commit_plan(repo, name=name[:-3]) if tracked else repo.plan(name=name[:-3])
    stage_changes(repo)
    before = staged(repo)
    other_plan.write_text(CLEAN + "\nEdited.\n", encoding="utf-8")
    assert ok(repo, "done", "2", "-p", name[:-3], "--commit")["commit"]
    assert committed(repo) == [f".agent/execplans/{name}"]
    assert repo.git("show", "HEAD:./.agent/execplans/" + name) == TICKED_PLAN
    assert path.read_bytes() == TICKED_PLAN.encode()
    assert ok(repo, "add", "Ship it.", f"--plan={path}", "--commit")["commit"]
    assert committed(repo) == [f".agent/execplans/{name}"]
    assert len(repo.git("log", "-1", "--format=%B").strip().splitlines()) == 1
    assert ok(repo, "show", "--", name[:-3])["path"] == f".agent/execplans/{name}"
    moved = ok(repo, "archive", "--commit", "--force", "--reason", "Enough.", "--", name[:-3])
    assert moved["commit"]
    evidence = f".agent/execplans/archive/artifacts/{name[:-3]}/execplan-evidence.json"
    paths = [f".agent/execplans/{name}", f".agent/execplans/archive/{name}", evidence]
    assert sorted(committed(repo)) == sorted(paths)
    assert staged(repo) == before
    assert other_plan.read_bytes().endswith(b"Edited.\n")


@pytest.mark.parametrize("name", NAMES)
def test_52_odd_names_at_the_root(repo: Folder, name: str) -> None:
    """The same where nothing stands before the name, and with a hook that refuses."""
    path = repo.write(name, CLEAN)
    install_hook(repo, "pre-commit", "exit 1")
    assert repo.run("done", "2", "--commit", f"--plan=./{name}").exit == 6
    assert not repo.git("ls-files", "-z", "--", f"./{path.name}" if name[0] not in ":*[" else f":(literal){name}")
    (repo.path / ".git" / "hooks" / "pre-commit").unlink()
    assert ok(repo, "done", "3", "--commit", f"--plan=./{name}")["commit"]
    assert committed(repo) == [name]


def test_52_names_with_line_ends_take_one_line(plain: Folder) -> None:
    """A line end in a name is escaped where a line is a plan or a finding."""
    path = plain.plan(CLEAN.replace("- [ ]", "- [x]"), name="a\nactive  9-9  b")
    plain.plan(name="c")
    for command in (("list",), ("lint",), ("lint", str(path)), ("show", str(path))):
        result = plain.run(*command)
        checked_output(result)
        assert not any(line.startswith("active  9-9") for line in result.out.splitlines()), result
    assert len(plain.run("list", "-q").out.splitlines()) == 2
    assert plain.ok("list")["plans"][0]["id"] == "a\nactive  9-9  b"


def test_52_name_that_is_no_utf8(repo: Folder) -> None:
    """A name that is no UTF-8 is shown escaped, and the plan can be read, edited and committed."""
    path = repo.plan(name="caf\udce9")
    repo.env["PYTHONIOENCODING"] = "utf-8:strict"
    reading_commands: list[tuple[str, ...]] = [
        ("list",),
        ("show",),
        ("status",),
        ("lint",),
        ("list", "--json"),
        ("show", "--json"),
    ]
    for command in reading_commands:
        result = repo.run(*command)
        assert result.exit == 0, result
        checked_output(result)
    writing_commands: list[tuple[str, ...]] = [
        ("done", "2"),
        ("add", "Ship it.", "--commit"),
        ("decide", "A.", "--why", "B.", "--commit", "--json"),
    ]
    for command in writing_commands:
        result = repo.run(*command)
        assert result.exit == 0, result
        checked_output(result)
    assert b"[x] (2026-01-01 00:00Z) Build" in path.read_bytes()
    assert commits(repo) == 3


def test_31_52_commit_through_a_link(repo: Folder) -> None:
    """An edit through a link commits the file that was edited."""
    target = repo.write(".agent/notes/plan.md", CLEAN)
    path = repo.path / ".agent" / "execplans" / "2026-01-01_parser.md"
    path.symlink_to("../notes/plan.md")
    repo.git("add", ".agent")
    repo.git("commit", "-q", "-m", "Plan")
    stage_changes(repo)
    before = staged(repo)
    assert repo.ok("done", "2", "--commit")["commit"]
    assert committed(repo) == [".agent/notes/plan.md"]
    repo.ok("add", "Ship it.")
    assert repo.ok("commit")["commit"]
    assert committed(repo) == [".agent/notes/plan.md"]
    assert staged(repo) == before
    assert path.is_symlink()
    assert target.read_bytes() == TICKED_PLAN.replace("tests.\n", "tests.\n- [ ] Ship it.\n", 1).encode()


def test_52_twenty_commits_at_once(repo: Folder) -> None:
    """Twenty writers that commit at the same moment make twenty commits, and the staged files stay."""
    commit_plan(repo)
    stage_changes(repo)
    before, count = staged(repo), commits(repo)
    assert shutil.which("git")
    results = repo.run_at_once([("add", f"Step {number}.", "--commit") for number in range(20)])
    assert [result.exit for result in results] == [0] * 20, results
    assert commits(repo) == count + 20
    assert staged(repo) == before
    assert repo.ok("show")["counts"]["total"] == 23
    assert not repo.git("status", "--porcelain", "--", ".agent")


def test_52_folder_reached_through_a_link(repo: Folder) -> None:
    """A repository that is entered through a link is the same repository."""
    commit_plan(repo)
    link = repo.path.parent / "link"
    link.symlink_to(repo.path)
    completed = subprocess.run(
        [
            sys.executable,
            "-m",
            "execplan",
            "done",
            "2",
            "--commit",
            "-p",
            f"{link}/.agent/execplans/2026-01-01_parser.md",
        ],
        cwd=link,
        env={**repo.env, "PWD": str(link)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert completed.returncode == 0, completed
    assert committed(repo) == [".agent/execplans/2026-01-01_parser.md"]
