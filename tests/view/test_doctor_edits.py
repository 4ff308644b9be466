"""`doctor` on edits that another program has overwritten: found, put back, kept, forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from execplan.archive import move_record
from execplan.edits import edit_journal
from execplan.project import project_discovery
from tests.conftest import Folder
from tests.plans import CLEAN
from tests.view.tools import clean, doctor, findings, obey, one

DECIDE = ("decide", "Read bytes.", "--why", "Nothing is lost.")
ADD = ("add", "Handle CRLF.")
BY_HAND = CLEAN.replace("# Build the parser", "# Build the whole parser")
"""What an editor saves that had read the plan before the edits."""


def committed(folder: Folder, message: str = "Plan") -> None:
    folder.git("add", "-A")
    folder.git("commit", "-q", "-m", message)


def test_a_stale_save_over_several_edits(repo: Folder) -> None:
    path = repo.plan()
    for call in (("done", "2"), DECIDE, ADD):
        repo.ok(*call)
    whole = path.read_text()
    path.write_text(BY_HAND)
    found = findings(repo, "edits")
    assert [each["message"].split(": ")[1].split(",")[0] for each in found] == ["done 2", "decide", "add 4"]
    assert all(each["fixable"] and each["level"] == "error" for each in found)
    assert {each["path"] for each in found} == {".agent/execplans/2026-01-01_parser.md"}
    assert path.read_text() == BY_HAND
    data = doctor(repo, "--fix")
    assert len(data["fixed"]) == 3
    assert path.read_text() == whole.replace("# Build the parser", "# Build the whole parser")
    clean(repo)
    assert doctor(repo, "--fix")["fixed"] == []


@pytest.mark.parametrize("again", [(), ("undo", "redo")])
def test_a_stale_save_over_an_edit_of_a_plan_that_new_has_made(repo: Folder, again: tuple[str, ...]) -> None:
    """Its journal begins with a plan that was not there; and then it was undone and made again."""
    data = repo.ok("new", "Read tables", "--task", "Read wide tables", "--purpose", "They can be read.")
    path = repo.path / data["path"]
    for verb in again:
        repo.ok(verb)
    stale = path.read_text()
    repo.ok("add", "Read nested tables")
    whole = path.read_text()
    path.write_text(stale)
    assert "add 2, Read nested tables" in one(repo, "edits")["message"]
    told = repo.run("archive", path.stem, "--dry-run", "--force", "--reason", "No longer wanted.")
    assert told.exit == 0
    assert "another program has overwritten an edit: add 2, Read nested tables" in told.err
    doctor(repo, "--fix")
    assert path.read_text() == whole


def test_only_what_is_no_longer_there_is_put_back(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    stale = path.read_text()
    repo.ok(*DECIDE)
    whole = path.read_text()
    path.write_text(stale + "\nBy hand.\n")
    assert "decide, Read bytes." in one(repo, "edits")["message"]
    doctor(repo, "--fix")
    assert path.read_text() == whole + "\nBy hand.\n"


def test_an_editor_that_added_at_the_same_place(repo: Folder) -> None:
    path = repo.plan()
    repo.ok(*ADD)
    path.write_text(CLEAN.replace("- [ ] Write the tests.\n", "- [ ] Write the tests.\n- [ ] By hand.\n"))
    doctor(repo, "--fix")
    tasks = [task["text"] for task in repo.ok("show")["tasks"]]
    assert tasks == ["Read lines.", "Build the parser.", "Write the tests.", "By hand.", "Handle CRLF."]


def test_a_dry_run_shows_a_diff_that_git_applies(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    repo.ok(*ADD)
    path.write_text(BY_HAND)
    data = doctor(repo, "--fix", "--dry-run")
    assert path.read_text() == BY_HAND
    assert len(data["fixed"]) == 2
    assert len(data["findings"]) == 2
    repo.write("change.patch", data["diff"] + "\n")
    repo.git("apply", "change.patch")
    applied = path.read_text()
    path.write_text(BY_HAND)
    doctor(repo, "--fix")
    assert path.read_text() == applied
    assert "would put back: done 2" not in repo.run("doctor", "--fix", "--dry-run").out


def test_put_back_with_a_commit(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    path.write_text(BY_HAND)
    doctor(repo, "--fix", "--commit")
    assert "put back, done 2" in repo.git("log", "-1", "--format=%s")
    assert repo.git("show", "--name-only", "--format=").split() == [".agent/execplans/2026-01-01_parser.md"]


def test_what_was_put_back_can_be_taken_back_and_is_not_missed_then(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    path.write_text(BY_HAND)
    doctor(repo, "--fix")
    assert repo.ok("undo")["said"][0].startswith("undone: put back, done 2")
    assert path.read_text() == BY_HAND
    clean(repo)


def test_put_back_and_lost_again_is_told_once(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    path.write_text(BY_HAND)
    doctor(repo, "--fix")
    path.write_text(BY_HAND)
    assert "put back, done 2" in one(repo, "edits")["message"]


@pytest.mark.parametrize("call", [("done", "2"), ADD, DECIDE])
def test_lost_and_done_again(repo: Folder, call: tuple[str, ...]) -> None:
    path = repo.plan()
    repo.ok(*call)
    path.write_text(BY_HAND)
    assert repo.ok(*call)["changed"] is True
    clean(repo)


def test_what_the_tool_took_away_is_not_missed(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    repo.ok("reopen", "2")
    repo.ok(*ADD)
    repo.ok("undo")
    path.write_text(path.read_text() + "\nBy hand.\n")
    clean(repo)


def test_undo_dismisses_what_was_taken_out_on_purpose(repo: Folder) -> None:
    path = repo.plan()
    repo.ok(*ADD)
    path.write_text(CLEAN)
    one(repo, "edits")
    assert "nothing to undo" in repo.ok("undo")["said"][0]
    clean(repo)
    assert path.read_text() == CLEAN


def test_forget_dismisses_all_of_a_plan(repo: Folder) -> None:
    path = repo.plan()
    repo.ok(*ADD)
    repo.ok("done", "2")
    repo.ok(*DECIDE)
    path.write_text(path.read_text().replace("- [ ] Handle CRLF.\n", ""))
    text = path.read_text()
    found = one(repo, "edits")
    assert len(doctor(repo, "--forget", "parser", "--dry-run")["forgotten"]) == 1
    assert one(repo, "edits") == found
    obey(repo, found["mend"].rpartition(": ")[2])
    clean(repo)
    assert path.read_text() == text
    assert repo.ok("undo")["said"][0].startswith("undone: decide")
    assert doctor(repo, "--forget", "parser")["forgotten"] == []


def test_lines_that_were_changed_otherwise_are_kept_in_a_file(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    stale = CLEAN.replace("Build the parser.\n", "Build the whole parser.\n")
    path.write_text(stale)
    assert "can't be put back by itself" in one(repo, "edits")["message"]
    data = doctor(repo, "--fix")
    assert path.read_text() == stale
    assert "kept in" in data["fixed"][0]["message"]
    (left,) = data["findings"]
    assert left["check"] == "recovered"
    assert "+- [x] (2026-01-01 00:00Z) Build the parser." in (repo.path / left["path"]).read_text()
    assert doctor(repo, "--fix")["fixed"] == []
    obey(repo, left["mend"].rpartition(": ")[2])
    clean(repo)


def test_switching_branches_overwrites_nothing(repo: Folder) -> None:
    path = repo.plan()
    committed(repo)
    repo.git("switch", "-q", "-c", "side")
    repo.ok("done", "2", "--commit")
    repo.git("switch", "-q", "main")
    assert path.read_text() == CLEAN
    clean(repo)
    path.write_text(BY_HAND)
    clean(repo)
    repo.git("checkout", "-q", ".")
    repo.ok(*ADD, "--commit")
    repo.git("switch", "-q", "side")
    clean(repo)


def test_stash_and_pop_overwrite_nothing(repo: Folder) -> None:
    path = repo.plan()
    committed(repo)
    repo.ok("done", "2")
    repo.git("stash", "-q")
    clean(repo)
    repo.ok(*ADD)
    repo.git("stash", "-q")
    assert path.read_text() == CLEAN
    clean(repo)
    repo.git("stash", "drop", "-q")
    assert "add 4" in one(repo, "edits")["message"]
    repo.git("stash", "pop", "-q")
    assert "add 4" in one(repo, "edits")["message"]


def test_pull_and_rebase_overwrite_nothing(repo: Folder) -> None:
    path = repo.plan()
    committed(repo)
    repo.git("switch", "-q", "-c", "other")
    path.write_text(CLEAN.replace("None so far.", "From elsewhere."))
    committed(repo, "Elsewhere")
    repo.git("switch", "-q", "main")
    repo.ok("done", "2", "--commit")
    repo.git("switch", "-q", "-c", "side")
    repo.git("merge", "-q", "other", "-m", "Merge")
    clean(repo)
    repo.git("switch", "-q", "main")
    repo.git("rebase", "-q", "other")
    assert "From elsewhere." in path.read_text()
    clean(repo)


def test_a_stale_save_over_what_is_committed(repo: Folder) -> None:
    """Git has the text before it, and yet it was not git that put the other in its place."""
    path = repo.plan()
    committed(repo)
    repo.ok("done", "2", "--commit")
    path.write_text(CLEAN)
    assert "done 2" in one(repo, "edits")["message"]
    path.write_text(BY_HAND)
    one(repo, "edits")
    repo.ok(*ADD, "--commit")
    assert "done 2" in one(repo, "edits")["message"]
    doctor(repo, "--fix")
    assert "[x] (2026-01-01 00:00Z) Build the parser." in path.read_text()
    clean(repo)


def test_before_the_first_commit(plain: Folder) -> None:
    plain.git("init", "-q")
    path = plain.plan()
    plain.ok("done", "2")
    path.write_text(BY_HAND)
    assert "done 2" in one(plain, "edits")["message"]


def test_without_git(plain: Folder) -> None:
    path = plain.plan()
    plain.ok("done", "2")
    path.write_text(BY_HAND)
    one(plain, "edits")
    doctor(plain, "--fix")
    assert "[x] (2026-01-01 00:00Z) Build the parser." in path.read_text()
    clean(plain)


def test_a_plan_that_was_renamed_and_archived(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    repo.ok("rename", "parser", "Build the reader")
    renamed = path.with_name("2026-01-01_build-the-reader.md")
    assert renamed.exists()
    clean(repo)
    renamed.write_text(renamed.read_text().replace("- [x] (2026-01-01 00:00Z) Build", "- [ ] Build"))
    assert "done 2" in one(repo, "edits")["message"]
    doctor(repo, "--fix")
    repo.ok("archive", "reader", "--force", "--reason", "No longer wanted.")
    clean(repo)


def test_many_edits_of_which_one_is_overwritten(repo: Folder) -> None:
    path = repo.plan()
    project = project_discovery.find(str(repo.path))
    for number in range(200):
        old = path.read_bytes()
        new = old.replace(b"None so far.", b"None so far.\nLine %d." % number)
        with edit_journal.JournalTransaction(project, str(path), "note", f"note {number}", old, new):
            path.write_bytes(new)
    clean(repo)
    path.write_bytes(old)
    assert "note 199," in one(repo, "edits")["message"]


def records(repo: Folder) -> Path:
    return next((repo.path / ".git/execplan/journal").iterdir())


def test_a_damaged_record_is_told_and_the_others_are_looked_at(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    repo.ok("done", "3")
    lines = records(repo).read_text().splitlines()
    records(repo).write_text("\n".join([*lines[:2], lines[2][:-30], lines[3], "edit 9 cut"]))
    found = one(repo, "edits")
    assert "can't be read of done 3" in found["message"]
    path.write_text(BY_HAND)
    assert [each["level"] for each in findings(repo, "edits")] == ["warning", "error"]
    doctor(repo, "--fix")
    assert "[x] (2026-01-01 00:00Z) Build the parser." in path.read_text()
    obey(repo, one(repo, "edits")["mend"].rpartition(": ")[2])
    clean(repo)


@pytest.mark.parametrize("content", [b"", b"\0\xff\n", b"edit x y\nmade\nundone 3\nleft\n", b"edit 1 a b c d"])
def test_a_journal_of_anything_is_no_crash(repo: Folder, content: bytes) -> None:
    repo.plan()
    repo.ok("done", "2")
    records(repo).write_bytes(content)
    doctor(repo)


def test_an_edit_that_was_cut_short(repo: Folder) -> None:
    path = repo.plan()
    project = project_discovery.find(str(repo.path))
    recording = edit_journal.JournalTransaction(
        project, str(path), "add", "add 9, Lost", CLEAN.encode(), CLEAN.encode() + b"- lost\n"
    )
    recording.__enter__()
    clean(repo)
    repo.ok("done", "2")
    path.write_text(BY_HAND)
    assert "done 2" in one(repo, "edits")["message"]


def test_a_move_that_was_cut_short(repo: Folder) -> None:
    path = repo.plan()
    project = project_discovery.find(str(repo.path))
    goal = path.parent / "archive" / path.name
    places = (str(path), str(goal), str(goal.parent / "artifacts" / path.stem))
    data = path.read_bytes()
    moves = [(str(path), str(goal))]
    move_record.write_intent(
        project, move_record.create_intent("archive", (path.stem, path.stem), places, moves, (data, data, None, None))
    )
    found = one(repo, "moves")
    assert found["message"].startswith("a move was cut short: archive of 2026-01-01_parser, begun ")
    assert doctor(repo, "--fix", "--dry-run")["fixed"]
    one(repo, "moves")
    assert "cut short before anything was moved" in doctor(repo, "--fix")["fixed"][0]["message"]
    clean(repo)
    repo.write(".git/execplan/move.json", "{")
    assert "can't be read" in one(repo, "moves")["message"]


def test_while_others_write_nothing_is_missed(repo: Folder) -> None:
    repo.plan()
    repo.ok("done", "2")
    writers = [repo.start("add", f"Task {number}.") for number in range(6)]
    while any(each.poll() is None for each in writers):
        found = repo.run("doctor", "--json").json["data"]["findings"]
        assert [each for each in found if each["check"] == "edits"] == []
    for each in writers:
        assert each.communicate()[0]
    clean(repo)


def test_a_plan_with_conflict_markers_is_left_alone(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    path.write_text(BY_HAND + "<<<<<<< ours\nA\n=======\nB\n>>>>>>> theirs\n")
    text = path.read_text()
    assert one(repo, "plans", "--fix")["fixable"] is False
    assert path.read_text() == text
