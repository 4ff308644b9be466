"""What needs no git goes on where git can't be asked, and says what was left out and what helps."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.in_process_repository import InProcessRepository
from tests.plans import with_sections

if TYPE_CHECKING:
    from pathlib import Path

PLAN = with_sections(
    """\
## Progress

- [ ] Mend the crash in `src/other.py` when a line is empty.
"""
)
TRUST = "git config --global --add safe.directory "


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with a plan that names a file, and an uncommitted change of it."""
    repository = InProcessRepository(tmp_path / "repo", monkeypatch)
    repository.plan(PLAN)
    repository.commit()
    repository.write("src/other.py", "z = 2\n")
    return repository


def owned_by_another(desk: InProcessRepository) -> None:
    """The repository belongs to another user, as in a container with a mounted directory."""
    if os.geteuid() == 0:
        for folder, _, names in os.walk(desk.path):
            for path in (folder, *[os.path.join(folder, name) for name in names]):
                os.chown(path, 12345, 12345, follow_symlinks=False)
    else:
        desk.patch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    completed = subprocess.run(["git", "status"], cwd=desk.path, capture_output=True, text=True, check=False)
    assert "dubious ownership" in completed.stderr


def no_git(desk: InProcessRepository) -> None:
    """There is no git in the path."""
    desk.patch.setenv("PATH", str(desk.path / "bin"))
    assert shutil.which("git") is None


def broken_index(desk: InProcessRepository) -> None:
    """Git can't read its index."""
    (desk.path / ".git" / "index").write_bytes(b"broken")


FAILURES = {
    "owned by another": (owned_by_another, "because it belongs to another user", TRUST),
    "no git": (no_git, "git is not installed", "install git"),
    "broken": (broken_index, "index file", "try: git status"),
}


@pytest.mark.parametrize("way", FAILURES)
def test_prime(desk: InProcessRepository, way: str) -> None:
    happen, why, helps = FAILURES[way]
    happen(desk)
    for command in (("prime",), ("prime", "parser"), ("prime", "--hook", "claude"), ("prime", "--hook", "codex")):
        result = desk.type(*command)
        assert result.exit == 0
        for phrase in ("Mend the crash", "Changes since the plan was last written are unknown:", why, helps):
            assert phrase in result.out, (command, result)
        assert "Drift:" not in result.out
    assert desk.data("prime")["without_git"][1].startswith(("if you trust it: " if helps == TRUST else "") + helps)


@pytest.mark.parametrize("way", FAILURES)
@pytest.mark.parametrize("as_item", [False, True])
def test_context(desk: InProcessRepository, way: str, as_item: bool) -> None:
    happen, why, helps = FAILURES[way]
    happen(desk)
    result = desk.type("context", "--estimate", *(["--item", "file:src/other.py"] if as_item else []))
    assert result.exit == 0
    assert "## file: src/other.py (lines 1-1)\n\n```python\nz = 2\n" in result.out
    warning = next(line for line in result.err.splitlines() if "warning: left out: uncommitted changes" in line)
    assert why in warning
    assert helps in warning
    assert "diff: " not in result.out


@pytest.mark.parametrize("way", FAILURES)
def test_triage(desk: InProcessRepository, way: str) -> None:
    happen, why, helps = FAILURES[way]
    happen(desk)
    result = desk.type("triage", "Rewrite the parser and move all data to different format")
    assert result.exit == 0
    assert result.out.startswith(("plan: ", "unclear: ", "none: "))
    assert "the request is checked without them" in result.err
    assert why in result.err
    assert helps in result.err


@pytest.mark.parametrize("flags", [("--staged",), ("--since", "HEAD")])
def test_a_question_to_git_alone_says_what_helps(desk: InProcessRepository, flags: tuple[str, ...]) -> None:
    owned_by_another(desk)
    for command in ("triage", "lint"):
        error = desk.refused(6, "git-untrusted", command, *flags)
        assert error["hint"] == f"if you trust it: {TRUST}{desk.path}"


@pytest.mark.parametrize("way", FAILURES)
def test_checkpoint(desk: InProcessRepository, way: str) -> None:
    happen, why, helps = FAILURES[way]
    happen(desk)
    result = desk.type("checkpoint")
    assert result.exit == 0
    page = (desk.path / ".agent/execplans/artifacts/2026-01-01_parser/checkpoint.md").read_text()
    assert f"\n## Git\n\nNot known: {why[:3]}" in page or why in page
    assert helps in page


@pytest.mark.parametrize(
    "command",
    [
        "status",
        "list",
        "show",
        "next",
        "lint",
        "summarize",
        "handoff",
        "stats",
        "runs",
        "explain git-untrusted",
        "done 1",
    ],
)
@pytest.mark.parametrize("way", ["owned by another", "no git"])
def test_what_needs_no_git_does_not_ask_it(desk: InProcessRepository, way: str, command: str) -> None:
    before = desk.type(*command.split(), *(["--dry-run"] if command == "done 1" else []))
    FAILURES[way][0](desk)
    after = desk.type(*command.split(), *(["--dry-run"] if command == "done 1" else []))
    assert (after.exit, after.out) == (before.exit, before.out)
