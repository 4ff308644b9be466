"""`doctor` on what the tool stands on: Python, git, and a file system that locks."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from execplan.cli.doctor import environment_checks
from execplan.cli.doctor.doctor_check import CHECKS, DoctorContext, DoctorFinding
from tests.cli.doctor.doctor_findings import age, assert_clean, doctor, only_finding, run_remedy
from tests.conftest import Folder
from tests.needs import need
from tests.plans import CLEAN


def with_git(folder: Folder, version: str) -> str:
    """A PATH on which git is this version."""
    script = folder.write(
        "bin/git", f'#!/bin/sh\n[ "$1" = --version ] && echo "{version}" || exec {shutil.which("git")} "$@"\n'
    )
    script.chmod(0o755)
    return f"{script.parent}:{folder.env['PATH']}"


@pytest.mark.parametrize("version", ["git version 2.29.3", "git version 1.9", "nonsense"])
def test_git_that_is_too_old(repo: Folder, version: str) -> None:
    repo.plan()
    finding = only_finding(repo, "git", PATH=with_git(repo, version))
    assert version in finding["message"]
    assert "2.30" in finding["mend"]


@pytest.mark.parametrize("version", ["git version 2.30.2", "git version 2.100.1 (Apple Git-1)", "git version 3.0"])
def test_git_that_is_new_enough(repo: Folder, version: str) -> None:
    repo.plan()
    assert_clean(repo, PATH=with_git(repo, version))


def test_git_that_is_missing(repo: Folder, plain: Folder) -> None:
    repo.plan()
    plain.plan()
    data = doctor(repo, PATH="/nowhere")
    assert [finding["check"] for finding in data["findings"]] == ["git"]
    assert "git is not installed" in data["findings"][0]["message"]
    assert {check["name"] for check in data["checks"] if not check["ok"]} >= {"git", "git-hooks"}
    assert_clean(plain, PATH="/nowhere")


def test_an_index_lock_that_was_left(repo: Folder) -> None:
    repo.plan()
    lock = repo.write(".git/index.lock", "")
    assert_clean(repo)
    age(lock, 61)
    finding = only_finding(repo, "git")
    run_remedy(repo, finding["mend"].rpartition(": ")[2])
    assert_clean(repo)


def run_check(folder: Folder, name: str) -> list[DoctorFinding]:
    """What a check finds in this process."""
    problems = CHECKS[name].find_problems(DoctorContext(str(folder.path), str))
    return [problem for problem in problems if isinstance(problem, DoctorFinding)]


def test_python_that_is_too_old(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_check(repo, "python") == []
    monkeypatch.setattr(environment_checks, "PYTHON", (99, 0))
    (finding,) = run_check(repo, "python")
    assert "too old" in finding.message
    assert "99.0" in finding.remedy
    assert finding.path == sys.executable


@pytest.mark.parametrize("name", ["ENOLCK", "EOPNOTSUPP"])
def test_a_file_system_that_can_not_lock(repo: Folder, name: str) -> None:
    repo.plan()
    repo.ok("list")
    early = repo.write(
        "early/sitecustomize.py",
        f"import errno, fcntl\n\n\ndef flock(*_):\n    raise OSError(errno.{name}, 'no locks')\n\n\nfcntl.flock = flock\n",
    )
    finding = only_finding(repo, "state", PYTHONPATH=f"{early.parent}:{repo.env.get('PYTHONPATH', '')}")
    assert "doesn't support locks" in finding["message"]
    assert "local disk" in finding["mend"]


def test_a_file_system_that_can_not_be_written_to(repo: Folder) -> None:
    repo.plan(CLEAN.replace("- [ ]", "- [x] (2025-12-30 10:00Z)"))
    script = f"mount --bind {repo.path} {repo.path} && mount -o remount,bind,ro {repo.path} && cd {repo.path} && "
    doctor_command = f"{sys.executable} -m execplan doctor"
    need("unshare")
    command = ["unshare", "-rm", "sh", "-c", script + doctor_command]
    completed = subprocess.run(command, env=repo.env, capture_output=True, check=False)
    assert completed.returncode == 1
    assert b"is not writable: read-only file system" in completed.stdout
    assert b"not archived" in completed.stdout
    completed = subprocess.run(
        [*command[:-1], f"{script}{doctor_command} --fix"], env=repo.env, capture_output=True, check=False
    )
    assert completed.returncode == 1
    assert b"Traceback" not in completed.stderr


def test_a_listed_project_that_is_not_there(repo: Folder) -> None:
    settings = repo.path.parent / ".config/execplan/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"projects = ['{repo.path}', '../gone']\n")
    finding = only_finding(repo, "settings")
    assert finding["level"] == "warning"
    assert finding["message"].endswith("/gone can't be read: no such file or directory")
    assert str(settings) in finding["mend"]


@pytest.mark.parametrize("package", ["", "packages/site/"])
def test_no_plans_directory_is_needed_while_all_plans_are_archived(plain: Folder, package: str) -> None:
    done = CLEAN.replace("- [ ]", "- [x] (2026-01-01 00:00Z)").replace("None so far.", "It works.")
    plain.write(f"{package}docs/exec-plans/completed/parser.md", done)
    plain.ok("init")
    assert not (plain.path / f"{package}docs/exec-plans/active").exists()
    assert_clean(plain)
    plain.ok("new", "Build the lexer")
