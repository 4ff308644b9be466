"""`uninstall --all` removes every integration and names what stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Folder


def test_all_that_was_installed_is_removed(repo: Folder) -> None:
    repo.ok("install", "agents", "git-hooks", "merge-driver", "skill")
    assert (repo.path / "AGENTS.md").exists()
    planned = repo.ok("uninstall", "--all", "--dry-run")
    assert (repo.path / "AGENTS.md").exists()
    result = repo.run("uninstall", "--all")
    assert result.exit == 0
    assert not (repo.path / "AGENTS.md").exists()
    assert not (repo.path / ".git/hooks/pre-commit").exists()
    assert "not installed" not in result.out
    assert "stays  .agent/execplans " in result.out
    stays = {entry["path"] for entry in planned["stays"]}
    assert {".agent/execplans", ".git/execplan"} <= stays
    assert repo.ok("uninstall", "--all")["changed"] is False


def test_all_excludes_names(repo: Folder) -> None:
    assert repo.run("uninstall", "--all", "agents").exit == 2


def test_a_block_that_was_edited_keeps_everything_and_says_how_to_go_on(repo: Folder) -> None:
    repo.ok("install", "agents", "git-hooks")
    agents_file = repo.path / "AGENTS.md"
    first_line, *lines = agents_file.read_text().splitlines(keepends=True)
    agents_file.write_text("".join([first_line, "Edited by hand.\n", *lines]))
    hint = repo.run("uninstall", "--all", "--json").json["error"]["hint"]
    for command in hint.partition(", then: ")[2].split("; "):
        assert repo.run(*command.removeprefix("execplan ").split()).exit == 0
    assert not agents_file.exists()
    assert not (repo.path / ".git/hooks/pre-commit").exists()


@pytest.mark.parametrize("installed", ["guard", "session-hooks", "stop-gate", "capture"])
def test_one_integration_of_several_that_share_a_file_is_removed(repo: Folder, installed: str) -> None:
    repo.run("install", installed, "--for", "claude")
    assert (repo.path / ".claude/settings.json").exists()
    assert repo.ok("uninstall", "--all")["changed"] is True
    assert not (repo.path / ".claude").exists()
