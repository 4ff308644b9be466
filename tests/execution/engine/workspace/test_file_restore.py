"""What was changed is taken back: bytes, modes, links, absence and folders, whatever became of them and whenever it is killed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execplan.core.errors import CONFLICT, ENVIRONMENT, POLICY, ExecplanError
from execplan.execution.engine.workspace import file_restore, workspace_snapshot
from execplan.execution.engine.workspace.file_restore import (
    RestoreResult,
    compute_net_changes,
    restore,
    with_created_folders,
)
from tests.conftest import Folder
from tests.execution.engine.project_workspace import (
    ProjectWorkspace,
    TreeEntries,
    TreeEntry,
    build,
    open_workspace,
    read_tree,
)

if TYPE_CHECKING:
    from execplan.execution.engine.journal.journal_entries import StateChange


@pytest.fixture
def workspace(repo: Folder) -> ProjectWorkspace:
    return open_workspace(repo.path)


def restore_changes(
    workspace: ProjectWorkspace, changes: tuple[StateChange, ...], folders: tuple[str, ...] = ()
) -> RestoreResult:
    return restore(workspace.files, workspace.store, changes, folders, lambda part: None)


NAMES = st.sampled_from(["a", "b", os.fsdecode(b"\xe9"), "c.txt"])
FILES = st.tuples(
    st.just("file"), st.sampled_from([b"", b"one\n", b"two\n", b"\0\xff" * 9]), st.sampled_from([0o644, 0o755, 0o400])
)
LINKS = st.tuples(st.just("link"), st.sampled_from(["a", "../b", "/nowhere", "b/a"]), st.just(0))
FOLDERS = st.tuples(st.just("folder"), st.just(""), st.sampled_from([0o755, 0o700]))
NESTED = st.recursive(
    FILES | LINKS | FOLDERS, lambda inner: st.dictionaries(NAMES, inner, min_size=1, max_size=4), max_leaves=9
)
TREES = st.dictionaries(NAMES, NESTED, max_size=4)
Nested = dict[str, "TreeEntry | Nested"]


def flatten(nested: Nested, prefix: str = "") -> TreeEntries:
    """The paths of a tree; a folder with something in it has the usual mode."""
    entries: TreeEntries = {}
    for name, entry in nested.items():
        if isinstance(entry, dict):
            entries[prefix + name] = ("folder", "", 0o755)
            entries |= flatten(entry, f"{prefix}{name}/")
        else:
            entries[prefix + name] = entry
    return entries


class _KilledError(Exception):
    """In place of a kill."""


@given(steps=st.lists(TREES, min_size=2, max_size=4), kill=st.integers(0, 12), max_reported=st.integers(1, 4))
@settings(max_examples=40)
def test_any_tree_comes_back(steps: list[Nested], kill: int, max_reported: int) -> None:
    """Through any number of others, also when it is killed before it reports any paths, and then done again."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(file_restore, "MAX_REPORTED", max_reported):
        root = Path(folder).resolve()
        (root / ".agent/execplans").mkdir(parents=True)
        build(root, flatten(steps[0]))
        workspace, first_tree = open_workspace(root), read_tree(root)
        before = workspace.take_snapshot()
        changes: list[StateChange] = []
        for step in steps[1:]:
            build(root, flatten(step))
            after = workspace.take_snapshot(previous=before)
            differences, new_folders = workspace_snapshot.diff_snapshots(
                before, after, (), workspace.store, workspace.files
            )
            changes += with_created_folders(differences, new_folders)
            before = after
        restored_paths: list[str] = []

        reports: list[int] = []

        def tell(part: RestoreResult) -> None:
            reports.append(len(part.restored) + len(part.removed))
            if len(reports) == kill:
                raise _KilledError
            restored_paths.extend([*part.restored, *part.removed])

        last_tree = read_tree(root)
        try:
            restore(workspace.files, workspace.store, changes, (), tell)
        except _KilledError:
            restore(
                workspace.files,
                workspace.store,
                changes,
                (),
                tell,
                completed_paths=tuple(restored_paths),
                is_retry=True,
            )
        assert read_tree(root) == first_tree
        for path, (kind, content, _) in last_tree.items():
            if kind == "file":
                assert isinstance(content, bytes)
                assert workspace.store.get(workspace.store.save(content)) == content, path
        assert max(reports, default=0) <= max_reported
        assert sorted(restored_paths) == sorted({change.path for change in compute_net_changes(changes)})
        restore(workspace.files, workspace.store, changes, (), lambda *_: None, is_retry=True)
        assert read_tree(root) == first_tree


