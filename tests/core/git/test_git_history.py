"""What git knows of plans, and what `lint` makes of it: real repositories, also odd ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from execplan.core.git import git_history, streamed_queries
from execplan.core.project import project_discovery
from tests.conftest import Folder
from tests.plans import CLEAN

PLAN = ".agent/execplans/2026-01-01_parser.md"
REOPENED = CLEAN.replace("- [x] (2025-12-30 09:15Z) Read", "- [ ] Read")
FINISHED = CLEAN.replace("- [ ]", "- [x] (2026-01-01 00:00Z)")


def codes(folder: Folder, *arguments: str, cwd: Path | None = None) -> list[str]:
    """The codes of what `lint` finds, with rules that ask git; those that have nothing to do with it left out."""
    result = folder.run("lint", "--json", *(arguments or ("--profile", "ci")), cwd=cwd)
    assert result.exit in (0, 1), result
    all_codes = [finding["code"] for finding in result.json["data"]["findings"]]
    return [code for code in all_codes if code in ("EP001", "EP212", "EP307", "EP308", "EP506", "EP507")]


def commit(folder: Folder, message: str = "Change") -> None:
    """Commit all that is there."""
    folder.git("add", "-A")
    folder.git("commit", "-q", "-m", message)


@pytest.fixture
def committed(repo: Folder) -> Folder:
    """A repository in which the clean plan is committed, with the file that it is about."""
    repo.plan()
    repo.write("src/reader.py", "one\n")
    commit(repo)
    return repo


def test_rules_that_ask_git_run_where_they_are_wanted(committed: Folder) -> None:
    committed.plan(REOPENED)
    assert codes(committed, PLAN) == []
    assert codes(committed, "--profile", "ci") == ["EP212"]
    assert codes(committed, "--profile", "strict") == ["EP212"]
    assert codes(committed, "--select", "EP212") == ["EP212"]
    assert codes(committed, "--select", "EP2") == ["EP212"]
    assert codes(committed, "--since", "HEAD") == ["EP212"]
    committed.write(".agent/execplan.toml", '[lint]\nprofile = "ci"\n')
    assert "EP212" in committed.run("lint", PLAN).out


def test_staged_is_compared_with_head(committed: Folder) -> None:
    committed.plan(REOPENED)
    committed.git("add", "-A")
    committed.plan()
    assert codes(committed, "--staged") == ["EP212"]
    committed.git("add", "-A")
    committed.plan(REOPENED)
    assert codes(committed, "--staged") == []


def test_git_is_asked_once_a_question_for_all_plans(committed: Folder) -> None:
    for number in range(30):
        committed.plan(REOPENED.replace("# Build", f"# {number} build"), name=f"2026-01-02_{number}")
    commit(committed)
    log = committed.run("lint", "--profile", "ci", "-v").err
    assert log.count(" ls-tree -rz ") == 1
    assert log.count("run git rev-parse") < 6  # some ask for the main branch
    assert log.count(" log -z ") == 2  # what changed in plans, and what was merged


def test_a_lost_update_names_what_is_gone(committed: Folder) -> None:
    committed.ok("add", "Write the pages")
    committed.ok("done", "Write the pages")
    commit(committed)
    committed.plan(CLEAN)  # somebody's old copy
    findings = committed.run("lint", "--profile", "ci", "--json").json["data"]["findings"]
    message = "a task that was done when the plan was committed is gone: `Write the pages`"
    assert [(finding["message"], finding["line"]) for finding in findings if finding["code"] == "EP212"] == [
        (message, 9)
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- [x] (2025-12-30 09:15Z) Read lines.", "- [x] (2025-12-30 09:15Z) Read the lines of a file."),
        ("- [x] (2025-12-30 09:15Z) Read lines.", "- [x] (2025-12-30 09:15Z) Read LF.\n- [x] (2025-12-30 09:15Z) Read CRLF."),
        ("- [x] (2025-12-30 09:15Z) Read lines.", "- [X] (2025-12-30 09:15Z)   Read\n  lines."),
        ("Every step may be run again.", "Every step may be run again.\n\n- [x] Read lines."),
        ("Lines can be read.", "Lines can be read. So can tables."),
        ("  Rationale: A task is a line.\n", "  Rationale: A task is a line. Mostly.\n"),
        ("Write the scanner, then the reader.", "Write the\nscanner,   then the reader."),
        ("None so far.", "A transcript."),
    ],
)  # fmt: skip
def test_what_is_no_loss_and_no_rewriting(committed: Folder, old: str, new: str) -> None:
    committed.plan(
        CLEAN.replace(old, new)
        if "Every" not in old
        else CLEAN.replace(old, new).replace("- [x] (2025-12-30 09:15Z) Read lines.\n", "")
    )
    expected = ["EP308"] if "Every" in old else []
    assert codes(committed) == expected


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("- [x] (2025-12-30 09:15Z) Read lines.\n", "", "EP212"),
        ("Decision: Read line by line.", "Decision: Read it whole.", "EP307"),
        ("  Rationale: A task is a line.\n", "  Rationale: It is faster.\n", "EP307"),
        ("Observation: The last line", "Observation: The first line", "EP307"),
        ("Write the scanner, then the reader.", "Take a library.", "EP308"),
        ("`make test` prints `12 passed`", "`make test` prints `13 passed`", "EP308"),
    ],
)
def test_what_is(committed: Folder, old: str, new: str, code: str) -> None:
    committed.plan(CLEAN.replace(old, new))
    actual = codes(committed)
    assert code in actual
    # a decision that says something else is also a new decision, so only the hint is left
    assert actual == [code]


def test_a_changed_specification_with_a_reason_is_fine(committed: Folder) -> None:
    committed.plan(CLEAN.replace("Write the scanner, then the reader.", "Take a library."))
    assert codes(committed) == ["EP308"]
    committed.ok("discover", "The scanner is slow", "--evidence", "12 s")
    assert codes(committed) == ["EP308"]
    committed.ok("revise", "A library instead of a scanner: it is slow")
    assert codes(committed) == []


def test_before_work_has_begun_a_specification_may_change(repo: Folder) -> None:
    repo.plan(REOPENED)
    commit(repo)
    repo.plan(REOPENED.replace("Write the scanner, then the reader.", "Take a library."))
    assert codes(repo) == []


def test_a_move_and_a_rename_of_plans_are_no_changes(committed: Folder) -> None:
    committed.plan(
        CLEAN.replace("# Build the parser", "# Read tables").replace(
            "Write the scanner,", "After [the parser](2026-01-01_parser.md) (2026-01-01_parser), write the scanner,"
        ),
        name="2026-01-02_tables",
    )
    committed.plan(FINISHED)
    commit(committed)
    committed.ok("rename", "2026-01-01_parser", "Build the line parser")
    assert "line-parser" in (committed.path / ".agent/execplans/2026-01-02_tables.md").read_text()
    assert codes(committed) == []
    committed.ok("archive", "2026-01-01_build-the-line-parser")
    assert codes(committed) == []


def test_a_plan_that_was_archived_since_is_compared_with_what_it_was(committed: Folder) -> None:
    committed.plan(FINISHED)
    commit(committed)
    path = committed.path / committed.ok("archive", "parser")["path"]
    path.write_text(path.read_text().replace("- [x] (2026-01-01 00:00Z) Write the tests.\n", ""))
    assert codes(committed) == ["EP506", "EP212"]


def test_an_archived_plan_that_is_edited(committed: Folder) -> None:
    committed.plan(FINISHED)
    archived = committed.ok("archive", "parser", "--commit")
    path = committed.path / archived["path"]
    assert codes(committed, archived["path"]) == []
    clean = path.read_bytes()
    path.write_bytes(clean.replace(b"\n", b"\r\n"))  # as a checkout may have it
    assert codes(committed, archived["path"]) == []
    path.write_bytes(clean.replace(b"Lines can be read.", b"All can be read."))
    assert codes(committed, archived["path"]) == ["EP506"]
    (committed.path / archived["evidence"]).unlink()
    assert codes(committed, archived["path"]) == []  # nothing tells
    assert codes(committed) == ["EP506"]  # but git does
    path.write_bytes(clean)
    assert codes(committed) == []


def test_drift(committed: Folder) -> None:
    for number in range(5):
        committed.write(f"src/{number}.py", "1\n")
    committed.plan(
        CLEAN.replace("calls the reader first.", "calls `src/reader.py`, `src/0.py`, `src/1.py`, `src/2.py:3`.", 1)
    )
    commit(committed, "The plan and what it is about")
    assert codes(committed) == []
    for number in (0, 1, 2, 3):
        committed.write(f"src/{number}.py", "2\n")
        commit(committed)
    finding = committed.run("lint", "--profile", "ci", "--json").json["data"]["findings"][0]
    assert (finding["code"], finding["level"]) == ("EP507", "hint")
    assert finding["message"] == "src/0.py has changed since the plan's last edit; so have src/1.py, src/2.py"
    assert (
        (committed.path / PLAN)
        .read_text()
        .split("\n")[finding["line"] - 1][finding["column"] - 1 :]
        .startswith("src/0.py`")
    )
    committed.ok("done", "2")  # somebody is at it
    assert codes(committed) == []
    commit(committed)
    assert codes(committed) == []


def test_drift_is_not_told_of_finished_plans_nor_of_logs_nor_of_folders(committed: Folder) -> None:
    committed.write("tests/test_lines.py", "1\n")
    committed.plan(CLEAN.replace("Every command calls", "In `src/`, `src` and `src/reader.py` every command calls"))
    commit(committed)
    committed.write("tests/test_lines.py", "2\n")  # the evidence of a discovery
    committed.write("src/other.py", "2\n")
    commit(committed)
    assert codes(committed) == []
    committed.plan(FINISHED)
    commit(committed)
    committed.write("src/reader.py", "2\n")
    commit(committed)
    assert codes(committed) == []


def test_a_merge_is_one_step(committed: Folder) -> None:
    committed.git("checkout", "-q", "-b", "work")
    committed.ok("done", "2", "--commit")
    committed.write("src/reader.py", "two\n")
    commit(committed)
    committed.git("checkout", "-q", "main")
    committed.git("merge", "-q", "--no-ff", "--no-edit", "work")
    assert codes(committed) == []


def test_drift_in_a_home_below_the_root(committed: Folder) -> None:
    committed.write("packages/app/.agent/execplans/2026-01-03_app.md", CLEAN)
    committed.write("packages/app/src/reader.py", "1\n")
    commit(committed)
    committed.write("packages/app/src/reader.py", "2\n")
    commit(committed)
    assert codes(committed, "packages", "--profile", "ci") == ["EP507"]


def test_steps_of_odd_names(repo: Folder) -> None:
    names = ["a b", "n\nl", "ü", "\nfirst", "c"]
    for name in names:
        repo.write(name, "1")
    commit(repo)
    repo.git("commit", "-q", "--allow-empty", "-m", "Empty")
    for name, value in (("log.showSignature", "true"), ("diff.relative", "true"), ("log.date", "raw")):
        repo.git("config", name, value)
    project = project_discovery.find(str(repo.path))
    assert [sorted(step) for step in streamed_queries.iter_commit_changes(project, "HEAD")] == [
        [],
        sorted(names),
        ["README.md"],
    ]


def test_symbols_that_no_file_holds(committed: Folder) -> None:
    committed.write("src/code.py", "def read_all(data): Plan.read()\n")
    commit(committed)
    project = project_discovery.find(str(committed.path))
    for name in ("grep.lineNumber", "grep.column"):
        committed.git("config", name, "true")
    symbols = {"read_all", "read", "Plan.read", "Plan", "data", "dat", "Scanner", "a b", "--flag", "[x]", "", "n\nl"}
    assert streamed_queries.absent_symbols([project], symbols) == {"dat", "Scanner", "a b", "--flag", "[x]"}
    assert streamed_queries.absent_symbols([project], {"Decision"}) == {"Decision"}  # only plans say it
    assert streamed_queries.absent_symbols([project], set()) == set()


@pytest.mark.parametrize(
    "way", ["no commit", "no git", "plain", "detached", "shallow", "worktree", "submodule", "other folder"]
)
def test_odd_repositories(committed: Folder, plain: Folder, way: str) -> None:
    parent = committed.path.parent
    folder, expected = committed, ["EP212"]
    if way in ("no commit", "no git"):
        folder, expected = plain, []
        if way == "no commit":
            plain.git("init", "-q")
    elif way == "plain":
        folder, expected = plain, []
        plain.write("2026-01-01_parser.md", REOPENED)
        assert codes(plain, "2026-01-01_parser.md", "--profile", "ci") == []
        return
    elif way == "detached":
        committed.git("checkout", "-q", "--detach")
    elif way == "shallow":
        committed.git("clone", "-q", "--depth", "1", f"file://{committed.path}", "../shallow")
        folder = Folder(parent / "shallow")
    elif way == "worktree":
        committed.git("worktree", "add", "-q", "../tree")
        folder = Folder(parent / "tree")
    elif way == "submodule":
        committed.git("init", "-q", "../outer")
        outer = Folder(parent / "outer")
        outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(committed.path), "inner")
        folder = Folder(parent / "outer/inner")
    folder.plan(REOPENED)
    (folder.path / "deep").mkdir()
    assert codes(folder, cwd=folder.path / "deep" if way == "other folder" else None) == expected


def test_when_git_refuses_its_words_are_told(committed: Folder) -> None:
    (committed.path / ".git/HEAD").write_text("nonsense\n")
    result = committed.run("lint", "--profile", "ci")
    assert result.exit == 6
    assert "not a git repository" in result.err
    assert committed.run("lint", PLAN).exit == 0
    assert committed.run("lint", "--profile", "ci", PATH="/nowhere").exit == 6


def test_a_plan_that_could_not_be_read_when_it_was_committed(committed: Folder) -> None:
    committed.plan(b"\xff\xfe")
    commit(committed)
    committed.plan()
    assert codes(committed) == []
    committed.plan(b"\xff\xfe")
    assert codes(committed) == ["EP001"]


def test_since_takes_what_differs_from_where_the_branch_left(committed: Folder) -> None:
    for name in ("2026-01-02_same", "2026-01-03_disk", "2026-01-04_gone"):
        committed.plan(CLEAN.replace("# Build the", f"# Build {name[11:]}, the"), name=name)
    commit(committed)
    committed.git("checkout", "-q", "-b", "work")
    committed.plan(REOPENED)
    commit(committed)
    committed.git("checkout", "-q", "main")
    committed.plan(CLEAN + "\nOn main.\n", name="2026-01-02_same")
    commit(committed)
    committed.git("checkout", "-q", "work")
    committed.plan(CLEAN + "\nOn disk.\n", name="2026-01-03_disk")
    committed.plan(name="2026-01-05_new")
    (committed.path / ".agent/execplans/2026-01-04_gone.md").unlink()
    committed.write("docs/no-plan.md", "No plan.\n")
    result = committed.run("lint", "--since", "main", "--json").json["data"]
    assert result["plans"] == 3
    assert "EP212" in [finding["code"] for finding in result["findings"] if finding["path"] == PLAN]
    deep = committed.path / "docs"
    assert committed.run("lint", "--since", "main", "--json", cwd=deep).json["data"]["plans"] == 3


@pytest.mark.parametrize(
    "revision", ["nowhere", "-x", "--help", "--output=../x", "main..HEAD", "^main", "HEAD:README.md", ""]
)
def test_a_revision_that_is_none(committed: Folder, revision: str) -> None:
    result = committed.run("lint", f"--since={revision}", "--json")
    assert result.json["error"]["code"] == "no-such-revision"
    assert result.exit == 3
    assert repr(revision) in result.json["error"]["message"]
    assert not (committed.path.parent / "x").exists()


def test_since_without_a_common_commit_or_a_first_one(committed: Folder, plain: Folder) -> None:
    committed.git("checkout", "-q", "--orphan", "alone")
    committed.git("commit", "-q", "-m", "Alone")
    assert "in common" in committed.run("lint", "--since", "main").err
    plain.git("init", "-q")
    assert plain.run("lint", "--since", "HEAD").exit == 3
    assert committed.run("lint", "--since", "main", "parser").exit == 2
    assert committed.run("lint", "--since", "main", "--staged").exit == 2


def test_files_that_differ_from_head(committed: Folder) -> None:
    for name in ("conflict", "removed", "reverted", "staged", "touched", "changed"):
        committed.write(f"plans/{name}.md", "one\n")
    committed.write("plans[1]/changed.md", "one\n")
    commit(committed)
    committed.git("checkout", "-qb", "other")
    committed.write("plans/conflict.md", "two\n")
    commit(committed)
    committed.git("checkout", "-q", "-")
    committed.write("plans/conflict.md", "three\n")
    commit(committed)
    committed.git("-c", "alias.try=!git merge -q other >&2 || true", "try")
    for path in ("plans/changed", "plans[1]/changed", "plans/staged", "plans/reverted", "plans/new", "elsewhere"):
        committed.write(f"{path}.md", "two\n")
    committed.git("add", "plans/staged.md", "plans/reverted.md", "plans/new.md", "elsewhere.md")
    committed.write("plans/reverted.md", "one\n")
    committed.write("plans/untracked.md", "two\n")
    (committed.path / "plans/removed.md").unlink()
    os.utime(committed.path / "plans/touched.md", (1, 1))
    project = project_discovery.find(str(committed.path))
    names = ["changed", "conflict", "new", "reverted", "staged"]
    assert git_history.modified_files(project, ["plans"]) == [f"plans/{name}.md" for name in names]
    assert git_history.modified_files(project, ["plans[1]"]) == ["plans[1]/changed.md"]
    assert git_history.modified_files(project, ["plans/touched.md"]) == []
