"""`make release` in a scratch repository, and the changelog that it cuts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import release

ROOT = Path(__file__).resolve().parent.parent
IDENTITY = {f"GIT_{role}_{field}": "ann@example.org" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}
CHANGELOG = "# Changelog\n\n## Unreleased\n\n### For people\n\n- One.\n\n### For CI\n\n- Two.\n"


class Checkout:
    """A repository with what a release reads and writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for name in ("scripts", "execplan"):
            (path / name).mkdir(parents=True)
        shutil.copy(ROOT / "scripts" / "release.py", path / "scripts")
        self.write("execplan/__init__.py", '"""A package."""\n\n__version__ = "0.9.0"\n')
        self.write("CHANGELOG.md", CHANGELOG)
        self.git("init", "-q", "-b", "main")
        self.commit()

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        (self.path / name).write_text(text, encoding="utf-8")

    def read(self, name: str) -> str:
        """Read a file."""
        return (self.path / name).read_text(encoding="utf-8")

    def git(self, *arguments: str) -> str:
        """Run git and return its output."""
        return self._run("git", *arguments).stdout

    def commit(self) -> None:
        """Commit everything."""
        self.git("add", "-A")
        self.git("commit", "-qm", "Work")

    def release(self, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
        """Call the script; `path` precedes PATH, which has no `gh` otherwise."""
        return self._run(sys.executable, "scripts/release.py", *arguments, check=False, path=path)

    def _run(self, *command: str, check: bool = True, path: str = "") -> subprocess.CompletedProcess[str]:
        folders = [folder for folder in os.environ["PATH"].split(":") if not Path(folder, "gh").exists()]
        environment = {
            **os.environ,
            **IDENTITY,
            "PATH": ":".join([*filter(None, [path]), *folders]),
            "HOME": str(self.path.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return subprocess.run(command, cwd=self.path, env=environment, capture_output=True, text=True, check=check)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A repository at version 0.9.0."""
    return Checkout(tmp_path / "checkout")


def test_a_candidate_and_its_release(checkout: Checkout) -> None:
    result = checkout.release("1.0.0rc1", "--ci-passed")
    assert (result.returncode, result.stderr) == (0, "")
    assert "git push --atomic origin HEAD v1.0.0rc1" in result.stdout
    assert '__version__ = "1.0.0rc1"\n' in checkout.read("execplan/__init__.py")
    assert "## Unreleased\n\n## 1.0.0rc1 - 2" in checkout.read("CHANGELOG.md")
    assert checkout.git("status", "--porcelain") == ""
    assert checkout.git("log", "-1", "--format=%s") == "Release 1.0.0rc1\n"
    assert checkout.git("cat-file", "-t", "v1.0.0rc1") == "tag\n"
    assert checkout.release("--notes", "1.0.0rc1").stdout == CHANGELOG.partition("Unreleased\n\n")[2]
    assert checkout.release("1.0.0", "--ci-passed").returncode == 0
    assert [*release.sections(checkout.read("CHANGELOG.md"))] == ["Unreleased", "1.0.0"]
    assert checkout.git("tag") == "v1.0.0\nv1.0.0rc1\n"


@pytest.mark.parametrize(
    ("version", "reason"),
    [("0.9.0", "not newer"), ("0.8.1", "not newer"), ("1.0.0a1", "the tag v1.0.0a1 exists"), ("1.0", "not a version")],
)
def test_a_version_that_can_not_be_next(checkout: Checkout, version: str, reason: str) -> None:
    checkout.git("tag", "v1.0.0a1")
    result = checkout.release(version, "--ci-passed")
    assert (result.returncode, reason in result.stderr) == (1, True)


def test_a_tree_with_changes(checkout: Checkout) -> None:
    checkout.write("new.txt", "new\n")
    result = checkout.release("1.0.0", "--ci-passed")
    assert (result.returncode, "not clean" in result.stderr, "new.txt" in result.stderr) == (1, True, True)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "gh is not installed"),
        ("[]", "GitHub has run nothing"),
        ('[{"workflowName": "CI", "conclusion": "failure"}]', "not passed: CI"),
        ('[{"workflowName": "CI", "conclusion": ""}]', "not passed: CI"),
        ('[{"workflowName": "CI", "conclusion": "success"}, {"workflowName": "CI", "conclusion": "failure"}]', ""),
    ],
)
def test_ci_must_have_passed(checkout: Checkout, tmp_path: Path, answer: str | None, reason: str) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    if answer is not None:
        (folder / "gh").write_text(f"#!/bin/sh\necho '{answer}'\n")
        (folder / "gh").chmod(0o755)
    before = checkout.git("rev-parse", "HEAD")
    result = checkout.release("1.0.0", path=str(folder))
    if reason:
        assert (result.returncode, reason in result.stderr, "CI=passed" in result.stderr) == (1, True, True)
        assert (checkout.git("rev-parse", "HEAD"), checkout.git("status", "--porcelain")) == (before, "")
    else:
        assert result.returncode == 0


def test_who_signs_commits_signs_tags(checkout: Checkout) -> None:
    checkout.git("config", "tag.gpgSign", "true")
    checkout.git("config", "gpg.program", "false")
    result = checkout.release("1.0.0", "--ci-passed")
    assert (result.returncode, "git tag --sign" in result.stderr) == (1, True)
    assert (checkout.git("log", "-1", "--format=%s"), checkout.git("status", "--porcelain")) == ("Work\n", "")


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ("", "no entries"),
        ("- x\n" * 121, "121 lines, more than 120"),
        ("### For CI\n\n- x\n\n### For people\n\n- y\n", "in this order"),
        ("### Fixed\n\n- x\n", "its groups are Fixed"),
    ],
)
def test_entries_that_no_release_has(entries: str, problem: str) -> None:
    assert problem in "; ".join(release.section_problems(entries))


def test_the_changelog_can_be_cut() -> None:
    parts = release.sections((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    for name, entries in parts.items():
        assert (name, release.section_problems(entries)) == (name, []) or not entries.strip()
