"""Many calls at once, each asked about by a process of its own, on a machine that is busy: none is denied for want of time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from execplan.agents.guard import call_queue, call_recording, grant_lookup, guard_entry
from execplan.agents.integrations.guard_hook import TIMEOUT
from tests.agents.guard.conftest import PLAN
from tests.agents.guard.guard_repository import Answer, GuardRepository, as_sent, guard

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

BUSY = 2
"""Processes that do nothing but to keep the machine busy."""
READS = ("ls src", "git status", "grep -rn x src; echo $?")


@pytest.fixture
def approved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GuardRepository:
    desk = GuardRepository(tmp_path / "work" / "repository", monkeypatch)
    desk.plan(PLAN.replace("max-invocations=3", "max-invocations=40"))
    desk.commit()
    desk.approve()
    return desk


def _ask_concurrently(desk: GuardRepository, commands: Sequence[str]) -> list[Answer]:
    line = [sys.executable, "-m", "execplan", "guard", "--program", "claude"]
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        processes = []
        for command in commands:
            guard_process = subprocess.Popen(
                line,
                cwd=desk.path,
                env={**os.environ, **desk.env},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            assert guard_process.stdin is not None
            guard_process.stdin.write(as_sent("claude", command, str(desk.path)))
            guard_process.stdin.close()
            guard_process.stdin = None
            processes.append(guard_process)
        outputs = [guard_process.communicate() for guard_process in processes]
        return [
            Answer(guard_process.returncode, *texts, "claude")
            for guard_process, texts in zip(processes, outputs, strict=True)
        ]
    finally:
        for process in busy:
            process.kill()
            process.wait()


@pytest.mark.parametrize("count", [12, pytest.param(30, marks=pytest.mark.exhaustive)])
def test_reads_and_calls_of_a_step_before_the_run_has_begun(approved: GuardRepository, count: int) -> None:
    commands = [READS[at % 3] if at % 2 else "make parser" for at in range(count)]
    answers = _ask_concurrently(approved, commands)
    assert [answer.why for answer in answers if answer.kind != "allow"] == []
    assert approved.calls() == ["build"] * (count // 2)
    assert [entry["kind"] for entry in approved.entries()].count("begun") == 1


@pytest.mark.parametrize("count", [12, pytest.param(30, marks=pytest.mark.exhaustive)])
def test_while_the_run_is_under_way(approved: GuardRepository, count: int) -> None:
    assert approved.ask("make parser").kind == "allow"
    answers = _ask_concurrently(approved, [READS[at % 3] if at % 2 else "make parser" for at in range(count)])
    assert [answer.why for answer in answers if answer.kind != "allow"] == []
    assert approved.calls() == ["build"] * (count // 2 + 1)


def test_what_only_reads_takes_no_lock_and_waits_for_nobody(approved: GuardRepository) -> None:
    def fail(*args: object, **kwargs: object) -> Any:
        raise AssertionError("it takes a lock")

    def locked() -> None:
        setattr(call_recording, "lock_runs", fail)  # noqa: B010 - it is another module's
        setattr(call_queue, "_lock_slot", fail)  # noqa: B010 - likewise

    for _ in range(2):
        for command in (*READS, "wc -l src/*.py", "execplan status"):
            assert approved.ask(command, before=locked).kind == "allow", command
        assert approved.ask("make parser", before=locked).kind == "deny"
        assert approved.ask("make parser").kind == "allow"


def test_the_guard_gives_up_before_the_program_does() -> None:
    assert call_recording.LOCK_TIMEOUT < guard_entry.TIMEOUT_SECONDS < TIMEOUT - 5


def test_a_run_that_another_call_has_begun_meanwhile(approved: GuardRepository) -> None:
    original_find_grant = grant_lookup.find_grant

    def begin_meanwhile(plan_name: str | None) -> Any:
        setattr(grant_lookup, "find_grant", _begun)  # noqa: B010 - it is another module's
        return original_find_grant(plan_name)

    def _begun(plan_name: str | None) -> Any:
        setattr(grant_lookup, "find_grant", original_find_grant)  # noqa: B010 - likewise
        assert approved.ask("make parser").kind == "allow"
        return None

    assert (
        approved.ask("make parser", before=lambda: setattr(grant_lookup, "find_grant", begin_meanwhile)).kind == "allow"
    )
    assert approved.calls() == ["build", "build"]


def test_a_journal_that_grows_while_it_is_read(begun: GuardRepository) -> None:
    read: Any = vars(call_recording)["read_bytes"]

    def slow(path: str) -> bytes:
        setattr(call_recording, "read_bytes", read)  # noqa: B010 - it is another module's
        data: bytes = read(path)
        assert begun.ask("make parser").kind == "allow"
        return data

    request = json.dumps(json.loads(as_sent("claude", "make parser", str(begun.path)))).encode()
    assert guard(request, before=lambda: setattr(call_recording, "read_bytes", slow)).kind == "allow"
    assert begun.calls() == ["build"] * 3
