"""What git knows of plans, and what `lint` makes of it: real repositories, also odd ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from execplan.git import git_history
from execplan.project import project_discovery
from tests.conftest import Folder
from tests.plans import CLEAN

PLAN = ".agent/execplans/2026-01-01_parser.md"
REOPENED = CLEAN.replace("- [x] (2025-12-30 09:15Z) Read", "- [ ] Read")
FINISHED = CLEAN.replace("- [ ]", "- [x] (2026-01-01 00:00Z)")


def codes(folder: Folder, *arguments: str, cwd: Path | None = None) -> list[str]:
    """The codes of what `lint` finds, with rules that ask git; those that have nothing to do with it left out."""
    result = folder.run("lint", "--json", *(arguments or ("--profile", "ci")), cwd=cwd)
    assert result.exit in (0, 1), result
    found = [each["code"] for each in result.json["data"]["findings"]]
    return [code for code in found if code in ("EP001", "EP212", "EP307", "EP308", "EP506", "EP507")]


def commit(folder: Folder, message: str = "Change") -> None:
    """Commit all that is there."""
    folder.git("add", "-A")
    folder.git("commit", "-q", "-m", message)


@pytest.fixture
def kept(repo: Folder) -> Folder:
    """A repository in which the clean plan is committed, with the file that it is about."""
    repo.plan()
    repo.write("src/reader.py", "one\n")
    commit(repo)
    return repo


def test_rules_that_ask_git_run_where_they_are_wanted(kept: Folder) -> None:
    kept.plan(REOPENED)
    assert codes(kept, PLAN) == []
    assert codes(kept, "--profile", "ci") == ["EP212"]
    assert codes(kept, "--profile", "strict") == ["EP212"]
    assert codes(kept, "--select", "EP212") == ["EP212"]
    assert codes(kept, "--select", "EP2") == ["EP212"]
    assert codes(kept, "--since", "HEAD") == ["EP212"]
    kept.write(".agent/execplan.toml", '[lint]\nprofile = "ci"\n')
    assert "EP212" in kept.run("lint", PLAN).out


def test_staged_is_compared_with_head(kept: Folder) -> None:
    kept.plan(REOPENED)
    kept.git("add", "-A")
    kept.plan()
    assert codes(kept, "--staged") == ["EP212"]
    kept.git("add", "-A")
    kept.plan(REOPENED)
    assert codes(kept, "--staged") == []


def test_git_is_asked_once_a_question_for_all_plans(kept: Folder) -> None:
    for number in range(30):
        kept.plan(REOPENED.replace("# Build", f"# {number} build"), name=f"2026-01-02_{number}")
    commit(kept)
    told = kept.run("lint", "--profile", "ci", "-v").err
    assert told.count(" log -z ") == told.count(" ls-tree -rz ") == told.count("run git rev-parse") == 1


def test_a_lost_update_names_what_is_gone(kept: Folder) -> None:
    kept.ok("add", "Write the pages")
    kept.ok("done", "Write the pages")
    commit(kept)
    kept.plan(CLEAN)  # somebody's old copy
    findings = kept.run("lint", "--profile", "ci", "--json").json["data"]["findings"]
    message = "a task that was done when the plan was committed is gone: `Write the pages`"
    assert [(each["message"], each["line"]) for each in findings if each["code"] == "EP212"] == [(message, 9)]


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
def test_what_is_no_loss_and_no_rewriting(kept: Folder, old: str, new: str) -> None:
    kept.plan(
        CLEAN.replace(old, new)
        if "Every" not in old
        else CLEAN.replace(old, new).replace("- [x] (2025-12-30 09:15Z) Read lines.\n", "")
    )
    expected = ["EP308"] if "Every" in old else []
    assert codes(kept) == expected


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
def test_what_is(kept: Folder, old: str, new: str, code: str) -> None:
    kept.plan(CLEAN.replace(old, new))
    found = codes(kept)
    assert code in found
    # a decision that says something else is also a new decision, so only the hint is left
    assert found == [code]


def test_a_changed_specification_with_a_reason_is_fine(kept: Folder) -> None:
    kept.plan(CLEAN.replace("Write the scanner, then the reader.", "Take a library."))
    assert codes(kept) == ["EP308"]
    kept.ok("discover", "The scanner is slow", "--evidence", "12 s")
    assert codes(kept) == ["EP308"]
    kept.ok("revise", "A library instead of a scanner: it is slow")
    assert codes(kept) == []


def test_before_work_has_begun_a_specification_may_change(repo: Folder) -> None:
    repo.plan(REOPENED)
    commit(repo)
    repo.plan(REOPENED.replace("Write the scanner, then the reader.", "Take a library."))
    assert codes(repo) == []


def test_a_move_and_a_rename_of_plans_are_no_changes(kept: Folder) -> None:
    kept.plan(
        CLEAN.replace("# Build the parser", "# Read tables").replace(
            "Write the scanner,", "After [the parser](2026-01-01_parser.md) (2026-01-01_parser), write the scanner,"
        ),
        name="2026-01-02_tables",
    )
    kept.plan(FINISHED)
    commit(kept)
    kept.ok("rename", "2026-01-01_parser", "Build the line parser")
    assert "line-parser" in (kept.path / ".agent/execplans/2026-01-02_tables.md").read_text()
    assert codes(kept) == []
    kept.ok("archive", "2026-01-01_build-the-line-parser")
    assert codes(kept) == []


def test_a_plan_that_was_archived_since_is_compared_with_what_it_was(kept: Folder) -> None:
    kept.plan(FINISHED)
    commit(kept)
    path = kept.path / kept.ok("archive", "parser")["path"]
    path.write_text(path.read_text().replace("- [x] (2026-01-01 00:00Z) Write the tests.\n", ""))
    assert codes(kept) == ["EP506", "EP212"]


def test_an_archived_plan_that_is_edited(kept: Folder) -> None:
    kept.plan(FINISHED)
    done = kept.ok("archive", "parser", "--commit")
    path = kept.path / done["path"]
    assert codes(kept, done["path"]) == []
    clean = path.read_bytes()
    path.write_bytes(clean.replace(b"\n", b"\r\n"))  # as a checkout may have it
    assert codes(kept, done["path"]) == []
    path.write_bytes(clean.replace(b"Lines can be read.", b"All can be read."))
    assert codes(kept, done["path"]) == ["EP506"]
    (kept.path / done["evidence"]).unlink()
    assert codes(kept, done["path"]) == []  # nothing tells
    assert codes(kept) == ["EP506"]  # but git does
    path.write_bytes(clean)
    assert codes(kept) == []


def test_drift(kept: Folder) -> None:
    for number in range(5):
        kept.write(f"src/{number}.py", "1\n")
    kept.plan(
        CLEAN.replace("calls the reader first.", "calls `src/reader.py`, `src/0.py`, `src/1.py`, `src/2.py:3`.", 1)
    )
    commit(kept, "The plan and what it is about")
    assert codes(kept) == []
    for number in (0, 1, 2, 3):
        kept.write(f"src/{number}.py", "2\n")
        commit(kept)
    finding = kept.run("lint", "--profile", "ci", "--json").json["data"]["findings"][0]
    assert (finding["code"], finding["level"]) == ("EP507", "hint")
    assert finding["message"] == "src/0.py was changed since the plan was last touched; so were src/1.py, src/2.py"
    assert (
        (kept.path / PLAN).read_text().split("\n")[finding["line"] - 1][finding["column"] - 1 :].startswith("src/0.py`")
    )
    kept.ok("done", "2")  # somebody is at it
    assert codes(kept) == []
    commit(kept)
    assert codes(kept) == []


def test_drift_is_not_told_of_finished_plans_nor_of_logs_nor_of_folders(kept: Folder) -> None:
    kept.write("tests/test_lines.py", "1\n")
    kept.plan(CLEAN.replace("Every verb calls", "In `src/`, `src` and `src/reader.py` every verb calls"))
    commit(kept)
    kept.write("tests/test_lines.py", "2\n")  # the evidence of a discovery
    kept.write("src/other.py", "2\n")
    commit(kept)
    assert codes(kept) == []
    kept.plan(FINISHED)
    commit(kept)
    kept.write("src/reader.py", "2\n")
    commit(kept)
    assert codes(kept) == []


def test_a_merge_is_one_step(kept: Folder) -> None:
    kept.git("checkout", "-q", "-b", "work")
    kept.ok("done", "2", "--commit")
    kept.write("src/reader.py", "two\n")
    commit(kept)
    kept.git("checkout", "-q", "main")
    kept.git("merge", "-q", "--no-ff", "--no-edit", "work")
    assert codes(kept) == []


def test_drift_in_a_home_below_the_root(kept: Folder) -> None:
    kept.write("packages/app/.agent/execplans/2026-01-03_app.md", CLEAN)
    kept.write("packages/app/src/reader.py", "1\n")
    commit(kept)
    kept.write("packages/app/src/reader.py", "2\n")
    commit(kept)
    assert codes(kept, "packages", "--profile", "ci") == ["EP507"]


def test_steps_of_odd_names(repo: Folder) -> None:
    names = ["a b", "n\nl", "ü", "\nfirst", "c"]
    for name in names:
        repo.write(name, "1")
    commit(repo)
    repo.git("commit", "-q", "--allow-empty", "-m", "Empty")
    for name, value in (("log.showSignature", "true"), ("diff.relative", "true"), ("log.date", "raw")):
        repo.git("config", name, value)
    project = project_discovery.find(str(repo.path))
    assert [sorted(step) for step in git_history.iter_commit_changes(project, "HEAD")] == [
        [],
        sorted(names),
        ["README.md"],
    ]


def test_symbols_that_no_file_holds(kept: Folder) -> None:
    kept.write("src/code.py", "def read_all(data): Plan.read()\n")
    commit(kept)
    project = project_discovery.find(str(kept.path))
    for name in ("grep.lineNumber", "grep.column"):
        kept.git("config", name, "true")
    asked = {"read_all", "read", "Plan.read", "Plan", "data", "dat", "Scanner", "a b", "--flag", "[x]", "", "n\nl"}
    assert git_history.absent_symbols([project], asked) == {"dat", "Scanner", "a b", "--flag", "[x]"}
    assert git_history.absent_symbols([project], {"Decision"}) == {"Decision"}  # only plans say it
    assert git_history.absent_symbols([project], set()) == set()


@pytest.mark.parametrize(
    "way", ["no commit", "no git", "plain", "detached", "shallow", "worktree", "submodule", "other folder"]
)
def test_odd_repositories(kept: Folder, plain: Folder, way: str) -> None:
    above = kept.path.parent
    folder, expected = kept, ["EP212"]
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
        kept.git("checkout", "-q", "--detach")
    elif way == "shallow":
        kept.git("clone", "-q", "--depth", "1", f"file://{kept.path}", "../shallow")
        folder = Folder(above / "shallow")
    elif way == "worktree":
        kept.git("worktree", "add", "-q", "../tree")
        folder = Folder(above / "tree")
    elif way == "submodule":
        kept.git("init", "-q", "../outer")
        outer = Folder(above / "outer")
        outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(kept.path), "inner")
        folder = Folder(above / "outer/inner")
    folder.plan(REOPENED)
    (folder.path / "deep").mkdir()
    assert codes(folder, cwd=folder.path / "deep" if way == "other folder" else None) == expected


def test_when_git_refuses_its_words_are_told(kept: Folder) -> None:
    (kept.path / ".git/HEAD").write_text("nonsense\n")
    result = kept.run("lint", "--profile", "ci")
    assert result.exit == 6
    assert "not a git repository" in result.err
    assert kept.run("lint", PLAN).exit == 0
    assert kept.run("lint", "--profile", "ci", PATH="/nowhere").exit == 6


def test_a_plan_that_could_not_be_read_when_it_was_committed(kept: Folder) -> None:
    kept.plan(b"\xff\xfe")
    commit(kept)
    kept.plan()
    assert codes(kept) == []
    kept.plan(b"\xff\xfe")
    assert codes(kept) == ["EP001"]


def test_since_takes_what_differs_from_where_the_branch_left(kept: Folder) -> None:
    for name in ("2026-01-02_same", "2026-01-03_disk", "2026-01-04_gone"):
        kept.plan(CLEAN.replace("# Build the", f"# Build {name[11:]}, the"), name=name)
    commit(kept)
    kept.git("checkout", "-q", "-b", "work")
    kept.plan(REOPENED)
    commit(kept)
    kept.git("checkout", "-q", "main")
    kept.plan(CLEAN + "\nOn main.\n", name="2026-01-02_same")
    commit(kept)
    kept.git("checkout", "-q", "work")
    kept.plan(CLEAN + "\nOn disk.\n", name="2026-01-03_disk")
    kept.plan(name="2026-01-05_new")
    (kept.path / ".agent/execplans/2026-01-04_gone.md").unlink()
    kept.write("docs/no-plan.md", "No plan.\n")
    result = kept.run("lint", "--since", "main", "--json").json["data"]
    assert result["plans"] == 3
    assert "EP212" in [each["code"] for each in result["findings"] if each["path"] == PLAN]
    deep = kept.path / "docs"
    assert kept.run("lint", "--since", "main", "--json", cwd=deep).json["data"]["plans"] == 3


@pytest.mark.parametrize(
    "revision", ["nowhere", "-x", "--help", "--output=../x", "main..HEAD", "^main", "HEAD:README.md", ""]
)
def test_a_revision_that_is_none(kept: Folder, revision: str) -> None:
    result = kept.run("lint", f"--since={revision}", "--json")
    assert result.json["error"]["code"] == "no-such-revision"
    assert result.exit == 3
    assert repr(revision) in result.json["error"]["message"]
    assert not (kept.path.parent / "x").exists()


def test_since_without_a_common_commit_or_a_first_one(kept: Folder, plain: Folder) -> None:
    kept.git("checkout", "-q", "--orphan", "alone")
    kept.git("commit", "-q", "-m", "Alone")
    assert "in common" in kept.run("lint", "--since", "main").err
    plain.git("init", "-q")
    assert plain.run("lint", "--since", "HEAD").exit == 3
    assert kept.run("lint", "--since", "main", "parser").exit == 2
    assert kept.run("lint", "--since", "main", "--staged").exit == 2
