"""The key that seals approvals, and the register of those that were used or revoked."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from execplan.core.errors import ExecplanError
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.execution.approvals import approval_key, approval_registry

ONE, TWO = "1" * 32, "2" * 32


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A home, with the user's own folders beside it."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "repo" / ".agent" / "execplans").mkdir(parents=True)
    return project_discovery.find(str(tmp_path / "repo"))


def key_error(project: Project, code: str, status: int) -> str:
    """Expect the key to be refused, and nothing to be put in its place; what is said."""
    with pytest.raises(ExecplanError) as caught:
        approval_key.read(project)
    with pytest.raises(ExecplanError):
        approval_key.get_or_create(project)
    assert (caught.value.code, caught.value.exit) == (code, status)
    assert caught.value.hint
    return caught.value.message


def test_made_once_for_the_user_alone(project: Project) -> None:
    assert approval_key.read(project) is None
    key = approval_key.get_or_create(project)
    assert len(key) == 32
    assert approval_key.get_or_create(project) == approval_key.read(project) == key
    file = Path(approval_key.path(project))
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["key"]
    file.unlink()
    assert approval_key.get_or_create(project) != key


def test_many_who_make_it_at_once_have_the_same(project: Project) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(approval_key.get_or_create, [project] * 16))
    assert len(keys) == 1
    assert keys == {approval_key.read(project)}


def test_what_a_killed_maker_left_is_no_key(project: Project) -> None:
    key = approval_key.get_or_create(project)
    file = Path(approval_key.path(project))
    leftover = file.with_name(".execplan-2c70e12b7a0646f9.tmp")
    file.rename(leftover)
    os.link(leftover, file.with_name("other"))
    assert approval_key.get_or_create(project) != key
    assert not leftover.exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_others_must_not_read_or_write_it(project: Project, mode: int) -> None:
    approval_key.get_or_create(project)
    Path(approval_key.path(project)).chmod(mode)
    assert f"{mode:o}" in key_error(project, "unsafe-key", 7)
    assert Path(approval_key.path(project)).stat().st_mode & 0o777 == mode


def test_a_link_a_pipe_and_a_folder_are_no_key(project: Project, tmp_path: Path) -> None:
    approval_key.get_or_create(project)
    file = Path(approval_key.path(project))
    elsewhere = file.rename(tmp_path / "elsewhere")
    file.symlink_to(elsewhere)
    assert "is a symbolic link" in key_error(project, "unsafe-key", 7)
    file.unlink()
    file.symlink_to(tmp_path / "nothing")
    assert "is a symbolic link" in key_error(project, "unsafe-key", 7)
    assert not (tmp_path / "nothing").exists()
    file.unlink()
    os.mkfifo(file)
    assert "is not a regular file" in key_error(project, "unsafe-key", 7)
    file.unlink()
    file.mkdir()
    assert "is not a regular file" in key_error(project, "unsafe-key", 7)


@pytest.mark.parametrize("length", [0, 31, 33, 1000])
def test_a_file_of_another_length_is_no_key(project: Project, length: int) -> None:
    approval_key.get_or_create(project)
    Path(approval_key.path(project)).write_bytes(b"x" * length)
    assert "not 32" in key_error(project, "bad-key", 3)


def test_never_inside_the_repository(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inside = os.path.join(project.root, ".config")
    (tmp_path / "link").symlink_to(project.root)
    for folder in (inside, project.root, str(tmp_path / "link" / "deep")):
        monkeypatch.setenv("XDG_CONFIG_HOME", folder)
        key_error(project, "key-inside", 7)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", inside)
    with pytest.raises(ExecplanError, match="is inside the repository"):
        approval_registry.read_entry(project, ONE)
    assert sorted(os.listdir(project.root)) == [".agent"]


def test_an_approval_serves_one_run_and_its_resumes(project: Project) -> None:
    assert approval_registry.read_entry(project, ONE) == ("", False)
    approval_registry.mark_used(project, ONE, "run-1")
    approval_registry.mark_used(project, ONE, "run-1")
    with pytest.raises(ExecplanError, match="used by run run-1") as caught:
        approval_registry.mark_used(project, ONE, "run-2")
    assert caught.value.exit == 4
    assert approval_registry.read_entry(project, ONE) == ("run-1", False)
    assert approval_registry.read_entry(project, TWO) == ("", False)


def test_a_revoked_one_serves_none(project: Project) -> None:
    approval_registry.mark_used(project, ONE, "run-1")
    assert approval_registry.revoke(project, ONE)
    assert not approval_registry.revoke(project, ONE)
    assert approval_registry.read_entry(project, ONE) == ("run-1", True)
    with pytest.raises(ExecplanError, match="was revoked") as caught:
        approval_registry.mark_used(project, ONE, "run-1")
    assert caught.value.exit == 7


def test_of_many_runs_one_gets_it(project: Project) -> None:
    def take(number: int) -> bool:
        try:
            approval_registry.mark_used(project, ONE, f"run-{number}")
        except ExecplanError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        successes = list(pool.map(take, range(16)))
    assert successes.count(True) == 1
    assert approval_registry.read_entry(project, ONE).run_id == f"run-{successes.index(True)}"


def test_what_cannot_be_read_is_not_taken_for_unused(project: Project) -> None:
    approval_registry.mark_used(project, ONE, "run-1")
    file = Path(os.environ["XDG_STATE_HOME"], "execplan", "approvals", f"{ONE}.used")
    file.unlink()
    file.write_bytes(b"")
    with pytest.raises(ExecplanError):
        approval_registry.mark_used(project, ONE, "run-1")
    assert approval_registry.read_entry(project, ONE).run_id
    file.unlink()
    file.mkdir()
    with pytest.raises(ExecplanError):
        approval_registry.read_entry(project, ONE)
