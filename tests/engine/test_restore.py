"""What was changed is taken back: bytes, modes, links, absence and folders, whatever became of them and whenever it is killed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execplan.engine.workspace import workspace_snapshot
from execplan.engine.workspace.file_restore import RestoreResult, compute_net_changes, restore, with_created_folders
from execplan.errors import CONFLICT, ENVIRONMENT, POLICY, ExecplanError
from tests.conftest import Folder
from tests.engine.grounds import Looked, Thing, Things, build, looked, things

if TYPE_CHECKING:
    from execplan.engine.journal.journal_entries import Change


@pytest.fixture
def here(repo: Folder) -> Looked:
    return looked(repo.path)


def back(here: Looked, changes: tuple[Change, ...], folders: tuple[str, ...] = ()) -> RestoreResult:
    return restore(here.ground, here.store, changes, folders, lambda path, digest: None)


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
Nested = dict[str, "Thing | Nested"]


def flat(nested: Nested, above: str = "") -> Things:
    """The paths of a tree; a folder with something in it has the usual mode."""
    found: Things = {}
    for name, what in nested.items():
        if isinstance(what, dict):
            found[above + name] = ("folder", "", 0o755)
            found |= flat(what, f"{above}{name}/")
        else:
            found[above + name] = what
    return found


class _KilledError(Exception):
    """In place of a kill."""


@given(steps=st.lists(TREES, min_size=2, max_size=4), kill=st.integers(0, 12))
@settings(max_examples=40)
def test_any_tree_comes_back(steps: list[Nested], kill: int) -> None:
    """Through any number of others, also when it is killed behind any path, and then done again."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / ".agent/execplans").mkdir(parents=True)
        build(root, flat(steps[0]))
        here, first = looked(root), things(root)
        before = here.look()
        changes: list[Change] = []
        for step in steps[1:]:
            build(root, flat(step))
            after = here.look(known=before)
            found, made = workspace_snapshot.diff_snapshots(before, after, (), here.store, here.ground)
            changes += with_created_folders(found, made)
            before = after
        done: list[str] = []

        def tell(path: str, digest: str) -> None:
            done.append(path)
            if len(done) == kill:
                raise _KilledError

        last = things(root)
        try:
            restore(here.ground, here.store, changes, (), tell)
        except _KilledError:
            restore(here.ground, here.store, changes, (), tell, completed_paths=tuple(done), is_retry=True)
        assert things(root) == first
        for path, (kind, what, _) in last.items():
            if kind == "file":
                assert isinstance(what, bytes)
                assert here.store.get(here.store.save(what)) == what, path
        assert sorted(done) == sorted({each.path for each in compute_net_changes(changes)})
        restore(here.ground, here.store, changes, (), lambda *_: None, is_retry=True)
        assert things(root) == first


def test_what_is_displaced_is_kept(repo: Folder, here: Looked) -> None:
    repo.write("edited", "one")
    before = here.look()
    repo.write("edited", "two")
    repo.write("new/file", "three")
    changes, folders = here.changes(before)
    told: list[tuple[str, str]] = []
    found = restore(here.ground, here.store, changes, folders, lambda *each: told.append(each))
    assert [here.store.get(digest) for _, digest in found.backed_up] == [b"three", b"two"]
    assert (found.restored, found.removed, found.remaining_folders) == (("edited",), ("new", "new/file"), ())
    assert set(told) == {*found.backed_up, ("new", "")}


def test_a_folder_that_somebody_put_something_into_is_left(repo: Folder, here: Looked) -> None:
    before = here.look()
    repo.write("new/deep/file", "x")
    changes, folders = here.changes(before)
    repo.write("new/mine", "y")
    found = back(here, changes, folders)
    assert (found.removed, found.remaining_folders) == (("new/deep", "new/deep/file"), ("new",))
    assert [each for each in things(repo.path) if each.startswith("new")] == ["new", "new/mine"]


def changed(repo: Folder, here: Looked) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """A run that edited, removed and made files, and made of a folder a link and of a file a folder."""
    for name in ("edited", "gone", "sub/deep/gone", "to-folder"):
        repo.write(name, f"{name}\n")
    before = here.look()
    repo.write("edited", "new\n")
    repo.write("made/file", "made\n")
    for name in ("gone", "sub/deep/gone", "to-folder"):
        (repo.path / name).unlink()
    (repo.path / "sub/deep").rmdir()
    (repo.path / "sub").rmdir()
    (repo.path / "sub").symlink_to("/nowhere")
    repo.write("to-folder/in", "made\n")
    return here.changes(before)


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
def test_what_changed_since_is_named_and_nothing_touched(repo: Folder, here: Looked, path: str, named: str) -> None:
    changes, folders = changed(repo, here)
    if path == "sub":
        (repo.path / path).unlink()
    repo.write(path, "theirs\n")
    before = things(repo.path)
    with pytest.raises(ExecplanError) as caught:
        back(here, changes, folders)
    assert (caught.value.exit, caught.value.code) == (CONFLICT, "changed-since")
    assert named in caught.value.candidates
    assert named in caught.value.message
    assert things(repo.path) == before


