"""`install merge-driver`: what git is told, where plans lie in homes of all kinds, and that all of it is taken back."""

from __future__ import annotations

import os
import sys

import pytest

from execplan.agents.integrations import merge_driver
from execplan.core.git_merge import driver_settings
from execplan.core.project import project_discovery
from tests.agents.integrations.file_tree import tree
from tests.conftest import Folder

DRIVER = "merge.execplan.driver"


def merges(repo: Folder, *paths: str) -> list[str]:
    """What git says of the attribute merge of each path."""
    fields = repo.git("check-attr", "-z", "merge", "--", *paths).split("\0")
    return fields[2::3]


def state(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> str:
    """What doctor is told."""
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)
    return merge_driver.state(project_discovery.find(str(repo.path)))


ATTRIBUTES = {
    "none": None,
    "some": b"*.png binary\n",
    "union": b"*.md merge=union\n",
    "no final newline": b"*.png binary",
    "crlf": b"*.png binary\r\n",
    "empty": b"",
}


@pytest.mark.parametrize("kind", ATTRIBUTES)
def test_there_and_back(repo: Folder, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = ATTRIBUTES[kind]
    if content is not None:
        repo.write(".gitattributes", content)
    repo.git("config", "user.name", "Ann")
    before = tree(repo.path)
    assert state(repo, monkeypatch) == "absent"
    changes = repo.ok("install", "merge-driver")["changes"]
    assert [change["path"] for change in changes] == [".gitattributes", ".git/config", ".git/config"]
    assert [change.get("setting") for change in changes] == [None, "merge.execplan.name", DRIVER]
    assert {change["action"] for change in changes[1:]} == {"made"}
    assert merges(repo, ".agent/execplans/a.md", ".agent/execplans/archive/a.md") == ["execplan"] * 2
    assert "execplan" not in merges(repo, "README.md", ".agent/PLANS.md", ".agent/execplans/artifacts/a/log.md")
    assert state(repo, monkeypatch) == "installed"
    installed = tree(repo.path)
    assert repo.ok("install", "merge-driver")["changed"] is False
    assert tree(repo.path) == installed
    repo.ok("uninstall", "merge-driver")
    assert tree(repo.path) == before
    assert state(repo, monkeypatch) == "absent"
    assert repo.ok("uninstall", "merge-driver")["changed"] is False


LAYOUTS = {
    "flat": ("", ["plans/a.md", "old/a.md"], ["plans/x/a.md", "old/artifacts/a.md"]),
    "by day": (
        'archive = "old/{year}/{month}/{day}"',
        ["plans/a.md", "old/2026/11/22/a.md", "old/a.md"],
        ["old/artifacts/b/c.md", "old/2026/notes/a.md"],
    ),
    "superseded": ('superseded = "given up"', ["given up/a.md", "old/a.md"], ["given/a.md"]),
    "folder": ('layout = "folder"', ["plans/a/a.md", "plans/a/1_a.md", "old/a/a.md"], ["plans/a.md", "plans/a/b/c.md"]),
    "named": ('layout = "Exec Plan.md"', ["plans/a/Exec Plan.md", "old/a/Exec Plan.md"], ["plans/a/notes.md"]),
    "signs": ('superseded = "a [b] \\"c\\" *\\\\ä#"', ['a [b] "c" *\\ä#/a.md'], ["a b/a.md", 'a [b] "c" xx\\ä#/a.md']),
}


@pytest.mark.parametrize("kind", LAYOUTS)
def test_plans_of_every_layout(repo: Folder, kind: str) -> None:
    settings, plans, other_paths = LAYOUTS[kind]
    archive = "" if "archive =" in settings else 'archive = "old"\n'
    repo.write(".agent/execplan.toml", f'plans = "plans"\nartifacts = "files"\n{archive}{settings}\n')
    repo.ok("install", "merge-driver")
    assert merges(repo, *plans) == ["execplan"] * len(plans)
    assert "execplan" not in merges(repo, *other_paths)


def test_nested_projects_are_in_it_whichever_one_it_is_installed_from(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'homes = ["packages/a/b/c/d/e"]\n')
    repo.write("packages/a/b/c/d/e/.agent/execplan.toml", 'plans = "plans"\n')
    repo.write("service/.agent/execplan.toml", 'plans = "plans"\n')
    repo.ok("install", "merge-driver")
    first = (repo.path / ".gitattributes").read_bytes()
    paths = ("packages/a/b/c/d/e/plans/a.md", "service/plans/a.md", ".agent/execplans/a.md")
    assert merges(repo, *paths) == ["execplan"] * 3
    assert repo.run("install", "merge-driver", cwd=repo.path / "service").exit == 0
    assert (repo.path / ".gitattributes").read_bytes() == first


def test_a_folder_of_plans_that_is_a_link(repo: Folder) -> None:
    (repo.path / "real").mkdir()
    (repo.path / "plans").symlink_to("real")
    repo.write(".agent/execplan.toml", 'plans = "plans"\n')
    repo.ok("install", "merge-driver")
    assert merges(repo, "real/a.md") == ["execplan"]


def test_renewed_when_the_project_moves(repo: Folder) -> None:
    repo.ok("install", "merge-driver")
    repo.write(".agent/execplan.toml", 'plans = "plans"\n')
    changes = repo.ok("install", "merge-driver")["changes"]
    assert [change["action"] for change in changes] == ["changed", "kept", "kept"]
    assert merges(repo, "plans/a.md", ".agent/execplans/a.md") == ["execplan", "unspecified"]


def test_a_worktree_shares_the_setting(repo: Folder) -> None:
    repo.git("worktree", "add", "-q", "../other")
    worktree = repo.path.parent / "other"
    (worktree / ".agent" / "execplans").mkdir(parents=True)
    assert repo.run("install", "merge-driver", cwd=worktree).exit == 0
    assert (worktree / ".gitattributes").exists()
    assert not (repo.path / ".gitattributes").exists()
    assert sys.executable in repo.git("config", "--local", DRIVER)
    assert repo.run("uninstall", "merge-driver", cwd=worktree).exit == 0
    assert "execplan" not in (repo.path / ".git/config").read_text()


def test_dry_run(repo: Folder) -> None:
    before = tree(repo.path)
    result = repo.run("install", "merge-driver", "--dry-run")
    assert "+/.agent/execplans/*.md merge=execplan" in result.out
    assert f"would write {DRIVER} in .git/config" in result.out
    assert tree(repo.path) == before
    repo.ok("install", "merge-driver")
    before = tree(repo.path)
    assert f"would remove {DRIVER} in .git/config" in repo.run("uninstall", "merge-driver", "--dry-run").out
    assert tree(repo.path) == before


def test_a_driver_of_somebody_else_is_kept(repo: Folder) -> None:
    repo.git("config", DRIVER, "their-merge %O %A %B")
    before = tree(repo.path)
    result = repo.run("install", "merge-driver", "--json")
    assert result.exit == 1
    assert result.json["error"]["code"] == "foreign-driver"
    assert "their-merge %O %A %B" in result.json["error"]["message"]
    assert tree(repo.path) == before
    repo.ok("install", "merge-driver", "--force")
    assert sys.executable in repo.git("config", DRIVER)
    repo.git("config", DRIVER, "their-merge %O %A %B")
    repo.ok("uninstall", "merge-driver")
    assert repo.git("config", DRIVER) == "their-merge %O %A %B\n"


def test_all_or_nothing(repo: Folder) -> None:
    repo.write(".git/config.lock", "")
    result = repo.run("install", "merge-driver", "--json")
    assert result.exit == 6
    assert result.json["error"]["code"] == "git-failed"
    assert "config" in result.json["error"]["message"]
    assert not (repo.path / ".gitattributes").exists()
    (repo.path / ".git/config.lock").unlink()
    repo.ok("install", "merge-driver")
    repo.write(".git/config.lock", "")
    before = (repo.path / ".gitattributes").read_bytes()
    assert repo.run("uninstall", "merge-driver").exit == 6
    assert (repo.path / ".gitattributes").read_bytes() == before


def test_a_block_that_was_edited_stays(repo: Folder) -> None:
    repo.ok("install", "merge-driver")
    path = repo.path / ".gitattributes"
    path.write_text(path.read_text().replace("archive", "attic"))
    edited = path.read_bytes()
    assert "edited by hand" in repo.run("install", "merge-driver").out
    assert path.read_bytes() == edited
    assert repo.run("uninstall", "merge-driver").exit == 1
    assert path.read_bytes() == edited
    assert repo.git("config", DRIVER)
    repo.ok("uninstall", "merge-driver", "--force")
    assert not path.exists()


def test_a_link_is_warned_of(repo: Folder) -> None:
    repo.write("attributes", "")
    (repo.path / ".gitattributes").symlink_to("attributes")
    assert "git doesn't follow" in repo.run("install", "merge-driver").err


def test_without_a_repository(plain: Folder) -> None:
    plain.plan()
    for subcommand in ("install", "uninstall"):
        result = plain.run(subcommand, "merge-driver", "--json")
        assert result.exit == 6
        assert result.json["error"]["code"] == "no-repository"
    assert not (plain.path / ".gitattributes").exists()


def test_states(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.ok("install", "merge-driver")
    driver = repo.git("config", DRIVER).strip()
    attributes = (repo.path / ".gitattributes").read_bytes()
    (repo.path / ".gitattributes").unlink()
    assert state(repo, monkeypatch) == "config only"
    repo.write(".git/info/attributes", attributes)
    assert state(repo, monkeypatch) == "installed"
    repo.write(".gitattributes", "*.md merge=union\n")
    (repo.path / ".git/info/attributes").unlink()
    assert state(repo, monkeypatch) == "config only"
    repo.write(".gitattributes", attributes)
    repo.git("config", DRIVER, driver.replace(sys.executable, "/nowhere/python"))
    assert state(repo, monkeypatch) == "attribute only"
    repo.git("config", DRIVER, driver.replace(sys.executable, "'"))
    assert state(repo, monkeypatch) == "attribute only"
    repo.git("config", DRIVER, "their-merge")
    assert state(repo, monkeypatch) == "installed"
    repo.git("config", "--remove-section", "merge.execplan")
    assert state(repo, monkeypatch) == "attribute only"


@pytest.mark.parametrize("name", ["py thon", "p'y\"$(touch x)%O"])
def test_a_python_with_an_odd_name(repo: Folder, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs, and nothing else does."""
    from tests.core.git_merge.branches import OURS, THEIRS, edited, fork, states
    from tests.plans import CLEAN

    python = repo.path.parent / name
    python.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(python))
    driver = driver_settings.driver_command()
    monkeypatch.undo()
    repo.ok("install", "merge-driver")
    repo.git("config", DRIVER, driver)
    assert state(repo, monkeypatch) == "installed"
    python.unlink()
    assert state(repo, monkeypatch) == "attribute only"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    fork(repo, edited(CLEAN, *OURS), edited(CLEAN, *THEIRS))
    repo.git("merge", "-q", "--no-edit", "side")
    assert states(repo)["Handle tabs"] == "open"
    assert not os.path.exists(repo.path / "x")


def test_what_is_added_to_a_file_without_a_last_line_end_joins_no_block(repo: Folder) -> None:
    path = repo.write(".gitattributes", "*.md text\n*.png binary")
    repo.ok("install", "merge-driver")
    with path.open("a") as file:
        file.write("\n*.psd binary\n")
    assert repo.ok("install", "merge-driver")["changed"] is False
    repo.ok("uninstall", "merge-driver")
    assert path.read_text() == "*.md text\n*.png binary\n*.psd binary\n"
