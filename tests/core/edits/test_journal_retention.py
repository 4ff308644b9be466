"""What the journal of a plan keeps, what it drops, and journals of older versions."""

from __future__ import annotations

import os
import zlib
from binascii import b2a_base64
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from execplan.core.clock import now
from execplan.core.edits import edit_journal
from execplan.core.edits.plan_writer import WriteOptions, amend
from execplan.core.edits.undo_stack import read_stack
from execplan.core.plan import task_edits
from execplan.core.plan_store import plan_selection
from execplan.core.project import project_discovery
from execplan.core.project.plan_journal import journal_path
from tests.cli.doctor.doctor_findings import findings, run_remedy
from tests.conftest import Folder
from tests.plans import CLEAN


@pytest.fixture(autouse=True)
def ann(monkeypatch: pytest.MonkeyPatch) -> None:
    """Edits in this process are Ann's too."""
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ann")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")


def edit(repo: Folder, numbers: range) -> None:
    """Add a task for each number, in this process."""
    project, ref = plan_selection.select_plan(str(repo.path), "parser")
    for number in numbers:
        amend(project, ref, task_edits.add_task(f"Task {number}", now()), WriteOptions(), command="add")


def size(repo: Folder, path: Path) -> int:
    """Bytes of the plan's journal."""
    return os.path.getsize(journal_path(project_discovery.find(str(repo.path)), str(path)))


@pytest.mark.exhaustive
def test_three_hundred_edits_are_all_kept(repo: Folder) -> None:
    path = repo.plan()
    edit(repo, range(300))
    project = project_discovery.find(str(repo.path))
    assert len(read_stack(project, str(path)).undoable) == 300
    assert size(repo, path) < 300 * 1000
    for number in (299, 298):
        assert repo.ok("undo")["operation"]["summary"] == f"add {number + 4}, Task {number}"


@pytest.mark.exhaustive
def test_edits_of_a_large_plan_are_stored_as_differences(repo: Folder) -> None:
    body = "".join([f"- Line {number} of many, {number * 7919 % 10007:x}.\n" for number in range(5_000)])
    path = repo.plan(CLEAN.replace("None so far.\n", body))
    assert path.stat().st_size > 125_000
    edit(repo, range(31))
    project = project_discovery.find(str(repo.path))
    assert len(read_stack(project, str(path)).undoable) == 31
    assert size(repo, path) < 250_000
    assert (
        edit_journal.read_entries(project, str(path))[0].unpack()[0] == CLEAN.replace("None so far.\n", body).encode()
    )


def test_no_edit_is_forgotten_before_it_is_committed_or_undone(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit_journal, "MAX_BYTES", 20_000)
    path = repo.plan()
    project = project_discovery.find(str(repo.path))
    edit(repo, range(80))
    assert len(read_stack(project, str(path)).undoable) == 80
    assert size(repo, path) > 20_000
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    edit(repo, range(80, 90))
    undoable = read_stack(project, str(path)).undoable
    assert 10 < len(undoable) < 80
    assert size(repo, path) <= 20_000
    assert [step.operation.summary for step in undoable] == [f"add {at + 4}, Task {at}" for at in range(90)][
        -len(undoable) :
    ]
    for step in undoable:
        assert (
            step.operation.unpack()[1].decode().count("Task ") == step.operation.unpack()[0].decode().count("Task ") + 1
        )
    assert repo.ok("undo")["operation"]["summary"] == "add 93, Task 89"
    assert findings(repo, "edits") == []


def test_what_is_undone_may_be_forgotten(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit_journal, "MAX_BYTES", 20_000)
    path = repo.plan()
    project = project_discovery.find(str(repo.path))
    for _ in range(40):
        edit(repo, range(1))
        from execplan.core.undo.undo_redo import undo

        undo(str(repo.path), "parser", WriteOptions())
    assert size(repo, path) <= 20_000
    assert read_stack(project, str(path)).undoable == ()
    assert path.read_text() == CLEAN


def test_moves_are_kept_too(repo: Folder) -> None:
    repo.plan()
    edit(repo, range(30))
    repo.ok("rename", "parser", "Scanner")
    repo.ok("rename", "scanner", "Build the parser")
    project, ref = plan_selection.select_plan(str(repo.path), "build-the-parser")
    for number in range(120):
        amend(project, ref, task_edits.add_task(f"More {number}", now()), WriteOptions(), command="add")
    assert len(read_stack(project, ref.path).undoable) == 152


def test_an_overwritten_edit_is_reported_when_the_plan_is_archived(repo: Folder) -> None:
    path = repo.plan(CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)"))
    before = path.read_text()
    repo.ok("decide", "Read bytes.", "--why", "Nothing is lost.")
    path.write_text(before)
    result = repo.run("archive", "parser", "--json")
    assert result.exit == 0
    (warning,) = result.json["warnings"]
    assert "another program has overwritten an edit: decide, Read bytes." in warning
    assert findings(repo, "edits") == []
    run_remedy(repo, warning.rpartition(": ")[2].replace(", then ", " && "))
    assert "Read bytes." in path.read_text()
    assert findings(repo, "edits") == []


