"""Lint's cache: whatever happens to a plan, what is found with it is what is found without it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from execplan import trace
from execplan.repo.checking import cache, many
from tests.plans import CLEAN
from tests.repo.caching import BAD, PLANS, UNSTAMPED, Shelf, shelf


def test_nothing_is_judged_twice(home: Shelf) -> None:
    before = home.caches[0].stat()
    found = home.lint()
    assert home.judged == []
    assert [len(each.findings) for each in found] == [0, 1, 1]
    assert found == home.lint(cached=False)
    after = home.caches[0].stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_mended_findings_come_back_with_what_mends_them(home: Shelf) -> None:
    home.write("d.md", CLEAN.replace("## Progress\n", "## Progress   \n").replace("# Build", "\ufeff# Build", 1))
    first = home.lint()
    again = home.lint()
    assert home.judged == []
    assert again == first
    assert [type(each) for found in again for each in found.findings] == [
        type(each) for found in first for each in found.findings
    ]
    assert [each.to_json() for found in again for each in found.findings] == [
        each.to_json() for found in first for each in found.findings
    ]


def test_the_bytes_are_given_where_something_was_found(home: Shelf) -> None:
    for cached in (True, False):
        assert [each.data for each in home.lint(cached=cached, with_data=True)] == [
            b"",
            BAD.encode(),
            UNSTAMPED.encode(),
        ]
    assert [each.data for each in home.lint()] == [b"", b"", b""]
    home.lint(with_data=True)
    assert home.judged == []


def test_other_bytes_of_the_same_size_and_time(home: Shelf) -> None:
    path = home.path / PLANS / "a.md"
    before = path.stat()
    home.write("a.md", UNSTAMPED)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (before.st_size, before.st_mtime_ns, before.st_ino) == (after.st_size, after.st_mtime_ns, after.st_ino)
    assert home.same() == ["a.md"]


def test_a_plan_that_was_just_written_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = shelf(tmp_path / "home", monkeypatch, old=False)
    coarse = 2 * 10**9

    def of(status: os.stat_result) -> cache.FileStat:
        times = [each // coarse * coarse for each in (status.st_mtime_ns, status.st_ctime_ns)]
        return status.st_size, times[0], times[1], status.st_ino

    monkeypatch.setattr(many, "file_stat", of)
    for content in (CLEAN, UNSTAMPED, CLEAN, UNSTAMPED):  # each within the same tick of the clock for files
        made.write("a.md", content)
        assert made.same() == ["a.md"]
    assert made.same() == []


def test_touched(home: Shelf) -> None:
    for name in ("a.md", "b.md"):
        os.utime(home.path / PLANS / name)
    assert home.same() == []
    assert home.lint() == home.lint()
    reads: list[str] = []
    trace.listen(reads.append)
    home.lint()
    trace._listeners.pop()
    assert not [line for line in reads if line.endswith(".md")], "the new status was not kept"


def test_replaced_by_a_file_of_the_same_size_and_time(home: Shelf) -> None:
    path = home.path / PLANS / "a.md"
    status = path.stat()
    other = home.write("other", UNSTAMPED)
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)
    assert home.same() == ["a.md"]


def test_new_moved_and_deleted(home: Shelf) -> None:
    folder = home.path / PLANS
    home.write("d.md", CLEAN)
    assert home.same() == ["d.md"]
    (folder / "b.md").rename(folder / "e.md")
    assert home.same() == ["e.md"]
    (folder / "a.md").unlink()
    assert home.same() == []
    assert b"c.md" in home.caches[0].read_bytes()
    for name in ("c.md", "d.md"):
        (folder / name).unlink()
    assert home.same() == []
    assert b"e.md" in home.caches[0].read_bytes()
    assert b"c.md" not in home.caches[0].read_bytes()
    (folder / "e.md").unlink()
    assert home.same() == []


def test_a_part_keeps_the_rest(home: Shelf) -> None:
    home.write("d.md", BAD)
    home.lint(f"{PLANS}/d.md", f"{PLANS}/a.md")
    assert home.judged == ["d.md"]
    assert home.same() == []


def test_unreadable_for_a_time(home: Shelf) -> None:
    path = home.path / PLANS / "a.md"
    kept = home.path / "kept"
    path.rename(kept)
    for make in (os.mkdir, os.mkfifo, lambda path: os.symlink("nowhere.md", path)):
        make(path)
        for _ in range(2):
            assert home.same() == []
            assert [each.code for each in home.lint()[0].findings] == ["EP001"]
        path.rmdir() if path.is_dir() else path.unlink()
    kept.rename(path)
    home.same()
    assert home.lint()[0].findings == []


def test_too_large_and_no_text(home: Shelf) -> None:
    home.write("d.md", b"\xff\xfe\0a")
    home.write("e.md", b"# A\n" * 3_000_000)
    assert home.same() == ["d.md"]
    assert home.same() == []
    assert [[each.code for each in found.findings] for found in home.lint()[3:]] == [["EP001"], ["EP001"]]


def test_names_that_are_no_text(home: Shelf) -> None:
    name = os.fsencode(home.path / PLANS) + b"/d-\xff.md"
    try:
        Path(os.fsdecode(name)).write_text(BAD)
    except OSError:
        pytest.skip("the file system takes no such name")
    home.same()
    assert home.same() == []


def test_links(home: Shelf) -> None:
    target = home.path / "real.md"
    target.write_text(CLEAN)
    (home.path / PLANS / "d.md").symlink_to("../../real.md")
    home.same()
    assert home.lint()[3].findings == []
    target.write_text(BAD)
    home.same()
    assert [each.code for each in home.lint()[3].findings] == ["EP301"]
    outside = home.path.parent / "outside.md"
    outside.write_text(CLEAN)
    target.unlink()
    target.symlink_to(outside)
    home.same()
    assert [each.code for each in home.lint()[3].findings] == ["EP001"]


def test_the_folder_becomes_a_link(home: Shelf) -> None:
    folder = home.path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text(CLEAN)
    assert home.lint("docs")[0].findings == []
    outside = home.path.parent / "outside"
    folder.rename(outside)
    folder.symlink_to(outside)
    assert home.lint("docs")[0].findings == home.lint("docs", cached=False)[0].findings


def test_a_folder_that_becomes_the_archive(home: Shelf) -> None:
    folder = home.path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text(CLEAN)
    assert home.lint("docs")[0].findings == []
    folder.rename(home.path / PLANS / "archive")
    folder.symlink_to(home.path / PLANS / "archive")
    assert [each.code for each in home.lint("docs")[0].findings] == ["EP502"]


@pytest.mark.parametrize("look", [2, 3])
def test_changed_while_it_is_read(home: Shelf, monkeypatch: pytest.MonkeyPatch, look: int) -> None:
    path = home.path / PLANS / "a.md"
    home.write("a.md", CLEAN + "\n")
    fstat, calls = os.fstat, []

    def slow(handle: int) -> os.stat_result:
        status = fstat(handle)
        if status.st_ino == path.stat().st_ino:
            calls.append(handle)
            if len(calls) == look:  # 2: behind the look at it before it is read; 3: before the one behind that
                home.write("a.md", BAD)
                return status if look == 2 else fstat(handle)
        return status

    monkeypatch.setattr(os, "fstat", slow)
    home.lint()
    monkeypatch.setattr(os, "fstat", fstat)
    home.same()
    assert [each.code for each in home.lint()[0].findings] == ["EP301"]
