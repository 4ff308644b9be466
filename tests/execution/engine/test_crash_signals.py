"""A signal, a closed terminal or a kill at a running step: nothing survives, and the run goes on from there (bad input 58)."""

from __future__ import annotations

import os
import pty
import re
import signal
import sys
from pathlib import Path

import pytest

from execplan.core.errors import PAUSED
from tests.execution.engine.command_folder import OWN_SESSION
from tests.execution.engine.run_scenario import (
    ARTIFACTS,
    COUNTS,
    FILES,
    NAME,
    RunScenario,
    processes,
    run_and_signal,
    survivors,
    wait_for,
)

pytestmark = pytest.mark.exhaustive

PLAN = """\
# Wait

This ExecPlan is a living document.

## Progress

- [ ] Wait.

## Concrete Steps

```sh {#first outputs=made/first.txt}
sh count.sh first
```

```sh {#slow EFFECT outputs=made/slow.txt task="Wait"}
sh slow.sh
```

```sh {#last outputs=made/last.txt}
sh count.sh last
```
"""
SLOW = f"""\
echo x >>{COUNTS}/slow
if [ -e {COUNTS}/calm ]; then echo slow >made/slow.txt; exit 0; fi
if [ -e deaf ]; then trap '' TERM HUP INT; fi
echo half >made/slow.txt
{OWN_SESSION} sh -c 'sleep 61; true' &
sleep 62 &
touch {COUNTS}/started
sleep 63
"""
STARTED = f"{COUNTS}/started"
IDEMPOTENT = "effect=idempotent"
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}
"""The exit status of each; a closed terminal sends SIGHUP."""


def stage_of(folder: Path, effect: str) -> RunScenario:
    """A plan whose second step never ends unless `.counts/calm` is there."""
    return RunScenario(folder, PLAN.replace("EFFECT", effect), {**FILES, "slow.sh": SLOW})


@pytest.fixture(scope="module")
def idempotent(tmp_path_factory: pytest.TempPathFactory) -> RunScenario:
    """Its slow step may be run again."""
    return stage_of(tmp_path_factory.mktemp("idempotent"), IDEMPOTENT)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> RunScenario:
    """Its slow step may not be run again."""
    return stage_of(tmp_path_factory.mktemp("once"), "")


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_58_a_signal(idempotent: RunScenario, number: signal.Signals) -> None:
    idempotent.restore("approved")
    if number is signal.SIGTERM:
        idempotent.repo.write("deaf", "")  # what does not listen is killed two seconds later
    caught = run_and_signal(idempotent, STARTED, number, "run", NAME)
    assert caught.exit == SIGNALS[number], caught
    assert "Traceback" not in caught.err
    assert survivors(idempotent.world) == []
    resumed(idempotent, caught.err)
    assert not (idempotent.repo.path / "made/slow.txt").exists(), "an interrupted attempt was not taken back"
    goes_on(idempotent)


def resumed(scenario: RunScenario, output: str) -> None:
    """The line that resumes the run is there, and is one that can be typed."""
    matched = re.search(r"^next: execplan resume (\S+) -p (\S+)$", output, re.MULTILINE)
    assert matched is not None, output
    assert matched[2] == NAME
    assert (scenario.repo.path / ARTIFACTS / "runs" / matched[1]).is_dir()


def goes_on(scenario: RunScenario) -> None:
    """The run is resumed and completed, and what was done is not done again."""
    scenario.repo.write(f"{COUNTS}/calm", "")
    result = scenario.run("resume", "-p", NAME)
    assert result.exit == 0, result
    assert [scenario.run_count(name) for name in ("first", "slow", "last")] == [1, 2, 1]
    assert (scenario.repo.path / "made/slow.txt").read_text() == "slow\n"
    assert scenario.run("audit", NAME, "--verify").exit == 0


def test_58_a_closed_terminal(idempotent: RunScenario) -> None:
    idempotent.restore("approved")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(idempotent.repo.path)
        os.execve(sys.executable, [sys.executable, "-m", "execplan", "run", NAME], idempotent.repo.env)
    wait_for(idempotent.repo.path / STARTED)
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 143
    assert survivors(idempotent.world) == []
    goes_on(idempotent)


def test_58_the_engine_is_killed_at_work(idempotent: RunScenario) -> None:
    idempotent.restore("approved")
    caught = run_and_signal(idempotent, STARTED, signal.SIGKILL, "run", NAME)
    assert caught.exit == -signal.SIGKILL
    assert survivors(idempotent.world) == []
    goes_on(idempotent)


@pytest.mark.parametrize(("answer", "runs", "holds"), [("again", 2, "slow\n"), ("go", 1, "half\n"), ("skip", 1, None)])
def test_a_command_that_may_run_once_is_cut_short(once: RunScenario, answer: str, runs: int, holds: str | None) -> None:
    once.restore("approved")
    run_and_signal(once, STARTED, signal.SIGKILL, "run", NAME)
    assert survivors(once.world) == []
    (begun,) = (once.repo.path / ".git/execplan/runs").glob("*/*-slow-1.begun")
    wait_for(begun.with_suffix(".stopped"))
    once.repo.write(f"{COUNTS}/calm", "")
    once.repo.write("later.txt", "Written by the user after the kill.\n")
    for _ in range(2):
        paused = once.run("resume", "-p", NAME)
        assert paused.exit == PAUSED, paused
        assert "slow" in paused.err + paused.out
        assert "--answer" in paused.err + paused.out
    assert once.run_count("slow") == 1
    result = once.run("resume", "-p", NAME, "--answer", answer)
    assert result.exit == 0, result
    assert [once.run_count(name) for name in ("first", "slow", "last")] == [1, runs, 1]
    slow_file = once.repo.path / "made/slow.txt"
    assert (slow_file.read_text() if slow_file.exists() else None) == holds
    assert once.run("audit", NAME, "--verify").exit == 0
    assert once.run("rollback", "-p", NAME).exit == 0
    assert not slow_file.exists()
    assert (once.repo.path / "later.txt").exists()


def test_a_run_that_is_stopped_at_a_question_has_failed(once: RunScenario) -> None:
    once.restore("approved")
    run_and_signal(once, STARTED, signal.SIGKILL, "run", NAME)
    assert once.run("resume", "-p", NAME).exit == PAUSED
    result = once.run("resume", "-p", NAME, "--answer", "stop")
    assert result.exit == 1, result
    assert once.run_count("last") == 0


def test_the_program_of_a_step_is_killed(once: RunScenario) -> None:
    once.restore("approved")
    process = once.repo.start("run", NAME)
    wait_for(once.repo.path / STARTED)
    for pid, command_line in processes(once.world):
        if command_line.startswith("sh slow.sh"):
            os.kill(pid, signal.SIGKILL)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 1, (out, err)
    assert survivors(once.world) == []
    assert b"slow failed: it was ended by signal 9" in out + err
    assert [once.run_count(name) for name in ("first", "slow", "last")] == [1, 1, 0]
    assert (once.repo.path / "made/first.txt").exists(), "what was done before the failure is kept"
