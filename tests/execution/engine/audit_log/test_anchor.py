"""The anchor: where it is kept, what it is called, who may move it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_store
from execplan.core.project import project_discovery
from execplan.execution.engine.audit_log import log_reader
from execplan.execution.engine.audit_log.log_reader import MovedMeanwhileError
from execplan.execution.engine.audit_log.log_verification import verify_log
from execplan.execution.engine.audit_log.log_writer import AuditLog
from tests.execution.engine.audited_plan import AuditedPlan
from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.in_process_repository import InProcessRepository


def test_a_ref_that_git_lives_with(audited_plan: AuditedPlan) -> None:
    record = audited_plan.audit_log.append("approved", {})
    audited_plan.audit_log.update_anchor()
    audited_plan.audit_log.update_anchor()
    ref = f"refs/execplan/ledger/{audited_plan.ref.id}"
    assert audited_plan.repo.git("cat-file", "-t", ref) == "blob\n"
    assert record.hash in audited_plan.repo.git("cat-file", "-p", ref)
    audited_plan.repo.git("log", "--all", "--oneline")
    audited_plan.repo.git("gc", "-q", "--prune=now")
    audited_plan.repo.git("pack-refs", "--all")
    audited_plan.repo.git("fsck", "--strict")
    second = AuditLog(audited_plan.project, audited_plan.ref).append("revoked", {})
    audited_plan.audit_log.update_anchor()
    stored_anchor = log_reader.get(audited_plan.project, audited_plan.ref.id)
    assert stored_anchor is not None
    assert (stored_anchor.seq, stored_anchor.hash) == (2, second.hash)


def test_nothing_to_anchor(audited_plan: AuditedPlan) -> None:
    audited_plan.audit_log.update_anchor()
    assert log_reader.get(audited_plan.project, audited_plan.ref.id) is None
    assert not audited_plan.path.exists()


def test_it_moves_from_where_it_was_known_to_be(audited_plan: AuditedPlan) -> None:
    first = log_reader.move(audited_plan.project, "x", None, 1, "a")
    log_reader.move(audited_plan.project, "x", first, 2, "b")
    for old in (None, first):
        with pytest.raises(MovedMeanwhileError):
            log_reader.move(audited_plan.project, "x", old, 3, "c")
    stored_anchor = log_reader.get(audited_plan.project, "x")
    assert stored_anchor is not None
    assert stored_anchor.seq == 2


def test_another_process_has_moved_it(audited_plan: AuditedPlan) -> None:
    audited_plan.audit_log.append("approved", {})
    audited_plan.audit_log.update_anchor()
    other_log = AuditLog(audited_plan.project, audited_plan.ref)
    other_log.append("declined", {})
    other_log.update_anchor()
    last = audited_plan.audit_log.append("revoked", {})
    audited_plan.audit_log.update_anchor()
    stored_anchor = log_reader.get(audited_plan.project, audited_plan.ref.id)
    assert stored_anchor is not None
    assert (stored_anchor.seq, stored_anchor.hash) == (3, last.hash)


def test_another_checkout_with_another_ledger(audited_plan: AuditedPlan) -> None:
    """Of two branches that both go on, one comes too late."""
    audited_plan.audit_log.append("approved", {})
    audited_plan.audit_log.update_anchor()
    audited_plan.repo.commit()
    audited_plan.repo.git("switch", "-q", "-c", "second")
    branch_log = AuditLog(audited_plan.project, audited_plan.ref)
    branch_log.append("declined", {})
    branch_log.update_anchor()
    audited_plan.repo.commit()
    audited_plan.repo.git("switch", "-q", "main")
    with pytest.raises(ExecplanError) as caught:
        AuditLog(audited_plan.project, audited_plan.ref).append("revoked", {})
    assert caught.value.code == "ledger-broken"
    assert "another branch" in caught.value.message
    audited_plan.repo.git("merge", "-q", "second")
    assert AuditLog(audited_plan.project, audited_plan.ref).append("revoked", {}).seq == 3


def test_an_anchor_that_cannot_be_read(audited_plan: AuditedPlan) -> None:
    audited_plan.audit_log.append("approved", {})
    audited_plan.audit_log.update_anchor()
    blob = audited_plan.repo.git("rev-parse", f"refs/execplan/ledger/{audited_plan.ref.id}").strip()
    (audited_plan.repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert verify_log(audited_plan.project, audited_plan.ref).reasons == ("its anchor can't be read",)
    with pytest.raises(ExecplanError):
        AuditLog(audited_plan.project, audited_plan.ref).append("declined", {})
    from execplan.execution.engine.audit_log.log_verification import accept_broken_log

    assert accept_broken_log(audited_plan.project, audited_plan.ref, "The disk.", WriteOptions()).record is not None
    assert verify_log(audited_plan.project, audited_plan.ref).exit == 0


def test_without_git_it_lies_in_the_users_folder(desk: InProcessRepository) -> None:
    shutil.rmtree(desk.path / ".git")
    audited_plan = AuditedPlan(desk)
    for _ in range(2):
        audited_plan.audit_log.append("approved", {})
        audited_plan.audit_log.update_anchor()
    (file,) = (desk.path.parent / "state-home/execplan/ledgers").rglob("*.json")
    assert f'"seq": 2, "hash": "{audited_plan.records()[1].hash}"' in file.read_text()
    first = log_reader.LogAnchor(1, "", "other")
    with pytest.raises(MovedMeanwhileError):
        log_reader.move(audited_plan.project, audited_plan.ref.id, first, 3, "c")
    audited_plan.path.unlink()
    assert verify_log(audited_plan.project, audited_plan.ref).exit == 1
    file.write_text("{")
    assert verify_log(audited_plan.project, audited_plan.ref).reasons == ("its anchor can't be read",)


@pytest.mark.parametrize(
    "name", ["a b", "a..b", "a.lock", "-x", "@{x}", "über", "x~1^:?*[\\", "a/b", "é" * 200, "new\nline", "%41", "A"]
)
def test_names_that_are_no_names_of_refs(audited_plan: AuditedPlan, name: str) -> None:
    assert log_reader.get(audited_plan.project, name) is None
    log_reader.move(audited_plan.project, name, None, 1, "a")
    assert log_reader.get(audited_plan.project, name) is not None
    audited_plan.repo.git("check-ref-format", log_reader.ref_of(audited_plan.project, name))
    assert log_reader.ref_of(audited_plan.project, name).count("/") == 3


def test_a_plan_that_is_renamed_keeps_it_and_its_old_name_is_free(audited_plan: AuditedPlan) -> None:
    audited_plan.audit_log.append("approved", {})
    audited_plan.audit_log.update_anchor()
    audited_plan.repo.data("rename", "parser", "Build it anew")
    (ref,) = plan_store.refs(audited_plan.project)
    second = AuditLog(audited_plan.project, ref).append("declined", {})
    assert (second.ledger, second.plan_id, second.seq) == (audited_plan.ref.id, ref.id, 2)
    audited_plan.repo.plan(CLEAN, audited_plan.ref.id)
    new = AuditLog(audited_plan.project, audited_plan.ref)
    first = new.append("approved", {})
    new.update_anchor()
    assert (first.seq, first.ledger) == (1, f"{audited_plan.ref.id}-2")
    for plan_ref in plan_store.refs(audited_plan.project):
        assert verify_log(audited_plan.project, plan_ref).exit == 0


def test_an_archived_plan_keeps_it(audited_plan: AuditedPlan) -> None:
    audited_plan.audit_log.append("approved", {})
    audited_plan.audit_log.update_anchor()
    audited_plan.repo.data("archive", "parser", "--force", "--reason", "Given up.")
    (ref,) = plan_store.refs(audited_plan.project, archive=True)
    assert (verify_log(audited_plan.project, ref).records, verify_log(audited_plan.project, ref).anchored) == (1, 1)
    assert AuditLog(audited_plan.project, ref).append("revoked", {}).seq == 2


def test_two_homes_of_one_repository_with_plans_of_one_name(audited_plan: AuditedPlan) -> None:
    audited_plan.audit_log.append("approved", {})
    audited_plan.audit_log.update_anchor()
    audited_plan.repo.write(f"services/api/.agent/execplans/{audited_plan.ref.id}.md", CLEAN)
    project = project_discovery.find(str(audited_plan.repo.path / "services/api"))
    audit_log = AuditLog(project, plan_store.refs(project)[0])
    assert audit_log.append("approved", {}).ledger == f"services/api/{audited_plan.ref.id}"
    audit_log.update_anchor()
    for path in (audited_plan.path, Path(audit_log.path)):
        assert path.exists()
    assert log_reader.available_name(project, plan_store.refs(project)[0]) == f"services/api/{audited_plan.ref.id}"
    assert os.path.dirname(log_reader.ref_of(project, f"services/api/{audited_plan.ref.id}")) == "refs/execplan/ledger"


def test_each_worktree_has_a_ledger_with_an_anchor_of_its_own(audited_plan: AuditedPlan) -> None:
    audited_plan.repo.git("worktree", "add", "-q", "../other")
    other_project = project_discovery.find(str(audited_plan.repo.path.parent / "other"))
    for project, count in ((audited_plan.project, 2), (other_project, 1)):
        audit_log = AuditLog(project, plan_store.refs(project)[0])
        for _ in range(count):
            audit_log.append("approved", {})
        audit_log.update_anchor()
    for project, count in ((audited_plan.project, 2), (other_project, 1)):
        verification = verify_log(project, plan_store.refs(project)[0])
        assert (verification.records, verification.anchored, verification.exit) == (count, count, 0)
    assert log_reader.ref_of(other_project, "x") == "refs/worktree/execplan/ledger/x"
