"""The facts in the index: a board with the index is the board without it, whatever happens to the files."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.plan_facts import facts_extraction, facts_loader, index_file
from execplan.core.project import project_discovery
from execplan.linter.checking import lint_cache
from execplan.views.board.board_cards import Board
from execplan.views.board.board_loader import load_board
from tests.in_process_repository import NAME, InProcessRepository
from tests.plans import CLEAN

if TYPE_CHECKING:
    from execplan.core.project.project import Project

CONTENTS = (
    CLEAN,
    CLEAN.replace("Build the parser", "Build the lexer!"),
    CLEAN.replace("- [ ]", "- [x]"),
    "# A\n\n## Progress\n\n- [ ] B.\n",
    "# B\n\n## Progress\n\n- [ ] A.\n",
    "not UTF-8 \udcff",
    "",
)
NAMES = (NAME, "a", "b")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository whose cache trusts files that were just written, and this package although it may be edited."""
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    use_index(monkeypatch)
    return desk


def use_index(patch: pytest.MonkeyPatch) -> None:
    """Use the index also for few plans, for files that were just written, and although this package may be edited."""
    patch.setattr(lint_cache, "package_fingerprint", lambda: "these rules")
    patch.setattr(index_file, "package_fingerprint", lambda: "these rules")
    patch.setattr(facts_loader, "MTIME_MARGIN_NS", -(10**11))
    patch.setattr(facts_loader, "MIN_INDEXED_PLANS", 0)


def current_project() -> Project:
    """The project in the current directory."""
    return project_discovery.require(os.getcwd())


def fresh_board() -> Board:
    """The board without the index."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facts_loader, "MIN_INDEXED_PLANS", 1000)
        return load_board(current_project(), archived=True)


def fresh_board_of_live_plans() -> Board:
    """The board without the index, and without archived plans."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facts_loader, "MIN_INDEXED_PLANS", 1000)
        return load_board(current_project())


def execute(path: Path, statements: str) -> None:
    """Change a database."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(statements)


def index_files(desk: InProcessRepository) -> list[Path]:
    """The files of the index."""
    return sorted((desk.path / ".git/execplan/index").glob("*"))


def test_unchanged_plans_are_not_parsed_again(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.plan(CLEAN)
    first = load_board(current_project())
    monkeypatch.setattr(facts_extraction, "extract_facts", lambda *_: pytest.fail("it was parsed again"))
    assert load_board(current_project()) == first


@pytest.mark.exhaustive
@given(
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(CONTENTS)),
            st.tuples(st.just("remove"), st.sampled_from(NAMES), st.just("")),
            st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
            st.tuples(st.just("keep time"), st.sampled_from(NAMES), st.sampled_from(CONTENTS)),
            st.tuples(st.just("link"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
        ),
        max_size=6,
    )
)
def test_a_board_from_the_index_is_the_board_without_it(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        desk = InProcessRepository(tmp_path_factory.mktemp("desk") / "desk", patch)
        use_index(patch)
        for action, name, argument in steps:
            path = desk.path / f".agent/execplans/{name}.md"
            other = desk.path / f".agent/execplans/{argument}.md"
            if action == "write":
                path.unlink(missing_ok=True)
                path.write_bytes(argument.encode("utf-8", "surrogateescape"))
            elif action == "remove":
                path.unlink(missing_ok=True)
            elif action == "rename" and path.exists():
                path.rename(other)
            elif action == "keep time" and path.exists():
                status = path.stat()
                path.write_bytes(argument.encode("utf-8", "surrogateescape"))
                os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
            elif action == "link" and name != argument:
                path.unlink(missing_ok=True)
                path.symlink_to(other)
            assert load_board(current_project(), archived=True) == fresh_board()


@pytest.mark.parametrize("damage", [b"", b"x", b"SQLite format 3\0" + bytes(80)])
def test_a_damaged_index_is_replaced(desk: InProcessRepository, damage: bytes) -> None:
    desk.plan(CLEAN)
    expected = load_board(current_project())
    (path,) = index_files(desk)
    path.write_bytes(damage)
    assert load_board(current_project()) == expected
    assert facts_loader.load_stored(current_project())


def test_a_file_that_was_just_written_is_read_again(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may change again with the same timestamp, on a file system that rounds times."""
    monkeypatch.setattr(facts_loader, "MTIME_MARGIN_NS", 2_000_000_000)
    desk.plan(CLEAN)
    load_board(current_project())
    stored = facts_loader.load_stored(current_project())
    assert stored is not None
    assert [entry.status for entry in stored.values()] == [""]