def test_what_is_displaced_is_kept(repo: Folder, workspace: ProjectWorkspace) -> None:
    repo.write("edited", "one")
    before = workspace.take_snapshot()
    repo.write("edited", "two")
    repo.write("new/file", "three")
    changes, folders = workspace.changes(before)
    reported: list[RestoreResult] = []
    result = restore(workspace.files, workspace.store, changes, folders, reported.append)
    assert [workspace.store.get(digest) for _, digest in result.backed_up] == [b"three", b"two"]
    assert (result.restored, result.removed, result.remaining_folders) == (("edited",), ("new", "new/file"), ())
    (part,) = reported
    assert (part.restored, {*part.removed}, {*part.backed_up}) == (
        ("edited",),
        {"new", "new/file"},
        {*result.backed_up},
    )


def test_a_folder_that_somebody_put_something_into_is_left(repo: Folder, workspace: ProjectWorkspace) -> None:
    before = workspace.take_snapshot()
    repo.write("new/deep/file", "x")
    changes, folders = workspace.changes(before)
    repo.write("new/mine", "y")
    result = restore_changes(workspace, changes, folders)
    assert (result.removed, result.remaining_folders) == (("new/deep", "new/deep/file"), ("new",))
    assert [path for path in read_tree(repo.path) if path.startswith("new")] == ["new", "new/mine"]


def changed(repo: Folder, workspace: ProjectWorkspace) -> tuple[tuple[StateChange, ...], tuple[str, ...]]:
    """A run that edited, removed and made files, and made of a folder a link and of a file a folder."""
    for name in ("edited", "gone", "sub/deep/gone", "to-folder"):
        repo.write(name, f"{name}\n")
    before = workspace.take_snapshot()
    repo.write("edited", "new\n")
    repo.write("made/file", "made\n")
    for name in ("gone", "sub/deep/gone", "to-folder"):
        (repo.path / name).unlink()
    (repo.path / "sub/deep").rmdir()
    (repo.path / "sub").rmdir()
    (repo.path / "sub").symlink_to("/nowhere")
    repo.write("to-folder/in", "made\n")
    return workspace.changes(before)


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("edited", "edited"),
        ("made/file", "made/file"),
        ("gone", "gone"),
        ("to-folder/mine", "to-folder/mine"),
        ("sub", "sub"),
    ],
)
def test_what_changed_since_is_named_and_nothing_touched(
    repo: Folder, workspace: ProjectWorkspace, path: str, named: str
) -> None:
    changes, folders = changed(repo, workspace)
    if path == "sub":
        (repo.path / path).unlink()
    repo.write(path, "theirs\n")
    before = read_tree(repo.path)
    with pytest.raises(ExecplanError) as caught:
        restore_changes(workspace, changes, folders)
    assert (caught.value.exit, caught.value.code) == (CONFLICT, "changed-since")
    assert named in caught.value.candidates
    assert named in caught.value.message
    assert read_tree(repo.path) == before


def test_all_that_changed_since_is_named(repo: Folder, workspace: ProjectWorkspace) -> None:
    changes, folders = changed(repo, workspace)
    repo.write("edited", "theirs\n")
    (repo.path / "made/file").chmod(0o600)
    with pytest.raises(ExecplanError) as caught:
        restore_changes(workspace, changes, folders)
    assert caught.value.candidates == ("edited", "made/file")


