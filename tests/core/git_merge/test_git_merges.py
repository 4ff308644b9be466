"""`install merge-driver`, then git itself: what two branches did to a plan comes together, whatever brings it there."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from execplan.core.plan.log_edits import add_decision
from execplan.core.plan.task_edits import add_task, complete_tasks
from tests.conftest import Folder
from tests.core.git_merge.branches import (
    BOTH,
    MOMENT,
    OURS,
    PLAN,
    THEIRS,
    commit,
    edited,
    fork,
    git,
    marked,
    plan,
    states,
)
from tests.plans import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

WORK = "Write the scanner, then the reader."
"""A line of prose in the plan."""


@pytest.fixture
def driven(repo: Folder) -> Folder:
    """A repository whose plans git merges with our driver."""
    repo.ok("install", "merge-driver")
    commit(repo, "# Notes\n", "NOTES.md")
    return repo


def holds_both(folder: Folder, name: str = PLAN) -> None:
    """See that the plan says what both branches brought in, each once, and that no conflict is left."""
    text = (folder.path / name).read_text()
    assert [text.count(phrase) for phrase in BOTH] == [1] * len(BOTH)
    assert states(folder, name) == {
        "Read lines.": "done",
        "Build the parser.": "done",
        "Write the tests.": "done",
        "Handle CRLF": "open",
        "Handle tabs": "open",
    }
    assert plan(folder, name).conflict_lines == []
    assert git(folder, "ls-files", "-u").stdout == ""


@pytest.mark.parametrize("how", ["merge", "rebase", "cherry-pick", "stash", "worktree", "merge-tree"])
def test_two_branches_come_together(driven: Folder, how: str) -> None:
    fork(driven, edited(CLEAN, *OURS), edited(CLEAN, *THEIRS))
    if how == "merge":
        driven.git("merge", "-q", "--no-edit", "side")
    elif how == "rebase":
        driven.git("checkout", "-q", "side")
        driven.git("rebase", "-q", "main")
    elif how == "cherry-pick":
        driven.git("cherry-pick", "side")
    elif how == "stash":
        driven.git("checkout", "-q", "main~")
        driven.write(PLAN, edited(CLEAN, *THEIRS))
        driven.git("stash", "-q")
        driven.git("checkout", "-q", "main")
        driven.git("stash", "pop", "-q")
    elif how == "worktree":
        driven.git("worktree", "add", "-q", "../other", "side")
        other = driven.path.parent / "other"
        assert git(driven, "merge", "--no-edit", "main", cwd=other).returncode == 0
        driven.git("checkout", "-q", "--detach", "side")
    else:
        tree = driven.git("merge-tree", "--write-tree", "main", "side").split()[0]
        driven.git("checkout", "-q", tree, "--", PLAN)
    holds_both(driven)
    assert driven.run("lint", PLAN).exit == 0


def test_a_revert_takes_back_what_one_commit_did_and_no_more(driven: Folder) -> None:
    commit(driven, CLEAN)
    commit(driven, edited(CLEAN, *OURS))
    commit(driven, edited(edited(CLEAN, *OURS), *THEIRS))
    driven.git("revert", "--no-edit", "HEAD~")
    text = (driven.path / PLAN).read_text()
    assert [phrase for phrase in BOTH if phrase in text] == list(BOTH[1:2] + BOTH[3:])
    assert states(driven)["Build the parser."] == "open"
    assert states(driven)["Write the tests."] == "done"


def conflicting(driven: Folder) -> None:
    """Let both branches tick and decide, and say the same line of prose in different words."""
    ours, theirs = CLEAN.replace(WORK, "Scan first."), CLEAN.replace(WORK, "Read first.")
    fork(driven, edited(ours, *OURS), edited(theirs, *THEIRS))
    merged = git(driven, "merge", "side")
    assert merged.returncode == 1
    assert "CONFLICT" in merged.stdout


def test_a_conflict_in_prose_leaves_markers_only_there(driven: Folder) -> None:
    conflicting(driven)
    text = marked(driven)
    region = "<<<<<<< ours\nScan first.\n=======\nRead first.\n>>>>>>> theirs\n"
    assert text.count(region) == 1
    assert text.count("<<<<<<<") == 1
    assert all(phrase in text for phrase in BOTH)
    assert git(driven, "ls-files", "-u").stdout.count(PLAN) == 3


def test_a_plan_with_a_conflict_is_shown_and_not_edited(driven: Folder) -> None:
    conflicting(driven)
    before = (driven.path / PLAN).read_bytes()
    for command in ("show", "list", "status", "next"):
        result = driven.run(command)
        assert result.exit == 0
        assert "contains a git conflict marker" in result.err
    assert driven.run("lint").exit == 1
    for call in (["done", "4"], ["decide", "No", "--why", "So."], ["archive", "--force", "--reason", "So."]):
        result = driven.run(*call, "--json")
        assert result.exit == 3
        assert result.json["error"]["code"] == "conflict-markers"
    assert (driven.path / PLAN).read_bytes() == before


@pytest.mark.parametrize("style", ["diff3", "zdiff3"])
def test_a_conflict_shows_the_base_where_git_is_told_to(driven: Folder, style: str) -> None:
    driven.git("config", "merge.conflictStyle", style)
    conflicting(driven)
    assert f"Scan first.\n||||||| base\n{WORK}\n=======\n" in marked(driven)


def test_markers_of_another_size(driven: Folder) -> None:
    driven.write(".git/info/attributes", "*.md conflict-marker-size=20\n")
    conflicting(driven)
    text = marked(driven)
    assert f"{'<' * 20} ours\nScan first.\n{'=' * 20}\nRead first.\n{'>' * 20} theirs\n" in text
    assert driven.run("done", "4").exit == 3


def settle(driven: Folder, line: str) -> None:
    """Put a line in the place of the one conflict, and commit."""
    head, _, rest = marked(driven).partition("<<<<<<< ours\n")
    commit(driven, head + line + "\n" + rest.partition(">>>>>>> theirs\n")[2])


def test_criss_cross_merges(driven: Folder) -> None:
    """The common version is made of two that are in conflict themselves, and each side has settled that in its way."""
    conflicting(driven)
    driven.git("branch", "old", "main")
    settle(driven, "Scan first, as we said.")
    driven.git("checkout", "-q", "side")
    assert git(driven, "merge", "old").returncode == 1
    settle(driven, "Read first, as they said.")
    commit(
        driven,
        edited(
            (driven.path / PLAN).read_bytes(), add_task("Only on side", MOMENT), complete_tasks(["Handle tabs"], MOMENT)
        ),
    )
    driven.git("checkout", "-q", "main")
    commit(
        driven,
        edited(
            (driven.path / PLAN).read_bytes(), add_task("Only on main", MOMENT), complete_tasks(["Handle CRLF"], MOMENT)
        ),
    )
    assert len(driven.git("merge-base", "--all", "main", "side").split()) == 2
    assert git(driven, "merge", "side").returncode == 1
    text = (driven.path / PLAN).read_text()
    assert [text.count(phrase) for phrase in (*BOTH, "Only on side", "Only on main")] == [1] * (len(BOTH) + 2)
    assert text.count("<<<<<<<") == text.count(">>>>>>>") == 1
    assert "Scan first, as we said." in text
    assert "Read first, as they said." in text
    open_tasks = [phrase for phrase, state in states(driven).items() if state == "open"]
    assert sorted(open_tasks) == ["Only on main", "Only on side"]


def test_archived_on_one_side_and_edited_on_the_other(driven: Folder) -> None:
    commit(driven, CLEAN)
    driven.git("checkout", "-qb", "side")
    commit(driven, edited(CLEAN, add_task("Found late", MOMENT), add_decision("Late", "It came up.", "Ben", MOMENT)))
    driven.git("checkout", "-q", "main")
    commit(driven, edited(CLEAN, complete_tasks(["2", "3"], MOMENT)))
    driven.ok("archive", "parser", "--commit")
    driven.git("merge", "-q", "--no-edit", "side")
    archived = ".agent/execplans/archive/2026-01-01_parser.md"
    assert not (driven.path / PLAN).exists()
    assert states(driven, archived)["Found late"] == "open"
    assert states(driven, archived)["Write the tests."] == "done"
    assert "Late" in [decision.text for decision in plan(driven, archived).decisions]
    assert "EP502" in driven.run("lint").out


def test_deleted_on_one_side_and_edited_on_the_other(driven: Folder) -> None:
    commit(driven, CLEAN)
    driven.git("checkout", "-qb", "side")
    driven.git("rm", "-q", PLAN)
    driven.git("commit", "-qm", "Remove")
    driven.git("checkout", "-q", "main")
    commit(driven, edited(CLEAN, *OURS))
    assert git(driven, "merge", "side").returncode == 1
    assert (driven.path / PLAN).read_text() == edited(CLEAN, *OURS)


def test_one_plan_added_on_both(driven: Folder) -> None:
    driven.git("checkout", "-qb", "side")
    commit(driven, edited(CLEAN, *THEIRS))
    driven.git("checkout", "-q", "main")
    commit(driven, edited(CLEAN, *OURS))
    git(driven, "merge", "side")
    text = (driven.path / PLAN).read_text()
    assert [text.count(phrase) for phrase in BOTH] == [1] * len(BOTH)


def test_two_plans_added_under_one_name_conflict_whole(driven: Folder) -> None:
    other = CLEAN.replace("# Build the parser", "# Paint the wall").replace(
        "- [ ] Write the tests.", "- [ ] Buy paint."
    )
    driven.git("checkout", "-qb", "side")
    commit(driven, other)
    driven.git("checkout", "-q", "main")
    commit(driven, CLEAN)
    assert git(driven, "merge", "side").returncode == 1
    assert marked(driven) == f"<<<<<<< ours\n{CLEAN}=======\n{other}>>>>>>> theirs\n"


def broken_driver(folder: Folder, python: str) -> None:
    """Put another program in the place of the driver's Python."""
    driver = folder.git("config", "merge.execplan.driver").replace(sys.executable, python)
    assert python in driver
    folder.git("config", "merge.execplan.driver", driver.strip())


