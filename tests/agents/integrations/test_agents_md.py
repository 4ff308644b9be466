"""`install` and `uninstall`: what every integration keeps to, and the blocks in AGENTS.md and CLAUDE.md."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.agents.integrations.file_tree import tree
from tests.conftest import Folder

if TYPE_CHECKING:
    from pathlib import Path

INTEGRATIONS = [
    "agents",
    "pre-commit",
    "git-hooks",
    "merge-driver",
    "guard",
    "session-hooks",
    "stop-gate",
    "skill",
    "plugin",
    "capture",
    "completion",
]
BEGIN = "<!-- execplan:begin "


def install(folder: Folder, *integrations: str, shell: str = "bash") -> dict[str, object]:
    """Install, expect it to work, and give the document's data."""
    folder.env["SHELL"] = f"/bin/{shell}"
    return folder.ok("install", *integrations)


@pytest.mark.parametrize("what", [*[[integration] for integration in INTEGRATIONS], INTEGRATIONS])
def test_there_and_back(repo: Folder, what: list[str]) -> None:
    repo.plan()
    before = tree(repo.path.parent)
    first = install(repo, *what)
    installed = tree(repo.path.parent)
    assert first["changed"] is True
    assert installed != before
    second = install(repo, *what)
    assert second["changed"] is False
    assert tree(repo.path.parent) == installed
    assert repo.ok("uninstall", *what)["changed"] is True
    assert tree(repo.path.parent) == before
    assert repo.ok("uninstall", *what)["changed"] is False
    assert tree(repo.path.parent) == before


@pytest.mark.parametrize("what", INTEGRATIONS)
def test_dry_runs_write_nothing_and_show_what_would_be_written(repo: Folder, what: str) -> None:
    before = tree(repo.path.parent)
    repo.env["SHELL"] = "/usr/bin/zsh"
    preview = repo.run("install", what, "--dry-run").out
    data = repo.ok("install", what, "--dry-run")
    assert tree(repo.path.parent) == before
    assert data["diff"] in preview
    assert "would write " in preview
    real = repo.ok("install", what)
    assert real["changes"] == data["changes"]
    assert "diff" not in real
    installed = tree(repo.path.parent)
    assert "would remove " in repo.run("uninstall", what, "--dry-run").out
    assert tree(repo.path.parent) == installed


def test_a_dry_run_shows_a_diff_that_git_applies(repo: Folder) -> None:
    repo.write("AGENTS.md", "Mine\r\nno end")
    repo.write("CLAUDE.md", "")
    repo.write("CLAUDE.md", "Claude\n")
    for subcommand in ("install", "uninstall"):
        repo.write("../change.patch", repo.ok(subcommand, "agents", "pre-commit", "--dry-run")["diff"] + "\n")
        repo.git("apply", "../change.patch")
        applied = tree(repo.path)
        repo.git("apply", "-R", "../change.patch")
        repo.ok(subcommand, "agents", "pre-commit")
        assert tree(repo.path) == applied


def test_from_a_worktree_and_from_below(repo: Folder) -> None:
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Plan")
    repo.git("worktree", "add", "-q", "../other")
    worktree = Folder(repo.path.parent / "other")
    worktree.env = {**repo.env, "SHELL": "bash"}
    before = tree(repo.path.parent)
    subfolder = worktree.path / ".agent"
    assert worktree.run("install", *INTEGRATIONS, cwd=subfolder).exit == 0
    assert (worktree.path / "AGENTS.md").exists()
    assert (repo.path / ".git/hooks/pre-commit").exists()
    assert not (repo.path / "AGENTS.md").exists()
    assert worktree.run("uninstall", *INTEGRATIONS, cwd=subfolder).exit == 0
    assert tree(repo.path.parent) == before


@pytest.mark.parametrize("verb", ["install", "uninstall"])
@pytest.mark.parametrize("what", [[], ["skills"], ["agents", "hooks"]])
def test_usage_lists_the_integrations(repo: Folder, verb: str, what: list[str]) -> None:
    result = repo.run(verb, *what, "--json")
    assert result.exit == 2
    assert [line.split()[0] for line in result.json["error"]["candidates"]] == INTEGRATIONS
    assert not (repo.path / "AGENTS.md").exists()


def test_shell_goes_with_completion(repo: Folder) -> None:
    assert repo.run("install", "agents", "--shell", "zsh").exit == 2


def test_all_or_nothing(repo: Folder) -> None:
    repo.write("CLAUDE.md", "Mine\n").chmod(0o444)
    repo.write(".git/hooks/pre-commit", "#!/usr/bin/env python3\n").chmod(0o755)
    before = tree(repo.path)
    result = repo.run("install", "git-hooks", "pre-commit", "agents")
    assert result.exit == 6
    assert "CLAUDE.md is read-only" in result.err
    assert tree(repo.path) == before


