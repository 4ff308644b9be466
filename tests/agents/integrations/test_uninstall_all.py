"""`uninstall --all` removes every integration and names what stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
