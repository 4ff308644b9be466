"""How a plan stood is believed while nothing that decides it was touched, and not a moment longer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from execplan.execution.approvals import file_watch
from execplan.execution.approvals.status_cache import read_cached_status
from execplan.team.advice.execution_status import execution_status_json
from tests.execution.approvals.test_approval_status import CHANGES
from tests.in_process_repository import InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository whose plan is approved and was looked at; its files count as old enough."""
    repository = InProcessRepository(tmp_path / "repo", monkeypatch)
    repository.approve()
    monkeypatch.setattr(file_watch, "_MTIME_MARGIN_NS", -(10**18))
    assert execution_status_json(*repository.project())["state"] == "approved"
    assert read_cached_status(*repository.project()) is not None
    return repository


@pytest.mark.parametrize("kind", CHANGES)
def test_whatever_makes_it_stale_is_noticed(desk: InProcessRepository, kind: str) -> None:
    CHANGES[kind](desk)
    assert read_cached_status(*desk.project()) is None
    assert execution_status_json(*desk.project())["state"] == "stale"
    assert {**(read_cached_status(*desk.project()) or {}), "run": None} == execution_status_json(*desk.project())


def test_the_approval_and_what_became_of_it_are_noticed(desk: InProcessRepository) -> None:
    data = desk.file().read_bytes()
    desk.file().write_bytes(data.replace(b'"approver": "', b'"approver": "Dr '))
    assert execution_status_json(*desk.project())["state"] == "altered"
    desk.file().write_bytes(data)
    assert execution_status_json(*desk.project())["state"] == "approved"
    desk.data("approve", "--revoke", "all")
    assert execution_status_json(*desk.project())["state"] == "revoked"
    desk.approve()
    assert execution_status_json(*desk.project())["state"] == "approved"


def test_time_passes(desk: InProcessRepository) -> None:
    desk.later(86_399)
    assert read_cached_status(*desk.project()) is not None
    for seconds in (86_400, -61):
        desk.later(seconds)
        assert read_cached_status(*desk.project()) is None
        assert execution_status_json(*desk.project())["state"] == "expired"


def test_other_folders_of_the_user_are_other_answers(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(desk.path.parent / "elsewhere"))
    assert read_cached_status(*desk.project()) is None
    assert execution_status_json(*desk.project())["state"] == "altered"


def test_files_of_just_now_are_looked_at_anew(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_watch, "_MTIME_MARGIN_NS", 2 * 10**9)
    desk.write("src/old.py", "x = 1\n")
    assert execution_status_json(*desk.project())["state"] == "approved"
    assert read_cached_status(*desk.project()) is None


@pytest.mark.parametrize("data", [b"", b"\xe3", b"{}", b"N", b"(\x04\x00\x00\x00NNNN"])
def test_what_is_kept_is_broken(desk: InProcessRepository, data: bytes) -> None:
    project, ref = desk.project()
    (name,) = os.listdir(os.path.join(project.state, "standing"))
    with open(os.path.join(project.state, "standing", name), "wb") as file:
        file.write(data)
    assert read_cached_status(project, ref) is None
    assert execution_status_json(project, ref)["state"] == "approved"


def test_nothing_is_kept_under_a_policy_that_looks_at_commits(desk: InProcessRepository) -> None:
    desk.write("pyproject.toml", '[tool.execplan.execution]\npin = "tree"\n')
    desk.commit()
    desk.approve()
    assert execution_status_json(*desk.project())["state"] == "approved"
    assert read_cached_status(*desk.project()) is None
