"""`install skill`: where it goes, what it says, and what is kept."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from tests.agents.integrations.agent_formats import skill_problems
from tests.agents.integrations.file_tree import tree

if TYPE_CHECKING:
    from tests.conftest import Folder

CODEX, CLAUDE = ".agents/skills/execplan/SKILL.md", ".claude/skills/execplan/SKILL.md"


def installed(repo: Folder) -> list[str]:
    """The skills that are there."""
    return [name for name in (CODEX, CLAUDE) if (repo.path / name).exists()]


def test_it_keeps_the_rules_of_skills(repo: Folder) -> None:
    repo.ok("install", "skill", "--for", "claude", "--for", "codex")
    assert installed(repo) == [CODEX, CLAUDE]
    for name in (CODEX, CLAUDE):
        assert skill_problems(repo.path / name) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("name: execplan", "name: exec--plan", "name"),
        ("name: execplan", "name: plans", "name is not that of the folder"),
        ("description: ", f"description: {'x' * 1024}", "description"),
        ("compatibility: ", "tools: all\ncompatibility: ", "unknown fields"),
        ("# Work", f"{'x' * 2048}\n# Work", "size"),
        ("# Work", "!`make`\n# Work", "command that runs unasked"),
        ("---\n\n", "", "no front matter, or nothing after it"),
    ],
)
def test_the_rules_can_be_broken(repo: Folder, old: str, new: str, problem: str) -> None:
    repo.ok("install", "skill")
    text = (repo.path / CODEX).read_text()
    repo.write(CODEX, text.replace(old, new, 1))
    assert problem in skill_problems(repo.path / CODEX)


def test_what_it_points_to_is_there(repo: Folder) -> None:
    repo.ok("init")
    repo.ok("install", "skill")
    text = (repo.path / CODEX).read_text()
    topics = [topic for topic in re.findall(r"execplan explain (\w+)", text) if topic != "CODE"]
    assert len(topics) > 8
    for topic in topics:
        assert repo.run("explain", topic).exit == 0, topic
    for command in re.findall(r"`execplan (\w+)", text):
        assert repo.run(command, "--help").exit == 0, command
    assert "`.agent/PLANS.md`" in text
    assert (repo.path / ".agent/PLANS.md").exists()


def test_it_repeats_no_line_of_the_instructions(repo: Folder) -> None:
    repo.ok("install", "skill", "agents")
    lines = {line for line in (repo.path / CODEX).read_text().splitlines() if line}
    assert not lines & set((repo.path / "AGENTS.md").read_text().splitlines())


@pytest.mark.parametrize(
    ("exists", "expected"),
    [("", [CODEX]), ("CLAUDE.md", [CODEX, CLAUDE]), (".claude/settings.json", [CODEX, CLAUDE])],
)
def test_claude_code_has_one_where_it_is_used(repo: Folder, exists: str, expected: list[str]) -> None:
    if exists:
        repo.write(exists, "{}")
    repo.ok("install", "skill")
    assert installed(repo) == expected


def test_the_guard_of_the_same_command_uses_claude_code(repo: Folder) -> None:
    repo.ok("install", "guard", "skill")
    assert installed(repo) == [CODEX, CLAUDE]
    assert repo.ok("install", "guard", "skill")["changed"] is False


@pytest.mark.parametrize(("program", "name"), [("codex", CODEX), ("claude", CLAUDE)])
def test_one_program(repo: Folder, program: str, name: str) -> None:
    before = tree(repo.path.parent)
    repo.ok("install", "skill", "--for", program)
    assert installed(repo) == [name]
    other = "claude" if program == "codex" else "codex"
    assert repo.ok("uninstall", "skill", "--for", other)["changed"] is False
    repo.ok("uninstall", "skill")
    assert tree(repo.path.parent) == before


def test_one_folder_by_two_names(repo: Folder) -> None:
    repo.write(".agents/skills/ours/SKILL.md", "Ours.\n")
    (repo.path / ".claude").mkdir()
    os.symlink("../.agents/skills", repo.path / ".claude/skills")
    before = tree(repo.path.parent)
    assert len(repo.ok("install", "skill")["changes"]) == 2
    repo.ok("uninstall", "skill")
    assert tree(repo.path.parent) == before


def test_an_edited_one_is_kept(repo: Folder) -> None:
    repo.ok("install", "skill")
    text = (repo.path / CODEX).read_text()
    repo.write(CODEX, text + "Be quick.\n")
    result = repo.run("install", "skill")
    assert result.exit == 0
    assert "edited by hand" in result.out
    assert f"{CODEX} was edited by hand and is kept" in result.err
    assert (repo.path / CODEX).read_text() == text + "Be quick.\n"
    refused = repo.run("uninstall", "skill", "--json")
    assert (refused.exit, refused.json["error"]["code"]) == (1, "edited-block")
    repo.ok("install", "skill", "--force")
    assert (repo.path / CODEX).read_text() == text
    repo.write(CODEX, text + "Be quick.\n")
    repo.ok("uninstall", "skill", "--force")
    assert not (repo.path / ".agents").exists()


def test_an_older_one_is_updated(repo: Folder) -> None:
    repo.ok("install", "skill")
    text = (repo.path / CODEX).read_text()
    make_older(repo)
    assert repo.ok("install", "skill")["changed"] is True
    assert (repo.path / CODEX).read_text() == text
    repo.ok("uninstall", "skill")
    assert not (repo.path / ".agents").exists()


def make_older(repo: Folder) -> None:
    """Leave what an older version would have installed."""
    from execplan.core.text.text_lines import digest

    old = (repo.path / CODEX).read_bytes().replace(b"your current work", b"your work")
    repo.write(CODEX, old)
    listing = repo.path / ".agents/skills/execplan/.execplan.json"
    document = json.loads(listing.read_text())
    document["files"]["SKILL.md"] = digest(old)[:16]
    document["files"]["GONE.md"] = digest(b"Gone.\n")[:16]
    repo.write(".agents/skills/execplan/GONE.md", "Gone.\n")
    listing.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")


def test_a_file_of_an_older_version_goes(repo: Folder) -> None:
    repo.ok("install", "skill")
    installed_tree = tree(repo.path)
    make_older(repo)
    repo.ok("install", "skill")
    assert tree(repo.path) == installed_tree


def test_somebody_elses_is_left_alone(repo: Folder) -> None:
    repo.write(CODEX, "Mine.\n")
    result = repo.run("install", "skill", "--force", "--json")
    assert (result.exit, result.json["error"]["code"]) == (1, "not-ours")
    assert repo.ok("uninstall", "skill", "--force")["changed"] is False
    assert (repo.path / CODEX).read_text() == "Mine.\n"
    assert not (repo.path / ".agents/skills/execplan/.execplan.json").exists()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"created_directories": "3", "files": {}}',
        '{"created_directories": 3, "files": {"SKILL.md": 1}}',
        '{"created_directories": 3, "files": {"../../../README.md": "0"}}',
        '{"created_directories": 3, "files": {"/etc/passwd": "0"}}',
        "[" * 100000,
    ],
)
def test_a_damaged_list_removes_nothing(repo: Folder, content: str) -> None:
    repo.ok("install", "skill")
    repo.write(".agents/skills/execplan/.execplan.json", content)
    before = tree(repo.path)
    for verb in ("install", "uninstall"):
        result = repo.run(verb, "skill", "--force", "--json")
        assert (result.exit, result.json["error"]["code"]) == (3, "bad-file-list")
    assert tree(repo.path) == before


def test_a_link_out_of_the_repository_is_not_followed(repo: Folder) -> None:
    (repo.path.parent / "elsewhere").mkdir()
    os.symlink(repo.path.parent / "elsewhere", repo.path / ".agents")
    assert repo.run("install", "skill").exit == 7
    assert not list((repo.path.parent / "elsewhere").iterdir())
