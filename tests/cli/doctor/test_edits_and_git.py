"""`doctor` and `undo` on edits that the user took out with git: nobody lost them, and nothing brings them back by itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.doctor.doctor_findings import assert_clean, doctor, only_finding, run_remedy
from tests.conftest import Folder
from tests.plans import CLEAN

ADD = ("add", "Handle CRLF.")
DECIDE = ("decide", "Read bytes.", "--why", "Nothing is lost.")


@pytest.fixture
def committed(repo: Folder) -> Folder:
    """A repository with a committed plan."""
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    return repo


def plan_file(repo: Folder) -> Path:
    return repo.path / ".agent/execplans/2026-01-01_parser.md"


def test_restore_discards_an_edit_for_good(committed: Folder) -> None:
    committed.ok("done", "3")
    committed.git("restore", ".")
    assert_clean(committed)
    assert doctor(committed, "--fix")["fixed"] == []
    assert plan_file(committed).read_text() == CLEAN
    committed.ok("done", "2")
    assert_clean(committed)


def test_an_edit_that_is_safe_on_another_branch_and_one_that_was_discarded(committed: Folder) -> None:
    committed.git("switch", "-q", "-c", "feat")
    committed.ok("done", "2", "--commit")
    committed.git("switch", "-q", "main")
    committed.ok("done", "3")
    committed.git("checkout", ".")
    assert_clean(committed)


def test_a_renamed_plan_that_git_has_restored_is_there_twice(committed: Folder) -> None:
    """`git restore` brings the old file back, and leaves the new one, which git does not know."""
    old, new = ".agent/execplans/2026-01-01_parser.md", ".agent/execplans/2026-01-01_read-lists.md"
    committed.ok("rename", "parser", "Read lists")
    assert_clean(committed)
    committed.git("restore", ".")
    finding = only_finding(committed, "ids")
    assert (finding["level"], finding["path"]) == ("notice", old)
    assert finding["message"] == f"this plan was moved to {new}, but its old file is here again"
    assert finding["mend"] == f"keep the new one: rm {old}; or the old one: execplan undo -p {new}"
    run_remedy(committed, finding["mend"].partition("or the old one: ")[2])
    assert committed.git("status", "--short") == ""
    assert_clean(committed)
    committed.ok("redo")
    committed.ok("done", "3")
    committed.git("restore", ".")
    assert only_finding(committed, "ids")["mend"] == f"keep the new one: rm {old}; or the old one: rm {new}"
    run_remedy(committed, f"rm {old}")
    assert_clean(committed)


def test_a_discarded_fix_blocks_no_archive(repo: Folder) -> None:
    messy = CLEAN.replace("## Progress\n", "## Progress   \n").replace("- [ ]", "- [x] (2025-12-31 10:00Z)")
    path = repo.plan(messy)
    other = repo.plan(CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)"), name="2026-01-02_other.md")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    repo.ok("lint", "--fix")
    assert path.read_text() != messy
    repo.git("checkout", ".")
    assert_clean(repo)
    assert repo.run("archive", "--complete").exit == 0
    assert not path.exists()
    assert not other.exists()


def test_undo_says_that_redo_brings_a_discarded_edit_back(committed: Folder) -> None:
    for call in (("done", "2"), ADD):
        committed.ok(*call)
    edited = plan_file(committed).read_text()
    committed.git("restore", ".")
    for _ in range(2):
        (message,) = committed.ok("undo")["said"]
        assert "no longer there, so there is nothing to undo" in message
        assert message.endswith("bring it back: execplan redo")
    assert plan_file(committed).read_text() == CLEAN
    committed.ok("redo")
    committed.ok("redo")
    assert plan_file(committed).read_text() == edited
    committed.ok("undo")
    committed.ok("undo")
    assert plan_file(committed).read_text() == CLEAN


def test_an_editor_with_an_old_text_is_noticed_without_an_error(committed: Folder) -> None:
    stale = plan_file(committed).read_text()
    for call in (("done", "2"), ADD, DECIDE):
        committed.ok(*call)
    edited = plan_file(committed).read_text()
    plan_file(committed).write_text(stale + "\nBy hand.\n")
    finding = only_finding(committed, "edits")
    assert finding["level"] == "notice"
    assert finding["message"].startswith("another program has overwritten 3 edits: done 2")
    assert committed.run("doctor").exit == 0
    assert doctor(committed, "--fix")["fixed"] == []
    assert len(doctor(committed, "--restore", "parser")["fixed"]) == 3
    assert plan_file(committed).read_text() == edited + "\nBy hand.\n"
    assert_clean(committed)
    committed.ok("undo")
    assert plan_file(committed).read_text() == stale + "\nBy hand.\n"
    assert_clean(committed)


OURS = [("done", "2"), ("done", "3"), ADD, DECIDE, ("lint", "--fix")]
STEPS = [
    *[[*call, *commit] for call in OURS for commit in ((), ("--commit",))],
    *[
        ["git", *arguments.split()]
        for arguments in (
            "restore .",
            "checkout -q side",
            "switch -q main",
            "checkout -q side -- .agent",
            "stash -q",
            "stash pop -q",
            "reset -q --hard",
            "reset -q --hard HEAD~1",
            "reset -q --soft HEAD~1",
            "reset -q HEAD~1",
            "rebase -q side",
            "commit -q -a --amend -m Amended",
            "commit -q -a -m All",
            "cherry-pick side",
            "merge -q side",
        )
    ],
]


def try_git(repo: Folder, *arguments: str) -> None:
    """Run git, which may fail."""
    subprocess.run(["git", *arguments], cwd=repo.path, env=repo.env, capture_output=True, check=False, timeout=60)


def edit_findings(repo: Folder) -> list[dict[str, str]]:
    """What is found about edits, whatever else is."""
    reported: list[dict[str, str]] = repo.run("doctor", "--json").json["data"]["findings"]
    return [finding for finding in reported if finding["check"] == "edits"]


def git_has(repo: Folder) -> bool:
    """Whether a commit, a stash, a reflog or the index has the plan as it is, according to git itself."""
    blob = repo.git("hash-object", str(plan_file(repo))).strip()
    logged = repo.git("log", "--all", "--reflog", "-m", "--root", "--format=", "--raw", "--no-abbrev")
    return blob in logged or blob in repo.git("ls-files", "-s")


@pytest.mark.hypothesis
@settings(deadline=None, max_examples=8, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(STEPS), min_size=3, max_size=10), st.booleans())
def test_nothing_is_reported_of_a_text_that_git_has(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[str]], in_worktree: bool
) -> None:
    """The edits and the commands of git come in any order; then an editor saves the text it has read before an edit."""
    repo = Folder(tmp_path_factory.mktemp("edits") / "repo")
    repo.path.mkdir()
    repo.git("init", "-q", "-b", "main")
    repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    repo.git("switch", "-q", "-c", "side")
    repo.ok("note", "Lines end in CR.", "--commit")
    if in_worktree:
        repo.git("worktree", "add", "-q", "-b", "work", "../work", "main")
        repo = Folder(repo.path.parent / "work")
    else:
        repo.git("switch", "-q", "main")
    for name, *arguments in steps:
        if name == "git":
            try_git(repo, *arguments)
            for operation in ("rebase", "cherry-pick", "merge"):
                try_git(repo, operation, "--abort")
        else:
            repo.run(name, *arguments)
        if plan_file(repo).exists() and git_has(repo):
            assert edit_findings(repo) == [], (name, arguments)
    if not plan_file(repo).exists() or "<<<<<<<" in plan_file(repo).read_text():
        return
    stale = plan_file(repo).read_text() + "\nBy hand.\n"
    repo.ok("note", "Tabs count as one column.", "--create")
    plan_file(repo).write_text(stale)
    finding = edit_findings(repo)[-1]
    assert finding["level"] == "notice"
    assert "Tabs count as one column" in finding["message"]