def test_branches_are_read_but_not_parsed_again(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout changes the times of files, and what was known of their texts stays true."""
    desk.plan(CLEAN, "a")
    desk.plan(CLEAN.replace("Build the parser", "Build the lexer"), "b")
    desk.git("add", "-A")
    desk.git("commit", "-q", "-m", "Plans")
    first = load_board(current_project())
    desk.git("checkout", "-q", "-b", "other")
    (desk.path / ".agent/execplans/a.md").rename(desk.path / ".agent/execplans/c.md")
    desk.plan(CLEAN.replace("- [ ]", "- [x]"), "b")
    desk.git("add", "-A")
    desk.git("commit", "-q", "-m", "Other plans")
    other = load_board(current_project())
    assert other == fresh_board_of_live_plans() != first
    desk.git("checkout", "-q", "-")
    assert load_board(current_project()) == fresh_board_of_live_plans() == first
    for path in (desk.path / ".agent/execplans").glob("*.md"):
        path.touch()
    monkeypatch.setattr(facts_extraction, "extract_facts", lambda *_: pytest.fail("it was parsed again"))
    assert load_board(current_project()) == first


HOSTILE_SCHEMAS = {
    "trigger": "create trigger hostile before insert on facts begin delete from facts; end",
    "view": "create view hostile as select * from facts",
    "other table": "drop table facts; create table facts(path, status, checksum, facts)",
}


@pytest.mark.parametrize("statements", HOSTILE_SCHEMAS.values(), ids=HOSTILE_SCHEMAS.keys())
def test_an_index_with_code_in_it_is_replaced(desk: InProcessRepository, statements: str) -> None:
    desk.plan(CLEAN)
    expected = load_board(current_project())
    (path,) = index_files(desk)
    execute(path, statements)
    assert load_board(current_project()) == expected
    with closing(sqlite3.connect(path)) as database:
        names = {name for (name,) in database.execute("select name from sqlite_master")}
        assert "hostile" not in names
        assert database.execute("select count(*) from facts").fetchone() == (1,)


HOSTILE_ROWS = {
    "other bytes": "update facts set facts = x'db00000000'",
    "no bytes": "update facts set facts = 'text', checksum = 'text'",
    "cut off": "update facts set facts = substr(facts, 1, 20)",
    "another plan's path": "update facts set path = x'00ff'",
}


@pytest.mark.parametrize("statements", HOSTILE_ROWS.values(), ids=HOSTILE_ROWS.keys())
def test_damaged_rows_are_not_believed(desk: InProcessRepository, statements: str) -> None:
    desk.plan(CLEAN)
    expected = load_board(current_project())
    (path,) = index_files(desk)
    execute(path, statements)
    assert load_board(current_project()) == expected


def test_a_copied_index_is_replaced(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes with a repository in an archive may say anything, so nothing in it is decoded."""
    desk.plan(CLEAN)
    expected = load_board(current_project())
    (path,) = index_files(desk)
    copied = path.read_bytes()
    path.rename(desk.path / ".git/elsewhere")  # keeps its inode
    path.write_bytes(copied)
    with monkeypatch.context() as patch:
        patch.setattr("marshal.loads", lambda _: pytest.fail("it was decoded"))
        assert facts_loader.load_stored(current_project()) == {}
    assert load_board(current_project()) == expected


def test_the_words_of_search_are_in_the_same_file(desk: InProcessRepository) -> None:
    desk.plan(CLEAN)
    load_board(current_project())
    desk.run("search", "parser", "--json")
    (path,) = index_files(desk)
    with closing(sqlite3.connect(path)) as database:
        names = {name for (name,) in database.execute("select name from sqlite_master")}
    assert {"facts", "words"} <= names


def test_a_read_only_state_directory_is_no_error(desk: InProcessRepository) -> None:
    desk.plan(CLEAN)
    desk.write(".git/execplan/index", "a file instead of a directory")
    assert [card.id for card in load_board(current_project()).cards] == [NAME]


def test_without_git_there_is_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = tmp_path / ".agent/execplans"
    plans.mkdir(parents=True)
    (plans / "a.md").write_text(CLEAN)
    monkeypatch.chdir(tmp_path)
    assert [card.id for card in load_board(current_project()).cards] == ["a"]
    assert not (tmp_path / ".agent/.state/index").exists()


def test_a_plan_that_links_out_of_the_repository_is_broken(desk: InProcessRepository, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text(CLEAN)
    (desk.path / ".agent/execplans/link.md").symlink_to(tmp_path / "outside.md")
    (broken,) = [card for card in load_board(current_project()).cards if card.id == "link"]
    assert broken.column == "broken"
    assert "outside of the repository" in broken.error


def test_boards_at_once_while_plans_are_edited(desk: InProcessRepository) -> None:
    for at in range(12):
        desk.plan(CLEAN, f"plan-{at}")
    boards = [desk.start("board", "--json") for _ in range(4)]
    edits = [desk.start("done", "2", "-p", f"plan-{at}") for at in range(3)]
    for process in [*boards, *edits]:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, (out, err)
    done = [card.counts.done for card in load_board(current_project()).cards if card.counts is not None]
    assert sum(done) == 12 + 3