@pytest.mark.parametrize(
    ("name", "what"), [("AGENTS.md", "agents"), ("CLAUDE.md", "agents"), (".pre-commit-config.yaml", "pre-commit")]
)
@pytest.mark.parametrize("content", ["outside\n", None])
def test_links_out_of_the_repository_are_refused(repo: Folder, name: str, what: str, content: str | None) -> None:
    if content is not None:
        repo.write("../outside", content)
    (repo.path / name).symlink_to("../outside")
    before = tree(repo.path.parent)
    result = repo.run("install", what)
    assert result.exit == 7
    assert "outside of the repository" in result.err
    assert tree(repo.path.parent) == before


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", ".pre-commit-config.yaml"])
def test_what_is_no_file_is_refused(repo: Folder, name: str) -> None:
    os.mkfifo(repo.path / name)
    assert repo.run("install", "agents", "pre-commit").exit == 3


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"Mine\n",
        b"Mine",
        b"\xef\xbb\xbfMine\r\n",
        b"A\r\n\r\nB",
        b"a\rb\r",
        b"a\n\n\n",
        b"\xff\n",
        b"a\r\nb\n",
    ],
)
def test_agents_beside_what_is_there(repo: Folder, content: bytes) -> None:
    path = repo.write("AGENTS.md", content)
    path.chmod(0o640)
    before = tree(repo.path)
    install(repo, "agents")
    assert path.read_bytes().startswith(content)
    install(repo, "agents")
    repo.ok("uninstall", "agents")
    assert tree(repo.path) == before


def test_agents_text_is_small_and_names_the_folders(repo: Folder) -> None:
    repo.write(
        ".agent/execplan.toml", 'plans = "docs/execplans"\narchive = "docs/execplans/done"\nguide = "docs/PLANS.md"\n'
    )
    install(repo, "agents")
    data = (repo.path / "AGENTS.md").read_bytes()
    assert len(data) <= 2048
    assert b"`docs/execplans`" in data
    assert b"`docs/execplans/done`" in data
    assert b"`docs/PLANS.md`" in data
    for command in (
        *(
            "new",
            "set",
            "explain steps",
            "next --claim --as NAME",
            "done",
            "add",
            "split",
            "decide",
            "discover",
            "outcome",
        ),
        *("attach", "handoff", "report", "lint", "commit", "checkpoint", "archive", "explain TOPIC"),
    ):
        assert f"`execplan {command}".encode() in data


def test_agents_follows_the_settings_while_unedited(repo: Folder) -> None:
    repo.write("AGENTS.md", "Above\n")
    install(repo, "agents")
    (repo.path / "AGENTS.md").write_bytes((repo.path / "AGENTS.md").read_bytes() + b"\nBelow\n")
    repo.write(".agent/execplan.toml", 'plans = "plans"\n')
    assert install(repo, "agents")["changed"] is True
    text = (repo.path / "AGENTS.md").read_text()
    assert "`plans`" in text
    assert text.startswith("Above\n\n<!-- ")
    assert text.endswith(" -->\n\nBelow\n")
    assert text.count(BEGIN) == 1
    repo.ok("uninstall", "agents")
    assert (repo.path / "AGENTS.md").read_text() == "Above\n\nBelow\n"


def test_a_file_that_install_made_stays_when_a_person_wrote_into_it(repo: Folder) -> None:
    install(repo, "agents")
    path = repo.path / "AGENTS.md"
    path.write_bytes(path.read_bytes() + b"Mine\n")
    repo.ok("uninstall", "agents")
    assert path.read_bytes() == b"Mine\n"


def test_edits_inside_the_block_are_noticed_and_kept(repo: Folder) -> None:
    install(repo, "agents", "pre-commit")
    path = repo.path / "AGENTS.md"
    edited = path.read_text().replace("Small fixes need none.", "Everything does.")
    path.write_text(edited)
    before = tree(repo.path)
    result = repo.run("install", "agents", "--json")
    assert result.exit == 0
    assert result.json["data"]["changes"] == [{"what": "agents", "path": "AGENTS.md", "action": "kept"}]
    assert "execplan install agents --force" in result.json["warnings"][0]
    refused = repo.run("uninstall", "pre-commit", "agents")
    assert refused.exit == 1
    assert "execplan uninstall agents --force" in refused.err
    assert tree(repo.path) == before
    repo.ok("install", "agents", "--force")
    assert "Everything does." not in path.read_text()
    path.write_text(edited)
    repo.ok("uninstall", "agents", "--force")
    assert not path.exists()


