"""Many calls at once, each asked about by a process of its own, on a machine that is busy: none is denied for want of time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from execplan.agents.guard import call_recording, guard_entry
from execplan.agents.integrations.guard_hook import TIMEOUT
from tests.agents.guard.asking import Answer, Asking, as_sent, guard
from tests.agents.guard.conftest import PLAN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

BUSY = 2
"""Processes that do nothing but to keep the machine busy."""
READS = ("ls src", "git status", "grep -rn x src; echo $?")


@pytest.fixture
def approved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asking:
    desk = Asking(tmp_path / "work" / "repository", monkeypatch)
    desk.plan(PLAN.replace("max-invocations=3", "max-invocations=40"))
    desk.commit()
    desk.approve()
    return desk


def _at_once(desk: Asking, commands: Sequence[str]) -> list[Answer]:
    line = [sys.executable, "-m", "execplan", "guard", "--program", "claude"]
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        asked = []
        for command in commands:
            each = subprocess.Popen(
                line,
                cwd=desk.path,
                env={**os.environ, **desk.env},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            assert each.stdin is not None
            each.stdin.write(as_sent("claude", command, str(desk.path)))
            each.stdin.close()
            each.stdin = None
            asked.append(each)
        told = [each.communicate() for each in asked]
        return [Answer(each.returncode, *texts, "claude") for each, texts in zip(asked, told, strict=True)]
    finally:
        for process in busy:
            process.kill()
            process.wait()


@pytest.mark.parametrize("count", [12, 30])
def test_reads_and_calls_of_a_step_before_the_run_has_begun(approved: Asking, count: int) -> None:
    commands = [READS[at % 3] if at % 2 else "make parser" for at in range(count)]
    answers = _at_once(approved, commands)
    assert [each.why for each in answers if each.kind != "allow"] == []
    assert approved.calls() == ["build"] * (count // 2)
    assert [each["kind"] for each in approved.entries()].count("begun") == 1


@pytest.mark.parametrize("count", [12, 30])
def test_while_the_run_is_under_way(approved: Asking, count: int) -> None:
    assert approved.ask("make parser").kind == "allow"
    answers = _at_once(approved, [READS[at % 3] if at % 2 else "make parser" for at in range(count)])
    assert [each.why for each in answers if each.kind != "allow"] == []
    assert approved.calls() == ["build"] * (count // 2 + 1)


def test_what_only_reads_takes_no_lock_and_waits_for_nobody(approved: Asking) -> None:
    def fail(*given: object, **named: object) -> Any:
        raise AssertionError("it takes a lock")

    def locked() -> None:
        setattr(call_recording, "lock_runs", fail)  # noqa: B010 - it is another module's
        setattr(call_recording, "lock_slot", fail)  # noqa: B010 - likewise

    for _ in range(2):
        for command in (*READS, "wc -l src/*.py", "execplan status"):
            assert approved.ask(command, before=locked).kind == "allow", command
        assert approved.ask("make parser", before=locked).kind == "deny"
        assert approved.ask("make parser").kind == "allow"


def test_the_guard_gives_up_before_the_program_does() -> None:
    assert call_recording.LOCK_TIMEOUT < guard_entry.TIMEOUT_SECONDS < TIMEOUT - 5


def test_a_run_that_another_call_has_begun_meanwhile(approved: Asking) -> None:
    found = call_recording.find_grant

    def begin_behind(named: str | None) -> Any:
        setattr(call_recording, "find_grant", _begun)  # noqa: B010 - it is another module's
        return found(named)

    def _begun(named: str | None) -> Any:
        setattr(call_recording, "find_grant", found)  # noqa: B010 - likewise
        assert approved.ask("make parser").kind == "allow"
        return None

    assert (
        approved.ask("make parser", before=lambda: setattr(call_recording, "find_grant", begin_behind)).kind == "allow"
    )
    assert approved.calls() == ["build", "build"]


def test_a_journal_that_grows_while_it_is_read(begun: Asking) -> None:
    read: Any = vars(call_recording)["read_bytes"]

    def slow(path: str) -> bytes:
        setattr(call_recording, "read_bytes", read)  # noqa: B010 - it is another module's
        data: bytes = read(path)
        assert begun.ask("make parser").kind == "allow"
        return data

    sent = json.dumps(json.loads(as_sent("claude", "make parser", str(begun.path)))).encode()
    assert guard(sent, before=lambda: setattr(call_recording, "read_bytes", slow)).kind == "allow"
    assert begun.calls() == ["build"] * 3
