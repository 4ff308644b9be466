"""`install` names the git commands that commit what it wrote."""

from __future__ import annotations

import shlex

from tests.conftest import Folder


def test_the_files_of_the_repository_are_to_be_committed(repo: Folder) -> None:
    repo.git("add", "-A")
    repo.git("commit", "-qm", "All", "--allow-empty")
    commands = repo.run("install", "agents", "git-hooks", "merge-driver", "--json").json["next"]
    assert commands[0] == "git add .gitattributes AGENTS.md"
    for command in commands:
        repo.git(*shlex.split(command)[1:])
    assert repo.git("status", "--porcelain") == ""
    assert repo.run("install", "agents", "--json").json["next"] == []
    (repo.path / ".gitignore").write_text(".agents\n")
    assert repo.run("install", "skill", "--for", "codex", "--json").json["next"] == []
