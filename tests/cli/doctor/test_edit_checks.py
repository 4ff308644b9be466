"""`doctor` on edits that another program has overwritten: found, put back, kept, forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from execplan.core.archive import move_record
from execplan.core.edits import edit_journal
from execplan.core.project import project_discovery
from tests.cli.doctor.doctor_findings import assert_clean, doctor, findings, only_finding, run_remedy
from tests.conftest import Folder
from tests.plans import CLEAN

DECIDE = ("decide", "Read bytes.", "--why", "Nothing is lost.")
ADD = ("add", "Handle CRLF.")
BY_HAND = CLEAN.replace("# Build the parser", "# Build the whole parser")
"""What an editor saves that had read the plan before the edits."""


def restore(folder: Folder, *arguments: str, plan: str = "parser") -> dict[str, Any]:
    """Restore the overwritten edits of the plan."""
    return doctor(folder, "--restore", plan, *arguments)


def commit_all(folder: Folder, message: str = "Plan") -> None:
    folder.git("add", "-A")
    folder.git("commit", "-q", "-m", message)


def test_a_stale_save_over_several_edits(repo: Folder) -> None:
    path = repo.plan()
    for call in (("done", "2"), DECIDE, ADD):
        repo.ok(*call)
    current = path.read_text()
    path.write_text(BY_HAND)
    finding = only_finding(repo, "edits")
    edits = finding["message"].partition(": ")[2].split("; ")
    assert [edit.split(",")[0] for edit in edits] == ["done 2", "decide", "add 4"]
    assert (finding["level"], finding["fixable"]) == ("notice", False)
    assert finding["path"] == ".agent/execplans/2026-01-01_parser.md"
    assert path.read_text() == BY_HAND
    data = restore(repo)
    assert len(data["fixed"]) == 3
    assert path.read_text() == current.replace("# Build the parser", "# Build the whole parser")
    assert_clean(repo)
    assert restore(repo)["fixed"] == []


@pytest.mark.parametrize("again", [(), ("undo", "redo")])
def test_a_stale_save_over_an_edit_of_a_plan_that_new_has_made(repo: Folder, again: tuple[str, ...]) -> None:
    """Its journal begins with a plan that was not there; and then it was undone and made again."""
    data = repo.ok("new", "Read tables", "--task", "Read wide tables", "--purpose", "They can be read.")
    path = repo.path / data["path"]
    for command in again:
        repo.ok(command)
    stale = path.read_text()
    repo.ok("add", "Read nested tables")
    current = path.read_text()
    path.write_text(stale)
    assert "add 2, Read nested tables" in only_finding(repo, "edits")["message"]
    result = repo.run("archive", path.stem, "--dry-run", "--force", "--reason", "No longer wanted.")
    assert result.exit == 0
    assert "another program has overwritten an edit: add 2, Read nested tables" in result.err
    restore(repo, plan=path.stem)
    assert path.read_text() == current


def test_only_what_is_no_longer_there_is_put_back(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    stale = path.read_text()
    repo.ok(*DECIDE)
    current = path.read_text()
    path.write_text(stale + "\nBy hand.\n")
    assert "decide, Read bytes." in only_finding(repo, "edits")["message"]
    restore(repo)
    assert path.read_text() == current + "\nBy hand.\n"


def test_an_editor_that_added_at_the_same_place(repo: Folder) -> None:
    path = repo.plan()
    repo.ok(*ADD)
    path.write_text(CLEAN.replace("- [ ] Write the tests.\n", "- [ ] Write the tests.\n- [ ] By hand.\n"))
    restore(repo)
    tasks = [task["text"] for task in repo.ok("show")["tasks"]]
    assert tasks == ["Read lines.", "Build the parser.", "Write the tests.", "By hand.", "Handle CRLF."]


def test_a_dry_run_shows_a_diff_that_git_applies(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    repo.ok(*ADD)
    path.write_text(BY_HAND)
    data = restore(repo, "--dry-run")
    assert path.read_text() == BY_HAND
    assert len(data["fixed"]) == 2
    assert len(data["findings"]) == 1
    repo.write("change.patch", data["diff"] + "\n")
    repo.git("apply", "change.patch")
    applied = path.read_text()
    path.write_text(BY_HAND)
    restore(repo)
    assert path.read_text() == applied


def test_put_back_with_a_commit(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    path.write_text(BY_HAND)
    restore(repo, "--commit")
    assert "restore, done 2" in repo.git("log", "-1", "--format=%s")
    assert repo.git("show", "--name-only", "--format=").split() == [".agent/execplans/2026-01-01_parser.md"]


def test_what_was_put_back_can_be_taken_back_and_is_not_missed_then(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    path.write_text(BY_HAND)
    restore(repo)
    assert repo.ok("undo")["said"][0].startswith("undone: restore, done 2")
    assert path.read_text() == BY_HAND
    assert_clean(repo)


def test_put_back_and_lost_again_is_told_once(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    path.write_text(BY_HAND)
    restore(repo)
    path.write_text(BY_HAND)
    assert "restore, done 2" in only_finding(repo, "edits")["message"]


@pytest.mark.parametrize("call", [("done", "2"), ADD, DECIDE])
def test_lost_and_done_again(repo: Folder, call: tuple[str, ...]) -> None:
    path = repo.plan()
    repo.ok(*call)
    path.write_text(BY_HAND)
    assert repo.ok(*call)["changed"] is True
    assert_clean(repo)


def test_what_the_tool_took_away_is_not_missed(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    repo.ok("reopen", "2")
    repo.ok(*ADD)
    repo.ok("undo")
    path.write_text(path.read_text() + "\nBy hand.\n")
    assert_clean(repo)


def test_undo_dismisses_what_was_taken_out_on_purpose(repo: Folder) -> None:
    path = repo.plan()
    repo.ok(*ADD)
    path.write_text(CLEAN)
    only_finding(repo, "edits")
    assert "nothing to undo" in repo.ok("undo")["said"][0]
    assert_clean(repo)
    assert path.read_text() == CLEAN


def test_forget_dismisses_all_of_a_plan(repo: Folder) -> None:
    path = repo.plan()
    repo.ok(*ADD)
    repo.ok("done", "2")
    repo.ok(*DECIDE)
    path.write_text(path.read_text().replace("- [ ] Handle CRLF.\n", ""))
    text = path.read_text()
    finding = only_finding(repo, "edits")
    assert len(doctor(repo, "--forget", "parser", "--dry-run")["forgotten"]) == 1
    assert only_finding(repo, "edits") == finding
    run_remedy(repo, finding["mend"].rpartition(": ")[2])
    assert_clean(repo)
    assert path.read_text() == text
    assert repo.ok("undo")["said"][0].startswith("undone: decide")
    assert doctor(repo, "--forget", "parser")["forgotten"] == []


def test_lines_that_were_changed_otherwise_are_kept_in_a_file(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    stale = CLEAN.replace("Build the parser.\n", "Build the whole parser.\n")
    path.write_text(stale)
    assert restore(repo, "--dry-run")["fixed"][0]["message"].startswith("save to a file: done 2")
    data = restore(repo)
    assert path.read_text() == stale
    assert "saved to " in data["fixed"][0]["message"]
    (finding,) = data["findings"]
    assert finding["check"] == "recovered"
    assert "+- [x] (2026-01-01 00:00Z) Build the parser." in (repo.path / finding["path"]).read_text()
    assert restore(repo)["fixed"] == []
    run_remedy(repo, finding["mend"].rpartition(": ")[2])
    assert_clean(repo)


def test_switching_branches_overwrites_nothing(repo: Folder) -> None:
    path = repo.plan()
    commit_all(repo)
    repo.git("switch", "-q", "-c", "side")
    repo.ok("done", "2", "--commit")
    repo.git("switch", "-q", "main")
    assert path.read_text() == CLEAN
    assert_clean(repo)
    path.write_text(BY_HAND)
    assert_clean(repo)
    repo.git("checkout", "-q", ".")
    repo.ok(*ADD, "--commit")
    repo.git("switch", "-q", "side")
    assert_clean(repo)


def test_a_stale_save_over_what_is_in_a_stash(repo: Folder) -> None:
    path = repo.plan()
    commit_all(repo)
    repo.ok("done", "2")
    repo.git("stash", "-q")
    assert_clean(repo)
    path.write_text(BY_HAND)
    assert_clean(repo)
    repo.git("stash", "drop", "-q")
    assert "done 2" in only_finding(repo, "edits")["message"]


def test_pull_and_rebase_overwrite_nothing(repo: Folder) -> None:
    path = repo.plan()
    commit_all(repo)
    repo.git("switch", "-q", "-c", "other")
    path.write_text(CLEAN.replace("None so far.", "From elsewhere."))
    commit_all(repo, "Elsewhere")
    repo.git("switch", "-q", "main")
    repo.ok("done", "2", "--commit")
    repo.git("switch", "-q", "-c", "side")
    repo.git("merge", "-q", "other", "-m", "Merge")
    assert_clean(repo)
    repo.git("switch", "-q", "main")
    repo.git("rebase", "-q", "other")
    assert "From elsewhere." in path.read_text()
    assert_clean(repo)


def test_a_stale_save_over_what_is_committed(repo: Folder) -> None:
    """Nothing is lost that a commit has."""
    path = repo.plan()
    commit_all(repo)
    repo.ok("done", "2", "--commit")
    path.write_text(BY_HAND)
    assert_clean(repo)
    repo.ok(*ADD)
    path.write_text(BY_HAND)
    assert "add 4" in only_finding(repo, "edits")["message"]


def test_before_the_first_commit(plain: Folder) -> None:
    plain.git("init", "-q")
    path = plain.plan()
    plain.ok("done", "2")
    path.write_text(BY_HAND)
    assert "done 2" in only_finding(plain, "edits")["message"]


def test_without_git(plain: Folder) -> None:
    path = plain.plan()
    plain.ok("done", "2")
    path.write_text(BY_HAND)
    only_finding(plain, "edits")
    restore(plain)
    assert "[x] (2026-01-01 00:00Z) Build the parser." in path.read_text()
    assert_clean(plain)


def test_a_plan_that_was_renamed_and_archived(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    repo.ok("rename", "parser", "Build the reader")
    renamed = path.with_name("2026-01-01_build-the-reader.md")
    assert renamed.exists()
    assert_clean(repo)
    renamed.write_text(renamed.read_text().replace("- [x] (2026-01-01 00:00Z) Build", "- [ ] Build"))
    assert "done 2" in only_finding(repo, "edits")["message"]
    restore(repo, plan="reader")
    repo.ok("archive", "reader", "--force", "--reason", "No longer wanted.")
    assert_clean(repo)


def test_many_edits_of_which_one_is_overwritten(repo: Folder) -> None:
    path = repo.plan()
    project = project_discovery.find(str(repo.path))
    for number in range(200):
        old = path.read_bytes()
        new = old.replace(b"None so far.", b"None so far.\nLine %d." % number)
        with edit_journal.JournalTransaction(project, str(path), "note", f"note {number}", old, new):
            path.write_bytes(new)
    assert_clean(repo)
    path.write_bytes(old)
    assert "note 199 (" in only_finding(repo, "edits")["message"]


def journal_file(repo: Folder) -> Path:
    return next((repo.path / ".git/execplan/journal").iterdir())


def test_a_damaged_record_is_reported_and_the_others_are_checked(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    repo.ok("done", "3")
    lines = journal_file(repo).read_text().splitlines()
    journal_file(repo).write_text("\n".join([*lines[:2], lines[2][:-30], lines[3], "edit 9 cut"]))
    finding = only_finding(repo, "edits")
    assert "can't be read: done 3" in finding["message"]
    path.write_text(BY_HAND)
    assert [edit_finding["level"] for edit_finding in findings(repo, "edits")] == ["warning", "notice"]
    restore(repo)
    assert "[x] (2026-01-01 00:00Z) Build the parser." in path.read_text()
    run_remedy(repo, only_finding(repo, "edits")["mend"].rpartition(": ")[2])
    assert_clean(repo)


@pytest.mark.parametrize("content", [b"", b"\0\xff\n", b"edit x y\nmade\nundone 3\nleft\n", b"edit 1 a b c d"])
def test_a_journal_of_anything_is_no_crash(repo: Folder, content: bytes) -> None:
    repo.plan()
    repo.ok("done", "2")
    journal_file(repo).write_bytes(content)
    doctor(repo)


def test_an_edit_that_was_interrupted(repo: Folder) -> None:
    path = repo.plan()
    project = project_discovery.find(str(repo.path))
    recording = edit_journal.JournalTransaction(
        project, str(path), "add", "add 9, Lost", CLEAN.encode(), CLEAN.encode() + b"- lost\n"
    )
    recording.__enter__()
    assert_clean(repo)
    repo.ok("done", "2")
    path.write_text(BY_HAND)
    assert "done 2" in only_finding(repo, "edits")["message"]


def test_a_move_that_was_interrupted(repo: Folder) -> None:
    path = repo.plan()
    project = project_discovery.find(str(repo.path))
    target = path.parent / "archive" / path.name
    places = (str(path), str(target), str(target.parent / "artifacts" / path.stem))
    data = path.read_bytes()
    moves = [(str(path), str(target))]
    move_record.write_intent(
        project, move_record.create_intent("archive", (path.stem, path.stem), places, moves, (data, data, None, None))
    )
    finding = only_finding(repo, "moves")
    assert finding["message"].startswith("a move was interrupted: archive of 2026-01-01_parser, started ")
    assert doctor(repo, "--fix", "--dry-run")["fixed"]
    only_finding(repo, "moves")
    assert "interrupted before anything was moved" in doctor(repo, "--fix")["fixed"][0]["message"]
    assert_clean(repo)
    repo.write(".git/execplan/move.json", "{")
    assert "can't be read" in only_finding(repo, "moves")["message"]


def test_while_others_write_nothing_is_missed(repo: Folder) -> None:
    repo.plan()
    repo.ok("done", "2")
    writers = [repo.start("add", f"Task {number}.") for number in range(6)]
    while any(writer.poll() is None for writer in writers):
        findings = repo.run("doctor", "--json").json["data"]["findings"]
        assert [finding for finding in findings if finding["check"] == "edits"] == []
    for writer in writers:
        assert writer.communicate()[0]
    assert_clean(repo)


def test_a_plan_with_conflict_markers_is_left_alone(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    path.write_text(BY_HAND + "<<<<<<< ours\nA\n=======\nB\n>>>>>>> theirs\n")
    text = path.read_text()
    assert only_finding(repo, "plans", "--fix")["fixable"] is False
    assert path.read_text() == text
