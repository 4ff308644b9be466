"""Approvals that hold no more: each way in which one goes stale, and what is tried to keep it."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from execplan.core.errors import ExecplanError
from execplan.execution.approvals import approval_registry
from execplan.execution.approvals.approval_states import APPROVED, STALE
from execplan.execution.approvals.approval_status import COMPILED, NOT_COMPILED, find_status
from execplan.execution.approvals.approved_plan import require_approved_plan
from tests.in_process_repository import LOW, NAME, STEPS, InProcessRepository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository whose plan is approved."""
    repository = InProcessRepository(tmp_path / "repo", monkeypatch)
    repository.approve()
    assert repository.approval_state() == "approved"
    return repository


def _mode(desk: InProcessRepository) -> None:
    (desk.path / "src/old.py").chmod(0o755)


def _link(desk: InProcessRepository) -> None:
    (desk.path / "src/old.py").rename(desk.path / "src/real.py")
    (desk.path / "src/old.py").symlink_to("real.py")


def _folder(desk: InProcessRepository) -> None:
    (desk.path / "src").rename(desk.path / "lib")
    (desk.path / "src").symlink_to("lib")


CHANGES: dict[str, Callable[[InProcessRepository], object]] = {
    "bytes": lambda desk: desk.write("src/old.py", "x = 2\n"),
    "mode": _mode,
    "vanished": lambda desk: (desk.path / "src/old.py").unlink(),
    "link": _link,
    "appeared": lambda desk: desk.write("src/made.py", ""),
    "folder is a link": _folder,
    "input": lambda desk: desk.write("Makefile", "parser: all\n"),
    "step": lambda desk: desk.plan(STEPS.replace("make parser", "make parser all")),
    "file of a step": lambda desk: desk.plan(STEPS.replace("X = 1", "X = 2")),
    "policy": lambda desk: desk.write("pyproject.toml", '[tool.execplan.execution]\nperson_from = "LOW"\n'),
}
DRIFT = {
    "bytes": "src/old.py: different content",
    "mode": "src/old.py: mode 644 → 755",
    "vanished": "src/old.py: was a file and is now absent",
    "link": "src/old.py: was a file and is now a link",
    "appeared": "src/made.py: was absent and is now a file",
    "folder is a link": "src/made.py: was absent and is now outside the repository",
    "input": "Makefile: different content",
    "step": "the execution plan: different content",
    "file of a step": "the execution plan: different content",
    "policy": "the policy: different version",
}


@pytest.mark.parametrize("kind", DRIFT)
def test_what_is_bound_and_changes_makes_it_stale(desk: InProcessRepository, kind: str) -> None:
    CHANGES[kind](desk)
    assert desk.drift()[0].partition(" (")[0] == DRIFT[kind]
    assert desk.approval_state() == "stale"
    status = find_status(*desk.project())
    assert (status.state, status.reasons[0].partition(" (")[0]) == (STALE, DRIFT[kind])


def test_what_is_not_bound_changes_nothing(desk: InProcessRepository) -> None:
    desk.data("done", "1", "--commit")
    desk.data("decide", "Read bytes.", "--why", "Ends differ.", "--create")
    desk.write("src/other.py", "y = 2\n")
    desk.commit()
    desk.write("src/new.py", "")
    os.utime(desk.path / "src/old.py", (1, 1))
    assert desk.approval_state() == "approved"
    assert find_status(*desk.project()).state == APPROVED


def test_it_holds_again_when_all_is_as_it_was(desk: InProcessRepository) -> None:
    CHANGES["bytes"](desk)
    assert desk.approval_state() == "stale"
    desk.write("src/old.py", "x = 1\n")
    assert desk.approval_state() == "approved"


def test_it_expires_and_a_clock_set_back_does_not_help(desk: InProcessRepository) -> None:
    desk.later(86_399)
    assert desk.approval_state() == "approved"
    desk.later(86_400)
    assert desk.approval_state() == "expired"
    error = desk.refused(4, "approval-expired", "approve", "--check")
    assert error["candidates"] == ["the approval expired at 2026-01-02T00:00:00Z"]
    desk.later(-60)
    assert desk.approval_state() == "approved"
    desk.later(-61)
    assert "set back" in desk.refused(4, "approval-expired", "approve", "--check")["candidates"][0]