PYTHONS = {
    "gone": None,
    "without execplan": "#!/bin/sh\nexit 1\n",
    "silent": "#!/bin/sh\nexit 0\n",
    "killed": "#!/bin/sh\nkill -9 $$\n",
}


@pytest.mark.parametrize("kind", PYTHONS)
def test_a_driver_that_does_not_run_drops_no_side(driven: Folder, tmp_path: Path, kind: str) -> None:
    python = tmp_path / "bin" / "python"
    if script := PYTHONS[kind]:
        python.parent.mkdir()
        python.write_text(script)
        python.chmod(0o755)
    broken_driver(driven, str(python))
    fork(driven, edited(CLEAN, *OURS), edited(CLEAN, *THEIRS))
    merged = git(driven, "merge", "side")
    assert merged.returncode == 1
    assert "CONFLICT" in merged.stdout
    assert f"execplan: {PLAN} was merged line by line" in merged.stderr
    assert "execplan install merge-driver" in merged.stderr
    text = (driven.path / PLAN).read_text()
    assert "<<<<<<< ours" in text
    assert all(phrase in text for phrase in BOTH)


def test_a_bug_in_the_driver_drops_no_side(driven: Folder) -> None:
    driven.write("bad/sitecustomize.py", "import execplan.core.git_merge.three_way_merge as m\ndel m.merge_versions\n")
    fork(driven, edited(CLEAN, *OURS), edited(CLEAN, *THEIRS))
    paths = [str(driven.path / "bad"), driven.env.get("PYTHONPATH", "")]
    merged = git(driven, "merge", "side", PYTHONPATH=":".join(paths))
    assert merged.returncode == 1
    assert f"execplan: {PLAN}: internal error (a bug in execplan): ImportError" in merged.stderr
    assert merged.stderr.count("execplan: ") == 1
    text = marked(driven)
    assert "<<<<<<< ours" in text
    assert all(phrase in text for phrase in BOTH)


