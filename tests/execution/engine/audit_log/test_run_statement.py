"""Attestations: what `archive` and `audit --attest` state about a run, checked with the in-toto library."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf import json_format
from in_toto_attestation.predicates.test_result.v0 import test_result_pb2
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as StatementMessage

from execplan.core.archive import move_execution
from execplan.core.plan_store import claims
from tests.cli.approved_plan import ASKS, FAILS, HEAD, MAKE, SEE, run_id, sandbox_off, with_approved_plan
from tests.core.archive.test_interrupted_moves import kill_while_moving
from tests.execution.engine.kill_points import arm
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

FILE = "execplan-attestation.json"
ARTIFACTS = f".agent/execplans/artifacts/{NAME}"
FILED = f".agent/execplans/archive/artifacts/{NAME}"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository."""
    return sandbox_off(InProcessRepository(tmp_path / "desk", monkeypatch))


def read_statement(data: bytes) -> tuple[dict[str, Any], test_result_pb2.TestResult]:
    """Read a Statement as an in-toto verifier does, and return it with its predicate."""
    message = json_format.Parse(data, StatementMessage())
    Statement.copy_from_pb(message).validate()
    assert message.predicate_type == "https://in-toto.io/attestation/test-result/v0.1"
    predicate = json_format.ParseDict(json_format.MessageToDict(message.predicate), test_result_pb2.TestResult())
    statement: dict[str, Any] = json.loads(data)
    return statement, predicate


def attest(desk: InProcessRepository) -> tuple[dict[str, Any], test_result_pb2.TestResult]:
    """The Statement that `audit --attest` writes."""
    data = desk.data("audit", "--attest")
    return read_statement((desk.path / data["path"]).read_bytes())


def digests(statement: dict[str, Any]) -> dict[str, str]:
    """The SHA-256 of each subject that is a file."""
    return {
        subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"] if subject["name"] != "commit"
    }


def test_the_statement_of_a_run_names_every_file_and_the_commit_by_digest(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, SEE).type("run")
    desk.write(f"{ARTIFACTS}/report.txt", "fine\n")
    desk.commit()
    statement, predicate = attest(desk)
    assert (predicate.result, list(predicate.passed_tests)) == ("PASSED", ["make", "see"])
    assert list(predicate.warned_tests) == list(predicate.failed_tests) == []
    files = digests(statement)
    for name, digest in files.items():
        assert hashlib.sha256((desk.path / name).read_bytes()).hexdigest() == digest, name
    present = {path.relative_to(desk.path).as_posix() for path in (desk.path / ARTIFACTS).rglob("*") if path.is_file()}
    assert set(files) == {f".agent/execplans/{NAME}.md", *present} - {f"{ARTIFACTS}/{FILE}"}
    (commit,) = [subject for subject in statement["subject"] if subject["name"] == "commit"]
    assert commit["digest"] == {"gitCommit": desk.git("rev-parse", "HEAD").strip()}
    configuration = predicate.configuration[0]
    assert configuration.digest["sha256"] == files[configuration.name]
    assert configuration.annotations["run"] == run_id(desk)


def test_the_configuration_of_a_replanned_run_is_its_last_execution_plan(desk: InProcessRepository) -> None:
    fails = "```sh {#see needs=make on-failure=replan}\nls src/later.py\n```\n\n"
    assert with_approved_plan(desk, MAKE, fails).type("run").exit == 8
    desk.write("src/later.py", "")
    assert desk.type("resume", "--answer", "again").exit == 0
    statement, predicate = attest(desk)
    configuration = predicate.configuration[0]
    assert configuration.name.rpartition("/")[2].startswith("execution-plan-")
    assert configuration.digest["sha256"] == digests(statement)[configuration.name]


def test_the_same_state_is_attested_with_the_same_bytes(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE).type("run")
    assert desk.data("audit", "--attest")["changed"]
    again = desk.data("audit", "--attest")
    assert not again["changed"]
    desk.later(86_400)
    assert desk.data("audit", "--attest")["digest"] == again["digest"]


def test_a_run_that_failed_is_attested_as_failed(desk: InProcessRepository) -> None:
    desk.write("../.config/execplan/config.toml", '[execution]\nsandbox = "off"\nrollback_on = []\n')
    assert with_approved_plan(desk, MAKE, FAILS).type("run").exit == 1
    predicate = attest(desk)[1]
    assert predicate.result == "FAILED"
    assert (list(predicate.passed_tests), list(predicate.failed_tests)) == (["make"], ["see"])