@pytest.mark.parametrize(
    ("name", "value"),
    [("expires_at", "2099-01-01T00:00:00Z"), ("steps", ["build"]), ("approver", "Eve"), ("max_risk", "LOW")],
)
def test_an_altered_one_is_refused(desk: InProcessRepository, name: str, value: object) -> None:
    desk.file().write_text(json.dumps({**desk.approval_data(), name: value}))
    assert desk.approval_state() == "altered"
    assert desk.refused(4, "approval-altered", "approve", "--check")["candidates"] == ["its signature is invalid"]


def test_not_a_byte_of_it_changes_nor_its_name(desk: InProcessRepository) -> None:
    file = desk.file()
    data = file.read_bytes()
    file.write_bytes(data + b"\n")
    assert "its content or its file name" in desk.refused(4, "approval-altered", "approve", "--check")["candidates"][0]
    file.write_bytes(data)
    assert desk.approval_state() == "approved"
    file.rename(file.with_name(f"{'0' * 64}.json"))
    assert desk.approval_state() == "altered"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            '"timeout_s": 300',
            '"timeout_s": 301',
            "the plan now compiles to something else: step build: timeout_s was 301",
        ),
        (
            '"revision": 1,',
            '"revision": 1, "revision": 1,',
            "execution-plan.json: it can't be used: /revision: duplicate key",
        ),
        ("{", "{ ", "the execution plan: different content"),
    ],
)
def test_an_edited_execution_plan_is_drift(desk: InProcessRepository, old: str, new: str, told: str) -> None:
    """Though what the plan compiles to is what was approved, and is what would run."""
    file = desk.path / f".agent/execplans/artifacts/{NAME}/execution-plan.json"
    text = file.read_text()
    file.write_text(text.replace(old, new, 1))
    assert told in desk.drift()[0]
    assert desk.approval_state() == "stale"
    file.write_text(text)
    assert desk.approval_state() == "approved"


@pytest.mark.parametrize("content", ["", "{}", "[1,", '{"hmac": 1, "hmac": 2}', "\0", "[" * 100])
def test_what_is_no_approval_is_refused(desk: InProcessRepository, content: str) -> None:
    desk.file().write_text(content)
    assert desk.approval_state() == "altered"
    desk.refused(4, "approval-altered", "approve", "--check")
    assert desk.approve()["steps"] == ["build", "api", "drop"]


def test_with_another_key_and_without_one(desk: InProcessRepository) -> None:
    key = desk.path.parent / ".config/execplan/key"
    content = key.read_bytes()
    key.write_bytes(bytes(32))
    assert "another key" in desk.refused(4, "approval-altered", "approve", "--check")["candidates"][0]
    key.unlink()
    assert "another key" in desk.refused(4, "approval-altered", "approve", "--check")["candidates"][0]
    assert not key.exists()
    key.write_bytes(content)
    key.chmod(0o644)
    desk.refused(7, "unsafe-key", "approve", "--check")
    key.chmod(0o600)
    assert desk.approval_state() == "approved"


def test_a_copy_serves_no_other_plan(desk: InProcessRepository) -> None:
    desk.plan(STEPS, "2026-01-02_other")
    directory = desk.path / ".agent/execplans/artifacts/2026-01-02_other/approvals"
    directory.mkdir(parents=True)
    shutil.copy(desk.file(), directory)
    error = desk.refused(4, "stale-approval", "approve", "other", "--check")
    assert f"it was given for plan {NAME}" in error["candidates"]
    digest = desk.data("evaluate", "other")["digest"]
    desk.file().rename(directory / f"{digest}.json")
    desk.refused(4, "stale-approval", "approve", "other", "--check")


def test_a_copy_serves_no_other_checkout(desk: InProcessRepository) -> None:
    other = desk.path.parent / "other"
    shutil.copytree(desk.path, other, symlinks=True)
    desk.patch.chdir(other)
    assert desk.refused(4, "stale-approval", "approve", "--check")["candidates"] == ["it was given in another checkout"]
    desk.patch.chdir(desk.path)
    assert desk.approval_state() == "approved"


def test_it_serves_no_other_revision(desk: InProcessRepository) -> None:
    stored = desk.path / f".agent/execplans/artifacts/{NAME}/execution-plan.json"
    document: dict[str, Any] = json.loads(stored.read_bytes())
    document["revision"] = 2
    revised = {"revision": 1, "sha256": "0" * 64, "reason": "Another way"}
    document["metadata"]["history"] = [revised]
    stored.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    assert "it was given for revision 1, but this is revision 2" in desk.drift()


