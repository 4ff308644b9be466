"""Approvals that people sign with their SSH keys: valid in every clone, and for nobody who is not an allowed signer."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.execution.approvals.team import NAME, PLAN, SETTINGS, TWO, Person, Team, make_key
from tests.needs import need

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """A team of three who may approve, each alone."""
    need("ssh-keygen")
    return Team(tmp_path)


@pytest.fixture
def ann(team: Team) -> Person:
    """The first of them, in her clone."""
    return Person(team.scratch, "ann")


def test_an_approval_is_valid_in_another_clone(team: Team, ann: Person) -> None:
    assert ann.approve()["approver"] == "ann@example.org"
    bo = team.clone("bo")
    assert bo.states() == {"ann@example.org": "approved"}
    assert bo.ok("run")["status"] == "completed"
    assert (bo.path / "deploy/prod.cfg").exists()
    assert bo.states() == {"ann@example.org": f"used: it was used by run {bo.ok('runs')['runs'][0]['id']}"}
    assert bo.error("run")["code"] == "approval-used"
    assert bo.run("audit", "--verify").exit == 0


def test_the_umask_of_a_clone_does_not_matter(team: Team, ann: Person) -> None:
    ann.plan(PLAN.replace("#make type=create_file", "#make type=create_file inputs=README.md"), NAME)
    ann.write("README.md", "# It\n").chmod(0o664)
    ann.commit_all()
    ann.approve()
    bo = team.clone("bo")
    (bo.path / "README.md").chmod(0o600)
    assert bo.states() == {"ann@example.org": "approved"}
    (bo.path / "README.md").chmod(0o700)
    assert bo.states()["ann@example.org"].startswith("stale: README.md: mode 644 → 755")


def test_who_is_no_allowed_signer_cannot_approve(team: Team) -> None:
    eve = team.clone("eve")
    error = eve.error("approve", "--digest", eve.digest())
    assert (error["exit"], error["code"]) == (7, "unknown-signer")
    assert eve.line.strip() in error["hint"]
    assert eve.states() == {}


@pytest.mark.parametrize("on_branch", [False, True])
def test_an_edit_of_the_allowed_signers_does_not_count(team: Team, *, on_branch: bool) -> None:
    eve = team.clone("eve")
    path = eve.path / ".agent/allowed_signers"
    path.write_text(path.read_text() + eve.line)
    if on_branch:
        eve.git("checkout", "-q", "-b", "work")
        eve.commit_all()
    assert eve.error("approve", "--digest", eve.digest())["code"] == "unknown-signer"


def test_an_approval_with_a_key_that_is_not_allowed_runs_nothing(team: Team, ann: Person) -> None:
    """Eve signs with her own key, in a repository of her own where she may, and brings the file."""
    own_main = team.clone("eve")
    own_main.write(".agent/allowed_signers", own_main.line)
    own_main.git("add", "-A")
    own_main.git("commit", "-q", "-m", "Mine")
    own_main.git("update-ref", "refs/remotes/origin/main", "HEAD")
    own_main.ok("approve", "--digest", own_main.digest())
    source = own_main.approval_file()
    target = ann.write(f".agent/execplans/artifacts/{NAME}/approvals/{source.name}", source.read_bytes())
    error = ann.error("run")
    assert (error["exit"], error["code"]) == (7, "signature-not-allowed")
    assert error["candidates"] == ["it was signed with a key that is not allowed for eve@example.org"]
    fields = json.loads(target.read_bytes())
    target.write_text(json.dumps({**fields, "approver": "ann@example.org"}, indent=2) + "\n")
    assert ann.error("run")["code"] == "approval-altered"
    assert not (ann.path / "greet.py").exists()


@pytest.mark.parametrize("settings", ["", "[approval]\n", '[approval]\nsignatures = "machine"\n'])
def test_the_working_tree_cannot_go_back_to_the_key_of_the_machine(ann: Person, settings: str) -> None:
    (ann.path / ".agent/execplan.toml").write_text(settings)
    ann.ok("approve", "--digest", ann.digest())
    approval = json.loads(ann.approval_file().read_bytes())
    assert "hmac" not in approval
    key = ann.home / ".config/execplan/key"
    assert not key.exists()
    (ann.home / "gitconfig").write_text("")
    shutil.rmtree(ann.approval_file().parent)
    assert ann.error("approve", "--digest", ann.digest())["code"] == "no-signing-key"


def test_an_approval_of_a_machine_does_not_count(ann: Person) -> None:
    ann.git("update-ref", "-d", "refs/remotes/origin/HEAD")
    ann.git("update-ref", "-d", "refs/remotes/origin/main")
    settings = (ann.path / ".agent/execplan.toml").read_text()
    (ann.path / ".agent/execplan.toml").write_text("")
    ann.git("commit", "-qam", "No signatures")
    ann.ok("approve", "--digest", ann.digest())
    assert list(ann.states().values()) == ["approved"]
    ann.git("fetch", "-q")
    assert list(ann.states().values()) == [
        "untrusted: it has the signature of a machine, and the policy wants that of a person"
    ]
    (ann.path / ".agent/execplan.toml").write_text(settings)
    assert ann.error("run")["code"] == "signature-not-allowed"


def test_a_named_agent_cannot_approve(ann: Person) -> None:
    error = ann.error("approve", "--digest", ann.digest(), EXECPLAN_AGENT="agent-1")
    assert error["code"] == "person-required"
    assert ann.states() == {}


def test_an_old_approval_is_not_valid_again(team: Team, ann: Person) -> None:
    ann.approve()
    bo = team.clone("bo")
    bo.plan(PLAN.replace("Hello", "Bye"), NAME)
    assert bo.states()["ann@example.org"].startswith("stale: the execution plan: different content")
    assert bo.error("run")["code"] == "stale-approval"
    bo.plan(PLAN, NAME)
    bo.ok("run")
    bo.ok("rollback")
    bo.git("checkout", "-q", ".")
    assert bo.states()["ann@example.org"].startswith("used")
    assert bo.error("run")["code"] == "approval-used"


def test_an_approval_of_another_plan_is_not_valid(ann: Person) -> None:
    ann.approve()
    other = "2026-01-02_other"
    ann.plan(PLAN.replace("# Greet", "# Other"), other)
    source = ann.approval_file()
    ann.write(f".agent/execplans/artifacts/{other}/approvals/{source.name}", source.read_bytes())
    error = ann.error("run", other)
    assert error["code"] == "stale-approval"
    assert f"it was given for plan {NAME}" in error["candidates"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("expires_at", "2026-02-01T00:00:00Z"), ("max_risk", None), ("approver", "bo@example.org"), ("id", "0" * 32)],
)
def test_a_changed_field_makes_the_signature_invalid(ann: Person, field: str, value: str | None) -> None:
    ann.approve("--max-risk", "HIGH", "--step", "make")
    path = ann.approval_file()
    fields = json.loads(path.read_bytes())
    assert fields[field] != value
    path.write_text(json.dumps({**fields, field: value}, indent=2) + "\n")
    assert ann.error("run")["code"] == "approval-altered"


def test_a_signature_for_another_purpose(ann: Person) -> None:
    ann.approve()
    path = ann.approval_file()
    fields = json.loads(path.read_bytes())
    signed = {name: value for name, value in fields.items() if name != "ssh"}
    data = json.dumps(signed, sort_keys=True, separators=(",", ":")).encode()
    command = ["ssh-keygen", "-Y", "sign", "-n", "git", "-f", str(ann.key)]
    signature = subprocess.run(command, input=data, capture_output=True, check=True, timeout=60).stdout.decode()
    path.write_text(json.dumps({**fields, "ssh": signature}, indent=2) + "\n")
    assert ann.states() == {"ann@example.org": "altered: its signature was made for another purpose than an approval"}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ('valid-before="20200101" ', "key has expired"),
        ('valid-after="20990101" ', "key is not yet valid"),
        ('namespaces="git" ', "not permitted for use in signature namespace"),
    ],
)
def test_a_key_that_may_not_sign_now(team: Team, ann: Person, options: str, reason: str) -> None:
    ann.approve()
    ann.write(".agent/allowed_signers", f"{ann.email} {options}{ann.public_key}\n")
    ann.commit_all()
    error = ann.error("run")
    assert error["code"] == "signature-not-allowed"
    assert reason in error["candidates"][0], error
    assert ann.error("approve", "--digest", ann.digest())["code"] == "unknown-signer"


def test_a_revoked_key(team: Team, ann: Person) -> None:
    ann.approve()
    ann.write(".agent/revoked_signers", f"{ann.public_key}\n")
    assert ann.states() == {"ann@example.org": "approved"}, "only the main branch counts"
    ann.commit_all()
    assert ann.states() == {"ann@example.org": "untrusted: the key of ann@example.org is revoked"}
    assert "revoked" in ann.error("approve", "--digest", ann.digest())["message"]


def test_without_allowed_signers_nobody_can_approve(ann: Person) -> None:
    ann.approve()
    ann.git("rm", "-q", ".agent/allowed_signers")
    ann.commit_all()
    assert ann.error("run")["code"] == "signature-not-allowed"
    error = ann.error("approve", "--digest", ann.digest())
    assert (error["exit"], error["code"]) == (7, "no-allowed-signers")


def test_a_key_that_cannot_sign(ann: Person) -> None:
    digest = ann.digest()
    ann.key.chmod(0o644)
    error = ann.error("approve", "--digest", digest)
    assert (error["exit"], error["code"], error["hint"]) == (6, "not-signed", f"chmod 600 {ann.key}")
    ann.key.rename(ann.home / "away")
    error = ann.error("approve", "--digest", digest)
    assert error["code"] == "not-signed"
    assert f"ssh-add {ann.key}" in error["hint"]
    ann.key.with_suffix(".pub").unlink()
    assert ann.error("approve", "--digest", digest)["code"] == "no-signing-key"
    make_key(ann.key, "secret")
    error = ann.error("approve", "--digest", digest)
    assert error["code"] == "unknown-signer"
    ann.write(".agent/allowed_signers", ann.line)
    ann.commit_all()
    error = ann.error("approve", "--digest", digest)
    assert (error["exit"], error["code"]) == (6, "not-signed")
    assert "passphrase" in error["message"]
    assert ann.states() == {}


def test_the_key_of_an_agent_of_ssh(ann: Person) -> None:
    need("ssh-agent")
    digest = ann.digest()
    started = subprocess.run(["ssh-agent", "-a", str(ann.home / "s")], capture_output=True, check=True, timeout=60)
    process = started.stdout.decode().partition("SSH_AGENT_PID=")[2].partition(";")[0]
    try:
        environment = {**ann.env, "SSH_AUTH_SOCK": str(ann.home / "s")}
        subprocess.run(["ssh-add", "-q", str(ann.key)], env=environment, check=True, timeout=60)
        ann.key.unlink()
        ann.git("config", "--file", str(ann.home / "gitconfig"), "user.signingkey", f"key::{ann.public_key}")
        ann.env["SSH_AUTH_SOCK"] = str(ann.home / "s")
        assert ann.ok("approve", "--digest", digest)["approver"] == "ann@example.org"
    finally:
        subprocess.run(["kill", process], check=True, timeout=60)


def test_without_ssh_keygen_nothing_runs(ann: Person, tmp_path: Path) -> None:
    ann.approve()
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "sh", "python3"):
        (programs / name).symlink_to(str(shutil.which(name)))
    error = ann.error("run", PATH=str(programs))
    assert (error["exit"], error["code"]) == (6, "no-ssh-keygen")
    ann.write("bin/ssh-keygen", "#!/bin/sh\nexit 0\n").chmod(0o755)
    error = ann.error("run", PATH=f"{ann.path}/bin:{programs}")
    assert error["code"] == "no-ssh-keygen", "one in the repository is not used"


def test_who_keeps_git_from_reading_the_main_branch_gets_no_other_rules(ann: Person, tmp_path: Path) -> None:
    ann.approve()
    (ann.path / ".agent/execplan.toml").write_text("")
    (tmp_path / "empty").mkdir()
    error = ann.error("run", PATH=str(tmp_path / "empty"))
    assert (error["exit"], error["code"]) == (6, "no-git")
    (ann.path / ".git/config").write_text("[broken")
    assert ann.error("run")["code"] == "git-failed"


def test_by_cannot_name_somebody_else(ann: Person) -> None:
    error = ann.error("approve", "--digest", ann.digest(), "--by", "bo@example.org")
    assert (error["exit"], error["code"]) == (2, "usage")


def test_a_plan_of_the_policy_alone_needs_no_key_of_a_person(team: Team, ann: Person) -> None:
    (ann.home / "gitconfig").write_text(f"[user]\nname = ann\nemail = {ann.email}\n")
    ann.plan(PLAN.partition("```text")[0], NAME)
    assert ann.ok("approve")["how"] == "policy"
    assert ann.ok("run")["status"] == "completed"


def test_revoking_ends_the_approvals_of_all_people_of_a_digest(tmp_path: Path) -> None:
    need("ssh-keygen")
    team = Team(tmp_path, TWO)
    ann = Person(team.scratch, "ann")
    ann.approve()
    bo = team.clone("bo")
    bo.approve()
    assert set(bo.states().values()) == {"approved"}
    assert len(bo.ok("approve", "--revoke")["revoked"]) == 1
    assert set(bo.states().values()) == {"revoked"}
    assert bo.error("run")["code"] == "not-approved"


def test_a_machine_cannot_tell_people_apart(tmp_path: Path) -> None:
    need("ssh-keygen")
    team = Team(tmp_path)
    ann = Person(team.scratch, "ann")
    ann.write(".agent/execplan.toml", TWO.replace(SETTINGS, ""))
    error = ann.error("evaluate")
    assert error["code"] == "bad-setting"
    assert 'signatures = "ssh"' in error["hint"]
