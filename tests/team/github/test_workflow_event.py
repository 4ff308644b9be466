"""The base of a pull request, a push and a merge queue, in full and shallow clones; other events have none."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from execplan.core.errors import ExecplanError
from execplan.core.project import project_discovery
from execplan.team.github.workflow_run import find_base_commit
from tests.conftest import Folder, copy_from_template

ZEROS = "0" * 40


def _make(folder: Folder) -> None:
    folder.git("init", "-q", "-b", "main")
    folder.write("README.md", "# A project\n")
    folder.plan()
    folder.git("add", "-A")
    for message in ("First", "Second"):
        folder.git("commit", "-q", "--allow-empty", "-m", message)
    folder.git("checkout", "-q", "-b", "work")
    for message in ("Work", "More work"):
        folder.git("commit", "-q", "--allow-empty", "-m", message)
    folder.git("checkout", "-q", "main")
    folder.git("commit", "-q", "--allow-empty", "-m", "Third")
    folder.git("checkout", "-q", "--detach")
    folder.git("merge", "-q", "--no-ff", "-m", "Merge", "work")
    folder.git("update-ref", "refs/pull/1/merge", "HEAD")


@pytest.fixture
def server(tmp_path: Path) -> Folder:
    """What GitHub has: `main` with three commits, `work` from the second, and the merge of a pull request."""
    copy_from_template(_make, tmp_path / "server")
    return Folder(tmp_path / "server")


def clone(server: Folder, revision: str, depth: int = 0) -> Folder:
    """What actions/checkout makes: the commit without a branch, and for a depth of 0 all branches."""
    folder = Folder(server.path.parent / "clone")
    folder.path.mkdir()
    folder.git("init", "-q")
    folder.git("remote", "add", "origin", f"file://{server.path}")
    ids = server.git("rev-parse", revision).strip()
    all_branches = [] if depth else ["+refs/heads/*:refs/remotes/origin/*"]
    folder.git(
        "fetch", "-q", *([f"--depth={depth}"] if depth else []), "origin", *all_branches, f"+{ids}:refs/remotes/pull"
    )
    folder.git("checkout", "-q", "--detach", ids)
    return folder


def base(folder: Folder, event: Any) -> str:
    """The base of an event, as the first line of its commit's message."""
    path = folder.write("../event.json", event if isinstance(event, bytes) else json.dumps(event))
    project = project_discovery.find(os.fspath(folder.path))
    commit = find_base_commit(project, {"GITHUB_EVENT_PATH": os.fspath(path)})
    return folder.git("log", "-1", "--format=%s", commit).strip()


def pull_request(server: Folder, base_revision: str = "main") -> dict[str, Any]:
    """The event of a pull request."""
    ids = [server.git("rev-parse", revision).strip() for revision in (base_revision, "work")]
    return {"pull_request": {"base": {"sha": ids[0]}, "head": {"sha": ids[1]}}}


def test_the_merge_commit_of_a_pull_request(server: Folder) -> None:
    assert base(clone(server, "refs/pull/1/merge"), pull_request(server)) == "Third"


def test_what_others_pushed_to_the_base_since_the_event_is_no_change(server: Folder) -> None:
    assert base(clone(server, "refs/pull/1/merge"), pull_request(server, "main~1")) == "Third"


def test_a_depth_of_two_is_enough_for_a_merge_commit(server: Folder) -> None:
    assert base(clone(server, "refs/pull/1/merge", depth=2), pull_request(server)) == "Third"


def test_the_head_of_a_pull_request(server: Folder) -> None:
    assert base(clone(server, "work"), pull_request(server)) == "Second"


@pytest.mark.parametrize("revision", ["refs/pull/1/merge", "work"])
def test_a_depth_of_one_is_an_error(server: Folder, revision: str) -> None:
    folder = clone(server, revision, depth=1)
    with pytest.raises(ExecplanError) as caught:
        base(folder, pull_request(server))
    assert (caught.value.code, caught.value.exit) == ("missing-base-commit", 6)
    assert "fetch-depth: 0" in caught.value.hint
    assert "shallow" in caught.value.message


def test_a_merge_queue(server: Folder) -> None:
    event = {"merge_group": {"base_sha": server.git("rev-parse", "main").strip()}}
    assert base(clone(server, "refs/pull/1/merge"), event) == "Third"


def test_a_push(server: Folder) -> None:
    folder = clone(server, "work")
    before = server.git("rev-parse", "work~1").strip()
    repository = {"default_branch": "main"}
    assert base(folder, {"before": before, "repository": repository}) == "Work"
    assert base(folder, {"before": ZEROS, "repository": repository}) == "Second"
    assert base(folder, {"before": "1" * 40, "repository": repository}) == "Second"
    for event in (
        {"before": ZEROS, "repository": {"default_branch": "--all"}},
        {"before": ZEROS, "repository": {"default_branch": "gone"}},
    ):
        with pytest.raises(ExecplanError) as caught:
            base(folder, event)
        assert caught.value.code == "missing-base-commit"


@pytest.mark.parametrize(
    ("event", "code"),
    [
        ({}, "no-base-commit"),
        ({"schedule": "0 0 * * *", "repository": {"default_branch": "main"}}, "no-base-commit"),
        ({"before": ZEROS}, "no-base-commit"),
        ({"pull_request": {}}, "missing-base-commit"),
        ({"pull_request": {"base": {"sha": "--all"}}}, "missing-base-commit"),
        ({"pull_request": {"base": {"sha": "HEAD" * 10}}}, "missing-base-commit"),
        ([], "bad-event"),
        (b"", "bad-event"),
        (b"{", "bad-event"),
        (b"[" * 100_000, "bad-event"),
        (b"\xff", "bad-event"),
    ],
)
def test_events_without_a_base(server: Folder, event: Any, code: str) -> None:
    with pytest.raises(ExecplanError) as caught:
        base(clone(server, "work"), event)
    assert caught.value.code == code
    assert caught.value.hint


def test_outside_of_a_workflow(server: Folder) -> None:
    with pytest.raises(ExecplanError) as caught:
        find_base_commit(project_discovery.find(os.fspath(server.path)), {})
    assert (caught.value.code, caught.value.exit) == ("no-base-commit", 3)
