"""Fail, replan, go on: the approval of a run covers its next revision where all of that was approved, and else does not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execplan.core.documents.document_io import document_bytes, load_document
from execplan.execution import approval_document
from execplan.execution.approval_document import Approval
from execplan.execution.approvals import approval_key, approval_status
from execplan.execution.engine.audit_log.log_verification import verify_log
from execplan.execution.engine.journal import journal
from execplan.execution.engine.replanning import revision_coverage
from execplan.execution.engine.run_records import run_directories
from tests.execution.engine.replanning.test_replanned_runs import PLAN, begin, recorded
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from collections.abc import Callable

FLAKY_CHECK_PLAN = PLAN.replace("grep -q Y src/made.py", "python3 flaky.py")
"""A plan whose second step fails the first time, and then works: it counts outside the repository."""
FLAKY = """\
import pathlib
times = pathlib.Path(__file__).parent.parent / "times"
times.write_text(times.read_text() + "x" if times.exists() else "x")
raise SystemExit(len(times.read_text()) <= {failures})
"""
SLOW = """\
import pathlib, time
times = pathlib.Path(__file__).parent.parent / "times"
time.sleep(60 if times.exists() else 0)
times.write_text("x")
raise SystemExit(1)
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository, of a user whom nothing is rolled back for, without a sandbox."""
    repository = InProcessRepository(tmp_path / "repo", monkeypatch)
    settings = tmp_path / ".config/execplan/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[execution]\nrollback_on = []\nsandbox = "off"\n')
    repository.write("flaky.py", FLAKY.format(failures=1))
    return repository


def remaining_steps(desk: InProcessRepository, *names: str, **changes: dict[str, Any]) -> str:
    """New information: these steps of the execution plan as they are stored, with what is changed of one."""
    path = desk.path / f".agent/execplans/artifacts/{NAME}/execution-plan.json"
    steps = {step["id"]: step for step in json.loads(path.read_bytes())["steps"]}
    chosen = [{**steps[name], **changes.get(name, {})} for name in names]
    return json.dumps({"steps": [{name: value for name, value in step.items() if name != "number"} for step in chosen]})


def replan(desk: InProcessRepository, information: str = "", *options: str) -> dict[str, Any]:
    """Make the next revision."""
    arguments = ("--new-information", information) if information else ()
    return desk.data("replan", "--reason", "It failed.", *arguments, *options)


def approvals(desk: InProcessRepository) -> list[dict[str, Any]]:
    """Every approval of the plan, the first one first."""
    listed: list[dict[str, Any]] = desk.data("approve", "--list")["approvals"]
    return sorted(listed, key=lambda approval: approval["revision"])


def test_a_step_that_leads_to_a_revision_is_tried_again_without_a_person(desk: InProcessRepository) -> None:
    desk.plan(FLAKY_CHECK_PLAN.replace("needs=make", "needs=make on-failure=replan"))
    desk.approve()
    result = desk.type("run")
    assert result.exit == 0, result
    digest = approvals(desk)[0]["digest"][:12]
    assert "replanned, now revision 2: step check failed: exit status 1" in result.out
    why = "revision 2 needs no new approval: all its steps were approved by "
    assert f"resumed the run: {why}" in result.out
    assert f"as revision 1 ({digest})" in result.out
    record = recorded(desk)
    assert (record.status, record.revision, record.completed_steps) == ("completed", 2, (1, 2, 3))
    assert (record.approver, len(record.history)) == (approvals(desk)[0]["approver"], 1)
    audit = desk.type("audit").out
    assert f"(revision, covered by {digest})" in audit
    assert "paused" not in audit


def test_a_step_that_fails_again_asks_and_waits_for_no_approval(desk: InProcessRepository) -> None:
    desk.write("flaky.py", FLAKY.format(failures=2))
    desk.plan(FLAKY_CHECK_PLAN.replace("needs=make", "needs=make on-failure=replan"))
    desk.approve()
    result = desk.type("run")
    assert result.exit == 8, result
    assert "step check failed: exit status" in result.err
    assert desk.type("resume", "--answer", "again").exit == 0
    assert recorded(desk).status == "completed"


def test_a_revision_after_a_pause_needs_no_approval_though_a_check_off_has_moved_the_steps(
    desk: InProcessRepository,
) -> None:
    plan = FLAKY_CHECK_PLAN.replace("needs=make", "needs=make on-failure=replan")
    desk.plan(plan.replace("{#make", "{#make checkpoint"))
    desk.approve()
    assert desk.type("run").exit == 8
    result = desk.type("resume", "--answer", "go")
    assert result.exit == 0, result
    assert "revision 2 needs no new approval" in result.out


def test_the_time_limit_of_a_run_holds_for_its_revisions(desk: InProcessRepository) -> None:
    desk.write("flaky.py", SLOW)
    desk.plan(FLAKY_CHECK_PLAN.replace("needs=make", "needs=make on-failure=replan"))
    desk.approve()
    assert desk.type("run", "--timeout", "4").exit == 1
    record = recorded(desk)
    assert (record.status, record.revision) == ("failed", 2)
    assert "time" in (record.steps[1].reason or "")


def test_what_failed_is_tried_again_as_it_was_approved(desk: InProcessRepository) -> None:
    begin(desk, FLAKY_CHECK_PLAN, 1)
    result = desk.type("replan", "--reason", "It was the weather.")
    assert result.exit == 0
    assert "needs no new approval: all its steps were approved by" in result.out
    assert "next: execplan resume 0001-" in result.out
    assert "execplan approve" not in result.out
    assert "run 1 can be resumed: its new revision needs no approval" in desk.type("status").out
    for call in ("status", "next"):
        follow = desk.type(call).out.splitlines()[-1]
        assert "execplan resume 0001-" in follow, call
        assert "execplan approve" not in desk.type(call).out
    assert "next: execplan resume" in desk.type("runs").out
    assert "needs no new approval" in desk.type("show", "--run", "1").out
    assert desk.approval_state() == "approved"
    assert desk.data("approve", "--check")["covered_by"] == approvals(desk)[0]["digest"]
    assert desk.data("resume", "--dry-run")["question"]["why"] == "covered"
    assert desk.type("resume").exit == 0
    shown = desk.type("show", "--run", "1").out
    approver = approvals(desk)[0]["approver"]
    assert re.search(f"started .*, approved by {approver} ", shown)
    assert re.search(f"resumed .*, revision 2: all steps were approved by {approver} as revision 1\n", shown)
    assert recorded(desk).status == "completed"


def test_a_step_is_left_out_and_others_change_places(desk: InProcessRepository) -> None:
    plan = PLAN.replace("needs=check", "needs=make") + "\n```sh {#more}\ngrep -q 1 src/made.py\n```\n"
    begin(desk, plan, 1)
    revision = replan(desk, remaining_steps(desk, "more", "last"))
    assert (revision["needs_approval"], [step["id"] for step in revision["steps"]]) == ([], ["make", "more", "last"])
    assert desk.type("resume").exit == 0
    assert recorded(desk).completed_steps == (1, 2, 3)


@pytest.mark.parametrize(
    ("names", "changes", "why"),
    [
        (("last",), {"last": {"depends_on": ["make"]}}, "step last now needs make"),
        (("last",), {"last": {"depends_on": []}}, "step last no longer needs check"),
        (("check", "last"), {"check": {"command": "grep -q X src/made.py", "argv": ["grep", "-q", "X", "src/made.py"]}}, "argv"),
        (("check", "last"), {"check": {"env": {"A": "b"}}}, "step check has a different env"),
        (("check", "last"), {"check": {"cwd": "src"}}, "step check has a different cwd"),
        (("check", "last"), {"check": {"timeout_s": 301}}, "step check has a different timeout_s"),
        (("check", "last"), {"check": {"expect": "Y"}}, "step check has a different expect"),
        (("check", "last"), {"check": {"exit": 1}}, "step check has a different exit"),
        (("check", "last"), {"check": {"network": True}}, "step check has a different network"),
        (("check", "last"), {"check": {"outputs": ["x"]}}, "step check has a different outputs"),
        (("check", "last"), {"check": {"allow": ["x"]}}, "step check has a different allow"),
        (("check", "last"), {"check": {"id": "checks"}, "last": {"depends_on": ["checks"]}}, "step checks was added"),
    ],
)  # fmt: skip
def test_anything_else_is_for_a_person(
    desk: InProcessRepository, names: tuple[str, ...], changes: dict[str, Any], why: str
) -> None:
    begin(desk, PLAN, 1)
    dry = replan(desk, remaining_steps(desk, *names, **changes), "--dry-run")
    revision = replan(desk, remaining_steps(desk, *names, **changes))
    assert any(why in reason for reason in revision["needs_approval"]), revision["needs_approval"]
    assert (dry["needs_approval"], revision["covered_by"]) == (revision["needs_approval"], None)
    assert len(approvals(desk)) == 1
    assert desk.type("resume").exit == 4
    assert desk.type("status").out.splitlines()[-1] == f"next: execplan evaluate {NAME}"


def test_a_dry_run_tells_and_derives_nothing(desk: InProcessRepository) -> None:
    begin(desk, PLAN, 1)
    revision = replan(desk, "", "--dry-run")
    assert revision["covered_by"] == approvals(desk)[0]["digest"]
    assert len(approvals(desk)) == 1


def test_the_derived_approval_says_what_it_is(desk: InProcessRepository) -> None:
    begin(desk, PLAN, 1)
    replan(desk)
    first, second = approvals(desk)
    assert (second["how"], second["covered_by"], second["state"]) == ("revision", first["digest"], "approved")
    assert (second["approver"], second["expires_at"]) == (first["approver"], first["expires_at"])
    folder = desk.path / f".agent/execplans/artifacts/{NAME}/approvals"
    approval = json.loads((folder / f"{second['digest']}.json").read_bytes())
    assert approval["derived_from"]["revision"] == 1
    assert approval["derived_from"]["run"].startswith("0001-")
    assert approval["steps"] == ["check", "last"]
    assert "derived_from" not in json.loads((folder / f"{first['digest']}.json").read_bytes())
    assert f"revision 2, covered by {first['digest'][:12]}" in desk.type("approve", "--list").out
    project, ref = desk.project()
    assert verify_log(project, ref).reasons == ()
    assert desk.data("stats")["approvals"] == {"approved": 1, "declined": 0, "revoked": 0, "derived": 1}


def test_it_serves_its_run_alone(desk: InProcessRepository) -> None:
    begin(desk, PLAN, 1)
    replan(desk)
    desk.data("rollback")
    assert desk.type("approve", "--check").exit == 4
    desk.refused(4, "approval-used", "run")
    assert "used" in desk.type("status").out


def test_who_revokes_the_approval_revokes_what_was_derived(desk: InProcessRepository) -> None:
    begin(desk, PLAN, 1)
    replan(desk)
    assert desk.approval_state() == "approved"
    assert desk.data("approve", "--revoke")["revoked"] == [approvals(desk)[0]["digest"]]
    assert desk.approval_state() == "revoked"
    error = desk.refused(7, "not-approved", "resume")
    assert error["candidates"] == ["the approval that covers this revision was revoked"]
    assert desk.type("status").out.splitlines()[-1] == f"next: execplan evaluate {NAME}"
    desk.approve()
    assert desk.type("resume").exit == 1


def test_who_revokes_what_was_derived_is_asked_from_then_on(desk: InProcessRepository) -> None:
    begin(desk, PLAN, 1)
    replan(desk)
    desk.data("approve", "--revoke", approvals(desk)[1]["digest"])
    desk.refused(7, "not-approved", "resume")
    assert "revoked" in replan(desk)["needs_approval"][0]


def broken_seal(desk: InProcessRepository) -> None:
    """Another approver in the approval that the run has."""
    (path,) = (desk.path / f".agent/execplans/artifacts/{NAME}/approvals").iterdir()
    path.write_bytes(path.read_bytes().replace(b'"approver": "', b'"approver": "Dr. '))


STATES: dict[str, tuple[Callable[[InProcessRepository], object], str]] = {
    "revoked": (lambda desk: desk.data("approve", "--revoke"), "revoked"),
    "expired": (lambda desk: desk.later(2 * 86_400), "expired"),
    "altered": (broken_seal, "it was altered after it was signed"),
    "gone": (lambda desk: desk.file().unlink(), "has no remaining approval"),
    "another policy": (
        lambda desk: desk.write(".agent/execplan.toml", '[execution]\nperson_from = "LOW"\n'),
        "the policy has changed",
    ),
    "another key": (
        lambda desk: Path(approval_key.path(desk.project()[0])).write_bytes(b"k" * 32),
        "it was altered after it was signed",
    ),
    "another program first in PATH": (lambda desk: desk.stub("grep"), "grep: was "),
}


@pytest.mark.parametrize("state", STATES)
def test_an_approval_that_is_worth_nothing_covers_nothing(desk: InProcessRepository, state: str) -> None:
    begin(desk, PLAN, 1)
    change, why = STATES[state]
    change(desk)
    reasons = replan(desk)["needs_approval"]
    assert any(why in reason for reason in reasons), reasons
    assert desk.type("resume").exit in (4, 7)


def test_what_is_changed_behind_a_derived_approval_is_drift(desk: InProcessRepository) -> None:
    begin(desk, PLAN, 1)
    replan(desk)
    desk.write("src/made.py", "X = 2\n")
    assert any("src/made.py: different content (" in line for line in desk.drift())
    desk.refused(4, "stale-approval", "resume")


def test_another_program_behind_a_derived_approval_is_drift(desk: InProcessRepository) -> None:
    begin(desk, PLAN, 1)
    replan(desk)
    desk.stub("grep")
    assert any([line.startswith("grep: was ") for line in desk.drift()])
    desk.refused(4, "stale-approval", "resume")


@pytest.mark.parametrize("field", ["approver", "expires_at", "run", "approvals", "digest"])
def test_a_derived_approval_that_was_altered_lets_nothing_run(desk: InProcessRepository, field: str) -> None:
    begin(desk, PLAN, 1)
    replan(desk)
    path = desk.path / f".agent/execplans/artifacts/{NAME}/approvals/{approvals(desk)[1]['digest']}.json"
    approval_data = json.loads(path.read_bytes())
    into = approval_data if field in ("approver", "expires_at") else approval_data["derived_from"]
    replacements = {"expires_at": "2030-01-01T00:00:00Z", "approvals": ["0" * 32], "digest": "0" * 64}
    into[field] = replacements.get(field, f"{into[field]}x")
    path.write_bytes(document_bytes(Approval.model_validate(approval_data)))
    desk.refused(4, "approval-altered", "resume")


def test_a_revision_of_a_revision_derives_from_both(desk: InProcessRepository) -> None:
    begin(desk, PLAN, 1)
    for _ in range(2):
        replan(desk)
    project, _ = desk.project()
    folder = desk.path / f".agent/execplans/artifacts/{NAME}/approvals"
    first, second, third = [
        load_document((folder / f"{listed['digest']}.json").read_bytes(), Approval, "it") for listed in approvals(desk)
    ]
    assert third.origins == (first.id, second.id)
    sealing = approval_key.read(project)
    assert sealing is not None
    assert all(approval_document.verify_signature(approval, sealing) for approval in (first, second, third))
    desk.data("approve", "--revoke")
    assert (
        approval_status.find_status(*desk.project(), third.derived_from.run if third.derived_from else "").state
        == "revoked"
    )


def test_one_approval_does_not_cover_revisions_without_end(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revision_coverage, "MAX_DERIVED_REVISIONS", 2)
    begin(desk, PLAN, 1)
    assert [replan(desk)["needs_approval"] for _ in range(2)] == [[], []]
    assert "2 revisions in a row" in replan(desk)["needs_approval"][0]
    desk.approve()
    desk.type("resume")
    assert replan(desk)["needs_approval"] == [], "somebody has looked at it"


def test_what_comes_back_after_a_revision_without_it_is_new(desk: InProcessRepository) -> None:
    begin(desk, PLAN.replace("needs=check", "needs=make"), 1)
    both = remaining_steps(desk, "check", "last")
    assert replan(desk, remaining_steps(desk, "last"))["needs_approval"] == []
    assert replan(desk, both)["needs_approval"] == ["step check was added"]


@pytest.mark.parametrize("said", ["on-failure=ask", "confirm=true"])
def test_no_revision_answers_for_a_person(desk: InProcessRepository, said: str) -> None:
    begin(desk, PLAN.replace("needs=make", f"needs=make {said}"), 8)
    assert "a person must answer first" in replan(desk)["needs_approval"][0]


def test_a_run_that_a_person_has_stopped_is_theirs(desk: InProcessRepository) -> None:
    begin(desk, PLAN.replace("needs=make", "needs=make on-failure=ask"), 8)
    assert desk.type("resume", "--answer", "stop").exit == 1
    assert replan(desk)["needs_approval"] == ["a person has stopped the run"]


def test_steps_that_were_not_approved_stay_so(desk: InProcessRepository) -> None:
    """The approval of some steps covers no others, though the document has them."""
    plan = PLAN.replace("grep -q 1 src/made.py", "rm -f src/gone")
    desk.plan(plan)
    desk.data("approve", "--digest", desk.digest()[:8], "--step", "make", "--step", "check")
    assert desk.type("run", "--step", "make", "--step", "check").exit == 1
    revision = replan(desk)
    assert revision["needs_approval"] == []
    folder = desk.path / f".agent/execplans/artifacts/{NAME}/approvals"
    approval_data = json.loads((folder / f"{approvals(desk)[1]['digest']}.json").read_bytes())
    assert approval_data["steps"] == ["check"]


def test_what_the_policy_has_approved_is_no_persons(desk: InProcessRepository) -> None:
    """A derived approval gives no more weight to it: what a person has to approve is not approved."""
    begin(desk, PLAN, 1)
    assert approvals(desk)[0]["how"] == "policy"
    replan(desk)
    assert desk.type("resume").exit == 1
    project, ref = desk.project()
    entries = journal.read_journal(run_directories.find_run(project, ref, None).journal)
    resumed = next(entry for entry in entries if entry.kind == "resumed")
    assert (resumed.fields["how"], resumed.fields["covered_by"]["revision"]) == ("policy", 1)
    assert {entry.fields["by"] for entry in entries if entry.kind == "intent"} == {"policy"}
    assert recorded(desk).approver is None


def test_killed_before_the_approval_was_derived_a_person_approves(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    begin(desk, PLAN, 1)
    with monkeypatch.context() as patch:
        patch.setattr(revision_coverage, "derive_approval", killed)
        assert desk.type("replan", "--reason", "It failed.").exit == 130
    assert desk.type("status").out.splitlines()[-1] == f"next: execplan evaluate {NAME}"
    desk.refused(4, "stale-approval", "resume")
    desk.approve()
    assert desk.type("resume").exit == 1
