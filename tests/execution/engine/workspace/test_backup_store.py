"""Backups by their content: kept once, the same for all who keep it, verified when they are wanted, gone after thirty days."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import CONFLICT, ENVIRONMENT, ExecplanError
from execplan.core.project import project_discovery
from execplan.execution.engine.workspace.backup_store import BackupStore
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.world import ABSENT, LINK, State
from tests.conftest import Folder

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def store(repo: Folder) -> BackupStore:
    return BackupStore(project_discovery.find(str(repo.path)))


@pytest.fixture
def files(repo: Folder) -> WorkspaceFiles:
    return WorkspaceFiles(project_discovery.find(str(repo.path)))


def stored_files(store: BackupStore) -> list[Path]:
    return sorted([path for path in Path(store.folder).rglob("*") if path.is_file()])


@pytest.mark.parametrize("data", [b"", b"x", bytes(range(256)) * 9000], ids=["none", "one", "many"])
def test_what_is_kept_is_given_back(store: BackupStore, data: bytes) -> None:
    digest = store.save(data)
    assert digest == sha256(data).hexdigest()
    assert store.get(digest) == data
    assert stored_files(store) == [Path(store.path(digest))]


def test_the_same_bytes_are_kept_once_and_packed_the_same(store: BackupStore, repo: Folder) -> None:
    digest = store.save(b"x" * 10_000)
    (first,) = stored_files(store)
    packed = first.read_bytes()
    assert len(packed) < 200
    assert first.stat().st_mode & 0o077 == first.parent.stat().st_mode & 0o077 == 0
    first.unlink()
    time.sleep(0.01)
    store.save(b"x" * 10_000)
    assert first.read_bytes() == packed
    assert store.save(b"x" * 10_000) == digest
    assert stored_files(store) == [first]


def test_two_files_of_one_name_do_not_share_a_backup(store: BackupStore, files: WorkspaceFiles, repo: Folder) -> None:
    repo.write("a/conf", "one")
    repo.write("b/conf", "two")
    digests = [store.save_path(files, path).sha256 for path in ("a/conf", "b/conf")]
    assert [store.get(digest) for digest in digests] == [b"one", b"two"]


def test_what_is_no_file_has_a_state_and_no_backup(store: BackupStore, files: WorkspaceFiles, repo: Folder) -> None:
    (repo.path / "link").symlink_to("README.md")
    assert store.save_path(files, "link") == State(LINK, link="README.md")
    assert store.save_path(files, "nothing") == State(ABSENT)
    assert stored_files(store) == []


def test_a_file_that_never_holds_still(
    store: BackupStore, files: WorkspaceFiles, repo: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "read_chunks", lambda path: iter([os.urandom(8)]))
    with pytest.raises(ExecplanError) as caught:
        store.save_path(files, "README.md")
    assert caught.value.exit == CONFLICT
    assert stored_files(store) == []


@pytest.mark.parametrize("number", [3, 100])
def test_many_are_on_disk_only_when_all_are(store: BackupStore, number: int) -> None:
    texts = [b"%d" % (number // 2) for number in range(number)]
    with store.batch() as batch:
        digests = [batch.save(text) for text in texts]
        assert not [digest for digest in digests if store.has(digest)]
        assert batch.has(digests[0])
    assert [store.get(digest) for digest in digests] == texts
    assert len(stored_files(store)) == len(set(texts))


def test_what_breaks_off_leaves_nothing(store: BackupStore) -> None:
    def breaks_off() -> None:
        with store.batch() as batch:
            batch.save(b"x")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        breaks_off()
    assert stored_files(store) == []


def test_two_writers_at_once(store: BackupStore) -> None:
    texts = [b"%d" % (number % 5) * 5000 for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        digests = list(pool.map(store.save, texts))
    assert [store.get(digest) for digest in digests] == texts
    assert len(stored_files(store)) == 5


def replace_content(data: bytes) -> bytes:
    import gzip

    return gzip.compress(b"something else")


@pytest.mark.parametrize(
    "alter",
    [replace_content, lambda data: data[:-9], lambda data: data + b"more", lambda data: b"", lambda data: b"no gzip"],
    ids=["other", "cut", "longer", "empty", "none"],
)
def test_an_altered_backup_is_refused_by_its_name(store: BackupStore, alter: Callable[[bytes], bytes]) -> None:
    good, bad, missing = [store.save(content * 500) for content in (b"good", b"bad", b"gone")]
    path = Path(store.path(bad))
    path.write_bytes(alter(path.read_bytes()))
    Path(store.path(missing)).unlink()
    with pytest.raises(ExecplanError) as caught:
        store.get(bad)
    assert (caught.value.exit, caught.value.code) == (ENVIRONMENT, "backup-altered")
    assert str(path) in caught.value.message
    with pytest.raises(ExecplanError) as caught:
        store.get(missing)
    assert (caught.value.exit, caught.value.code) == (ENVIRONMENT, "backup-missing")
    store.ensure_intact([good])
    with pytest.raises(ExecplanError) as caught:
        store.ensure_intact([good, missing])
    assert caught.value.candidates == (), "the message says it all"
    with pytest.raises(ExecplanError) as caught:
        store.ensure_intact([good, missing, bad])
    assert caught.value.code == "backup-altered"
    assert [name in " ".join(caught.value.candidates) for name in (store.path(missing), str(path))] == [True, True]


def test_what_nobody_used_for_thirty_days_goes(store: BackupStore) -> None:
    digests = [store.save(content) for content in (b"old", b"got", b"kept", b"new")]
    leftover = Path(store.folder) / "left.tmp"
    leftover.write_bytes(b"half")
    run = Path(store.project.state, "runs/0001-00000000")
    run.mkdir(parents=True)
    for name in ("01-build.tree", "01-build-1.begun"):
        (run / name).write_bytes(b"")
        os.utime(run / name, (0, time.time() - 30 * 86_400 - 60))
    for path in stored_files(store):
        os.utime(path, (0, time.time() - 30 * 86_400 - 60))
    os.utime(store.path(digests[3]), (0, time.time() - 30 * 86_400 + 60))
    store.get(digests[1])
    store.save(b"kept")
    names = ("0002-00000000/copy/journal.jsonl", "0003-00000000/copy/journal.jsonl", "0004-0.jsonl", "0005-0.jsonl")
    journals = [run.parent / name for name in names]
    for journal, days in zip(journals, (31, 29, 31, 29), strict=True):
        journal.parent.mkdir(parents=True, exist_ok=True)
        journal.write_bytes(b"")
        journal.with_suffix(".kept").write_bytes(b"")
        os.utime(journal, (0, time.time() - days * 86_400))
    assert store.purge(365) == 0
    assert store.purge(30) == 5
    assert [journal.exists() for journal in journals] == [False, True, False, True]
    assert [journal.with_suffix(".kept").exists() for journal in journals] == [False, True, False, True]
    assert os.listdir(run) == ["01-build-1.begun"]  # that it was begun is never forgotten: it may be one that runs once
    assert [store.has(digest) for digest in digests] == [False, True, True, True]
    assert not leftover.exists()


def test_a_home_without_git_keeps_them_out_of_a_later_repository(plain: Folder) -> None:
    plain.ok("init")
    store = BackupStore(project_discovery.find(str(plain.path)))
    store.save(b"x")
    plain.git("init", "-q")
    assert ".state" not in plain.git("status", "--porcelain", "-uall")


def test_a_store_that_is_not_there_is_empty(store: BackupStore) -> None:
    assert store.purge(1) == 0
    assert not store.has("0" * 64)