def test_something_else_where_a_folder_has_to_be(repo: Folder, workspace: ProjectWorkspace) -> None:
    repo.write("src/deep/gone", "x")
    before = workspace.take_snapshot()
    (repo.path / "src/deep/gone").unlink()
    changes, folders = workspace.changes(before)
    (repo.path / "src/deep").rmdir()
    (repo.path / "src").rmdir()
    for replace_folder in (lambda: repo.write("src", "theirs"), lambda: (repo.path / "src").symlink_to("/nowhere")):
        replace_folder()
        with pytest.raises(ExecplanError) as caught:
            restore_changes(workspace, changes, folders)
        assert "src" in " ".join(caught.value.candidates)
        (repo.path / "src").unlink()
    restore_changes(workspace, changes, folders)
    assert (repo.path / "src/deep/gone").read_text() == "x"


@pytest.mark.parametrize("how", ["altered", "missing"])
def test_a_backup_that_is_not_as_it_was_kept(repo: Folder, workspace: ProjectWorkspace, how: str) -> None:
    changes, folders = changed(repo, workspace)
    (edited,) = [change for change in changes if change.path == "edited"]
    path = Path(workspace.store.path(edited.before.sha256))
    path.unlink()
    if how == "altered":
        path.write_bytes(b"something else")
    before = read_tree(repo.path)
    with pytest.raises(ExecplanError) as caught:
        restore_changes(workspace, changes, folders)
    assert (caught.value.exit, caught.value.code) == (ENVIRONMENT, f"backup-{how}")
    assert str(path) in caught.value.message
    assert read_tree(repo.path) == before


def test_a_backup_of_what_is_back_already_is_not_asked_for(repo: Folder, workspace: ProjectWorkspace) -> None:
    changes, folders = changed(repo, workspace)
    (edited,) = [change for change in changes if change.path == "edited"]
    Path(workspace.store.path(edited.before.sha256)).unlink()
    repo.write("edited", "edited\n")
    restore_changes(workspace, changes, folders)
    assert (repo.path / "edited").read_text() == "edited\n"


def test_what_can_not_be_brought_back(repo: Folder, workspace: ProjectWorkspace) -> None:
    os.mkfifo(repo.path / "pipe")
    repo.write("edited", "one")
    before = workspace.take_snapshot()
    (repo.path / "pipe").unlink()
    repo.write("edited", "two")
    changes, folders = workspace.changes(before)
    with pytest.raises(ExecplanError) as caught:
        restore_changes(workspace, changes, folders)
    assert (caught.value.exit, caught.value.code) == (ENVIRONMENT, "backup-missing")
    assert "pipe" in caught.value.message
    assert (repo.path / "edited").read_text() == "two"


def test_what_was_done_and_changed_since_is_somebodys_own(repo: Folder, workspace: ProjectWorkspace) -> None:
    changes, folders = changed(repo, workspace)
    repo.write("edited", "theirs\n")
    restore(
        workspace.files, workspace.store, changes, folders, lambda *_: None, completed_paths=("edited",), is_retry=True
    )
    assert (repo.path / "edited").read_text() == "theirs\n"
    assert (repo.path / "gone").read_text() == "gone\n"


def test_what_is_gits_own_is_never_restored(repo: Folder, workspace: ProjectWorkspace) -> None:
    """A journal that somebody wrote to leads nowhere else either."""
    changes, _ = changed(repo, workspace)
    before = (repo.path / ".git/config").read_bytes()
    state = workspace.files.state(".git/config")
    evil = changes[0]._replace(path=".git/config", after=state)
    with pytest.raises(ExecplanError) as caught:
        restore_changes(workspace, (evil,))
    assert (caught.value.exit, caught.value.code) == (POLICY, "protected-path")
    assert (repo.path / ".git/config").read_bytes() == before


def test_large_files_come_back_part_by_part(repo: Folder, workspace: ProjectWorkspace) -> None:
    data = os.urandom(3 << 20)
    repo.write("large", data)
    before = workspace.take_snapshot()
    repo.write("large", b"")
    restore_changes(workspace, *workspace.changes(before))
    assert (repo.path / "large").read_bytes() == data
