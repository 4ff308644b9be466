"""`commit`: what it says of files that it leaves."""

from __future__ import annotations

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
    plain.git("commit", "-q", "-m", "Settings")
    assert plain.git("status", "--porcelain") == ""
    assert plain.run("commit", "--all").out == "nothing to commit: no plan has changes\n"
