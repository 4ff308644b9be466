"""The stop gate: which session is kept going, how often, and that every trouble lets it end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from execplan.agents.integrations.stop_gate import hook_handler
from execplan.core.plan_store import claims_file
from tests.conftest import CLOCK
from tests.in_process_repository import NAME, InProcessRepository

PLAN = """\
# Build the parser

## Progress

- [ ] Read lines.
- [ ] Write lines.

## Surprises & Discoveries

## Decision Log
"""
SESSION = "0f1e2d3c"
ATTENDED = {"CLAUDE_CODE_SESSION_ATTENDED": "1"}


class GatedRepository(InProcessRepository):
    """A repository in which a session has claimed the first task."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(path, patch)
        self.plan(PLAN)
        self.claim()

    def claim(self, session: str = SESSION, name: str = "agent-1") -> None:
        """Claim the next task in a session."""
        self.patch.setenv("EXECPLAN_SESSION", session)
        self.data("next", "--claim", name)
        self.patch.delenv("EXECPLAN_SESSION")

    def payload(self, **fields: Any) -> dict[str, Any]:
        """What a program tells its hook."""
        common = {"session_id": SESSION, "cwd": str(self.path), "hook_event_name": "Stop", "stop_hook_active": False}
        return {**common, **fields}

    def stop(self, program: str = "claude", *, env: dict[str, str] | None = None, **fields: Any) -> str:
        """Let the session stop; the reason to go on, or nothing."""
        data = json.dumps(self.payload(**fields)).encode()
        result = self.run("next", "--hook", program, stdin=data, cwd=None, **(ATTENDED if env is None else env))
        assert (result.exit, result.err) == (0, "")
        if not result.out:
            return ""
        answer = json.loads(result.out)
        assert answer.keys() == {"decision", "reason"}
        assert answer["decision"] == "block"
        reason: str = answer["reason"]
        return reason


@pytest.fixture
def gated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GatedRepository:
    """A repository with a claim of a session."""
    return GatedRepository(tmp_path / "repo", monkeypatch)


def test_a_claimed_task_keeps_its_session_going(gated: GatedRepository) -> None:
    reason = gated.stop()
    assert "Read lines." in reason
    assert f"execplan next {NAME} --release agent-1" in reason
    task = gated.data("show")["tasks"][0]["id"]
    assert f"execplan done {task} -p {NAME}" in reason


@pytest.mark.parametrize(
    "command",
    [
        ("done", "1"),
        ("next", "--release", "agent-1"),
        ("next", "--release", "agent-1", "--to", "agent-2"),
        ("discover", "The reader loses a line", "--evidence", "Line 3"),
        ("decide", "Stop here", "--why", "It is late"),
        ("checkpoint",),
    ],
)
def test_what_lets_it_end(gated: GatedRepository, command: tuple[str, ...]) -> None:
    gated.data(*command)
    assert gated.stop() == ""


def test_what_was_written_before_the_claim_explains_nothing(gated: GatedRepository) -> None:
    gated.data("discover", "The reader loses a line", "--evidence", "Line 3")
    gated.claim()
    assert "Read lines." in gated.stop()


def test_a_task_with_a_check_is_done_after_it(gated: GatedRepository) -> None:
    gated.plan(PLAN.replace("- [ ] Read lines.", "- [ ] Read lines.\n  - Check: `test -f Makefile`"))
    gated.data("done", "1")
    reason = gated.stop()
    assert "checks have not passed" in reason
    assert f"--verify -p {NAME}" in reason
    assert f"execplan reopen {gated.data('show')['tasks'][0]['id']} -p {NAME}" in reason
    gated.data("done", "1", "--verify", "--yes")
    assert gated.stop() == ""


def test_of_a_done_task_without_a_check_nothing_is_asked(gated: GatedRepository) -> None:
    gated.plan(PLAN.replace("- [ ] Write lines.", "- [ ] Write lines.\n  - Check: `test -f Makefile`"))
    gated.data("done", "1", "2")
    assert gated.stop() == ""


def test_a_claim_taken_over_by_another_session_is_no_longer_its_own(gated: GatedRepository) -> None:
    gated.claim("another-session")
    assert gated.stop() == ""
    assert gated.stop(session_id="another-session")


def test_expired_claims_and_missing_plans(gated: GatedRepository) -> None:
    later = {**ATTENDED, "SOURCE_DATE_EPOCH": str(CLOCK + 3 * 3600)}
    assert gated.stop(env=later) == ""
    assert gated.stop()
    (gated.path / f".agent/execplans/{NAME}.md").unlink()
    assert gated.stop() == ""


def test_at_most_twice_in_a_row(gated: GatedRepository) -> None:
    assert [bool(gated.stop(stop_hook_active=active)) for active in (False, True, True, False)] == [
        True,
        True,
        False,
        False,
    ]
    gated.claim()
    gated.data("done", "1")
    gated.claim()
    assert [bool(gated.stop(stop_hook_active=active)) for active in (True, True, True)] == [True, True, False]


def test_without_counts_nothing_goes_on_for_ever(gated: GatedRepository) -> None:
    assert gated.stop()
    shutil.rmtree(gated.path / ".git/execplan/stop-gate")
    assert gated.stop(stop_hook_active=True) == ""
    shutil.rmtree(gated.path / ".git/execplan/stop-gate")
    gated.write(".git/execplan/stop-gate", "")
    assert gated.stop() == ""


def test_counts_do_not_pile_up(gated: GatedRepository) -> None:
    folder = gated.path / ".git/execplan/stop-gate"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number}").write_text("")
        os.utime(folder / f"{number}", (number, number))
    assert gated.stop()
    assert len(list(folder.iterdir())) == 50
    assert not (folder / "0").exists()
    assert (folder / "59").exists()