def older(old: bytes, new: bytes, number: int, command: str, summary: str) -> str:
    """An entry as older versions wrote it."""
    packed = b2a_base64(zlib.compress(b"0 0\0" + old + b"\0" + new, 6), newline=False).decode()
    encoded_summary = b2a_base64(summary.encode(), newline=False).decode()
    return f"edit {number} 2025-12-31T10:00Z {command} {encoded_summary} {packed}\nmade {number}\n"


def test_a_journal_of_an_older_version_is_read(repo: Folder) -> None:
    texts = [CLEAN, CLEAN.replace("Lines can", "All lines can")]
    texts.append(texts[1].replace("- [ ] Build", "- [x] (2025-12-31 10:00Z) Build"))
    path = repo.plan(texts[-1])
    pairs = list(zip([text.encode() for text in texts[:-1]], [text.encode() for text in texts[1:]], strict=True))
    lines = older(*pairs[0], 1, "outcome", "outcome, All") + older(*pairs[1], 2, "done", "done 2")
    project = project_discovery.find(str(repo.path))
    file = journal_path(project, str(path))
    Path(file).parent.mkdir(parents=True)
    Path(file).write_text(lines)
    repo.ok("add", "New")
    assert [operation["summary"] for operation in repo.ok("undo", "--list", "-p", "parser")["undo"]] == [
        "add 4, New",
        "done 2",
        "outcome, All",
    ]
    for expected in reversed(texts):
        repo.ok("undo", "-p", "parser")
        assert path.read_text() == expected
    for expected in texts[1:]:
        repo.ok("redo", "-p", "parser")
        assert path.read_text() == expected


def test_without_the_order_of_a_newer_version_the_only_plan_is_meant(repo: Folder) -> None:
    path = repo.plan(CLEAN.replace("Lines", "All lines"))
    file = Path(journal_path(project_discovery.find(str(repo.path)), str(path)))
    file.parent.mkdir(parents=True)
    file.write_text(older(CLEAN.encode(), path.read_bytes(), 1, "outcome", "outcome, All"))
    repo.ok("undo")
    assert path.read_text() == CLEAN


@pytest.mark.parametrize(("verb", "hint"), [("rename", "execplan rename"), ("restore", "execplan archive")])
def test_a_move_of_an_older_version_names_the_command(repo: Folder, verb: str, hint: str) -> None:
    path = repo.plan()
    old = CLEAN.replace("# Build the parser", "# Old")
    file = Path(journal_path(project_discovery.find(str(repo.path)), str(path)))
    file.parent.mkdir(parents=True)
    file.write_text(
        older(old.encode(), old.encode() + b"x\n", 1, "outcome", "outcome, x")
        + older(old.encode(), CLEAN.encode(), 2, verb, f"{verb}, Build the parser")
    )
    result = repo.run("undo", "--json")
    assert (result.exit, result.json["error"]["code"]) == (1, "undone-otherwise")
    assert hint in result.json["error"]["hint"]
    assert path.read_text() == CLEAN


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:-3],
        lambda data: b"\xff\0" + data,
        lambda data: data.replace(b" edit ", b" "),
        lambda data: b"op 1 2 3\nop x\nmade 9\nundone 7\nwith 1\nleft\n" + data,
        lambda data: b"",
    ],
)
def test_a_damaged_journal_is_no_crash(repo: Folder, damage: Callable[[bytes], bytes]) -> None:
    path = repo.plan()
    edit(repo, range(3))
    project = project_discovery.find(str(repo.path))
    for file in (Path(journal_path(project, str(path))), repo.path / ".git/execplan/operations"):
        data = file.read_bytes()
        file.write_bytes(damage(data))
        for call in (("undo", "--list"), ("undo", "-p", "parser"), ("redo",), ("add", "More"), ("undo",), ("doctor",)):
            assert repo.run(*call).exit in (0, 1, 3, 4), call
        file.write_bytes(damage(data))
        repo.ok("add", "Later")
        assert repo.ok("undo", "-p", "parser")["operation"]["summary"].endswith("Later")


def test_a_damaged_line_costs_at_most_the_fifty_entries_after_it(repo: Folder) -> None:
    path = repo.plan()
    edit(repo, range(120))
    project = project_discovery.find(str(repo.path))
    file = Path(journal_path(project, str(path)))
    lines = file.read_bytes().split(b"\n")
    edits = [at for at, line in enumerate(lines) if b" edit " in line]
    for damaged in (3, 49, 60, 119):
        at = edits[damaged]
        file.write_bytes(b"\n".join([*lines[:at], lines[at][: len(lines[at]) // 2], *lines[at + 1 :]]))
        readable = 0
        for entry in edit_journal.read_entries(project, str(path)):
            with suppress(ValueError):
                entry.unpack()
                readable += 1
        assert readable >= 120 - 1 - 50, damaged
