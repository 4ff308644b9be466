"""The files of a home: reached through no link, whatever changes places meanwhile, and written all at once or not at all."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import ENVIRONMENT, INPUT, POLICY, ExecplanError
from execplan.core.files import directory_walk
from execplan.core.files.atomic_files import temp_file_name
from execplan.core.files.open_directory import OpenDirectory as Swapped
from execplan.core.project import project_discovery
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.world import ABSENT, FILE, LINK
from tests.conftest import Folder

if TYPE_CHECKING:
    from collections.abc import Callable

WAYS = ["openat2", "walk"]


@pytest.fixture(params=WAYS)
def files(repo: Folder, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> WorkspaceFiles:
    if request.param == "walk":
        monkeypatch.setattr(directory_walk, "_open_with_openat2", lambda *_: None)
    return WorkspaceFiles(project_discovery.find(str(repo.path)))


def look(folder: Path) -> dict[str, object]:
    """All that is below a folder."""
    entries: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content: object = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else "folder"
        entries[str(path.relative_to(folder))] = (content, stat.S_IMODE(status.st_mode))
    return entries


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def refused(exit: int, code: str, error: pytest.ExceptionInfo[ExecplanError]) -> None:
    assert (error.value.exit, error.value.code) == (exit, code)
    assert error.value.hint


def test_a_file_is_made_with_its_folders_and_its_mode(files: WorkspaceFiles, repo: Folder) -> None:
    assert files.write("a/b/c.sh", b"one", 0o750) == ("a", "a/b")
    assert files.write("a/b/d", b"", 0o400) == ()
    assert look(repo.path / "a/b") == {"c.sh": (b"one", 0o750), "d": (b"", 0o400)}
    assert files.read("a/b/c.sh") == b"one"
    assert files.read("./a//b/d") == b""
    assert files.state("a/b/c.sh").mode == 0o750


def test_a_file_takes_the_place_of_another_and_of_a_link(files: WorkspaceFiles, repo: Folder) -> None:
    outside = repo.path.parent / "outside"
    outside.write_bytes(b"theirs")
    (repo.path / "link").symlink_to(outside)
    repo.write("plain", "old").chmod(0o444)
    assert files.write("link", b"new", 0o644) == files.write("plain", b"new", 0o600) == ()
    assert outside.read_bytes() == b"theirs"
    assert {name: look(repo.path)[name] for name in ("link", "plain")} == {
        "link": (b"new", 0o644),
        "plain": (b"new", 0o600),
    }


def test_a_source_of_the_same_size_never_has_the_second_of_the_one_before(files: WorkspaceFiles, repo: Folder) -> None:
    path = repo.write("source.py", "x = 0\n")
    seconds = [int(path.stat().st_mtime)]
    for at in range(1, 4):
        files.write("source.py", b"x = %d\n" % at, 0o644)
        seconds.append(int(path.stat().st_mtime))
    assert len(set(seconds)) == 4
    files.link("source.py", "plain")
    assert os.readlink(path) == "plain"


def test_links(files: WorkspaceFiles, repo: Folder) -> None:
    assert files.link("new/link", "nowhere/at-all") == ("new",)
    files.link("README.md", "../..")
    assert os.readlink(repo.path / "new/link") == "nowhere/at-all"
    assert os.readlink(repo.path / "README.md") == "../.."
    assert files.state("README.md").kind == LINK
    with pytest.raises(ExecplanError):
        files.read("README.md")


def test_removal(files: WorkspaceFiles, repo: Folder) -> None:
    repo.write("a/b/c", "x")
    (repo.path / "a/b/link").symlink_to("c")
    os.mkfifo(repo.path / "a/b/pipe")
    assert files.remove_folder("a/b") is False
    for name in ("link", "pipe", "c", "c", "never/was"):
        files.remove(f"a/b/{name}")
    assert files.remove_folder("a/b") is True
    assert files.remove_folder("a/b") is False
    assert files.remove_folder("README.md") is False
    assert look(repo.path / "a") == {}


def test_folders_get_their_mode(files: WorkspaceFiles, repo: Folder) -> None:
    assert files.make_folder("one/two", 0o700) == ("one", "one/two")
    assert files.make_folder("one", 0o500) == ()
    assert (mode(repo.path / "one"), mode(repo.path / "one/two")) == (0o500, 0o700)
    files.make_folder("one", 0)
    files.make_folder("one", 0o755)
    assert mode(repo.path / "one") == 0o755


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "a\0b", "out/x", "src/deep/out/x", "out/../x"])
def test_no_way_leads_out(files: WorkspaceFiles, repo: Folder, path: str) -> None:
    outside = repo.path.parent / "outside"
    outside.mkdir()
    (outside / "x").write_bytes(b"theirs")
    (repo.path / "src/deep").mkdir(parents=True)
    for link in ("out", "src/deep/out"):
        (repo.path / link).symlink_to(outside)
    before = look(repo.path.parent)
    for call in (
        lambda: files.write(path, b"new", 0o644),
        lambda: files.link(path, "x"),
        lambda: files.remove(path),
        lambda: files.remove_folder(path),
        lambda: files.make_folder(path, 0o755),
        lambda: files.remove_temporary(path),
        lambda: files.read(path),
    ):
        with pytest.raises(ExecplanError) as caught:
            call()
        refused(POLICY, "path-outside", caught)
    assert look(repo.path.parent) == before


@pytest.mark.parametrize("path", [".git/config", ".GIT/x", "a/.git/hooks/x", ".agent/execplan.toml", ".", ""])
def test_what_is_gits_or_our_own_is_never_written(files: WorkspaceFiles, repo: Folder, path: str) -> None:
    before = look(repo.path)
    for call in (
        lambda: files.write(path, b"new", 0o644),
        lambda: files.link(path, "x"),
        lambda: files.remove(path),
        lambda: files.remove_folder(path),
        lambda: files.make_folder(path, 0o755),
    ):
        with pytest.raises(ExecplanError) as caught:
            call()
        refused(POLICY, "protected-path", caught)
    assert look(repo.path) == before


def test_what_is_no_file_is_not_read(files: WorkspaceFiles, repo: Folder) -> None:
    os.mkfifo(repo.path / "pipe")
    for path, code in (("pipe", "not-a-file"), (".agent", "not-a-file"), ("none", "no-such-file")):
        with pytest.raises(ExecplanError) as caught:
            files.read(path)
        refused(INPUT, code, caught)


def test_a_disk_that_is_full_leaves_all_as_it_was(
    files: WorkspaceFiles, repo: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = look(repo.path)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as late:
        late.setattr(os, "write", full)
        for path in ("README.md", "new/folders/file"):
            with pytest.raises(ExecplanError) as caught:
                files.write(path, b"more", 0o644)
            refused(ENVIRONMENT, "io-error", caught)
    assert look(repo.path) == before


def test_what_a_killed_writer_left_is_gone_with_the_next_one(files: WorkspaceFiles, repo: Folder) -> None:
    before = look(repo.path)
    leftover = repo.path / temp_file_name("README.md")
    for call in (
        lambda: files.write("README.md", b"# A project\n", 0o644),
        lambda: files.remove_temporary("README.md"),
        lambda: files.remove_temporary("nowhere/README.md"),
        lambda: files.remove("README.md"),
    ):
        leftover.write_bytes(b"half")
        call()
        assert leftover.exists() == (call.__code__.co_consts[-1] == "nowhere/README.md")
    del before["README.md"]
    assert look(repo.path) == before


def test_names_that_are_no_utf_8(files: WorkspaceFiles, repo: Folder) -> None:
    name = os.fsdecode(b"\xff\xfe/caf\xe9")
    files.write(name, b"x", 0o644)
    assert files.state(name).kind == FILE
    assert os.listdir(os.fsencode(repo.path) + b"/\xff\xfe") == [b"caf\xe9"]
    files.remove(name)
    assert files.state(name).kind == ABSENT


def test_a_folder_swapped_for_a_link_again_and_again(
    files: WorkspaceFiles, repo: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written, read, linked and removed lies inside or nowhere; a look before the write would let some out."""
    outside = repo.path.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"theirs")
    repo.write("src/secret", "ours")
    link = repo.path / "link"
    link.symlink_to(outside)
    before, stop, swaps = look(outside), threading.Event(), [0]
    monkeypatch.setattr(os, "fsync", lambda handle: None)

    def swap() -> None:
        with Swapped(str(repo.path)) as folder:
            while not stop.is_set():
                folder.exchange("src", "link")
                swaps[0] += 1

    swapper = threading.Thread(target=swap)
    swapper.start()
    refusals, succeeded, contents = set(), 0, set()
    calls: list[Callable[[], object]] = [
        lambda: files.write("src/new", b"x", 0o644),
        lambda: files.remove("src/secret"),
        lambda: files.write("src/secret", b"ours", 0o644),
        lambda: files.link("src/other", "x"),
        lambda: contents.add(files.read("src/secret")),
        lambda: files.make_folder("src/folder", 0o700),
        lambda: files.remove_folder("src/folder"),
    ]
    try:
        for number in range(4200):
            try:
                calls[number % len(calls)]()
                succeeded += 1
            except ExecplanError as error:
                refusals.add(error.code)
    finally:
        stop.set()
        swapper.join()
    assert look(outside) == before
    assert succeeded
    assert contents == {b"ours"}
    assert "path-outside" in refusals
    assert swaps[0]