def test_damaged_markers_are_refused_with_file_and_line(repo: Folder) -> None:
    repo.write("AGENTS.md", f"One\n{BEGIN}1 -->\n")
    for subcommand in ("install", "uninstall"):
        result = repo.run(subcommand, "agents", "--force")
        assert result.exit == 3
        assert "AGENTS.md:2: " in result.err


def files_with_block(repo: Folder) -> list[str]:
    """The files that hold a block, once it is installed; all of it is taken back afterwards."""
    before = tree(repo.path)
    install(repo, "agents")
    install(repo, "agents")
    names = [
        file.name for file in sorted(repo.path.glob("*.md")) if not file.is_symlink() and BEGIN in file.read_text()
    ]
    assert all(((repo.path / name).read_text().count(BEGIN) == 1) for name in names)
    repo.ok("uninstall", "agents")
    assert tree(repo.path) == before
    return names


def test_claude_gets_the_block_where_it_is_of_its_own(repo: Folder) -> None:
    assert files_with_block(repo) == ["AGENTS.md"]
    repo.write("CLAUDE.md", "Mine; `@AGENTS.md` is not read.\n")
    assert files_with_block(repo) == ["AGENTS.md", "CLAUDE.md"]
    repo.write("CLAUDE.md", "See @AGENTS.md\n")
    assert files_with_block(repo) == ["AGENTS.md"]


@pytest.mark.parametrize("there", [True, False])
def test_one_file_under_two_names_gets_one_block(repo: Folder, there: bool) -> None:
    if there:
        repo.write("AGENTS.md", "Mine\n")
    link = repo.path / "CLAUDE.md"
    link.symlink_to("AGENTS.md")
    assert files_with_block(repo) == ["AGENTS.md"]
    link.unlink()
    link.write_text("Mine\n")
    (repo.path / "AGENTS.md").unlink(missing_ok=True)
    (repo.path / "AGENTS.md").symlink_to("CLAUDE.md")
    assert files_with_block(repo) == ["CLAUDE.md"]


@pytest.mark.parametrize("there", [True, False])
def test_links_inside_are_kept(repo: Folder, there: bool) -> None:
    if there:
        repo.write("docs/agents.md", "Mine\n")
    (repo.path / "AGENTS.md").symlink_to("docs/agents.md")
    before = tree(repo.path)
    install(repo, "agents")
    assert (repo.path / "AGENTS.md").is_symlink()
    assert BEGIN in (repo.path / "docs/agents.md").read_text()
    repo.ok("uninstall", "agents")
    assert tree(repo.path) == before


def test_what_was_removed_through_a_link_comes_back_when_the_rest_fails(repo: Folder) -> None:
    (repo.path / "AGENTS.md").symlink_to("docs/agents.md")
    install(repo, "agents", "pre-commit")
    (repo.path / ".pre-commit-config.yaml").chmod(0o444)
    before = tree(repo.path)
    assert repo.run("uninstall", "agents", "pre-commit").exit == 6
    assert tree(repo.path) == before


def test_uninstall_needs_no_project(repo: Folder, plain: Folder) -> None:
    install(repo, "agents", "git-hooks")
    (repo.path / ".agent/execplans").rmdir()
    repo.ok("uninstall", "agents", "git-hooks")
    assert not (repo.path / "AGENTS.md").exists()
    result = plain.run("uninstall", "agents")
    assert result.exit == 0
    assert "not installed" in result.out
    assert list(plain.path.iterdir()) == []


def test_two_at_once_make_one_block(repo: Folder) -> None:
    path = repo.write("AGENTS.md", "Mine\n")
    assert [result.exit for result in repo.run_at_once([("install", "agents")] * 4)] == [0] * 4
    assert path.read_text().count(BEGIN) == 1


def test_quiet_and_verbose(repo: Folder) -> None:
    assert repo.run("install", "agents", "-q").out == ""
    assert "locked " in repo.run("uninstall", "agents", "-v").err


def test_a_project_below_the_root_is_named_from_the_root(repo: Folder) -> None:
    nested: Path = repo.path / "services" / "a"
    (nested / ".agent" / "execplans").mkdir(parents=True)
    (repo.path / ".agent" / "execplans").rmdir()
    assert repo.run("install", "agents", "pre-commit", cwd=nested).exit == 0
    assert "`services/a/.agent/execplans`" in (repo.path / "AGENTS.md").read_text()
    assert "services/a/" in (repo.path / ".pre-commit-config.yaml").read_text()