@pytest.mark.parametrize(
    "bytes_",
    [b"caf\xe9\n", b"\xff\xfea\0", b"a\0b\n", b"\n", b"- [ ] x\n" * 700_000],
    ids=["latin-1", "utf-16", "nul", "empty", "large"],
)
def test_a_side_that_is_no_plan(driven: Folder, bytes_: bytes) -> None:
    commit(driven, CLEAN)
    driven.git("checkout", "-qb", "side")
    driven.write(PLAN, bytes_)
    driven.git("commit", "-qam", "Change")
    driven.git("checkout", "-q", "main")
    commit(driven, edited(CLEAN, *OURS))
    before = (driven.path / PLAN).read_bytes()
    merged = git(driven, "merge", "side")
    assert merged.returncode == 1
    assert f"execplan: {PLAN}: " in merged.stderr
    after = (driven.path / PLAN).read_bytes()
    if b"\0" in bytes_:
        assert after == before
    else:
        assert after.count(b"\n<<<<<<< ") + after.startswith(b"<<<<<<< ") == after.count(b"\n>>>>>>> ") == 1
        assert bytes_ in after
        assert b"Handle CRLF" in after
    assert git(driven, "ls-files", "-u").stdout.count(PLAN) == 3


def test_the_attribute_without_the_setting_is_gits_own_merge(driven: Folder) -> None:
    driven.git("config", "--remove-section", "merge.execplan")
    fork(driven, edited(CLEAN, *OURS), edited(CLEAN, *THEIRS))
    assert git(driven, "merge", "side").returncode == 1
    text = (driven.path / PLAN).read_text()
    assert "<<<<<<< HEAD" in text
    assert all(phrase in text for phrase in BOTH)


def test_notes_are_told(driven: Folder) -> None:
    ours = CLEAN.replace("- [ ] Build the parser.", "- [ ] Build the parser and the printer.")
    fork(driven, ours, edited(CLEAN, complete_tasks(["2"], MOMENT)))
    merged = git(driven, "merge", "--no-edit", "side")
    assert merged.returncode == 0
    assert f"execplan: {PLAN}: " in merged.stderr
    assert states(driven)["Build the parser and the printer."] == "open"


def test_paths_that_need_quotes(repo: Folder) -> None:
    folder = "doc 'n' \"more\"/pläne [1]*"
    quoted = folder.replace('"', '\\"')
    repo.write(".agent/execplan.toml", f'plans = "{quoted}"\narchive = "{quoted}/old"\n')
    repo.ok("install", "merge-driver")
    name = f"{folder}/2026-01-01_ä $(touch x) b.md"
    fork(repo, edited(CLEAN, *OURS), edited(CLEAN, *THEIRS), name=name)
    repo.git("merge", "-q", "--no-edit", "side")
    holds_both(repo, name)
    assert not (repo.path / "x").exists()
