"""The journal, and taking edits back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.edits import edit_journal, journal_moves
from execplan.core.plan_store import plan_selection
from execplan.core.project import project_discovery
from execplan.core.project.plan_journal import former_paths
from execplan.core.text import text_codec
from tests.cli.test_contract import CALLS, WRITERS
from tests.conftest import Folder
from tests.plans import CLEAN, with_sections

EDITS = [command for command in WRITERS if command != "undo"]


@pytest.mark.parametrize("verb", EDITS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_every_edit_is_taken_back_to_the_byte(repo: Folder, verb: str, ends: str) -> None:
    path = repo.plan(CLEAN.rstrip("\n").replace("\n", ends))
    before = path.read_bytes()
    assert repo.ok(*CALLS[verb])["changed"] is True
    assert path.read_bytes() != before
    data = repo.ok("undo")
    assert data["changed"] is True
    assert data["said"][0].startswith("undone: ")
    assert path.read_bytes() == before
    assert repo.run("undo").exit == 1


def test_edits_are_taken_back_one_by_one(repo: Folder) -> None:
    path = repo.plan()
    texts = [path.read_bytes()]
    for command in EDITS:
        repo.ok(*CALLS[command])
        texts.append(path.read_bytes())
    for text in reversed(texts[:-1]):
        repo.ok("undo")
        assert path.read_bytes() == text


def test_across_a_commit(repo: Folder) -> None:
    path = repo.plan()
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    repo.ok("done", "2", "--commit")
    data = repo.ok("undo", "--commit")
    assert path.read_text() == CLEAN
    assert repo.git("rev-parse", "HEAD").strip() == data["commit"]
    assert repo.git("diff", "HEAD~2", "--stat") == ""
    assert "undo, done 2" in repo.git("log", "-1", "--format=%s")


def test_what_was_changed_elsewhere_stays(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    path.write_text("A line above.\n\n" + path.read_text() + "\nA line below.\n")
    repo.ok("undo")
    assert path.read_text() == "A line above.\n\n" + CLEAN + "\nA line below.\n"


def test_refused_when_the_lines_have_changed(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("add", "Handle CRLF")
    path.write_text(path.read_text().replace("Handle CRLF", "Handle CR"))
    text = path.read_text()
    result = repo.run("undo", "--json")
    assert result.exit == 4
    assert result.json["error"]["code"] == "changed-since"
    assert path.read_text() == text


def test_what_is_gone_already_is_said_and_passed_over(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("add", "Handle CRLF")
    middle = path.read_text()
    repo.ok("done", "1", "2")
    path.write_text(middle)
    assert repo.ok("undo")["changed"] is False
    assert path.read_text() == middle
    assert repo.ok("undo")["changed"] is True
    assert path.read_text() == CLEAN


def test_an_edit_that_never_came_to_the_disk_is_passed_over(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    current = path.read_bytes()
    project = project_discovery.find(str(repo.path))
    recording = edit_journal.JournalTransaction(
        project, str(path), "add", "add 9, Lost", current, current + b"- lost\n"
    )
    recording.__enter__()
    with open(recording.path, "a") as file:
        file.write("edit 77 cut")
    repo.ok("undo")
    assert path.read_text() == CLEAN


def test_an_edit_that_fails_is_not_journaled(repo: Folder) -> None:
    path = repo.plan()
    project = project_discovery.find(str(repo.path))
    old = path.read_bytes()
    with (
        pytest.raises(KeyboardInterrupt),
        edit_journal.JournalTransaction(project, str(path), "add", "add", old, old + b"x\n"),
    ):
        raise KeyboardInterrupt
    assert repo.run("undo").exit == 1
    assert edit_journal.read_entries(project, str(path)) == []


def test_a_damaged_journal_is_told(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("done", "2")
    file = next((repo.path / ".git/execplan/journal").iterdir())
    lines = file.read_text().splitlines()
    fields = lines[0].split(" ")
    file.write_text(" ".join([*fields[:12], fields[12][:40], "-"]) + "\n" + lines[1] + "\n")
    text = path.read_text()
    result = repo.run("undo", "--json")
    assert result.exit == 3
    assert result.json["error"]["code"] == "journal-damaged"
    assert path.read_text() == text


UNREADABLE = {
    "Latin-1": "# T\n\n- [ ] grüße\n".encode("latin-1"),
    "UTF-16": "# T\n".encode("utf-16"),
    "NUL": b"# T\n\0\nx\n",
    "empty": b"",
}


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
def test_a_dropped_file_that_is_no_text_comes_back_to_the_byte(repo: Folder, data: bytes) -> None:
    repo.write(".agent/PLANS.md", "# Plans\n")
    path = repo.path / ".agent/execplans/2026-01-01_parser.md"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    repo.ok("drop", "parser", "--force")
    repo.ok("undo")
    assert path.read_bytes() == data
    repo.ok("redo")
    assert not path.exists()
    repo.ok("undo")
    assert path.read_bytes() == data


def test_texts_of_older_versions_are_decoded() -> None:
    stored = text_codec.FULL + text_codec.pack(b"2 1\0a b c\0x")
    assert text_codec.decode_texts(stored, None) == (b"a b c", b"a xc")


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_packed_texts_come_back(old: bytes, new: bytes) -> None:
    for one, two in ((old, new), (old, old), (old, old[:9] + new + old[9:]), (old + new, old), (b"", old)):
        assert text_codec.decode_texts(text_codec.encode_full(one, two), None) == (one, two)
        assert text_codec.decode_texts(text_codec.encode_delta(one, two), one) == (one, two)


def test_the_line_that_differs_is_named(repo: Folder) -> None:
    path = repo.plan()
    repo.ok("decide", "Read bytes", "--why", "Nothing is lost.")
    text = path.read_text()
    path.write_text(text.replace("Nothing is lost.", "By hand."))
    assert "it is now 'Rationale: By hand.', not 'Rationale: Nothing is lost.'" in repo.run("undo").err
    path.write_text(text.replace("  Rationale: Nothing is lost.\n", ""))
    assert "it is now " in repo.run("undo").err


def test_an_edit_that_fails_leaves_the_paths_that_the_plan_left(repo: Folder) -> None:
    path = repo.plan()
    project, ref = plan_selection.select_plan(str(repo.path), "parser")
    old = str(path.with_name("old.md"))
    journal_moves.move_journal(project, old, ref.path, [old])
    with (
        pytest.raises(KeyboardInterrupt),
        edit_journal.JournalTransaction(project, ref.path, "done", "done 2", b"old\n", b"new\n"),
    ):
        raise KeyboardInterrupt
    assert former_paths(project, ref.path) == [old]
    assert edit_journal.read_entries(project, ref.path) == []


def test_the_edits_of_a_plan_behind_a_link_stay_with_it(repo: Folder) -> None:
    """Those that were made before it was one do not take their place when the link moves."""
    path = repo.plan()
    repo.ok("done", "2")
    target = repo.path / "parser.md"
    path.rename(target)
    path.symlink_to("../../parser.md")
    repo.ok("add", "Behind the link")
    repo.ok("rename", "parser", "Build the parser, again")
    assert repo.ok("undo")["said"][0].startswith("undone: rename")
    assert repo.ok("undo")["said"][0].startswith("undone: add")


def test_undo_goes_on_in_a_version_that_git_has_restored(repo: Folder) -> None:
    """Edits that were stashed or discarded are passed over, and those before and after them are undone."""
    path = repo.plan(with_sections("## Progress\n\n- [ ] One\n- [ ] Two\n- [ ] Three\n"))
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    text = path.read_bytes()
    repo.ok("done", "1")
    repo.ok("decide", "A", "--why", "B")
    repo.git("stash", "-q")
    repo.ok("done", "2")
    repo.ok("decide", "C", "--why", "D")
    repo.git("checkout", "-q", ".")
    repo.git("stash", "pop", "-q")
    said = [repo.ok("undo")["said"][0] for _ in range(4)]
    assert ["nothing to undo" in message for message in said] == [True, True, False, False]
    assert path.read_bytes() == text
    assert repo.run("undo").exit == 1


def test_undo_with_an_edit_of_the_next_line(repo: Folder) -> None:
    path = repo.plan(with_sections("## Progress\n\n- [ ] One\n- [ ] Two\n"))
    repo.ok("done", "1")
    path.write_text(path.read_text().replace("- [ ] Two", "- [ ] Two and a half"))
    repo.ok("undo")
    assert path.read_text() == with_sections("## Progress\n\n- [ ] One\n- [ ] Two and a half\n")


OTHER = "- Decision: Other.\n  Rationale: Yes.\n"


@pytest.mark.parametrize("log", [CLEAN, CLEAN.replace(CLEAN.split("Log\n\n")[1].split("\n\n")[0], "None yet.")])
@pytest.mark.parametrize("place", ["above", "inside", "below"])
def test_an_entry_that_a_merge_put_next_to_another_one_is_undone(repo: Folder, log: str, place: str) -> None:
    path = repo.plan(log)
    repo.ok("decide", "Ours.", "--why", "No.")
    text = path.read_text()
    entry = text[text.index("- Decision: Ours.") : text.index("\n## Outcomes")]
    first, rest = entry.split("\n", 1)
    gap = "\n" * (log == CLEAN)
    merged = {
        "above": OTHER + gap + entry,
        "inside": f"{first}\n{OTHER}{rest}",
        "below": entry + gap + OTHER,
    }[place]
    repo.plan(text.replace(entry, merged))
    if place == "inside":
        assert repo.run("undo").exit == 4
        assert path.read_text() == text.replace(entry, merged)
        return
    repo.ok("undo")
    assert path.read_text() == text.replace(entry, OTHER)
    repo.ok("redo")
    assert path.read_text() == text.replace(entry, merged)