def test_all_that_changed_since_is_named(repo: Folder, here: Looked) -> None:
    changes, folders = changed(repo, here)
    repo.write("edited", "theirs\n")
    (repo.path / "made/file").chmod(0o600)
    with pytest.raises(ExecplanError) as caught:
        back(here, changes, folders)
    assert caught.value.candidates == ("edited", "made/file")


def test_something_else_where_a_folder_has_to_be(repo: Folder, here: Looked) -> None:
    repo.write("src/deep/gone", "x")
    before = here.look()
    (repo.path / "src/deep/gone").unlink()
    changes, folders = here.changes(before)
    (repo.path / "src/deep").rmdir()
    (repo.path / "src").rmdir()
    for put in (lambda: repo.write("src", "theirs"), lambda: (repo.path / "src").symlink_to("/nowhere")):
        put()
        with pytest.raises(ExecplanError) as caught:
            back(here, changes, folders)
        assert "src" in " ".join(caught.value.candidates)
        (repo.path / "src").unlink()
    back(here, changes, folders)
    assert (repo.path / "src/deep/gone").read_text() == "x"


@pytest.mark.parametrize("how", ["altered", "missing"])
def test_a_backup_that_is_not_as_it_was_kept(repo: Folder, here: Looked, how: str) -> None:
    changes, folders = changed(repo, here)
    (edited,) = [each for each in changes if each.path == "edited"]
    path = Path(here.store.path(edited.before.sha256))
    path.unlink()
    if how == "altered":
        path.write_bytes(b"something else")
    before = things(repo.path)
    with pytest.raises(ExecplanError) as caught:
        back(here, changes, folders)
    assert (caught.value.exit, caught.value.code) == (ENVIRONMENT, f"backup-{how}")
    assert str(path) in caught.value.message
    assert things(repo.path) == before


def test_a_backup_of_what_is_back_already_is_not_asked_for(repo: Folder, here: Looked) -> None:
    changes, folders = changed(repo, here)
    (edited,) = [each for each in changes if each.path == "edited"]
    Path(here.store.path(edited.before.sha256)).unlink()
    repo.write("edited", "edited\n")
    back(here, changes, folders)
    assert (repo.path / "edited").read_text() == "edited\n"


def test_what_can_not_be_brought_back(repo: Folder, here: Looked) -> None:
    os.mkfifo(repo.path / "pipe")
    repo.write("edited", "one")
    before = here.look()
    (repo.path / "pipe").unlink()
    repo.write("edited", "two")
    changes, folders = here.changes(before)
    with pytest.raises(ExecplanError) as caught:
        back(here, changes, folders)
    assert (caught.value.exit, caught.value.code) == (ENVIRONMENT, "backup-missing")
    assert "pipe" in caught.value.message
    assert (repo.path / "edited").read_text() == "two"


def test_what_was_done_and_changed_since_is_somebodys_own(repo: Folder, here: Looked) -> None:
    changes, folders = changed(repo, here)
    repo.write("edited", "theirs\n")
    restore(here.ground, here.store, changes, folders, lambda *_: None, completed_paths=("edited",), is_retry=True)
    assert (repo.path / "edited").read_text() == "theirs\n"
    assert (repo.path / "gone").read_text() == "gone\n"


def test_what_is_gits_own_is_never_restored(repo: Folder, here: Looked) -> None:
    """A journal that somebody wrote to leads nowhere else either."""
    changes, _ = changed(repo, here)
    before = (repo.path / ".git/config").read_bytes()
    state = here.ground.state(".git/config")
    evil = changes[0]._replace(path=".git/config", after=state)
    with pytest.raises(ExecplanError) as caught:
        back(here, (evil,))
    assert (caught.value.exit, caught.value.code) == (POLICY, "protected-path")
    assert (repo.path / ".git/config").read_bytes() == before


def test_large_files_come_back_part_by_part(repo: Folder, here: Looked) -> None:
    data = os.urandom(3 << 20)
    repo.write("large", data)
    before = here.look()
    repo.write("large", b"")
    back(here, *here.changes(before))
    assert (repo.path / "large").read_bytes() == data
