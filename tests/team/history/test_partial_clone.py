"""History in partial clones: what git has is reported, and what it lacks has a warning or an error that says how to get it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from execplan.core.git.blob_reader import BlobReader
from execplan.core.plan_store import plan_store
from execplan.core.project import project_discovery
from execplan.team.history.plan_history import incomplete_history_warnings, load_history
from tests.conftest import Folder
from tests.plans import CLEAN

PATH = ".agent/execplans/2026-01-01_parser.md"
FETCH = "git fetch --refetch --no-filter"


@pytest.fixture
def origin(repo: Folder) -> Folder:
    """A repository with a plan of four versions, the second of which is broken."""
    repo.git("config", "uploadpack.allowFilter", "true")
    steps = [CLEAN, CLEAN.replace("Purpose", "Pur\0pose"), CLEAN.replace("- [ ] Build", "- [x] Build")]
    for text in (*steps, steps[-1].replace("- [ ] Write", "- [x] Write")):
        repo.plan(text)
        repo.git("add", "-A")
        repo.git("commit", "-q", "-m", "All")
    return repo


def clone(origin: Folder, objects: str = "blob:none") -> Folder:
    """A clone without some objects."""
    folder = Folder(origin.path.parent / f"clone-{objects.replace(':', '-')}")
    origin.git("clone", "-q", f"--filter={objects}", f"file://{origin.path}", os.fspath(folder.path))
    return folder


def blobs(folder: Folder) -> list[str]:
    """The versions of the plan, newest first."""
    return [folder.git("rev-parse", f"HEAD~{number}:{PATH}").strip() for number in range(4)]


def test_a_reader_continues_after_blobs_that_git_lacks(origin: Folder) -> None:
    partial = clone(origin)
    newest, *older = blobs(partial)
    answer = (origin.path / PATH).read_bytes(), (origin.path / PATH).stat().st_size
    with BlobReader(project_discovery.find(os.fspath(partial.path))) as reader:
        assert reader.read_batch([*older, newest, *older, newest]) == [None, None, None, answer] * 2
        assert reader.read(older[0]) is None
        assert reader.read(newest) == answer


def test_versions_that_are_there_are_compared(origin: Folder) -> None:
    partial = clone(origin)
    document = partial.run("log", "--json").json
    assert [event["kind"] for event in document["data"]["events"]] == ["created"]
    assert FETCH in document["warnings"][0]
    assert "broken" not in partial.run("log", "--limit", "3").out
    versions = blobs(partial)
    partial.git("cat-file", "-p", versions[1])  # git fetches it
    assert [event["kind"] for event in partial.ok("log")["events"]] == ["task-done", "created"]
    partial.git("cat-file", "-p", versions[2])  # the version before this broken one is not there
    kinds = [event["kind"] for event in partial.ok("log")["events"]]
    assert kinds == ["task-done", "repaired", "broken", "created"]
    partial.git(*FETCH.removeprefix("git ").split())
    document = partial.run("log", "--json").json
    assert document["warnings"] == []
    assert document["data"]["events"] == origin.ok("log")["events"]


def test_many_changes(origin: Folder) -> None:
    for number in range(90):
        origin.plan(CLEAN.replace("None so far.", f"Note {number}."))
        origin.git("commit", "-q", "-a", "-m", "All")
    project = project_discovery.find(os.fspath(clone(origin).path))
    assert [event.kind for event in load_history(project)] == ["created"]
    assert FETCH in incomplete_history_warnings(project)[0]
    assert plan_store.all_refs(project)


def test_commands_that_need_a_version_say_how_to_get_it(origin: Folder) -> None:
    partial = clone(origin)
    for arguments, name in (
        (["diff", "parser", "HEAD~1"], f"version {blobs(partial)[1][:10]} of a plan"),
        (["changes", "--since", "HEAD~1"], f"the content of {PATH}"),
    ):
        result = partial.run(*arguments)
        assert result.exit == 6, result
        assert f"git does not have {name}, because the clone is partial" in result.err
        assert FETCH in result.err
    assert partial.run("diff", "parser").exit == 0


def test_charts_count_by_timestamp(origin: Folder) -> None:
    document = clone(origin).run("stats", "--chart", "burn-up", "--json").json
    assert FETCH in document["warnings"][0]
    assert [series["name"] for series in document["data"]["series"]] == ["tasks now", "done by timestamp"]


def test_pages_have_a_warning(origin: Folder, tmp_path: Path) -> None:
    for objects in ("blob:none", "tree:0"):
        result = clone(origin, objects).run("site", "--out", os.fspath(tmp_path / objects))
        assert result.exit == 0, result
        assert FETCH in result.err


def test_a_clone_without_directories(origin: Folder) -> None:
    partial = clone(origin, "tree:0")
    for arguments in (["log"], ["diff", "parser", "HEAD~1"], ["changes", "--since", "HEAD~1"]):
        result = partial.run(*arguments)
        assert result.exit == 6, result
        assert "the clone is partial, and git lacks objects" in result.err
        assert FETCH in result.err
    assert FETCH in partial.run("stats", "--chart", "burn-up", "--json").json["warnings"][0]


def test_a_repository_that_lost_a_version(origin: Folder) -> None:
    version = blobs(origin)[1]
    (origin.path / ".git" / "objects" / version[:2] / version[2:]).unlink()
    result = origin.run("log")
    assert result.exit == 6
    assert f"git does not have version {version[:10]} of a plan" in result.err
    assert "git fsck" in result.err
