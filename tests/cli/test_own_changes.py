"""What execplan itself wrote: a checkpoint follows its plan to a new id, and `install` is no drift."""

from __future__ import annotations

import json
import os

import pytest

from tests.conftest import CLOCK, Folder
from tests.plans import CLEAN

OLD, NEW = "2026-01-01_parser", "2026-01-01_build-the-reader"
PAGE = ".agent/execplans/artifacts/{}/checkpoint.md"


def commit_all(repo: Folder) -> None:
    """Commit all."""
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "All")


def page(repo: Folder, name: str = NEW) -> str:
    """The restart page."""
    return (repo.path / PAGE.format(name)).read_text()


def test_a_checkpoint_follows_a_new_title(repo: Folder) -> None:
    repo.plan(CLEAN)
    repo.ok("checkpoint")
    commit_all(repo)
    assert OLD in page(repo, OLD)
    data = repo.ok("rename", "parser", "Build the reader")
    assert data["followed"] == [PAGE.format(NEW)]
    text = page(repo)
    assert OLD not in text.partition("## Git")[0] + text.partition("## How to continue")[2]
    assert text.startswith("# Restart: Build the reader\n")
    assert f"-p {NEW}\n" in text
    assert repo.ok("show")["digest"][:16] in text
    assert repo.ok("checkpoint", "--dry-run")["changed"] is False


def test_with_a_commit_it_is_part_of_it_and_the_move_is_no_news(repo: Folder) -> None:
    repo.plan(CLEAN)
    repo.ok("checkpoint")
    commit_all(repo)
    repo.ok("rename", "parser", "Build the reader", "--commit")
    assert repo.git("status", "--porcelain") == ""
    assert OLD not in page(repo)


def test_a_new_title_with_the_same_id(repo: Folder) -> None:
    repo.plan(CLEAN, "parser")
    repo.ok("checkpoint")
    before = page(repo, "parser")
    repo.ok("rename", "parser", "Parser")
    assert page(repo, "parser") != before
    assert page(repo, "parser").startswith("# Restart: Parser\n")


def test_a_page_that_was_edited_stays_and_is_reported(repo: Folder) -> None:
    repo.plan(CLEAN)
    repo.ok("checkpoint")
    path = repo.path / PAGE.format(OLD)
    path.write_text(page(repo, OLD) + "\nMine.\n")
    result = repo.run("rename", "parser", "Build the reader")
    assert result.exit == 0
    assert f"{PAGE.format(NEW)} still has the old ID" in result.err
    assert f"execplan checkpoint {NEW} --force" in result.err
    assert page(repo).endswith("\nMine.\n")


def test_without_a_page_none_is_made(repo: Folder) -> None:
    repo.plan(CLEAN)
    assert repo.ok("rename", "parser", "Build the reader")["followed"] == []
    assert not (repo.path / PAGE.format(NEW)).exists()


def drift(repo: Folder) -> list[str]:
    """The paths that `prime` reports."""
    changes = repo.ok("prime")["drift"]
    return list(changes["paths"])


def commit_older_plan(repo: Folder) -> None:
    """A repository whose plan is committed, and older than what comes."""
    repo.plan(CLEAN)
    repo.write("src/app.py", "print()\n")
    commit_all(repo)
    for name in (f".agent/execplans/{OLD}.md", "src/app.py"):
        os.utime(repo.path / name, (CLOCK - 1000, CLOCK - 1000))


INSTALLABLE = ("agents", "guard", "session-hooks", "stop-gate", "skill", "merge-driver", "pre-commit")


@pytest.mark.parametrize("commits", [False, True])
def test_what_install_wrote_is_no_drift(repo: Folder, commits: bool) -> None:
    commit_older_plan(repo)
    repo.ok("install", *INSTALLABLE, "--for", "claude", "--for", "codex")
    assert (repo.path / ".claude/settings.json").exists()
    if commits:
        commit_all(repo)
    assert repo.ok("prime")["drift"] == {"commits": 0, "paths": []}
    assert "Drift" not in repo.run("prime").out
    repo.write("src/app.py", "print(1)\n")
    assert drift(repo) == ["src/app.py"]


@pytest.mark.parametrize("commits", [False, True])
def test_beside_what_others_wrote_before(repo: Folder, commits: bool) -> None:
    repo.write("AGENTS.md", "# Ours\n\nBe kind.\n")
    repo.write(".claude/settings.json", json.dumps({"permissions": {"allow": ["Bash(ls:*)"]}}, indent=2) + "\n")
    commit_older_plan(repo)
    repo.ok("install", *INSTALLABLE)
    if commits:
        commit_all(repo)
    assert drift(repo) == []


def test_what_others_write_there_is_drift(repo: Folder) -> None:
    repo.write("AGENTS.md", "# Ours\n\nBe kind.\n")
    commit_older_plan(repo)
    repo.ok("install", "agents", "guard")
    agents = repo.path / "AGENTS.md"
    agents.write_text(agents.read_text().replace("Be kind.", "Be quick."))
    assert drift(repo) == ["AGENTS.md"]
    settings = repo.path / ".claude/settings.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "model": "x"}, indent=2))
    assert drift(repo) == [".claude/", "AGENTS.md"]


def test_another_file_in_the_folder_is_drift(repo: Folder) -> None:
    commit_older_plan(repo)
    repo.ok("install", "guard")
    repo.write(".claude/commands/ship.md", "Ship it.\n")
    assert drift(repo) == [".claude/"]


def test_an_edited_skill_is_drift(repo: Folder) -> None:
    commit_older_plan(repo)
    repo.ok("install", "skill")
    assert drift(repo) == []
    skill = repo.path / ".agents/skills/execplan/SKILL.md"
    skill.write_text(skill.read_text() + "Be quick.\n")
    assert drift(repo) == [".agents/"]
    repo.write(".agents/skills/other/SKILL.md", "Ours.\n")
    repo.ok("install", "skill", "--force")
    assert drift(repo) == [".agents/"]


def test_a_block_that_was_edited_or_damaged_is_drift(repo: Folder) -> None:
    commit_older_plan(repo)
    repo.ok("install", "agents")
    agents = repo.path / "AGENTS.md"
    text = agents.read_text()
    agents.write_text(text.replace("## Plans", "## Our plans"))
    assert drift(repo) == ["AGENTS.md"]
    agents.write_text(text.partition("<!-- execplan:end")[0])
    assert drift(repo) == ["AGENTS.md"]
    agents.unlink()
    assert drift(repo) == []
