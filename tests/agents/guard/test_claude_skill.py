"""The tool `Skill` of Claude Code: reading a skill that only gives instructions is reading; anything else is a tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents.guard.guard_repository import Answer, GuardRepository, guard, hook

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = "---\nname: tidy\ndescription: Tidy up.\n---\n"
PLAIN = f"{HEAD}\nRemove what `git status` shows, and call `make`. Careful!\n"
FILE = ".claude/skills/tidy/SKILL.md"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GuardRepository:
    """A repository with a skill."""
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    desk = GuardRepository(tmp_path / "repo", monkeypatch)
    desk.plan("# Build it\n\n## Progress\n\n- [ ] Build it.\n")
    desk.write(FILE, PLAIN)
    desk.commit()
    return desk


def use_skill(desk: GuardRepository, name: object = "tidy", cwd: str = "", **arguments: Any) -> Answer:
    """Ask about the use of a skill."""
    call = hook("Skill", cwd or str(desk.path), skill=name, **arguments)
    return guard(json.dumps(call).encode(), "--program", "claude")


def test_a_skill_that_gives_instructions_is_read(desk: GuardRepository) -> None:
    assert use_skill(desk).kind == "allow"
    assert use_skill(desk, args="all of it").kind == "allow"
    assert use_skill(desk, cwd=str(desk.path / "src")).kind == "allow"


def test_the_installed_skill_is_read(desk: GuardRepository) -> None:
    desk.ok("install", "skill", "--for", "claude")
    assert use_skill(desk, "execplan").kind == "allow"


@pytest.mark.parametrize(
    "text",
    [
        f"{PLAIN}- Changes: !`git diff`\n",
        f"{PLAIN}```!\ngit diff\n```\n",
        f"{PLAIN}~~~!\ngit diff\n~~~\n",
        f"{PLAIN}- Changes: !$1`git diff`\n",
        PLAIN.replace("---\n", "---\nhooks: {}\n", 1),
        PLAIN.replace("---\n", "---\ncontext: fork\n", 1),
        PLAIN.replace("---\n", '---\n"hooks": {}\n', 1),
        PLAIN.replace("---\n", "---\n? hooks\n: {}\n", 1),
        PLAIN.replace("---\n", "---\nshell: /tmp/sh\n", 1),
        PLAIN.replace("\n", "\r\n"),
        "Tidy up.\n",
        "---\nname: tidy\n",
        "",
    ],
)
def test_a_skill_that_may_do_more_is_a_tool(desk: GuardRepository, text: str) -> None:
    (desk.path / FILE).write_bytes(text.encode())
    assert use_skill(desk).kind == "deny"


@pytest.mark.parametrize("name", ["other", "tidy:tidy", "../skills/tidy", "", "tidy/", "tidy\0", 5, None, ["tidy"]])
def test_another_skill_is_a_tool(desk: GuardRepository, name: object) -> None:
    assert use_skill(desk, name).kind == "deny"


def test_unknown_fields_and_commands_as_arguments_make_it_a_tool(desk: GuardRepository) -> None:
    assert use_skill(desk, shell="/tmp/sh").kind == "deny"
    assert use_skill(desk, args="!`git diff`").kind == "deny"
    assert use_skill(desk, args=["x"]).kind == "deny"


def _add_user_skill(desk: GuardRepository) -> None:
    folder = Path.home() / ".claude/skills/tidy"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(PLAIN)


def _add_skill_below(desk: GuardRepository) -> None:
    desk.write(f"src/{FILE}", f"{PLAIN}!`git diff`\n")


def _link_to_secret(desk: GuardRepository) -> None:
    desk.write(".env", PLAIN)
    (desk.path / FILE).unlink()
    (desk.path / FILE).symlink_to(desk.path / ".env")


def _deny_it(desk: GuardRepository) -> None:
    desk.write(".agent/execplan.toml", '[execution]\nreads = "none"\n')


@pytest.mark.parametrize("change", [_add_user_skill, _add_skill_below, _link_to_secret, _deny_it])
def test_what_else_may_be_meant_or_read_counts(
    desk: GuardRepository, change: Callable[[GuardRepository], None]
) -> None:
    assert use_skill(desk, cwd=str(desk.path / "src")).kind == "allow"
    change(desk)
    assert use_skill(desk, cwd=str(desk.path / "src")).kind == "deny"