@pytest.mark.parametrize(
    ("env", "goes_on"),
    [
        ({"CLAUDE_CODE_SESSION_ATTENDED": "0"}, False),
        ({"CLAUDE_CODE_SESSION_ATTENDED": "0", "CLAUDE_CODE_ENTRYPOINT": "cli"}, False),
        ({"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, False),
        ({}, False),
        ({"CLAUDE_CODE_ENTRYPOINT": "cli"}, True),
        (ATTENDED, True),
        ({**ATTENDED, "EXECPLAN_STOP_GATE": "off"}, False),
    ],
)
def test_one_shot_runs_of_claude_code_end(gated: GatedRepository, env: dict[str, str], goes_on: bool) -> None:
    assert bool(gated.stop(env=env)) == goes_on


@pytest.mark.parametrize(
    ("log", "goes_on"),
    [
        ('{"type":"session_meta","payload":{"source":"cli"}}\n{}\n', True),
        ('{"type":"session_meta","payload":{"source":"exec"}}\n', False),
        ('{"type":"session_meta","payload":{"source":{"subagent":"review"}}}\n', False),
        ('{"type":"session_meta","payload":{}}\n', False),
        ('{"type":"session_meta","payload":{"source":"cli"}}', False),
        ("no json\n", False),
        ("", False),
    ],
)
def test_one_shot_runs_of_codex_end(gated: GatedRepository, log: str, goes_on: bool) -> None:
    path = gated.write("../rollout.jsonl", log)
    assert bool(gated.stop("codex", transcript_path=str(path))) == goes_on
    assert gated.stop("codex", transcript_path=None) == ""


def test_others_are_not_asked(gated: GatedRepository, tmp_path: Path) -> None:
    for fields in (
        {"session_id": "other"},
        {"session_id": ""},
        {"session_id": None},
        {"hook_event_name": "SubagentStop"},
        {"agent_id": "a1"},
        {"cwd": str(tmp_path)},
        {"cwd": "/nowhere"},
    ):
        assert gated.stop(**fields) == "", fields


def test_every_trouble_lets_the_session_end(gated: GatedRepository) -> None:
    for data in (b"", b"{", b"[]", b"\xff", b"x" * (5 << 20)):
        result = gated.run("next", "--hook", "claude", stdin=data, cwd=None, **ATTENDED)
        assert (result.exit, result.out, result.err) == (0, "", "")
    path = gated.path / ".git/execplan/claims.json"
    rows = json.loads(path.read_text())
    path.write_text(json.dumps([row[:5] for row in rows]))
    assert gated.stop() == "", "a claim of an older version"
    path.write_text("[")
    assert gated.stop() == ""
    path.write_text(json.dumps(rows))
    gated.write(".agent/execplan.toml", "nonsense = [")
    assert gated.stop() == ""
    (gated.path / ".agent/execplan.toml").unlink()
    assert gated.stop()


def test_a_hostile_task_is_only_quoted(gated: GatedRepository) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    gated.plan(PLAN.replace("Read lines.", f"Read {token} \x1b[31m{'x' * 500}"))
    gated.claim()
    reason = gated.stop()
    assert token not in reason
    assert "\x1b" not in reason
    assert len(reason) < 1000


@pytest.mark.parametrize("program", ["claude", "codex"])
def test_the_hook_in_a_shell(gated: GatedRepository, tmp_path: Path, program: str) -> None:
    log = gated.write("../rollout.jsonl", '{"type":"session_meta","payload":{"source":"cli"}}\n')
    data = json.dumps(gated.payload(transcript_path=str(log))).encode()
    script = tmp_path / "bin/execplan"
    script.parent.mkdir()

    def run(text: str) -> tuple[int, bytes]:
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)
        env = {**gated.env, **ATTENDED, "PATH": f"{script.parent}:{os.environ['PATH']}"}
        completed = subprocess.run(
            hook_handler(program)["command"],
            shell=True,
            check=False,
            input=data,
            capture_output=True,
            env=env,
            cwd=gated.path,
        )
        return completed.returncode, completed.stdout

    status, out = run(f'exec {sys.executable} -m execplan "$@"')
    assert status == 0
    assert json.loads(out)["decision"] == "block"
    for text in ("exit 2", "echo oops >&2; exit 2", "exit 70", "kill -9 $$"):
        assert run(text) == (0, b"")


def test_options_and_agents(gated: GatedRepository) -> None:
    gated.refused(2, "usage", "next", "parser", "--hook", "claude")
    assert gated.run("next", "--hook", "other").exit == 2


def test_it_takes_little_time(gated: GatedRepository) -> None:
    code = "import sys; sys.argv = ['execplan', 'next', '--hook', 'claude']; from execplan.cli import main; main.main(); print(*sys.modules)"
    env = {**gated.env, **ATTENDED}
    out = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(gated.payload()).encode(),
        capture_output=True,
        env=env,
        cwd=gated.path,
        check=True,
    ).stdout.decode()
    assert '"block"' in out
    assert not {"click", "pydantic", "git", "jinja2", "mistune", "typing"} & set(out.splitlines()[-1].split())


def test_claims_record_their_session(gated: GatedRepository) -> None:
    (claim,) = claims_file.load_claims(gated.project()[0])
    assert claim.session == SESSION
    assert claim.baseline
    gated.data("next", "--release", "agent-1", "--to", "agent-2")
    (claim,) = claims_file.load_claims(gated.project()[0])
    assert (claim.name, claim.session) == ("agent-2", "")
