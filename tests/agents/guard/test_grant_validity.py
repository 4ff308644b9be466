"""The warrant holds as long as all that it goes by is as it was, and nobody makes one without the key."""

from __future__ import annotations

import hmac
import json
import shutil
from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import ExecplanError
from execplan.core.text.hmac_signature import sign
from execplan.execution.approvals import approval_key
from execplan.execution.engine.agent_runs import guard_grant, journal_watermark
from tests.execution.engine.fakes import run_paths_in

if TYPE_CHECKING:
    from pathlib import Path

    from execplan.execution.engine.agent_runs.guard_grant import GuardGrant
    from tests.agents.guard.guard_repository import GuardRepository


def _file(desk: GuardRepository) -> Path:
    (path,) = (desk.path / ".git/execplan/warrants").glob("*.json")
    return path


def _load(desk: GuardRepository) -> GuardGrant | None:
    project, ref = desk.project()
    return guard_grant.load(project, ref.id)


def test_a_signature_is_an_hmac() -> None:
    for secret in (b"", b"k" * 32, b"k" * 64):
        for data in (b"", b"x" * 1000):
            assert sign(secret, data) == hmac.new(secret, data, "sha256").hexdigest().encode()


def test_it_is_read_as_it_was_issued(begun: GuardRepository) -> None:
    grant = _load(begun)
    assert grant is not None
    assert [granted_step.step["id"] for granted_step in grant.steps] == ["build", "check", "ship", "drop"]
    assert grant.home == begun.project()[0]
    assert grant.terms.expires > grant.terms.approved
    assert _file(begun).stat().st_mode & 0o777 == 0o600


def test_each_checksum_counts(begun: GuardRepository) -> None:
    grant = _load(begun)
    assert grant is not None
    checksums = grant.witnesses
    assert len(checksums) == 9
    for path, checksum in checksums.items():
        if checksum == "absent":
            begun.write(path, "# more\n")
            assert _load(begun) is None, path
            (begun.path / path).unlink()
        elif (begun.path / path).is_symlink():  # the run that uses the approval
            run = (begun.path / path).readlink()
            (begun.path / path).unlink()
            assert _load(begun) is None, path
            (begun.path / path).symlink_to("0002-other")
            assert _load(begun) is None, path
            (begun.path / path).unlink()
            (begun.path / path).symlink_to(run)
        else:
            data = (begun.path / path).read_bytes()
            begun.write(path, data + b"\n")
            assert _load(begun) is None, path
            begun.write(path, data)
        assert _load(begun) == grant


def test_a_grant_of_somebody_without_the_key_allows_nothing(begun: GuardRepository) -> None:
    path = _file(begun)
    sealed, _, body = path.read_bytes().partition(b"\n")
    grant_fields = json.loads(body)
    grant_fields["steps"][0]["step"]["argv"] = ["make", "evil"]
    grant_fields["steps"][0]["step"]["command"] = "make evil"
    for mac in (sealed, sign(b"k" * 32, b"execplan-warrant-1\n" + body), b""):
        path.write_bytes(mac + b"\n" + json.dumps(grant_fields).encode())
        assert _load(begun) is None
        assert begun.ask("make evil").kind == "deny"
        assert begun.ask("make evil", program="json").response_fields["nearest"] == "build"


def test_a_grant_of_another_plan_or_path_is_none(begun: GuardRepository) -> None:
    path = _file(begun)
    project, _ = begun.project()
    path.with_name(f"{'0' * 16}.json").write_bytes(path.read_bytes())
    assert guard_grant.load_file(project, str(path.with_name(f"{'0' * 16}.json"))) is None
    assert guard_grant.load_file(project._replace(root="/elsewhere"), str(path)) is None


def test_a_damaged_grant_is_issued_again(begun: GuardRepository) -> None:
    path = _file(begun)
    original = path.read_bytes()
    for torn in (b"", original[:100], original[:-1], original.replace(b'"level":"', b'"level":"x', 1)):
        path.write_bytes(torn)
        assert _load(begun) is None
    assert begun.ask("make parser").kind == "allow"
    assert _load(begun) is not None


def test_folders_that_have_moved(begun: GuardRepository) -> None:
    begun.patch.setenv("XDG_STATE_HOME", str(begun.path.parent / "elsewhere"))
    assert _load(begun) is None
    begun.patch.setenv("XDG_CONFIG_HOME", str(begun.path.parent / "elsewhere"))
    assert _load(begun) is None
    assert begun.ask("make parser").kind == "deny"


def test_secrets_of_the_document_are_in_no_reason(begun: GuardRepository) -> None:
    secret = "hunter2-hunter2"
    begun.patch.setenv("DEPLOY_TOKEN", secret)
    assert begun.type("rollback").exit == 0
    shutil.rmtree(begun.path / ".agent/execplans/artifacts/2026-01-01_parser/runs")
    plan = (begun.path / ".agent/execplans/2026-01-01_parser.md").read_text()
    begun.plan(plan.replace("make parser", f"make parser WITH={secret}"))
    begun.approve()
    assert begun.ask(f"make parser WITH={secret}").kind == "allow"
    answer = begun.ask(f"make parser WITH={secret} --force")
    assert answer.kind == "deny"
    assert secret not in answer.why
    call_entry = next(entry for entry in begun.entries() if entry["kind"] == "called")
    assert call_entry["what"] == "make parser WITH=[redacted]"


def test_a_mark_refuses_a_journal_that_was_shortened(tmp_path: Path) -> None:
    run_paths = run_paths_in(str(tmp_path))
    journal_watermark.check(run_paths, b"anything", b"k")
    journal_watermark.write(run_paths, b"one\ntwo\n", b"k" * 32)
    journal_watermark.check(run_paths, b"one\ntwo\n", b"k" * 32)
    journal_watermark.check(run_paths, b"one\ntwo\nthree\n", b"k" * 32)
    for data, secret in (
        (b"one\n", b"k" * 32),
        (b"one\nTwo\n", b"k" * 32),
        (b"one\ntwo\n", b"j" * 32),
        (b"", b"k" * 32),
    ):
        with pytest.raises(ExecplanError, match="removed or changed"):
            journal_watermark.check(run_paths, data, secret)


def test_withdrawn(begun: GuardRepository) -> None:
    project, ref = begun.project()
    assert approval_key.read(project) is not None
    guard_grant.revoke(project, ref.id)
    guard_grant.revoke(project, ref.id)
    assert _load(begun) is None