def test_a_run_that_was_rolled_back_has_only_failed_steps(desk: InProcessRepository) -> None:
    desk.write("../.config/execplan/config.toml", '[execution]\nrollback_on = ["failure"]\n')
    assert with_approved_plan(desk, MAKE, FAILS).type("run").exit == 1
    assert not (desk.path / "src/made.py").exists()
    predicate = attest(desk)[1]
    assert (predicate.result, list(predicate.passed_tests)) == ("FAILED", [])
    assert list(predicate.failed_tests) == ["see"]


def test_a_step_that_changed_files_and_failed_is_listed_after_its_rollback(desk: InProcessRepository) -> None:
    desk.write("../.config/execplan/config.toml", '[execution]\nrollback_on = ["failure"]\n')
    fails = "```sh {#see needs=make outputs=src/seen.txt shell=sh}\necho x > src/seen.txt; exit 3\n```\n\n"
    assert with_approved_plan(desk, MAKE, fails).type("run").exit == 1
    assert not (desk.path / "src/seen.txt").exists()
    assert list(attest(desk)[1].failed_tests) == ["see"]


def test_a_completed_run_that_was_rolled_back_lists_no_step(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, SEE).type("run")
    assert desk.type("rollback", "1").exit == 0
    predicate = attest(desk)[1]
    assert (predicate.result, list(predicate.passed_tests)) == ("FAILED", [])
    assert list(predicate.failed_tests) == []


def test_a_step_whose_alternative_ran_is_a_warning(desk: InProcessRepository) -> None:
    fails = "```sh {#see on-failure=alternative:other}\nls src/nowhere.py\n```\n\n"
    result = with_approved_plan(desk, MAKE, fails, "```sh {#other}\nls src\n```\n\n").type("run")
    assert result.exit == 0, result
    predicate = attest(desk)[1]
    assert (predicate.result, list(predicate.warned_tests)) == ("WARNED", ["see"])
    assert list(predicate.passed_tests) == ["make", "other"]


def test_a_dry_run_writes_nothing(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE).type("run")
    data = desk.data("audit", "--attest", "--dry-run")
    assert (data["changed"], data["path"]) == (False, f"{ARTIFACTS}/{FILE}")
    assert not (desk.path / ARTIFACTS / FILE).exists()


def test_what_cannot_be_attested(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE)
    desk.refused(3, "nothing-to-attest", "audit", "--attest")
    desk.type("run")
    desk.refused(2, "usage", "audit", "--attest", "--verify")
    foreign = desk.write(f"{ARTIFACTS}/{FILE}", "mine\n")
    desk.refused(3, "target-taken", "audit", "--attest")
    assert foreign.read_text() == "mine\n"
    foreign.unlink()
    log = desk.path / ARTIFACTS / "ledger.jsonl"
    log.write_text(log.read_text().replace('"completed"', '"failed"'))
    desk.refused(1, "ledger-broken", "audit", "--attest")
    assert not foreign.exists()


def test_a_run_that_has_not_ended_is_named(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, ASKS)
    assert desk.type("run", "--step", "make").exit == 0
    assert desk.type("rollback", "1").exit == 0
    desk.approve()
    assert desk.type("run").exit == 8
    error = desk.refused(1, "run-under-way", "audit", "--attest")
    assert error["message"].startswith("run 0002-")
    assert "resume it: execplan resume 2 -p 2026-01-01_parser" in error["hint"]


def kill_run(desk: InProcessRepository, kill_point: str) -> None:
    """Run the plan in a process that is killed at an entry of its journal."""
    child = os.fork()
    if not child:
        try:
            arm(kill_point)
            desk.type("run")
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize("with_earlier_attestation", [False, True])
def test_a_killed_run_is_named_instead_of_the_one_before(
    desk: InProcessRepository, *, with_earlier_attestation: bool
) -> None:
    with_approved_plan(desk, MAKE, SEE)
    assert desk.type("run").exit == 0
    assert desk.type("rollback", "1").exit == 0
    if with_earlier_attestation:
        desk.data("audit", "--attest")
    desk.approve()
    kill_run(desk, "after:2")
    error = desk.refused(1, "run-under-way", "audit", "--attest")
    assert error["message"].startswith("run 0002-")
    assert (desk.path / ARTIFACTS / FILE).exists() == with_earlier_attestation
    assert desk.data("archive", "--force", "--reason", "Enough.")["attestation"] is None


