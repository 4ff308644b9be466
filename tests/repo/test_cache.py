"""Lint's cache: whatever happens, what is found with it is what is found without it."""

from __future__ import annotations

import os
import sys
import tempfile
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from execplan import trace
from execplan.lint.rule import RULES, WARNING, Rule
from execplan.lint.selection import CI, Selection
from execplan.repo.checking import cache, many
from execplan.repo.checking.one import Way
from execplan.repo.checking.targets import lots
from tests.conftest import Folder
from tests.plans import CLEAN
from tests.repo.caching import PLANS, Shelf, due, shelf

BAD = CLEAN.replace("  Rationale: A task is a line.\n", "")
UNSTAMPED = CLEAN.replace("(2025-12-30 09:15Z) Read lines.", "Read all the lines that are th.")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A home with three plans that were found to be as they are."""
    made = shelf(tmp_path / "home", monkeypatch)
    for name, content in (("a.md", CLEAN), ("b.md", BAD), ("c.md", UNSTAMPED)):
        made.write(name, content)
    assert len(UNSTAMPED) == len(CLEAN)
    assert made.same() == ["a.md", "b.md", "c.md"]
    return made


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

    def of(status: os.stat_result) -> cache.Stat:
        times = [each // coarse * coarse for each in (status.st_mtime_ns, status.st_ctime_ns)]
        return status.st_size, times[0], times[1], status.st_ino

    monkeypatch.setattr(many, "stat_of", of)
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


def test_archived(home: Shelf) -> None:
    folder = home.path / PLANS
    (folder / "archive").mkdir()
    (folder / "a.md").rename(folder / "archive" / "a.md")
    assert home.same() == ["a.md"]
    assert [each.code for found in home.lint() for each in found.findings if "archive" in found.path] == ["EP502"]
    (folder / "archive" / "a.md").rename(folder / "a.md")
    home.same()


def test_settings(home: Shelf) -> None:
    file = home.path / ".agent" / "execplan.toml"
    file.write_text('stalled_days = 3\n[lint.levels]\nEP301 = "hint"\n')
    assert home.same() == ["a.md", "b.md", "c.md"]
    assert [each.level for each in home.lint()[1].findings] == ["hint"]
    file.write_text('[lint.paths."*/b.md"]\nignore = ["EP301"]\n')
    assert home.same() == ["a.md", "b.md", "c.md"]
    file.unlink()
    assert home.same() == []


def test_options(home: Shelf) -> None:
    for way in (Way(hook=True), Way(selection=Selection(select=("EP2",))), Way(selection=Selection(ignore=("EP2",)))):
        home.way = way
        assert home.same() == ["a.md", "b.md", "c.md"]
        assert home.same() == []
    home.way = Way()
    assert home.same() == []
    assert Way._fields == ("hook", "selection"), "does the key of the cache tell what is new?"


def test_rules_and_versions(home: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    for where, name, value in (
        (cache, "__version__", "99"),
        (cache, "fingerprint", lambda: "other rules"),
        (sys, "version", "3.99"),
        (os, "geteuid", lambda: 12345),
    ):
        monkeypatch.setattr(where, name, value)
        assert home.same() == ["a.md", "b.md", "c.md"], name


def test_a_rule_that_was_just_edited(home: Shelf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    package = tmp_path / "package"
    (package / "lint").mkdir(parents=True)
    rules = package / "lint" / "rules.py"
    rules.write_text("a = 1\n")
    monkeypatch.setattr(cache, "_PACKAGE", str(package))
    assert cache.fingerprint() is None, "it may have been edited after it was loaded"
    monkeypatch.setattr(cache, "_MARGIN", -(10**12))
    first = cache.fingerprint()
    assert first == cache.fingerprint()
    rules.write_text("a = 12\n")
    assert cache.fingerprint() not in (None, first)
    monkeypatch.setattr(cache, "_PACKAGE", str(tmp_path / "in-a-zip"))
    assert cache.fingerprint() is None


def test_rules_of_ones_own_and_history(home: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    home.way = Way(selection=Selection(profile=CI))
    for _ in range(2):
        assert home.same() == ["a.md", "b.md", "c.md"]
    home.way = Way()
    monkeypatch.setitem(RULES, "XY1", Rule("XY1", WARNING, due))
    for _ in range(2):
        assert home.same() == ["a.md", "b.md", "c.md"]


def test_the_clock(home: Shelf) -> None:
    home.write("d.md", f"{CLEAN}\ndue 2000\n\ndue 3000\n")
    assert home.same() == ["d.md"]
    for minute, judged, found in (
        (1999, [], 0),
        (2000, ["d.md"], 1),
        (2999, [], 1),
        (3000, ["d.md"], 2),
        (99999, [], 2),
        (2000, ["d.md"], 1),
        (0, ["d.md"], 0),
    ):
        home.minute = minute
        assert home.same() == judged, minute
        assert len(home.lint()[3].findings) == found


def test_the_tree(home: Shelf) -> None:
    for name in "defg":
        home.write(f"{name}.md", f"{CLEAN}\nnames src/one.py\n" + "\nnames src/two.py\n" * (name == "g"))
    assert home.same() == ["d.md", "e.md", "f.md", "g.md"]
    home.lint()
    assert sorted(home.asked) == [("has", "src/one.py"), ("has", "src/two.py")], "each question once"
    (home.path / "src").mkdir()
    (home.path / "src" / "two.py").touch()
    assert home.same() == ["g.md"]
    (home.path / "src" / "one.py").touch()
    assert home.same() == ["d.md", "e.md", "f.md", "g.md"]
    (home.path / "src" / "one.py").unlink()
    home.write("d.md", CLEAN)
    assert home.same() == ["d.md", "e.md", "f.md", "g.md"]
    for name in "efg":
        home.write(f"{name}.md", CLEAN)
    home.lint()
    home.lint()
    assert home.asked == [], "questions that nobody asks any more are forgotten"


def test_touched_when_the_tree_has_changed(home: Shelf) -> None:
    path = home.write("d.md", f"{CLEAN}\nnames src\n")
    home.lint()
    os.utime(path)
    (home.path / "src").mkdir()
    assert home.same() == ["d.md"]


@pytest.mark.parametrize("damage", ["empty", "cut", "end", "flip", "garbage", "foreign", "no-tuple", "folder", "link"])
def test_damaged(home: Shelf, damage: str) -> None:
    file = home.caches[0]
    data = file.read_bytes()
    head, body = data[:84], data[84:]
    if damage == "folder":
        file.unlink()
        file.mkdir()
    elif damage == "link":
        file.rename(home.path / "elsewhere")
        file.symlink_to(home.path / "elsewhere")
    else:
        file.write_bytes(
            {
                "empty": b"",
                "cut": data[: len(data) // 2],
                "end": data[:-1],
                "flip": data.replace(b"EP301", b"EP302"),
                "garbage": os.urandom(500),
                "foreign": head[:20] + b"x" + head[21:] + body,
                "no-tuple": head[:80] + zlib.crc32(b"N").to_bytes(4, "big") + b"N",
            }[damage]
        )
    assert home.same() == ["a.md", "b.md", "c.md"]
    assert home.same() == ([] if damage != "folder" else ["a.md", "b.md", "c.md"])


def test_of_another_user(home: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "k" * 64
    assert cache._load(str(home.caches[0]), home.caches[0].read_bytes()[16:80]) is not None
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert cache._load(str(home.caches[0]), home.caches[0].read_bytes()[16:80]) is None
    assert cache._load(str(home.caches[0]), key.encode()) is None


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


def test_two_at_once(home: Shelf) -> None:
    home.write("d.md", BAD)
    first, second = [cache.opened(lot.home, Way()) for lot in lots([])[:1] * 2]
    assert first is not None
    assert second is not None
    entry: cache.Entry = ((1, 2, 3, 4), b"x", (), -cache.NEVER, cache.NEVER, ())
    first.put("/nowhere", "one.md", entry, (("has", "x", True),), archived=False)
    second.put("/nowhere", "two.md", entry, (("has", "y", True),), archived=False)
    second.save()
    first.save()
    assert home.same() == ["d.md"]
    assert [path.suffix for path in home.caches] == [""]


def test_old_ones_are_pruned(home: Shelf) -> None:
    for at in range(40):
        home.way = Way(selection=Selection(ignore=(f"EP{at}",)))
        home.lint()
    assert len(home.caches) == 16
    home.lint()
    assert home.judged == []


def test_where_it_can_not_be_written(home: Shelf) -> None:
    import shutil

    shutil.rmtree(home.path / ".git" / "execplan")
    (home.path / ".git" / "execplan").write_text("in the way")
    for _ in range(2):
        assert home.same() == ["a.md", "b.md", "c.md"]


def test_without_git(home: Shelf) -> None:
    (home.path / ".git").rename(home.path / "no-git")
    before = sorted(home.path.rglob("*"))
    for _ in range(2):
        assert home.same() == ["a.md", "b.md", "c.md"]
    assert sorted(home.path.rglob("*")) == before


def test_few_are_not_looked_up(home: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "FEW", 3)
    assert home.same() == ["a.md", "b.md", "c.md"]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["write", "write", "swap", "touch", "back", "rename", "delete", "archive", "clock", "tree", "link", "part"]
        ),
        st.integers(0, 3),
        st.integers(0, 5),
    ),
    min_size=2,
    max_size=9,
)
CONTENTS = [
    CLEAN,
    UNSTAMPED,
    BAD,
    f"{CLEAN}\ndue 1010\n",
    f"{CLEAN}\nnames src1\n\nnames src2\n",
    f"{CLEAN}\ndue 1020\n\nnames src2\n",
]


def step(home: Shelf, what: str, which: int, how: int) -> None:
    """Do one thing to a home."""
    folder = home.path / PLANS
    path, other = folder / f"{which}.md", folder / f"{(which + 1 + how % 3) % 4}.md"
    if what == "write":
        home.write(path.name, CONTENTS[how])
    elif what == "swap":
        home.write("new", CONTENTS[how]).replace(path)
    elif what == "clock":
        home.minute = 1000 + 5 * how
    elif what == "tree":
        named = home.path / f"src{which % 2 + 1}"
        named.rmdir() if named.exists() else named.mkdir()
    elif what == "part":
        home.lint(PLANS)
    elif path.exists():
        _change(home, what, path, other, CONTENTS[how])


def _change(home: Shelf, what: str, path: Path, other: Path, content: str) -> None:
    status = path.stat()
    if what == "touch":
        os.utime(path)
    elif what == "back":
        home.write(path.name, content)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    elif what == "rename":
        path.rename(other)
    elif what == "delete":
        path.unlink()
    elif what == "archive":
        (path.parent / "archive").mkdir(exist_ok=True)
        path.rename(path.parent / "archive" / path.name)
    else:
        path.unlink()
        path.symlink_to(other.name)


@pytest.mark.parametrize("old", [True, False])
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_whatever_happens(old: bool, steps: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        home = shelf(Path(folder).resolve() / "home", monkeypatch, old=old)
        for each in (("write", 0, 0), ("write", 1, 4), ("write", 2, 3), *steps):
            step(home, *each)
            home.same()
        os.chdir("/")


def plans(repo: Folder) -> None:
    """Twelve plans, of which three have something found."""
    for at in range(12):
        repo.plan([CLEAN, CLEAN, BAD, CLEAN][at % 4], f"2026-01-01_plan-{at:02}")


def test_the_quick_way_and_the_verb_say_the_same(repo: Folder) -> None:
    plans(repo)
    for names in ([], [".agent/execplans"], [f".agent/execplans/2026-01-01_plan-{at:02}.md" for at in range(10)]):
        said = [repo.run("lint", *names), repo.run("lint", *names), repo.run("lint", *names, "--no-cache")]
        said += [repo.run("-C", ".", "lint", *names), repo.run("lint", "--hook", *names)]
        assert len({each.out for each in said}) == 1
        assert {each.exit for each in said} == {1}
        assert {each.err for each in said} == {""}
    first, again = repo.run("lint", "--json"), repo.run("lint", "--json")
    assert first == again
    assert first.json["data"]["plans"] == 12


def test_the_command_says_what_came_from_the_cache(repo: Folder) -> None:
    plans(repo)
    assert "0 of 12 plans from the cache" in repo.run("lint", "-v").err
    assert "12 of 12 plans from the cache" in repo.run("lint", "-v").err
    assert "from the cache" not in repo.run("lint", "-v", "--no-cache").err
    assert repo.git("status", "--porcelain", "--ignored") == "?? .agent/\n"


def test_no_cache_writes_none(repo: Folder) -> None:
    plans(repo)
    repo.run("lint", "--no-cache")
    assert not (repo.path / ".git" / "execplan").exists()


def test_each_worktree_has_its_own(repo: Folder) -> None:
    plans(repo)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    repo.git("worktree", "add", "-q", "../other")
    repo.run("lint")
    other = repo.path.parent / "other"
    assert repo.run("lint", cwd=other).out == repo.run("lint").out
    assert list((repo.path / ".git" / "execplan" / "lint").iterdir())
    assert list((repo.path / ".git" / "worktrees" / "other" / "execplan" / "lint").iterdir())
    (other / ".agent" / "execplans" / "2026-01-01_plan-02.md").write_text(CLEAN)
    assert repo.run("lint", cwd=other).out != repo.run("lint").out


def test_an_empty_home(repo: Folder) -> None:
    assert repo.run("lint").out == repo.run("-C", ".", "lint").out == "no plans to check\n"
