"""A run that is run once more: on the same inputs only, and what differs is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from execplan.engine.dry_run import preview_run
from execplan.engine.run_observer import RunOptions
from execplan.errors import CONFLICT, INPUT
from tests.engine.running import Bench, steps
from tests.engine.test_run import MAKE, refused

TELL = "```sh {#tell outputs=told.txt shell}\ncat count/tell 2>/dev/null; echo x >> count/tell; cp count/tell told.txt\n```"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A repository that ignores what counts."""
    made = Bench(tmp_path / "repo", monkeypatch)
    made.write(".gitignore", "count/\n")
    (made.path / "count").mkdir()
    return made


def back(bench: Bench) -> None:
    """Let the files be as they were before the run."""
    for name in ("src/made.py", "told.txt"):
        (bench.path / name).unlink(missing_ok=True)


def test_what_differs_is_told(bench: Bench) -> None:
    bench.approved(steps(MAKE, TELL))
    first = bench.go().run
    back(bench)
    bench.approve()
    second = bench.go(replays="1")
    assert second.status == "completed"
    assert json.loads(bench.text(bench.last().journal).splitlines()[0])["replays"] == first
    assert second.differences[0] == "tell: prints something else"
    assert second.differences[1].startswith("tell: told.txt: is left otherwise (")
    assert len(second.differences) == 2


def test_nothing_differs(bench: Bench) -> None:
    bench.approved(steps(MAKE, "```sh {#see}\ncat src/made.py\n```"))
    bench.go()
    back(bench)
    bench.approve()
    assert bench.go(replays="1").differences == ()


def test_how_it_ended_is_told(bench: Bench) -> None:
    bench.own("rollback_on = []")
    bench.approved(steps("```sh {#see retry=1 backoff=1ms}\ntest -e count/go\n```"))
    bench.go()
    bench.write("count/go", "")
    bench.approve()
    assert bench.go(replays="1").differences == (
        "see: was failed, is completed",
        "see: tried 2 times then, 1 now",
        "see: ended with exit 1, ends with exit 0",
    )


def test_other_inputs_and_other_steps_are_refused(bench: Bench) -> None:
    bench.approved(steps(MAKE, "```text {#drop type=delete_file target=src/old.py}\nOld.\n```"))
    bench.go()
    back(bench)
    bench.write("src/old.py", "x = 2\n")
    bench.approve()
    error = refused(CONFLICT, "not-as-then", lambda: bench.go(replays="1"))
    assert [line.partition(":")[0] for line in error.candidates] == ["src/old.py"]
    refused(CONFLICT, "not-as-then", lambda: preview_run(*bench.project(), RunOptions(replays="1")))
    refused(INPUT, "no-such-run", lambda: bench.go(replays="7"))
    bench.approved(steps(MAKE))
    assert (
        refused(CONFLICT, "not-as-then", lambda: bench.go(replays="1")).candidates[0].startswith("the execution plan")
    )
    assert len(bench.runs()) == 1
    assert bench.go().status == "completed", "the approval was not used by what was refused"
