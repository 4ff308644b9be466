"""Approvals: how they are given, and what they cover."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.in_process_repository import INFERRED, LOW, NAME, STEPS, InProcessRepository

if TYPE_CHECKING:
    pass


def terminal(desk: InProcessRepository, answer: bytes, *arguments: str) -> tuple[int, str]:
    """Run execplan on a terminal, on which something is answered; the exit status and what was shown."""
    parent_fd, child_fd = pty.openpty()
    command = [sys.executable, "-m", "execplan", *arguments]
    env = {**desk.env, "COLUMNS": "200", "TERM": "dumb"}
    with subprocess.Popen(command, cwd=desk.path, env=env, stdin=child_fd, stdout=child_fd, stderr=child_fd) as process:
        os.close(child_fd)
        os.write(parent_fd, answer)
        chunks = []
        try:
            while chunk := os.read(parent_fd, 1 << 16):
                chunks.append(chunk)
        except OSError:
            pass  # nobody holds the other end any more
        process.wait(timeout=60)
    os.close(parent_fd)
    return process.returncode, b"".join(chunks).decode()


def test_by_the_digest_that_was_read(desk: InProcessRepository) -> None:
    digest = desk.digest()
    data = desk.data("approve", "--digest", digest[:8].upper(), "--by", "A bot", "--expires", "2h")
    assert data["digest"] == digest
    assert data["steps"] == ["build", "api", "drop"]
    assert data["by_policy"] == ["api"]
    assert data["not_covered"] == data["inferred"] == []
    assert (data["approver"], data["how"], data["expires_at"]) == ("A bot", "digest", "2026-01-01T02:00:00Z")
    assert data["path"] == f".agent/execplans/artifacts/{NAME}/approvals/{digest}.json"
    approval = desk.approval_data()
    assert approval["head"] == desk.git("rev-parse", "HEAD").strip()
    assert list(approval["states"]) == ["Makefile", "src/made.py", "src/old.py"]
    stored = desk.path / f".agent/execplans/artifacts/{NAME}/execution-plan.json"
    assert approval["document"] == desk.data("evaluate")["document"]
    assert json.loads(stored.read_bytes())["plan_id"] == NAME
    assert desk.approval_state() == "approved"


def test_a_digest_that_is_none_or_not_the_present_one(desk: InProcessRepository) -> None:
    for digest in ("1234567", "x" * 8, "", "0" * 65):
        desk.refused(2, "usage", "approve", "--digest", digest)
    error = desk.refused(4, "other-digest", "approve", "--digest", "00000000")
    assert desk.digest() not in str(error), "it is learned by reading what it stands for"
    desk.approve()
    desk.write("Makefile", "parser: all\n")
    error = desk.refused(4, "other-digest", "approve", "--digest", desk.approval_data()["digest"])
    changes = [line.partition(":")[0] for line in error["candidates"]]
    assert changes == ["Makefile", "Makefile (read by make)"]
    desk.write("src/made.py", "")
    desk.refused(4, "other-digest", "approve", "--digest", desk.approval_data()["digest"])


def test_neither_terminal_nor_digest(desk: InProcessRepository) -> None:
    error = desk.refused(2, "usage", "approve")
    assert "--digest" in error["message"]
    assert error["hint"].endswith(f"execplan approve {NAME} --digest DIGEST")
    assert not (desk.path / ".agent/execplans/artifacts").exists()


def test_a_dry_run_writes_nothing_and_needs_no_digest(desk: InProcessRepository) -> None:
    data = desk.data("approve", "--dry-run")
    assert data["digest"] == desk.digest()
    assert data["steps"] == ["build", "api", "drop"]
    assert desk.git("status", "--short") == ""
    assert not (desk.path.parent / ".config").exists()
    assert not (desk.path.parent / "state-home").exists()


def test_asked_on_a_terminal(desk: InProcessRepository) -> None:
    status, output = terminal(desk, b"\n", "approve")
    assert status == 1
    assert "make parser" in output
    assert "Approve these 3 steps? [y/N]" in output
    assert "nothing was approved" in output
    assert [path.name for path in (desk.path / ".agent/execplans/artifacts" / NAME).iterdir()] == ["ledger.jsonl"]
    status, output = terminal(desk, b"y\n", "approve", "--step", "drop")
    assert status == 0, output
    assert "Approve this step? [y/N]" in output
    assert "not approved: build" in output
    assert (desk.approval_data()["how"], desk.approval_data()["steps"], desk.approval_data()["inferred"]) == (
        "terminal",
        ["drop"],
        None,
    )


@pytest.mark.parametrize(("answers", "status"), [(b"y\ny\n", 0), (b"y\nn\n", 1), (b"y\n\n", 1)])
def test_code_that_no_approval_can_cover_is_asked_about(desk: InProcessRepository, answers: bytes, status: int) -> None:
    desk.plan("# Go\n\n## Progress\n\n- [ ] Go.\n\n## Concrete Steps\n\n```sh {#go shell=sh}\nsh $NAME\n```\n")
    code = "go: $NAME (known only at run time)"
    assert f"the approval won't cover {code}" in desk.type("approve").err
    ended, output = terminal(desk, answers, "approve")
    assert ended == status, output
    assert f"The approval doesn't cover {code}. Changes there run without another approval. Approve anyway?" in output
    if status == 0:
        assert f"doesn't cover {code}" in output.rpartition("approved 1 step")[2]
        return
    data = desk.data("approve", "--digest", desk.digest())
    assert data["unbound_code"] == [code], "the digest of the evaluation that names it is enough"


@pytest.mark.parametrize(
    ("answers", "missing"),
    [
        (b"y\nship\ntag\n", ""),
        (b"y\ny\ny\n", "ship"),
        (b"y\nship\ny\n", "tag"),
        (b"y\n\n", "ship"),
        (b"n\nship\ntag\n", "-"),
    ],
)
def test_a_critical_step_is_approved_by_its_name(desk: InProcessRepository, answers: bytes, missing: str) -> None:
    steps = "```sh {#list}\nls\n```\n\n```sh {#ship}\ngit push --force\n```\n\n```sh {#tag}\ngit push --mirror\n```\n"
    desk.plan(f"# Ship\n\n## Progress\n\n- [ ] Ship.\n\n## Concrete Steps\n\n{steps}")
    status, output = terminal(desk, answers, "approve")
    assert ("list is CRITICAL" in output) is False
    if missing != "-":  # with a digest, only the names are asked for
        names = answers.removeprefix(b"y\n")
        assert terminal(desk, names, "approve", "--digest", desk.digest(), "--dry-run")[0] == 0
        assert terminal(desk, names, "approve", "--digest", desk.digest())[0] == status
    if not missing:
        assert status == 0, output
        assert "tag is CRITICAL: " in output
        return
    assert status == 1
    assert f"nothing was approved{f': {missing} was not confirmed' if missing != '-' else ''}" in output
    assert desk.type("approve", "--check").exit == 7


def test_evaluate_names_the_whole_command(desk: InProcessRepository) -> None:
    desk.stub("cargo")
    command = f"execplan approve {NAME} --digest {desk.digest()[:12]}"
    assert desk.type("evaluate", "--json").json["next"] == [command]
    assert desk.type("evaluate").out.endswith(f"next: ask a person to run: execplan approve {NAME}\n")
    assert terminal(desk, b"", "evaluate")[1].endswith(f"next: execplan approve {NAME}\r\n")
    desk.plan(INFERRED)
    (command,) = desk.type("evaluate", "--json").json["next"]
    assert command.endswith(" --allow-inferred")
    reading, _, last = desk.refused(2, "usage", "approve", "--step", "cargo-build")["hint"].rpartition("; ")
    assert reading == f"read the evaluation, then approve its digest: execplan evaluate {NAME}"
    assert last == f"execplan approve {NAME} --digest DIGEST --allow-inferred --step cargo-build"
    last = last.replace("DIGEST", desk.digest())
    desk.patch.setenv("EXECPLAN_SESSION", "s-1")
    assert desk.refused(2, "usage", "approve")["hint"] == reading, "an agent gets no command that approves"
    desk.patch.delenv("EXECPLAN_SESSION")
    for approval in (last, command):
        assert desk.type(*approval.split()[1:]).exit == 0


def test_a_missing_sandbox_is_said_before_the_question(desk: InProcessRepository) -> None:
    folder = desk.path.parent / "programs"
    folder.mkdir()
    for name in ("git", "make"):
        (folder / name).symlink_to(str(shutil.which(name)))
    desk.env["PATH"] = str(folder)
    status, output = terminal(desk, b"y\n", "approve")
    assert status == 0, output
    warning = "warning: commands run without a sandbox: bwrap is not installed"
    assert output.count(warning) == 1
    assert output.index(warning) < output.index("[y/N]")


def test_an_agent_s_plan_is_handed_over_and_not_run(desk: InProcessRepository) -> None:
    document = json.loads(desk.type("compile", "--out", "-").out)
    source = desk.write("agent.json", json.dumps({**document, "mode": "agent"}))
    desk.data("compile", "--from", str(source))
    approved = desk.type("approve", "--digest", desk.digest(), "--json").json
    assert approved["next"] == [f"execplan handoff {NAME}"]
    assert not [warning for warning in approved["warnings"] if "sandbox" in warning]
    assert desk.type("handoff").exit == 0
    assert f"execplan handoff {NAME}" in desk.refused(3, "agent-mode", "run")["hint"]


def test_what_changes_while_somebody_reads_is_not_approved(desk: InProcessRepository) -> None:
    from execplan.cli.output import approval_output
    from execplan.execution.approvals import approval_creation

    desk.patch.setattr("execplan.core.plan_store.author.can_ask", lambda: True)
    desk.patch.setattr(approval_output, "ask_for_approval", lambda *_: desk.write("src/old.py", "x = 2\n"))
    result = desk.type("approve")
    assert result.exit == 4
    assert "src/old.py: different content" in result.err
    assert not (desk.path / ".agent/execplans/artifacts").exists()
    assert approval_creation.evaluate_for_approval(*desk.project()).evaluation.ok


def test_what_is_above_the_risk_or_not_named_is_not_covered(desk: InProcessRepository) -> None:
    data = desk.approve("--max-risk", "medium")
    assert data["steps"] == ["api"]
    assert data["how"] == "policy"
    assert [(step["id"], step["why"]) for step in data["not_covered"]] == [
        ("build", "its risk HIGH is above MEDIUM"),
        ("drop", "its risk HIGH is above MEDIUM"),
    ]
    data = desk.approve("--step", "build", "--step", "api")
    assert data["steps"] == ["build", "api"]
    assert [step["id"] for step in data["not_covered"]] == ["drop"]
    assert desk.approval_data()["steps"] == ["build", "api"]
    error = desk.refused(3, "no-such-step", "approve", "--step", "biuld")
    assert error["candidates"] == ["build"]
    error = desk.refused(1, "nothing-to-approve", "approve", "--step", "build", "--max-risk", "LOW")
    assert error["candidates"][0] == "build: its risk HIGH is above LOW"


def test_what_the_policy_approves_needs_no_person(desk: InProcessRepository) -> None:
    desk.plan(LOW)
    data = desk.data("approve")
    assert (data["how"], data["approver"], data["steps"]) == ("policy", "the policy", ["api"])
    assert desk.approval_data()["steps"] == ["api"]
    assert "by the policy until" in desk.type("approve").out
    desk.write("pyproject.toml", '[tool.execplan.execution]\nperson_from = "LOW"\n')
    desk.refused(2, "usage", "approve")


def test_inferred_steps_are_shown_or_allowed(desk: InProcessRepository) -> None:
    desk.stub("cargo")
    desk.plan(INFERRED)
    digest = desk.digest()
    inferred = [step["id"] for step in desk.data("evaluate")["steps"] if step["inferred"]]
    assert len(inferred) == 1
    error = desk.refused(7, "inferred-steps", "approve", "--digest", digest)
    assert "runs cargo build --release ['cargo', 'build', '--release']" in error["candidates"][0]
    assert not (desk.path / ".agent/execplans/artifacts").exists()
    data = desk.data("approve", "--digest", digest, "--step", "drop")
    assert desk.approval_data()["inferred"] is None
    data = desk.data("approve", "--digest", digest, "--allow-inferred")
    assert data["inferred"] == inferred
    assert desk.approval_data()["inferred"] == "flag"
    status, output = terminal(desk, b"yes\n", "approve")
    assert status == 0
    assert "['cargo', 'build', '--release']" in output
    assert desk.approval_data()["inferred"] == "terminal"


@pytest.mark.parametrize("target", ["../out.py", "/etc/cron.d/x", ".git/hooks/pre-commit", ".agent/execplan.toml"])
def test_a_path_outside_is_for_nobody_to_approve(desk: InProcessRepository, target: str) -> None:
    desk.plan(STEPS.replace("target=src/made.py", f"target={target}"))
    error = desk.refused(7, "not-approvable", "approve")
    assert error["candidates"][0].startswith(f"api: {target} ")
    desk.write("../.config/execplan/config.toml", "[execution.checks]\npaths = false\n")
    desk.refused(7, "not-approvable", "approve")


def test_a_folder_that_is_a_link_out_is_outside(desk: InProcessRepository) -> None:
    (desk.path / "out").symlink_to(desk.path.parent)
    desk.plan(STEPS.replace("target=src/made.py", "target=out/api.py"))
    desk.refused(7, "not-approvable", "approve")


def test_what_must_not_run_is_not_approved(desk: InProcessRepository) -> None:
    desk.write("src/made.py", "")
    result = desk.type("approve", "--json")
    assert (result.exit, result.json["error"]["code"]) == (1, "must-not-run")
    assert result.json["data"]["reasons"] == result.json["error"]["candidates"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--expires", "never"),
        ("--expires", "0h"),
        ("--expires", "31d"),
        ("--expires", "1.5h"),
        ("--expires", "٣h"),
        ("--expires", ""),
        ("--by", " "),
        ("--by", "Ann\nBob"),
        ("--max-risk", "NONE"),
        ("--list", "--check"),
        ("--list", "--by", "Ann"),
        ("--check", "--commit"),
        ("--check", "--dry-run"),
        ("--revoke", "all", "--expires", "1h"),
    ],
)
def test_usage(desk: InProcessRepository, arguments: tuple[str, ...]) -> None:
    assert desk.refused(2, "usage", "approve", *arguments)["hint"]
    assert desk.git("status", "--short") == ""


def test_committed_when_asked(desk: InProcessRepository) -> None:
    data = desk.approve("--commit")
    assert data["commit"] == desk.git("rev-parse", "HEAD").strip()
    names = desk.git("show", "--name-only", "--format=").split()
    audit_log = data["document"].replace("execution-plan.json", "ledger.jsonl")
    assert sorted(names) == sorted([data["document"], data["path"], audit_log])
    assert desk.git("log", "-1", "--format=%s").strip() == f"plan({NAME}): approve {data['digest'][:12]}"
    assert desk.approval_state() == "approved"
    assert desk.approve("--commit", "--expires", "1h")["commit"] == desk.git("rev-parse", "HEAD").strip()


def test_who_approved_is_written_down(desk: InProcessRepository) -> None:
    desk.patch.setenv("CLAUDE_CODE_SESSION_ID", "abc\x1b[2J" + "x" * 300)
    desk.patch.setenv("LOGNAME", "somebody-else")
    desk.approve()
    approval = desk.approval_data()
    assert approval["approver"] == "Ann"
    assert approval["user"] not in ("", "somebody-else")
    assert approval["session"].startswith("abc [2J")
    assert len(approval["session"]) == 200


def test_a_later_one_of_the_same_digest_takes_the_place(desk: InProcessRepository) -> None:
    desk.approve("--step", "build")
    first_id = desk.approval_data()["id"]
    assert desk.approve()["steps"] == ["build", "api", "drop"]
    assert desk.approval_data()["id"] != first_id


def test_twenty_at_once_leave_one_whole_file(desk: InProcessRepository) -> None:
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.execution.approvals import approval_creation
    from execplan.execution.engine import approval_audit
    from execplan.execution.evaluation.approval_scope import approval_scope

    project, ref = desk.project()
    evaluated = approval_creation.evaluate_for_approval(project, ref)

    def give(number: int) -> None:
        yes = approval_creation.Confirmation(f"Bot {number}", "digest", 60 + number)
        approval_audit.approve_and_record(
            project, ref, evaluated, approval_scope(evaluated.evaluation, None, None), yes, WriteOptions()
        )

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(give, range(20)))
    assert desk.approval_state() == "approved"
    assert desk.approval_data()["approver"].startswith("Bot ")
    assert [path.name for path in desk.file().parent.parent.iterdir() if path.name.startswith(".")] == []
    assert desk.data("audit", "--verify")["plans"][0]["records"] == 20


def test_an_archived_plan_is_not_approved(desk: InProcessRepository) -> None:
    desk.approve()
    desk.data("archive", "--force", "--reason", "No longer wanted.")
    desk.refused(1, "archived-plan", "approve", "parser")
    listed = desk.data("approve", "parser", "--list")["approvals"]
    assert listed[0]["path"].startswith(".agent/execplans/archive/artifacts/")
