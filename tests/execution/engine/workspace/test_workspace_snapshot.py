"""Looks at a tree: what is seen and what is not, what is kept, and what two looks differ in."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.core.text.sequence_alignment import count_changed_lines
from execplan.execution.engine.journal.journal_entries import StateChange
from execplan.execution.engine.workspace import workspace_snapshot
from execplan.execution.engine.workspace.backup_store import BackupStore
from execplan.execution.world import ABSENT, FILE, FOLDER, LINK, OTHER
from tests.conftest import Folder
from tests.execution.engine.project_workspace import ProjectWorkspace, open_workspace


@pytest.fixture(params=["git", "no git"])
def any_workspace(request: pytest.FixtureRequest) -> ProjectWorkspace:
    repo = request.getfixturevalue("repo" if request.param == "git" else "plain")
    assert isinstance(repo, Folder)
    (repo.path / ".agent/execplans").mkdir(parents=True, exist_ok=True)
    repo.write("README.md", "# A project\n")
    return open_workspace(repo.path)


@pytest.fixture
def workspace(repo: Folder) -> ProjectWorkspace:
    return open_workspace(repo.path)


def summarize_changes(changes: tuple[StateChange, ...]) -> list[tuple[str, str, str, int, int, bool]]:
    return [
        (change.path, change.before.kind, change.after.kind, change.added, change.removed, change.declared)
        for change in changes
    ]


def test_every_kind_of_change_is_seen(any_workspace: ProjectWorkspace) -> None:
    root = any_workspace.root
    for name in ("edited", "mode", "gone", "to-folder", "to-link"):
        (root / name).write_bytes(b"one\ntwo\n")
    (root / "emptied").mkdir()
    (root / "empty").mkdir()
    (root / "to-file").mkdir()
    (root / "link").symlink_to("edited")
    before = any_workspace.take_snapshot()
    assert any_workspace.changes(before) == ((), ())
    (root / "edited").write_bytes(b"one\n2\n3\n")
    (root / "mode").chmod(0o755)
    (root / "gone").unlink()
    (root / "emptied").rmdir()
    (root / "empty").chmod(0o700)
    (root / "to-file").rmdir()
    (root / "to-file").write_bytes(b"x")
    (root / "to-folder").unlink()
    (root / "to-folder").mkdir()
    (root / "to-folder/in").write_bytes(b"x\n")
    (root / "to-link").unlink()
    (root / "to-link").symlink_to("/nowhere")
    (root / "link").unlink()
    (root / "link").symlink_to("mode")
    (root / "new/empty").mkdir(parents=True)
    os.mkfifo(root / "new/pipe")
    changes, folders = any_workspace.changes(before, "edited", "new")
    assert summarize_changes(changes) == [
        ("edited", FILE, FILE, 2, 1, True),
        ("emptied", FOLDER, ABSENT, 0, 0, False),
        ("empty", FOLDER, FOLDER, 0, 0, False),
        ("gone", FILE, ABSENT, 0, 2, False),
        ("link", LINK, LINK, 0, 0, False),
        ("mode", FILE, FILE, 0, 0, False),
        ("new/pipe", ABSENT, OTHER, 0, 0, True),
        ("to-file", FOLDER, FILE, 1, 0, False),
        ("to-folder", FILE, FOLDER, 0, 2, False),
        ("to-folder/in", ABSENT, FILE, 1, 0, False),
        ("to-link", FILE, LINK, 0, 2, False),
    ]
    assert folders == ("new", "new/empty")


def test_what_was_there_is_kept(any_workspace: ProjectWorkspace) -> None:
    snapshot = any_workspace.take_snapshot()
    state = snapshot.states["README.md"]
    assert any_workspace.store.get(state.sha256) == b"# A project\n"
    assert state.size == 12
    assert snapshot.is_complete
    assert not snapshot.folders & {".git", ".agent/.state"}


def test_a_file_that_keeps_its_size_and_its_time_is_seen(any_workspace: ProjectWorkspace) -> None:
    """As what is edited within a tick of the clock, or with its time set back, is."""
    file = any_workspace.root / "file"
    file.write_bytes(b"one")
    before = any_workspace.take_snapshot()
    times = file.stat()
    file.write_bytes(b"two")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    ((change,), _) = any_workspace.changes(before)
    assert change.path == "file"


def test_what_has_not_changed_is_not_read_again(
    any_workspace: ProjectWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_snapshot, "_MARGIN", -(10**12))
    before = any_workspace.take_snapshot()
    monkeypatch.setattr(any_workspace.files, "state", lambda path: pytest.fail(f"{path} is read"))
    assert any_workspace.changes(before) == ((), ())
    any_workspace.take_snapshot(previous=before)


def test_what_an_earlier_look_did_not_keep_is_kept_by_the_next(
    any_workspace: ProjectWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_snapshot, "_MARGIN", -(10**12))
    first_snapshot = any_workspace.take_snapshot(keep=False)
    digest = first_snapshot.states["README.md"].sha256
    assert not any_workspace.store.has(digest)
    any_workspace.take_snapshot(previous=first_snapshot)
    assert any_workspace.store.has(digest)


def test_what_git_ignores_is_seen_where_it_is_declared(repo: Folder, workspace: ProjectWorkspace) -> None:
    repo.write(".gitignore", "*.o\nbuild/\n")
    repo.write("build/old", "x")
    repo.write("src/a.c", "x")
    repo.write("src/a.o", "x")
    before = workspace.take_snapshot("out.o", "build/deep/out")
    assert {"src", "src/a.c", ".gitignore"} < before.states.keys()
    assert not {"build/old", "src/a.o"} & before.states.keys()
    repo.write("src/a.o", "y")
    repo.write("build/new", "y")
    repo.write("out.o", "y")
    repo.write("build/deep/out/a.o", "y")
    changes, folders = workspace.changes(before, "out.o", "build/deep/out")
    assert [change.path for change in changes] == ["build/deep/out/a.o", "out.o"]
    assert folders == ("build/deep", "build/deep/out")


def test_what_git_tracks_is_seen_although_it_is_ignored(repo: Folder, workspace: ProjectWorkspace) -> None:
    repo.write(".gitignore", "build/\n*.log\n")
    repo.write("build/kept", "x")
    repo.write("one.log", "x")
    repo.git("add", "-f", "build/kept", "one.log")
    repo.write("build/not", "x")
    states = workspace.take_snapshot().states
    assert {"build/kept", "one.log"} < states.keys()
    assert "build/not" not in states


def test_a_change_of_what_git_ignores_makes_and_removes_nothing(repo: Folder, workspace: ProjectWorkspace) -> None:
    """Files that only come into sight, or go out of it, are no changes: a rollback would remove what somebody had there."""
    repo.write(".gitignore", ".env\nbuild/\n")
    repo.write(".env", "secret")
    repo.write("build/deep/out", "x")
    repo.write("seen.txt", "x")
    before = workspace.take_snapshot()
    repo.write(".gitignore", "*.txt\n")
    assert [change.path for change in workspace.changes(before)[0]] == [".gitignore"]
    repo.write("seen.txt", "y")
    assert [change.path for change in workspace.changes(before)[0]] == [".gitignore", "seen.txt"]
    (repo.path / "seen.txt").unlink()
    assert summarize_changes(workspace.changes(before)[0])[1] == ("seen.txt", FILE, ABSENT, 0, 1, False)


def test_other_repositories_are_not_looked_into(repo: Folder, workspace: ProjectWorkspace) -> None:
    repo.write("sub/mine", "x")
    repo.write("known/file", "x")
    (repo.path / "sub/.git").mkdir()
    before = workspace.take_snapshot()
    assert "sub" in before.folders
    assert "sub/mine" not in before.states
    repo.write("sub/mine", "y")
    (repo.path / "known/.git").mkdir()
    assert workspace.changes(before) == ((), ())
    shutil.rmtree(repo.path / "sub/.git")
    assert workspace.changes(before) == ((), ())


def test_what_is_ours_is_no_change_of_a_step(any_workspace: ProjectWorkspace) -> None:
    before = any_workspace.take_snapshot(".git/config", ".agent/.state")
    for name in (
        ".agent/.state/x",
        ".git/x",
        ".agent/execplan.toml",
        ".agent/execplans/artifacts/plan/ledger.jsonl",
        ".agent/execplans/artifacts/plan/runs/0001-00000000/journal.jsonl",
        ".execplan-0123456789abcdef.tmp",
    ):
        path = any_workspace.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    changes, folders = any_workspace.changes(before, ".git/config", ".agent/.state")
    assert changes == ()
    assert folders == (".agent/execplans/artifacts", ".agent/execplans/artifacts/plan")


def test_links_are_not_followed(any_workspace: ProjectWorkspace) -> None:
    outside = any_workspace.root.parent / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"x")
    (any_workspace.root / "link").symlink_to(outside)
    before = any_workspace.take_snapshot("link", "link/file")
    assert before.states["link"].kind == LINK
    assert "link/file" not in before.states
    (outside / "file").write_bytes(b"y")
    assert any_workspace.changes(before, "link", "link/file") == ((), ())


@pytest.mark.parametrize("limit", ["FILES", "BYTES"])
def test_of_a_large_repository_only_what_is_declared(
    any_workspace: ProjectWorkspace, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_snapshot, limit, 3)
    for name in ("a", "b", "c", "d"):
        (any_workspace.root / name).write_bytes(b"x")
    before = any_workspace.take_snapshot("d", "e")
    assert (before.is_complete, set(before.states)) == (False, {"d"})
    for name in ("a", "d", "e"):
        (any_workspace.root / name).write_bytes(b"y")
    changes, _ = any_workspace.changes(before, "d", "e")
    assert [change.path for change in changes] == ["d", "e"]


def test_a_command_that_writes_much_is_seen_whole(
    any_workspace: ProjectWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = any_workspace.take_snapshot()
    monkeypatch.setattr(workspace_snapshot, "FILES", 3)
    for number in range(9):
        (any_workspace.root / f"{number}").write_bytes(b"x")
    assert len(any_workspace.changes(before)[0]) == 9
    assert not any_workspace.take_snapshot(previous=before).is_complete


def test_names_that_are_no_utf_8_and_no_words(any_workspace: ProjectWorkspace) -> None:
    names = [b"\xff", b"new\nline", b'"quoted"', b"-p", b"\\udc80", "ä".encode()]
    for name in names:
        with open(os.fsencode(any_workspace.root) + b"/" + name, "wb") as odd:
            odd.write(name)
    before = any_workspace.take_snapshot()
    assert {os.fsdecode(name) for name in names} < before.states.keys()
    data = workspace_snapshot.encode(before)
    assert workspace_snapshot.decode(data, "tree") == before
    assert workspace_snapshot.encode(before) == data


@pytest.mark.parametrize(
    "data", ["", "{", "[]", '{"states":{}}', '{"states":{"a":1},"whole":1,"unseen":[],"signs":{}}']
)
def test_a_look_that_somebody_else_wrote_to(data: str) -> None:
    with pytest.raises(ExecplanError) as caught:
        workspace_snapshot.decode(data.encode(), "01-it.tree")
    assert (caught.value.exit, caught.value.code) == (ENVIRONMENT, "backup-altered")
    assert "01-it.tree" in caught.value.message


def test_a_look_is_json_that_anybody_reads(any_workspace: ProjectWorkspace) -> None:
    assert json.loads(workspace_snapshot.encode(any_workspace.take_snapshot()))["whole"] is True


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        (b"", b"", (0, 0)),
        (b"", b"a\nb", (2, 0)),
        (b"a\nb\n", b"b\na\n", (1, 1)),
        (b"a\n", b"a", (1, 1)),
        (b"a\r\nb\n", b"a\nb\n", (1, 1)),
        (b"\0", b"a\n", (0, 0)),
        (b"\xff", b"a\n", (0, 0)),
        (b"a\n" * 600_000, b"", (0, 0)),
        (b"".join(b"%d\n" % (number % 7) for number in range(90_000)), b"x\n" * 90_000, (90_000, 90_000)),
    ],
)
def test_lines_are_counted(before: bytes, after: bytes, lines: tuple[int, int]) -> None:
    assert count_changed_lines(before, after) == lines


def test_what_two_looks_share_is_kept_once(any_workspace: ProjectWorkspace) -> None:
    for name in ("one", "two"):
        (any_workspace.root / name).write_bytes(b"same")
    any_workspace.take_snapshot()
    any_workspace.take_snapshot()
    backup_names = [name for _, _, names in os.walk(BackupStore(any_workspace.project).folder) for name in names]
    assert (
        len(backup_names)
        == len(set(backup_names))
        == len({state.sha256 for state in any_workspace.take_snapshot().states.values() if state.sha256})
    )
