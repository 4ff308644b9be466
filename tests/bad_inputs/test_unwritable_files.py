"""Bad inputs 36, 37 and 42: files and folders that can't be written, and file systems without locks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_contract import CALLS, WRITERS
from tests.conftest import Folder
from tests.needs import need
from tests.plans import CLEAN

pytestmark = pytest.mark.exhaustive

COMPLETE_PLAN = CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)")


def run_unprivileged(folder: Folder, *arguments: str) -> tuple[int, str]:
    """Run execplan as somebody to whom permissions apply; root is made one."""
    command = [sys.executable, "-m", "execplan", *arguments]
    if os.geteuid() == 0:
        need("setpriv")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    completed = subprocess.run(
        command, cwd=folder.path, env=folder.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
    )
    return completed.returncode, completed.stderr.decode()


def tree(root: Path) -> dict[str, bytes]:
    """Every file but those of git."""
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file() and ".git" not in path.parts}


@pytest.mark.parametrize("verb", WRITERS)
def test_36_read_only_file(repo: Folder, verb: str) -> None:
    path = repo.plan()
    path.chmod(0o444)
    status, err = run_unprivileged(repo, *CALLS[verb])
    assert status == 6
    assert "2026-01-01_parser.md is read-only" in err
    assert "chmod u+w" in err
    assert path.read_text() == CLEAN
    assert path.stat().st_mode & 0o777 == 0o444
    assert run_unprivileged(repo, "undo")[0] == 1


def test_36_an_unreadable_file(repo: Folder) -> None:
    path = repo.plan()
    path.chmod(0o000)
    status, err = run_unprivileged(repo, "done", "2")
    path.chmod(0o644)
    assert status == 6
    assert "permission denied" in err
    assert path.read_text() == CLEAN


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a file to somebody else")
def test_36_the_owner_is_kept(repo: Folder) -> None:
    path = repo.plan()
    os.chown(path, 12345, 23456)
    repo.ok("done", "2")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_36_modes_are_kept(repo: Folder) -> None:
    path = repo.plan()
    for mode in (0o600, 0o664, 0o755):
        path.chmod(mode)
        repo.ok("add", f"Mode {mode}")
        assert path.stat().st_mode & 0o777 == mode
        repo.ok("undo")
        assert path.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize(
    "call", [CALLS["done"], CALLS["attach"], ("archive",), ("rename", "parser", "Scanner"), ("new", "X")]
)
def test_37_read_only_folder(repo: Folder, call: tuple[str, ...]) -> None:
    path = repo.plan(COMPLETE_PLAN if call == ("archive",) else CLEAN)
    before = tree(repo.path)
    path.parent.chmod(0o555)
    status, err = run_unprivileged(repo, *call)
    path.parent.chmod(0o755)
    assert status == 6, err
    assert "permission denied" in err
    assert "hint: check the permissions; nothing was changed" in err
    assert tree(repo.path) == before


def test_37_read_only_archive(repo: Folder) -> None:
    repo.plan(COMPLETE_PLAN)
    repo.write(".agent/execplans/artifacts/2026-01-01_parser/run.log", "ok\n")
    archive = repo.path / ".agent/execplans/archive"
    (archive / "artifacts").mkdir(parents=True)
    before = tree(repo.path)
    archive.chmod(0o555)
    status, err = run_unprivileged(repo, "archive")
    archive.chmod(0o755)
    assert status == 6, err
    assert tree(repo.path) == before
    assert repo.ok("archive")["changed"] is True


def test_37_read_only_git_folder(repo: Folder) -> None:
    path = repo.plan()
    (repo.path / ".git").chmod(0o555)
    status, err = run_unprivileged(repo, "done", "2")
    (repo.path / ".git").chmod(0o755)
    assert status == 6
    assert ".git/execplan" in err
    assert path.read_text() == CLEAN


def test_a_site_of_a_read_only_repository(repo: Folder, tmp_path: Path) -> None:
    """It can be built elsewhere; in the repository, an error says so."""
    repo.plan()
    directories = [repo.path, repo.path / ".agent", repo.path / ".git"]
    for directory in directories:
        directory.chmod(0o555)
    site = tmp_path / "site"
    inside = run_unprivileged(repo, "site")
    outside = run_unprivileged(repo, "site", "--out", str(site))
    for directory in directories:
        directory.chmod(0o755)
    assert inside[0] == 6
    assert inside[1].splitlines()[-1] == "hint: choose a directory that you can write: execplan site --out DIR"
    assert outside[0] == 0, outside[1]
    assert "the site is not locked" in outside[1]
    assert (site / "index.html").is_file()


def test_a_chart_of_a_read_only_repository(repo: Folder, tmp_path: Path) -> None:
    """It can be written elsewhere; in the repository, an error names the file."""
    repo.plan()
    directories = [repo.path, repo.path / ".agent", repo.path / ".git"]
    for directory in directories:
        directory.chmod(0o555)
    inside = run_unprivileged(repo, "stats", "--chart", "age", "--svg", "age.svg")
    outside = run_unprivileged(repo, "stats", "--chart", "age", "--svg", str(tmp_path / "age.svg"))
    for directory in directories:
        directory.chmod(0o755)
    assert inside[0] == 6
    assert "age.svg" in inside[1]
    assert outside == (0, "")
    assert (tmp_path / "age.svg").read_bytes().startswith(b"<svg ")


@pytest.mark.parametrize("name", ["ENOLCK", "EOPNOTSUPP", "ENOSYS"])
def test_42_no_locks(repo: Folder, name: str) -> None:
    path = repo.plan()
    repo.write(
        "patched/sitecustomize.py",
        f"import errno, fcntl\n\n\ndef flock(*_):\n    raise OSError(errno.{name}, 'no locks')\n\n\nfcntl.flock = flock\n",
    )
    patched = os.pathsep.join([str(repo.path / "patched"), *filter(None, [repo.env.get("PYTHONPATH")])])
    result = repo.run("done", "2", "--json", PYTHONPATH=patched)
    assert result.exit == 6
    error = result.json["error"]
    assert error["code"] == "no-locks"
    assert ".git/execplan/locks" in error["message"]
    assert path.read_text() == CLEAN
    assert repo.run("show", PYTHONPATH=patched).exit == 0