def test_a_revoked_one_does_not_come_back_from_git(desk: InProcessRepository) -> None:
    desk.commit()
    assert desk.data("approve", "--revoke")["revoked"] == [desk.approval_data()["digest"]]
    assert desk.approval_state() == "revoked"
    desk.refused(7, "not-approved", "approve", "--check")
    assert desk.data("approve", "--revoke")["changed"] is False
    desk.file().unlink()
    desk.refused(7, "not-approved", "approve", "--check")
    desk.git("checkout", "--", ".agent")
    assert desk.approval_state() == "revoked"
    desk.refused(1, "ledger-broken", "approve", "--digest", desk.digest())
    desk.data("audit", "--accept", "What was not committed is lost.")
    desk.approve()
    assert desk.approval_state() == "approved"


def test_a_used_one_serves_its_run_and_no_other(desk: InProcessRepository) -> None:
    desk.commit()
    project, ref = desk.project()
    approval_registry.mark_used(project, desk.approval_data()["id"], "run-1")
    error = desk.refused(4, "approval-used", "approve", "--check")
    assert "run-1" in error["candidates"][0]
    desk.git("checkout", "--", ".agent")
    assert desk.approval_state() == "used"
    with pytest.raises(ExecplanError) as caught:
        require_approved_plan(project, ref, run_id="run-2")
    assert (caught.value.code, caught.value.exit) == ("approval-used", 4)
    CHANGES["bytes"](desk)  # by the run itself, which compares with its journal
    assert require_approved_plan(project, ref, run_id="run-1").state == APPROVED
    CHANGES["step"](desk)
    with pytest.raises(ExecplanError) as caught:
        require_approved_plan(project, ref, run_id="run-1")
    assert caught.value.code == "stale-approval"


def test_an_approval_that_holds_is_found_among_others(desk: InProcessRepository) -> None:
    first = desk.approval_data()["digest"]
    desk.write("Makefile", "parser: all\n")
    desk.later(60)
    second = desk.approve()["digest"]
    assert [(approval["digest"], approval["state"]) for approval in desk.data("approve", "--list")["approvals"]] == [
        (second, "approved"),
        (first, "stale"),
    ]
    desk.write("Makefile", "parser:\n")
    approved = require_approved_plan(*desk.project()).approval
    assert approved is not None
    assert approved.digest == first
    error = desk.refused(3, "ambiguous-approval", "approve", "--revoke")
    assert sorted(error["candidates"]) == sorted([first, second])
    desk.refused(3, "no-such-approval", "approve", "--revoke", "zz")
    assert desk.data("approve", "--revoke", first[:8], "--dry-run")["revoked"] == [first]
    assert desk.data("approve", "--revoke", first[:8])["revoked"] == [first]
    assert desk.data("approve", "--revoke", "all")["revoked"] == [second]


def test_pinned_to_the_tree(desk: InProcessRepository) -> None:
    desk.write("pyproject.toml", '[tool.execplan.execution]\npin = "tree"\n')
    desk.commit()
    assert desk.drift()[0].startswith("the policy: different version")
    desk.later(60)
    desk.approve("--commit")
    desk.data("done", "1", "--commit")
    assert desk.approval_state() == "approved"
    desk.write("src/other.py", "y = 2\n")
    assert desk.approval_state() == "approved"
    desk.commit()
    assert desk.drift() == ["src/other.py: changed by a commit"]
    desk.git("revert", "--no-edit", "HEAD")
    assert desk.approval_state() == "approved"


def test_without_approval_and_without_steps(desk: InProcessRepository) -> None:
    shutil.rmtree(desk.file().parent)
    assert find_status(*desk.project()).state == COMPILED
    error = desk.refused(7, "not-approved", "approve", "--check")
    assert f"execplan evaluate {NAME}" in error["hint"]
    desk.plan(LOW)
    assert find_status(*desk.project()).state == STALE
    shutil.rmtree(desk.path / ".agent/execplans/artifacts")
    assert find_status(*desk.project()).state == COMPILED
    desk.plan("# No steps\n\n## Progress\n\n- [ ] One\n")
    assert find_status(*desk.project()).state == NOT_COMPILED
    desk.refused(3, "no-steps", "approve", "--check")
    assert desk.data("approve", "--list")["approvals"] == []


def test_approvals_are_listed_when_the_plan_has_no_steps_left(desk: InProcessRepository) -> None:
    desk.plan("# No steps\n\n## Progress\n\n- [ ] One\n")
    assert find_status(*desk.project()).state == STALE
    (listed,) = desk.data("approve", "--list")["approvals"]
    assert listed["state"] == "stale"
    assert "no step" in listed["why"][0]
