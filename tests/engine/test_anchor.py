"""The anchor: where it is kept, what it is called, who may move it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execplan.edits.plan_writer import WriteOptions
from execplan.engine.audit_log import anchor, log_reader
from execplan.engine.audit_log.anchor import MovedMeanwhileError
from execplan.engine.audit_log.log_verification import verify_log
from execplan.engine.audit_log.log_writer import AuditLog
from execplan.errors import ExecplanError
from execplan.plan_store import plan_store
from execplan.project import project_discovery
from tests.engine.ledgers import Kept
from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.repo.approving import Desk


def test_a_ref_that_git_lives_with(kept: Kept) -> None:
    made = kept.ledger.append("approved", {})
    kept.ledger.update_anchor()
    kept.ledger.update_anchor()
    ref = f"refs/execplan/ledger/{kept.ref.id}"
    assert kept.repo.git("cat-file", "-t", ref) == "blob\n"
    assert made.hash in kept.repo.git("cat-file", "-p", ref)
    kept.repo.git("log", "--all", "--oneline")
    kept.repo.git("gc", "-q", "--prune=now")
    kept.repo.git("pack-refs", "--all")
    kept.repo.git("fsck", "--strict")
    second = AuditLog(kept.project, kept.ref).append("revoked", {})
    kept.ledger.update_anchor()
    found = anchor.get(kept.project, kept.ref.id)
    assert found is not None
    assert (found.seq, found.hash) == (2, second.hash)


def test_nothing_to_anchor(kept: Kept) -> None:
    kept.ledger.update_anchor()
    assert anchor.get(kept.project, kept.ref.id) is None
    assert not kept.path.exists()


def test_it_moves_from_where_it_was_known_to_be(kept: Kept) -> None:
    first = anchor.move(kept.project, "x", None, 1, "a")
    anchor.move(kept.project, "x", first, 2, "b")
    for old in (None, first):
        with pytest.raises(MovedMeanwhileError):
            anchor.move(kept.project, "x", old, 3, "c")
    found = anchor.get(kept.project, "x")
    assert found is not None
    assert found.seq == 2


def test_another_process_has_moved_it(kept: Kept) -> None:
    kept.ledger.append("approved", {})
    kept.ledger.update_anchor()
    other = AuditLog(kept.project, kept.ref)
    other.append("declined", {})
    other.update_anchor()
    last = kept.ledger.append("revoked", {})
    kept.ledger.update_anchor()
    found = anchor.get(kept.project, kept.ref.id)
    assert found is not None
    assert (found.seq, found.hash) == (3, last.hash)


def test_another_checkout_with_another_ledger(kept: Kept) -> None:
    """Of two branches that both go on, one comes too late."""
    kept.ledger.append("approved", {})
    kept.ledger.update_anchor()
    kept.repo.commit()
    kept.repo.git("switch", "-q", "-c", "second")
    there = AuditLog(kept.project, kept.ref)
    there.append("declined", {})
    there.update_anchor()
    kept.repo.commit()
    kept.repo.git("switch", "-q", "main")
    with pytest.raises(ExecplanError) as caught:
        AuditLog(kept.project, kept.ref).append("revoked", {})
    assert caught.value.code == "ledger-broken"
    assert "another branch" in caught.value.message
    kept.repo.git("merge", "-q", "second")
    assert AuditLog(kept.project, kept.ref).append("revoked", {}).seq == 3


def test_an_anchor_that_cannot_be_read(kept: Kept) -> None:
    kept.ledger.append("approved", {})
    kept.ledger.update_anchor()
    blob = kept.repo.git("rev-parse", f"refs/execplan/ledger/{kept.ref.id}").strip()
    (kept.repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert verify_log(kept.project, kept.ref).reasons == ("its anchor can't be read",)
    with pytest.raises(ExecplanError):
        AuditLog(kept.project, kept.ref).append("declined", {})
    from execplan.engine.audit_log.log_verification import accept_broken_log

    assert accept_broken_log(kept.project, kept.ref, "The disk.", WriteOptions()).record is not None
    assert verify_log(kept.project, kept.ref).exit == 0


def test_without_git_it_lies_in_the_users_folder(desk: Desk) -> None:
    shutil.rmtree(desk.path / ".git")
    kept = Kept(desk)
    for _ in range(2):
        kept.ledger.append("approved", {})
        kept.ledger.update_anchor()
    (file,) = (desk.path.parent / "state-home/execplan/ledgers").rglob("*.json")
    assert f'"seq": 2, "hash": "{kept.records()[1].hash}"' in file.read_text()
    first = anchor.Anchor(1, "", "other")
    with pytest.raises(MovedMeanwhileError):
        anchor.move(kept.project, kept.ref.id, first, 3, "c")
    kept.path.unlink()
    assert verify_log(kept.project, kept.ref).exit == 1
    file.write_text("{")
    assert verify_log(kept.project, kept.ref).reasons == ("its anchor can't be read",)


@pytest.mark.parametrize(
    "name", ["a b", "a..b", "a.lock", "-x", "@{x}", "über", "x~1^:?*[\\", "a/b", "é" * 200, "new\nline", "%41", "A"]
)
def test_names_that_are_no_names_of_refs(kept: Kept, name: str) -> None:
    assert anchor.get(kept.project, name) is None
    anchor.move(kept.project, name, None, 1, "a")
    assert anchor.get(kept.project, name) is not None
    kept.repo.git("check-ref-format", anchor.ref_of(kept.project, name))
    assert anchor.ref_of(kept.project, name).count("/") == 3


def test_a_plan_that_is_renamed_keeps_it_and_its_old_name_is_free(kept: Kept) -> None:
    kept.ledger.append("approved", {})
    kept.ledger.update_anchor()
    kept.repo.data("rename", "parser", "Build it anew")
    (ref,) = plan_store.refs(kept.project)
    second = AuditLog(kept.project, ref).append("declined", {})
    assert (second.ledger, second.plan_id, second.seq) == (kept.ref.id, ref.id, 2)
    kept.repo.plan(CLEAN, kept.ref.id)
    new = AuditLog(kept.project, kept.ref)
    first = new.append("approved", {})
    new.update_anchor()
    assert (first.seq, first.ledger) == (1, f"{kept.ref.id}-2")
    for each in plan_store.refs(kept.project):
        assert verify_log(kept.project, each).exit == 0


def test_an_archived_plan_keeps_it(kept: Kept) -> None:
    kept.ledger.append("approved", {})
    kept.ledger.update_anchor()
    kept.repo.data("archive", "parser", "--force", "--reason", "Given up.")
    (ref,) = plan_store.refs(kept.project, archive=True)
    assert (verify_log(kept.project, ref).records, verify_log(kept.project, ref).anchored) == (1, 1)
    assert AuditLog(kept.project, ref).append("revoked", {}).seq == 2


def test_two_homes_of_one_repository_with_plans_of_one_name(kept: Kept) -> None:
    kept.ledger.append("approved", {})
    kept.ledger.update_anchor()
    kept.repo.write(f"services/api/.agent/execplans/{kept.ref.id}.md", CLEAN)
    project = project_discovery.find(str(kept.repo.path / "services/api"))
    ledger = AuditLog(project, plan_store.refs(project)[0])
    assert ledger.append("approved", {}).ledger == f"services/api/{kept.ref.id}"
    ledger.update_anchor()
    for path in (kept.path, Path(ledger.path)):
        assert path.exists()
    assert log_reader.available_name(project, plan_store.refs(project)[0]) == f"services/api/{kept.ref.id}"
    assert os.path.dirname(anchor.ref_of(project, f"services/api/{kept.ref.id}")) == "refs/execplan/ledger"


def test_each_worktree_has_a_ledger_with_an_anchor_of_its_own(kept: Kept) -> None:
    kept.repo.git("worktree", "add", "-q", "../other")
    other = project_discovery.find(str(kept.repo.path.parent / "other"))
    for project, count in ((kept.project, 2), (other, 1)):
        ledger = AuditLog(project, plan_store.refs(project)[0])
        for _ in range(count):
            ledger.append("approved", {})
        ledger.update_anchor()
    for project, count in ((kept.project, 2), (other, 1)):
        found = verify_log(project, plan_store.refs(project)[0])
        assert (found.records, found.anchored, found.exit) == (count, count, 0)
    assert anchor.ref_of(other, "x") == "refs/worktree/execplan/ledger/x"
