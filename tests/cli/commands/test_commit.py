"""`commit`: what it says of files that it leaves."""

from __future__ import annotations

import shlex

from tests.conftest import Folder
from tests.plans import CLEAN


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
    again = plain.run("commit", "--all").out.splitlines()
    assert again[-1] == "next: git commit -m 'Set up execplan' -- .agent/PLANS.md .agent/execplan.toml"
    plain.git(*shlex.split(again[-1])[2:])
    assert plain.git("status", "--porcelain") == ""
    assert plain.run("commit", "--all").out == "nothing to commit: no plan has changes\n"


def test_a_new_baseline_is_named_like_the_settings(repo: Folder) -> None:
    repo.plan()
    add = "git add .agent/lint-baseline.json"
    assert repo.run("lint", "--write-baseline").out.endswith(f"\nnext: {add}\n")
    assert repo.run("commit", "--all").out.endswith(f"\nnext: {add}\n")
    repo.git("add", ".agent/lint-baseline.json")
    repo.git("commit", "-q", "-m", "Baseline")
    assert "baseline.json" not in repo.run("commit", "--all").out
    assert "next: execplan lint --baseline" in repo.run("lint", "--write-baseline").out


def test_a_plan_with_conflict_markers_is_not_committed(repo: Folder) -> None:
    conflict = "<<<<<<< ours\n- [ ] Read.\n=======\n- [ ] Scan.\n>>>>>>> theirs\n"
    for name in ("parser", "scanner"):
        repo.plan(f"# Plan {name}\n\n## Progress\n\n{conflict if name == 'parser' else '- [ ] Scan.'}\n", name)
    preview = repo.run("commit", "parser", "--dry-run")
    assert "parser.md: line 5 contains a git conflict marker" in preview.err
    assert preview.out.splitlines()[-1] == "next: execplan merge parser"
    for command in (["commit", "parser"], ["commit", "--all"]):
        result = repo.run(*command)
        assert result.exit == 1, result
        assert "parser.md: line 5 contains a git conflict marker; nothing was committed\n" in result.err
        assert result.err.endswith(": execplan merge parser && execplan commit parser\n")
    assert repo.run("commit", "scanner").err == ""


def test_a_plan_that_was_deleted_by_hand_is_named_with_what_commits_that(repo: Folder) -> None:
    path = repo.plan()
    repo.plan(CLEAN, "scanner")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    repo.ok("add", "Test it", "-p", "scanner")
    path.unlink()
    name = str(path.relative_to(repo.path))
    command = f"git commit -m 'Remove a plan' -- {name}"
    assert repo.run("commit", "2026-01-01_parser").err.endswith(f"; or commit its removal: {command}\n")
    assert repo.run("commit", "--all").out.splitlines()[1:] == [f"not committed: {name} (deleted)", f"next: {command}"]
    (finding,) = repo.run("doctor", "--json").json["data"]["findings"]
    assert (finding["path"], finding["message"]) == (name, "deleted, but git still has it")
    assert finding["mend"].startswith(f"git restore {name}; or commit its removal: {command}")
    (path.parent / "scanner.md").unlink()
    both = f"{name} {path.parent.relative_to(repo.path)}/scanner.md"
    for reader in ("status", "next", "list"):
        text, advice = repo.run(reader).out.splitlines()
        assert text == f"no plans; deleted, but git still has them: {both.replace(' ', ', ')}"
        assert f": git restore {both}; or commit their removal: {command}" in advice
    assert repo.run("commit").out.endswith(f"next: {command} {path.parent.relative_to(repo.path)}/scanner.md\n")
    repo.git(*shlex.split(command)[1:])
    assert name not in repo.run("commit", "--all").out


def test_without_open_plans_the_only_archived_plan_with_changes_is_committed(repo: Folder) -> None:
    for name in ("parser", "scanner"):
        repo.plan(name=name)
        repo.ok("commit", name)
    archive = ("archive", "--force", "--reason", "Why", "parser")
    repo.ok(*archive)
    repo.ok("commit", "parser")
    repo.ok("archive", "--force", "--reason", "Why", "scanner", "--commit")
    repo.ok("undo", "-p", "parser")
    assert repo.run("commit").out.startswith("committed ")
    repo.ok("redo", "-p", "parser")
    assert repo.run("commit").out.startswith("committed ")
    assert repo.git("status", "--porcelain", ".agent/execplans") == ""
    assert repo.run("commit").out == "nothing to commit: no plans\n"


def test_several_archived_plans_with_changes_are_left_to_a_decision(repo: Folder) -> None:
    for name in ("parser", "scanner"):
        repo.plan(name=name)
        repo.ok("archive", "--force", "--reason", "Why", name)
    out = repo.run("commit").out
    assert out == "nothing committed: no open plans; 2 archived plans have changes\nnext: execplan commit --all\n"
    assert repo.run("commit", "--all").exit == 0
    assert repo.git("status", "--porcelain", ".agent/execplans") == ""
