"""The stop gate in sessions of the real programs: one-shot runs end, and with a person, a session goes on at most twice."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execplan.core.plan_store import claims_file
from tests.clients.model_server import Say, scripted

if TYPE_CHECKING:
    from tests.clients.agent_programs import Workbench
    from tests.clients.conftest import Results
    from tests.in_process_repository import InProcessRepository

pytestmark = pytest.mark.exhaustive

REASON = "neither done nor explained"
CLAIM = "execplan next --claim agent-1"
_ATTENDED = """\
import json, sys
payload = json.load(sys.stdin)
log = payload.get("transcript_path")
if log and '"session_meta"' in (text := open(log).read()):
    payload["transcript_path"] = sys.argv[1]
    open(sys.argv[1], "w").write(text.replace('"source":"exec"', '"source":"cli"', 1))
print(json.dumps(payload))
"""
"""Program that changes a hook's input as if a person had started the session: the tests can start only one-shot runs."""


def attend(bench: Workbench, folder: Path) -> None:
    """Let execplan's hooks believe that a person is there."""
    bench.need("stop-gate")
    program, log = folder / "attended.py", folder / "attended.jsonl"
    program.write_text(_ATTENDED)
    hook = f"{sys.executable} {program} {log} | CLAUDE_CODE_SESSION_ATTENDED=1 EXECPLAN"
    bench.install_execplan(f'case "$*" in "next --hook "*) {hook};; *) exec EXECPLAN;; esac')


def test_a_one_shot_run_ends(bench: Workbench, desk: InProcessRepository, results: Results) -> None:
    bench.need("stop-gate")
    session = bench.run(scripted([bench.program.command(CLAIM)]))
    assert "claimed by you" in session.result_of(0)
    (claim,) = claims_file.load_claims(desk.project()[0])
    is_ended = len(session.requests) == 2 and not any([REASON in request.text for request in session.requests])
    results.check("a claim records the session", "yes" if claim.session else "no")
    results.check("one-shot runs end in spite of the stop gate", "yes" if is_ended else "no")


def test_with_a_person_it_goes_on_at_most_twice(bench: Workbench, desk: InProcessRepository, results: Results) -> None:
    attend(bench, desk.path.parent)
    session = bench.run(scripted([bench.program.command(CLAIM)]))
    counts = [request.text.count(REASON) for request in session.requests]
    results.check("the stop gate keeps a session going at most twice", "yes" if counts == [0, 0, 1, 2] else "no")


def test_it_ends_when_the_task_is_given_back(bench: Workbench, desk: InProcessRepository, results: Results) -> None:
    attend(bench, desk.path.parent)
    command = bench.program.command
    session = bench.run(scripted([command(CLAIM)], [Say("Done.")], [command("execplan next --release agent-1")]))
    assert REASON in session.requests[2].text, session
    assert claims_file.load_claims(desk.project()[0]) == []
    is_ended = session.requests[-1].text.count(REASON) == 1
    results.check("a session ends when its task is given back", "yes" if is_ended else "no")