def test_a_run_that_was_killed_before_its_first_entry_is_none(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, SEE)
    assert desk.type("run").exit == 0
    assert desk.type("rollback", "1").exit == 0
    desk.approve()
    kill_run(desk, "before:1")
    assert attest(desk)[1].configuration[0].annotations["run"].startswith("0001-")


def test_a_run_whose_record_is_missing_or_damaged_is_named(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE, SEE)
    assert desk.type("run").exit == 0
    (record,) = (desk.path / ARTIFACTS / "runs").glob("*/record.json")
    for damage in (record.unlink, lambda: record.write_text("{")):
        damage()
        error = desk.refused(3, "nothing-to-attest", "audit", "--attest")
        assert error["message"].endswith("is missing or damaged")
        desk.type(*error["hint"].partition("execplan ")[2].split())
        assert attest(desk)[1].result == "PASSED"


def test_a_failed_run_whose_record_is_missing_can_be_rolled_back(desk: InProcessRepository) -> None:
    desk.write("../.config/execplan/config.toml", '[execution]\nsandbox = "off"\nrollback_on = []\n')
    assert with_approved_plan(desk, MAKE, FAILS).type("run").exit == 1
    next((desk.path / ARTIFACTS / "runs").glob("*/record.json")).unlink()
    error = desk.refused(3, "nothing-to-attest", "audit", "--attest")
    assert error["hint"].endswith("or roll it back: execplan rollback 1 -p 2026-01-01_parser")
    assert desk.type("rollback", "1", "-p", "2026-01-01_parser").exit == 0
    assert attest(desk)[1].result == "FAILED"


def test_secrets_in_file_names_are_redacted(desk: InProcessRepository) -> None:
    with_approved_plan(desk, MAKE).type("run")
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6"
    desk.write(f"{ARTIFACTS}/{token}.txt", "x\n")
    data = desk.data("audit", "--attest")
    assert token not in (desk.path / data["path"]).read_text()


def archived(desk: InProcessRepository) -> Path:
    """Run a plan, archive it, and return the path of its attestation."""
    desk.plan(HEAD + MAKE + SEE)
    desk.approve()
    assert desk.type("run").exit == 0
    desk.commit()
    data = desk.data("archive", "--force", "--reason", "Enough.", "--commit")
    assert data["attestation"] == f"{FILED}/{FILE}"
    return desk.path / FILED / FILE


def test_archive_writes_a_statement_beside_its_evidence(desk: InProcessRepository) -> None:
    path = archived(desk)
    statement, predicate = read_statement(path.read_bytes())
    assert (predicate.result, list(predicate.passed_tests)) == ("PASSED", ["make", "see"])
    files = digests(statement)
    assert {f".agent/execplans/archive/{NAME}.md", f"{FILED}/execplan-evidence.json"} <= set(files)
    for name, digest in files.items():
        assert hashlib.sha256((desk.path / name).read_bytes()).hexdigest() == digest, name
    assert desk.git("status", "--porcelain") == ""


def test_a_restored_plan_has_no_statement_and_an_undone_restore_has_it_again(desk: InProcessRepository) -> None:
    path = archived(desk)
    statement = path.read_bytes()
    desk.data("restore", "parser")
    assert not path.exists()
    assert not (desk.path / ARTIFACTS / FILE).exists()
    desk.data("undo", "-p", "parser")
    assert path.read_bytes() == statement


def test_a_plan_that_never_ran_is_archived_without_a_statement(desk: InProcessRepository) -> None:
    assert desk.data("archive", "--force", "--reason", "Enough.")["attestation"] is None
    assert (desk.path / FILED / "execplan-evidence.json").exists()
    assert not (desk.path / FILED / FILE).exists()


@pytest.mark.parametrize(
    ("module", "function"),
    [(move_execution, "_replace_evidence"), (move_execution, "read_attestation"), (claims, "move_claims")],
)
def test_an_archive_that_was_killed_is_finished_with_its_statement(
    desk: InProcessRepository, module: ModuleType, function: str
) -> None:
    desk.plan(HEAD + MAKE + SEE)
    desk.approve()
    assert desk.type("run").exit == 0
    kill_while_moving(desk, module, function, "archive")
    assert "is finished now" in desk.type("status").err
    statement = read_statement((desk.path / FILED / FILE).read_bytes())[0]
    for name, digest in digests(statement).items():
        assert hashlib.sha256((desk.path / name).read_bytes()).hexdigest() == digest, name
