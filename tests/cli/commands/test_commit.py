"""`commit`: what it says of files that it leaves."""

from __future__ import annotations

import shlex

from tests.conftest import Folder


def test_all_plans_are_committed_and_settings_are_named(plain: Folder) -> None:
    plain.git("init", "-q")
    plain.ok("init")
    plain.ok("new", "Build the parser")
    result = plain.run("commit", "--all")
    lines = result.out.splitlines()
    assert lines[1:] == [
        "not committed: .agent/PLANS.md, .agent/execplan.toml",
        "next: git add .agent/PLANS.md .agent/execplan.toml",
    ]
    plain.git(*lines[2].split()[2:])
    plain.git(*shlex.split(plain.run("commit", "--all").out.splitlines()[-1])[2:])
    assert plain.git("status", "--porcelain") == ""
    assert plain.run("commit", "--all").out == "nothing to commit: no plan has changes\n"


def test_conflict_markers_that_are_committed_are_reported(repo: Folder) -> None:
    conflict = "<<<<<<< ours\n- [ ] Read.\n=======\n- [ ] Scan.\n>>>>>>> theirs\n"
    for name in ("parser", "scanner"):
        repo.plan(f"# Plan {name}\n\n## Progress\n\n{conflict if name == 'parser' else '- [ ] Scan.'}\n", name)
    for command in (["commit", "parser", "--dry-run"], ["commit", "--all"]):
        result = repo.run(*command)
        assert result.exit == 0, result
        assert "parser.md: line 5 contains a git conflict marker" in result.err
        assert repo.run("commit", "--all", "--dry-run").err.count("conflict") == (1 if "--dry-run" in command else 0)
        assert result.out.splitlines()[-1] == "next: execplan merge parser"
    assert repo.run("commit", "scanner").err == ""
